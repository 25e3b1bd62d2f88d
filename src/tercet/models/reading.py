"""Reading topics: their words, sizes, likeness and documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from tercet.evaluation import measure_coherence, measure_relevance
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, IntArray, Source
from tercet.models.bridges import prepare_pyldavis
from tercet.models.estimators import check_number

__all__ = ["ReadingMixin"]

_LIKENESSES = ("cosine", "overlap", "hellinger")


class ReadingMixin:
    """What one asks of fitted topics; expects `components_` and `weights_`.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> X = np.random.default_rng(0).poisson(2.0, size=(80, 6))
    >>> tercet.SingleTopicModel(2).fit(X).topic_similarity().shape
    (2, 2)
    """

    components_: FloatArray
    weights_: FloatArray
    feature_shares_: FloatArray

    def top_words(
        self, n_words: int = 10, *, relevance: float | None = None
    ) -> list[list[str]]:
        """Return the foremost words of each topic.

        Parameters
        ----------
        n_words : int
            Words of each topic.
        relevance : float or None
            Lambda of `relevance`; None sorts by probability, which is the same
            as 1.

        Returns
        -------
        list of list of str
            Names of the features, or `x0`, `x1` ... where they have none.
        """
        check_is_fitted(self, "components_")
        check_number("n_words", n_words, least=1, whole=True)
        table = self.components_ if relevance is None else self.relevance(relevance)
        names = self._word_names()
        return [
            [names[j] for j in np.argsort(-row, kind="stable")[:n_words]]
            for row in table
        ]

    def relevance(self, share: float = 0.7) -> FloatArray:
        """Return how relevant each word is to each topic.

        `lambda log p(w | topic) + (1 - lambda) log(p(w | topic) / p(w))`
        (Sievert and Shirley 2014).

        Parameters
        ----------
        share : float
            Lambda, between 0 (lift alone) and 1 (probability alone).

        Returns
        -------
        ndarray of shape (k, d)
            Minus infinity for words that a topic never uses.
        """
        check_is_fitted(self, "components_")
        check_number("share", share, least=0.0)
        return measure_relevance(self.components_, self.feature_shares_, share)

    def coherence(self, X: Any, *, kind: str = "umass", n_top: int = 20) -> FloatArray:
        """Return how well the foremost words of each topic go together.

        Parameters
        ----------
        X : rows
            Documents in which words meet, usually those of the fit.
        kind : {"umass", "npmi"}
            See `tercet.evaluation.measure_coherence`.
        n_top : int
            Words of each topic, L.

        Returns
        -------
        ndarray of shape (k,)
            Larger is better.
        """
        check_is_fitted(self, "components_")
        source = self._open_rows(X, reset=False)
        return measure_coherence(self.components_, source, kind=kind, n_top=n_top)

    def topic_sizes(self, X: Any = None) -> FloatArray:
        """Return the share of tokens that each topic accounts for.

        Parameters
        ----------
        X : rows or None
            Documents; None returns the fitted `weights_`.

        Returns
        -------
        ndarray of shape (k,)
            Shares that sum to one.
        """
        check_is_fitted(self, "components_")
        if X is None:
            return self.weights_.copy()
        lengths, proportions = self._lengths_and_proportions(X)
        sizes = lengths @ proportions
        total = float(sizes.sum())
        return np.asarray(sizes / total) if total > 0.0 else self.weights_.copy()

    def topic_similarity(self, measure: str = "cosine") -> FloatArray:
        """Return how alike the topics are.

        Parameters
        ----------
        measure : {"cosine", "overlap", "hellinger"}
            Cosine of the angle between two topics; the probability that they
            share, `sum_w min(p_w, q_w)`; or the Bhattacharyya coefficient
            `sum_w sqrt(p_w q_w)`, which is one less the squared Hellinger
            distance.

        Returns
        -------
        ndarray of shape (k, k)
            From 0 (no word in common) to 1 (equal).
        """
        check_is_fitted(self, "components_")
        if measure not in _LIKENESSES:
            raise ParameterError(
                f"measure={measure!r} is not known; choose one of "
                f"{', '.join(map(repr, _LIKENESSES))}."
            )
        topics = self.components_
        if measure == "overlap":
            return np.array([np.minimum(row, topics).sum(axis=1) for row in topics])
        turned = np.sqrt(topics) if measure == "hellinger" else topics
        turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        return np.asarray(np.clip(turned @ turned.T, 0.0, 1.0))

    def top_documents(
        self, X: Any, topic: int, n_documents: int = 10
    ) -> tuple[IntArray, FloatArray]:
        """Return the documents in which a topic has the largest share.

        Parameters
        ----------
        X : rows
            Documents.
        topic : int
            Index of the topic.
        n_documents : int
            How many.

        Returns
        -------
        indices : ndarray
            Rows of X, the foremost first.
        shares : ndarray
            Share of the topic in each.
        """
        check_is_fitted(self, "components_")
        check_number("n_documents", n_documents, least=1, whole=True)
        k = len(self.components_)
        check_number("topic", topic, least=0, whole=True)
        if topic >= k:
            raise ParameterError(
                f"topic={topic!r} must be the index of a topic, from 0 to {k - 1}."
            )
        _, proportions = self._lengths_and_proportions(X)
        shares = proportions[:, topic]
        order = np.argsort(-shares, kind="stable")[:n_documents]
        return order, shares[order]

    def to_pyldavis(self, X: Any, **options: Any) -> Any:
        """Return what pyLDAvis draws of these topics and documents.

        Parameters
        ----------
        X : rows
            Documents.
        **options
            Handed to `pyLDAvis.prepare`.

        Returns
        -------
        pyLDAvis.PreparedData
            For `pyLDAvis.display` or `pyLDAvis.save_html`.
        """
        check_is_fitted(self, "components_")
        return prepare_pyldavis(self, X, **options)

    def _word_names(self) -> Sequence[str]:
        """Return the names of the features."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{j}" for j in range(self.components_.shape[1])]
        return [str(name) for name in names]

    @abstractmethod
    def _open_rows(
        self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Source:
        """Open X as a source."""

    @abstractmethod
    def _lengths_and_proportions(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the tokens of documents and their topic proportions."""
