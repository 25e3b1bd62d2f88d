"""Topics that likelihood steps can start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray

__all__ = ["fill_topics", "find_lacking", "read_topics"]

# Share of the corpus in every topic, and part of the words that the topics lack
# which is given back to each.
_TRACE = 1e-3
GIVEN_BACK = 0.5


def find_lacking(
    centers: FloatArray, weights: FloatArray, frequencies: FloatArray
) -> FloatArray:
    """Return how much less of each word the topics have than the corpus.

    Topics, weighted, add up to the frequencies of words; those of a model do, but
    for noise. Topics of real texts may lack half of the words once their negative
    entries are gone.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Topics as columns.
    weights : ndarray of shape (k,)
        Their weights.
    frequencies : ndarray of shape (d,)
        Frequencies of the words, summing to one.

    Returns
    -------
    ndarray of shape (d,)
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.models.starting import find_lacking
    >>> find_lacking(np.eye(2), np.array([0.5, 0.5]), np.array([0.7, 0.3]))
    array([0.2, 0. ])
    """
    return np.maximum(frequencies - centers @ weights, 0.0)


def fill_topics(
    centers: FloatArray, weights: FloatArray, frequencies: FloatArray
) -> FloatArray:
    """Return topics in which no word of the corpus is impossible.

    Likelihood steps multiply, so that a word which noise put at zero would stay
    there. A trace of the corpus goes into each topic, and half of what the topics
    together lack.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Topics as columns.
    weights : ndarray of shape (k,)
        Their weights.
    frequencies : ndarray of shape (d,)
        Frequencies of the words, summing to one.

    Returns
    -------
    ndarray of shape (d, k)
        Columns sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.models.starting import fill_topics
    >>> fill_topics(np.eye(2), np.array([0.5, 0.5]), np.array([0.5, 0.5])).round(4)
    array([[9.995e-01, 5.000e-04],
           [5.000e-04, 9.995e-01]])
    """
    lacking = find_lacking(centers, weights, frequencies)
    added = _TRACE * frequencies + GIVEN_BACK * lacking
    mixed = (1.0 - _TRACE) * centers + added[:, None]
    return np.ascontiguousarray(mixed / mixed.sum(axis=0))


def read_topics(components_init: Any, wanted: tuple[int, int]) -> FloatArray:
    """Return topics as columns that sum to one, or say what is wrong with them.

    Parameters
    ----------
    components_init : array-like of shape (k, d)
        Topics as rows, of any scale: counts or probabilities.
    wanted : (int, int)
        k and d.

    Returns
    -------
    ndarray of shape (d, k)
        Columns sum to one.

    Examples
    --------
    >>> from tercet.models.starting import read_topics
    >>> read_topics([[3, 1], [1, 1]], (2, 2))
    array([[0.75, 0.5 ],
           [0.25, 0.5 ]])
    """
    try:
        table = np.asarray(components_init, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"components_init cannot be read as numbers: {error}."
        ) from error
    if table.shape != wanted:
        raise ParameterError(
            f"components_init has shape {table.shape}; n_components and X ask for "
            f"{wanted}."
        )
    if not np.isfinite(table).all() or table.min() < 0.0:
        raise ParameterError(
            "components_init has negative, infinite or missing entries; its rows are "
            "probability vectors."
        )
    totals = table.sum(axis=1)
    if not (totals > 0.0).all():
        raise ParameterError(
            f"components_init: row {int(np.argmin(totals))} is all zeros; give every "
            "topic some mass."
        )
    return np.ascontiguousarray((table / totals[:, None]).T)
