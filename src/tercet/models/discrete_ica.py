"""Counts whose means mix independent gamma sources: discrete ICA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.families import GammaPoisson
from tercet.flow import Family, FloatArray, Moments, Outcome, Parameters, Source
from tercet.likelihood.topic_steps import Kind
from tercet.models.decomposing import Solution
from tercet.models.mixed_base import MixedTopicModel

__all__ = ["DiscreteICA"]


class DiscreteICA(MixedTopicModel):
    """Discrete ICA with gamma sources (gamma-Poisson topics).

    Row x has independent Poisson counts of mean `components_.T @ h`; the source
    `h_j` is gamma with shape `concentration_[j]` and rate `rate_[j]`. Lengths of
    documents are part of the model. Given its length, a document whose sources
    share a rate is one of latent Dirichlet allocation with the shapes as
    Dirichlet parameters; likelihood steps, `transform` and `score` rest on that.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics k.
    decomposition : str, default="joint"
        How the small tensor is decomposed; see `tercet.decomposition.DECOMPOSITIONS`.
    refine : int or "auto", default="auto"
        Likelihood steps after the moments: 0 for moments alone, "auto" until
        they have all but settled; rows that can be read once only (iterators)
        get none.
    steps : {"auto", "collapsed", "variational"}, default="auto"
        Their kind; see `tercet.likelihood.refine_topics`. "auto" is variational
        where the moments show that the model holds, else collapsed.
    negative : {"simplex", "truncate"}, default="simplex"
        What is done to negative entries of topics: nearest distribution, or zero.
    unbiased : bool, default=True
        Whether cumulants have the finite-sample form whose expectation is exact
        (thesis 002, formula C.5).
    components_init : array of shape (k, d) or None, default=None
        Topics to start from instead of the moments' solution.
    warm_start : bool, default=False
        Whether `fit` starts from the fitted topics, if there are any.
    strategy : {"auto", "subspace", "exact", "sketch"}, default="auto"
        How the basis of the moments is found; see `tercet.moments.collect`.
    random_state : int, Generator or None, default=None
        None is a fixed seed: the same data always give the same answer.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    verbose : int, default=0
        Whether to tell what is being done.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Topics: rows are probability vectors, by falling weight.
    weights_ : ndarray of shape (k,)
        Share of the counts that each topic accounts for.
    concentration_ : ndarray of shape (k,)
        Shapes of the gamma sources.
    rate_ : ndarray of shape (k,)
        Their rates; a source has mean `concentration_ / rate_` counts.
    diagnostics_ : dict
        What was found on the way; see `tercet.models.diagnosing`.
    outcome_ : Outcome
        How the last iteration ended.
    n_iter_ : int
        Its iterations.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    >>> X = rng.poisson(rng.gamma(0.5, 40.0, size=(2000, 2)) @ topics)
    >>> model = tercet.DiscreteICA(2).fit(X)
    >>> (model.concentration_ / model.rate_).round(-1)
    array([20., 20.])
    """

    fitted_state: ClassVar[tuple[str, ...]] = (
        *MixedTopicModel.fitted_state,
        "rate_",
    )

    rate_: FloatArray

    def __init__(
        self,
        n_components: int = 10,
        *,
        decomposition: str = "joint",
        refine: int | str = "auto",
        steps: Literal["auto"] | Kind = "auto",
        negative: str = "simplex",
        unbiased: bool = True,
        components_init: ArrayLike | None = None,
        warm_start: bool = False,
        strategy: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.decomposition = decomposition
        self.refine = refine
        self.steps = steps
        self.negative = negative
        self.unbiased = unbiased
        self.components_init = components_init
        self.warm_start = warm_start
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if not isinstance(self.unbiased, bool | np.bool_):
            raise ParameterError(f"unbiased={self.unbiased!r} must be True or False.")
        super()._check_parameters()

    def _family(self) -> Family:
        return GammaPoisson(self.negative, bool(self.unbiased))

    def _solve_topics(
        self, moments: Moments
    ) -> tuple[Parameters, Solution, dict[str, Any]]:
        parameters, solution, notes = super()._solve_topics(moments)
        shapes = parameters.concentration
        if shapes is not None:
            notes = {**notes, "alpha0_by_sums": float(shapes.sum())}
        return parameters, solution, notes

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        if parameters.rate is not None:
            self.rate_ = parameters.rate

    def _step(
        self, source: Source, start: Parameters, steps: int | None
    ) -> tuple[Parameters, Outcome, Mapping[str, Any]]:
        found, outcome, notes = self._refine_shares(source, start, steps, free=True)
        shape = found.concentration
        shares = np.maximum(notes["shares"], np.finfo(np.float64).tiny)
        # Each source keeps the mean number of counts that the steps gave it.
        rate = np.asarray(shape / (shares * self.mean_length_))
        parameters = Parameters(found.centers, shares, concentration=shape, rate=rate)
        return parameters, outcome, notes

    def _start_concentration(self, weights: FloatArray) -> FloatArray:
        return weights.copy()

    def _draw(
        self, n_samples: int, lengths: int | ArrayLike | None, rng: np.random.Generator
    ) -> tuple[Any, Any]:
        if lengths is not None:
            raise ParameterError(
                f"lengths={lengths!r}: lengths are part of discrete ICA and are drawn "
                "with the documents; leave lengths out."
            )
        rows, sources = self._fitted_family().sample(self._parameters(), n_samples, rng)
        return rows, sources
