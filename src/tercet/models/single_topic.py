"""Documents about one topic each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import DataError
from tercet.families import SingleTopic
from tercet.flow import Family, FloatArray, MomentPlan, Outcome, Parameters, Source
from tercet.likelihood import Multinomial, infer_mixture, refine_mixture
from tercet.likelihood.expectation import ExpectationPass, express_scores
from tercet.models.passing import BothPass
from tercet.models.topic_base import TopicModel
from tercet.moments import TallyPass

__all__ = ["SingleTopicModel"]


class SingleTopicModel(TopicModel):
    """A mixture of multinomials: every document is about one topic.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics k.
    decomposition : str, default="joint"
        How the small tensor is decomposed; see `tercet.decomposition.DECOMPOSITIONS`.
    weighting : {"length", "document", "three-words"}, default="length"
        Long documents count more (Ruffini), all count the same (Zou et al.), or
        three words are drawn from each (Anandkumar et al.).
    refine : int or "auto", default="auto"
        Steps of expectation maximisation after the moments: 0 for moments alone,
        "auto" until the likelihood has all but settled; rows that
        can be read once only (iterators) get none.
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
        Share of the documents that are about each topic.
    diagnostics_ : dict
        What was found on the way; see `tercet.models.diagnosing`.
    outcome_ : Outcome
        How the last iteration ended.
    n_iter_ : int
        Its iterations.

    Notes
    -----
    `predict_proba` and `transform` return the exact posterior of paper 000,
    equation 1; `score` is the exact log-likelihood for each token, of the
    documents as sequences of words.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> rng = np.random.default_rng(0)
    >>> rates = np.array([[4.0, 4.0, 0.1, 0.1], [0.1, 0.1, 4.0, 4.0]])
    >>> X = rng.poisson(rates[rng.integers(2, size=300)])
    >>> model = tercet.SingleTopicModel(2).fit(X)
    >>> model.predict_proba([[5, 3, 0, 0]]).max().round(3)
    np.float64(1.0)
    """

    transform_methods: ClassVar[tuple[str, ...]] = ("posterior",)
    score_methods: ClassVar[tuple[str, ...]] = ("exact",)

    def __init__(
        self,
        n_components: int = 10,
        *,
        decomposition: str = "joint",
        weighting: str = "length",
        refine: int | str = "auto",
        negative: str = "simplex",
        components_init: ArrayLike | None = None,
        warm_start: bool = False,
        strategy: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.decomposition = decomposition
        self.weighting = weighting
        self.refine = refine
        self.negative = negative
        self.components_init = components_init
        self.warm_start = warm_start
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _family(self) -> Family:
        return SingleTopic(self.weighting, self.negative)  # type: ignore[arg-type]

    def _step(
        self, source: Source, start: Parameters, steps: int | None
    ) -> tuple[Parameters, Outcome, Mapping[str, Any]]:
        refined = refine_mixture(
            source, Multinomial(), start.centers, start.weights, steps=steps
        )
        notes = {"log_likelihoods": refined.log_likelihoods}
        return Parameters(refined.centers, refined.weights), refined.outcome, notes

    def _infer(self, source: Source, method: str) -> FloatArray:  # noqa: ARG002
        parameters = self._parameters()
        return infer_mixture(
            source, Multinomial(), parameters.centers, parameters.weights
        )

    def _score(self, source: Source, method: str) -> float:  # noqa: ARG002
        density = Multinomial()
        centers = density.admit(self._known_centers())
        likelihood = ExpectationPass(
            density, *express_scores(density, centers, self.weights_)
        )
        tally = TallyPass(source.n_features, MomentPlan("rows"))
        sums, found = source.run(BothPass(likelihood, tally))
        tokens = found.first[0]
        unknown = self.feature_shares_ <= 0.0
        known = float(tokens[~unknown].sum())
        if known <= 0.0:
            raise DataError(
                "None of the tokens can be scored: the documents are empty, have weight "
                "zero, or share no word with those of the fit."
            )
        # Words that no topic knows have the floor under all of them.
        extra = float(tokens[unknown] @ np.log(centers[unknown, 0]))
        return float((sums.log_likelihood - extra) / known)
