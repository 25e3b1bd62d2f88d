"""Topic models whose documents mix topics: inference and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, Outcome, Parameters, Source
from tercet.likelihood import STEPS, infer_topics, refine_topics, score_topics
from tercet.likelihood.topic_steps import Kind
from tercet.models.bridges import convert_to_gensim, convert_to_sklearn
from tercet.models.topic_base import TopicModel

__all__ = ["MixedTopicModel"]

# Where the small tensor decomposes to this relative residual, the model holds and the
# concentration by sums is within a few per cent; elsewhere the likelihood knows better.
_HOLDS = 0.1
# Dirichlet parameter of every topic where nothing is known.
_EVEN = 0.1


class MixedTopicModel(TopicModel):
    """Base of models whose documents have topic proportions.

    Given its length, a document of gamma-Poisson topics with one rate is a
    document of latent Dirichlet allocation with `concentration_ = shapes`, so
    that both share steps, inference and scores.

    Examples
    --------
    >>> from tercet.models.mixed_base import MixedTopicModel
    >>> MixedTopicModel.score_methods[0]
    'bound'
    """

    transform_methods: ClassVar[tuple[str, ...]] = (
        "variational",
        "map",
        "gibbs",
        "linear",
    )
    score_methods: ClassVar[tuple[str, ...]] = (
        "bound",
        "completion",
        "left-to-right",
    )

    concentration_: FloatArray

    steps: Literal["auto"] | Kind

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.steps not in ("auto", *STEPS):
            known = ", ".join(map(repr, ("auto", *STEPS)))
            raise ParameterError(
                f"steps={self.steps!r} is not known; choose one of {known}."
            )

    def _refine_shares(
        self, source: Source, start: Parameters, steps: int | None, *, free: bool
    ) -> tuple[Parameters, Outcome, Mapping[str, Any]]:
        """Make likelihood steps; `free` lets the sum of Dirichlet parameters move.

        It does not move where the sums of a model that holds have told it: steps
        estimate it with a bias that lasts however many documents there are. There,
        plain variational steps are nearest to the truth, too; elsewhere collapsed
        ones predict better.
        """
        alpha = start.weights if start.concentration is None else start.concentration
        holds = self.diagnostics_.get("residual", np.inf) <= _HOLDS
        if free and "alpha0_by_sums" in self.diagnostics_:
            if holds:
                search = self.diagnostics_.get("concentration")
                free = search is not None and not search.converged
            else:
                alpha = np.full(alpha.size, _EVEN)
        kind = self.steps
        if kind == "auto":
            kind = "variational" if holds else "collapsed"
        refined = refine_topics(
            source,
            start.centers,
            alpha,
            kind=kind,
            steps=steps,
            update_concentration=True if free else "shares",
        )
        alpha = refined.concentration
        weights = alpha / alpha.sum()
        notes = {"steps": kind, "objective": refined.history, "shares": refined.shares}
        parameters = Parameters(refined.centers, weights, concentration=alpha)
        return parameters, refined.outcome, notes

    def _infer(self, source: Source, method: str) -> FloatArray:
        return infer_topics(
            source,
            self.components_.T,
            self.concentration_,
            method=method,
            rng=self._rng(),
        )

    def _score(self, source: Source, method: str) -> float:
        return score_topics(
            source,
            self._known_centers(),
            self.concentration_,
            method=method,
            rng=self._rng(),
        ).per_token

    def to_sklearn(self) -> Any:
        """Return a fitted `sklearn.decomposition.LatentDirichletAllocation`.

        Returns
        -------
        sklearn.decomposition.LatentDirichletAllocation
            With these topics; its `partial_fit` goes on from here. It knows one
            prior for all topics, the mean of `concentration_`.
        """
        check_is_fitted(self, "components_")
        return convert_to_sklearn(self)

    def to_gensim(self) -> Any:
        """Return a `gensim.models.LdaModel` with these topics.

        Returns
        -------
        gensim.models.LdaModel
            Word ids are column numbers; its `update` goes on from here.
        """
        check_is_fitted(self, "components_")
        return convert_to_gensim(self)
