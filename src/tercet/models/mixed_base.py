"""Topic models whose documents mix topics: inference and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from tercet.flow import FloatArray, Outcome, Parameters, Source
from tercet.likelihood import infer_topics, refine_topics, score_topics
from tercet.models.bridges import convert_to_gensim, convert_to_sklearn
from tercet.models.topic_base import TopicModel

__all__ = ["MixedTopicModel"]

# Estimates of alpha0 from sums and from likelihood steps that are within this
# factor of each other tell of the same model.
_AGREEMENT = 1.5


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

    def _refine_shares(
        self, source: Source, start: Parameters, steps: int | None, *, free: bool
    ) -> tuple[Parameters, Outcome, Mapping[str, Any]]:
        """Make variational steps; `free` lets the sum of Dirichlet parameters move."""
        alpha = start.concentration
        refined = refine_topics(
            source,
            start.centers,
            start.weights if alpha is None else alpha,
            steps=steps,
            update_concentration=True if free else "shares",
        )
        alpha = refined.concentration
        weights = alpha / alpha.sum()
        notes = {"bound": refined.history, "shares": refined.shares}
        parameters = Parameters(refined.centers, weights, concentration=alpha)
        return parameters, refined.outcome, notes

    def _settle(self, parameters: Parameters, by_sums: float) -> Parameters:
        """Return parameters whose concentrations add up to the better estimate.

        Variational steps estimate the sum with a bias that lasts however many
        documents there are; the moments do not, where the model holds. Where the
        two disagree it does not hold, and the likelihood has the last word.
        """
        alpha = parameters.concentration
        if alpha is None:
            return parameters
        ratio = by_sums / float(alpha.sum())
        if not 1.0 / _AGREEMENT < ratio < _AGREEMENT:
            return parameters
        return replace(parameters, concentration=alpha * ratio)

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
