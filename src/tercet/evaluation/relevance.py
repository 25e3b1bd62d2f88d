"""How characteristic a word is of a topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray

__all__ = ["measure_relevance"]


def measure_relevance(
    topics: ArrayLike, frequencies: ArrayLike, share: float = 0.7
) -> FloatArray:
    """Return how relevant each word is to each topic.

    `lambda log p(w | topic) + (1 - lambda) log(p(w | topic) / p(w))` (Sievert and
    Shirley 2014; paper 000, section 4.3.1, with lambda = 0.7).

    Parameters
    ----------
    topics : array-like of shape (k, d)
        One topic a row, such as `components_` of any estimator.
    frequencies : array-like of shape (d,)
        Counts or probabilities of the words in the corpus.
    share : float
        Lambda, between 0 (lift alone) and 1 (probability alone).

    Returns
    -------
    ndarray of shape (k, d)
        Minus infinity for words that a topic, or the corpus, never uses.

    Examples
    --------
    >>> from tercet.evaluation import measure_relevance
    >>> measure_relevance([[0.5, 0.5]], [3, 1], share=0.0).round(3)
    array([[-0.405,  0.693]])
    """
    table = np.asarray(topics, dtype=np.float64)
    overall = np.asarray(frequencies, dtype=np.float64)
    if table.ndim != 2 or overall.shape != (table.shape[1],):
        raise ParameterError(
            f"topics has shape {table.shape} and frequencies {overall.shape}; give one "
            "row for each topic and one frequency for each of its columns."
        )
    if not 0.0 <= share <= 1.0:
        raise ParameterError(f"share={share!r} must lie between 0 and 1.")
    if min(table.min(), overall.min()) < 0.0 or not overall.sum() > 0.0:
        raise ParameterError(
            "topics and frequencies must not be negative, nor all zero."
        )
    totals = table.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(table / np.where(totals > 0.0, totals, 1.0))
        common = np.log(overall / overall.sum())
    relevance = np.full_like(logs, -np.inf)
    seen = np.isfinite(common)
    relevance[:, seen] = logs[:, seen] - (1.0 - share) * common[seen]
    return relevance
