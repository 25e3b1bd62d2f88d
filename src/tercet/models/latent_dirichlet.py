"""Documents that mix topics in Dirichlet proportions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.families import LatentDirichlet, SingleTopic
from tercet.flow import Family, FloatArray, Moments, Outcome, Parameters, Source
from tercet.likelihood.topic_steps import Kind
from tercet.models.concentration import find_concentration, shift_equations
from tercet.models.decomposing import Solution
from tercet.models.estimators import check_number
from tercet.models.mixed_base import MixedTopicModel

__all__ = ["LatentDirichletAllocation"]


class LatentDirichletAllocation(MixedTopicModel):
    """Latent Dirichlet allocation, learned from moments and likelihood steps.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics k.
    concentration : float or "auto", default="auto"
        Sum `alpha0` of the Dirichlet parameters; "auto" reads it from the sums
        (method section 5) and lets the likelihood steps adjust it.
    decomposition : str, default="joint"
        How the small tensor is decomposed; see `tercet.decomposition.DECOMPOSITIONS`.
    weighting : {"length", "document", "three-words"}, default="length"
        Long documents count more (Ruffini), all count the same (Zou et al.), or
        three words are drawn from each (Anandkumar et al.).
    refine : int or "auto", default="auto"
        Likelihood steps after the moments: 0 for moments alone, "auto" until
        they have all but settled; rows that can be read once only (iterators)
        get none.
    steps : {"auto", "collapsed", "variational"}, default="auto"
        Their kind; see `tercet.likelihood.refine_topics`. "auto" is variational
        where the moments show that the model holds, else collapsed.
    negative : {"simplex", "truncate"}, default="simplex"
        What is done to negative entries of topics: nearest distribution, or zero.
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
        Expected proportions of the topics, `concentration_ / alpha0`.
    concentration_ : ndarray of shape (k,)
        Dirichlet parameters.
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
    >>> shares = rng.dirichlet([0.3, 0.3], size=500)
    >>> X = np.array([rng.multinomial(50, p) for p in shares @ topics])
    >>> model = tercet.LatentDirichletAllocation(2).fit(X)
    >>> np.sort(model.transform([[20, 20, 0, 0]])).round(1)
    array([[0., 1.]])
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        concentration: float | str = "auto",
        decomposition: str = "joint",
        weighting: str = "length",
        refine: int | str = "auto",
        steps: Literal["auto"] | Kind = "auto",
        negative: str = "simplex",
        components_init: ArrayLike | None = None,
        warm_start: bool = False,
        strategy: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.concentration = concentration
        self.decomposition = decomposition
        self.weighting = weighting
        self.refine = refine
        self.steps = steps
        self.negative = negative
        self.components_init = components_init
        self.warm_start = warm_start
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if isinstance(self.concentration, str):
            if self.concentration != "auto":
                raise ParameterError(
                    f"concentration={self.concentration!r} is not known; give 'auto' "
                    "or a positive number."
                )
        else:
            check_number("concentration", self.concentration, above=0.0)
        super()._check_parameters()

    def _family(self) -> Family:
        # The sums do not depend on the concentration; any value will do to collect.
        total = 1.0 if self.concentration == "auto" else float(self.concentration)
        return LatentDirichlet(total, self.weighting, self.negative)  # type: ignore[arg-type]

    def _fitted_family(self) -> LatentDirichlet:
        return LatentDirichlet(
            float(self.concentration_.sum()),
            self.weighting,  # type: ignore[arg-type]
            self.negative,
        )

    def _solve_topics(
        self, moments: Moments
    ) -> tuple[Parameters, Solution, dict[str, Any]]:
        if self.concentration != "auto":
            return super()._solve_topics(moments)
        plain = moments.with_family(
            SingleTopic(self.weighting, self.negative)  # type: ignore[arg-type]
        )
        factorial = plain.equations()
        search = find_concentration(factorial, self.n_components)
        self._say(search.outcome.message)
        family = LatentDirichlet(
            search.value,
            self.weighting,  # type: ignore[arg-type]
            self.negative,
        )
        solution = self._solve_equations(
            shift_equations(factorial, search.value), family
        )
        notes = {
            "concentration": search.outcome,
            "alpha0_by_sums": search.value,
            "alpha0_crossings": search.crossings,
        }
        return solution.parameters, solution, notes

    def _step(
        self, source: Source, start: Parameters, steps: int | None
    ) -> tuple[Parameters, Outcome, Mapping[str, Any]]:
        free = self.concentration == "auto"
        if not free:
            total = float(self.concentration)
            start = replace(start, concentration=total * start.weights)
        return self._refine_shares(source, start, steps, free=free)

    def _start_concentration(self, weights: FloatArray) -> FloatArray:
        total = 1.0 if self.concentration == "auto" else float(self.concentration)
        return total * weights
