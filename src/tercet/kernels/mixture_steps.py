"""Expectation steps of mixtures whose scores are linear in the row.

A row of a Bernoulli, Poisson or multinomial mixture has the score
`offset_j + e_i slope_j + sum_e x_ie table[e, j]` under component j, so that one
set of loops serves all of them: `nnz k` for the scores, `nnz k` for the sums.
Rows are given by where they start and stop among the entries, which lets a
caller visit any subset of the rows of a matrix without copying it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tercet.flow import FloatArray, IntArray

__all__ = ["normalize_scores", "score_linear_rows", "step_linear_rows"]

# Reordering a sum changes rounding only; NaN and infinity keep their meaning.
_REORDER = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _score_row(
    columns: IntArray,
    values: FloatArray,
    table: FloatArray,
    offsets: FloatArray,
    slopes: FloatArray,
    exposure: float,
    scores: FloatArray,
) -> None:
    """Write the scores of one row under every component."""
    k = scores.size
    for j in range(k):
        scores[j] = offsets[j] + exposure * slopes[j]
    for e in range(columns.size):
        x = values[e]
        row = table[columns[e]]
        for j in range(k):
            scores[j] += x * row[j]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _normalize_row(scores: FloatArray, weight: float) -> float:
    """Turn log scores into shares that sum to `weight`; return their log sum."""
    k = scores.size
    highest = scores[0]
    for j in range(1, k):
        highest = max(highest, scores[j])
    total = 0.0
    for j in range(k):
        scores[j] = math.exp(scores[j] - highest)
        total += scores[j]
    scale = weight / total
    for j in range(k):
        scores[j] *= scale
    return float(highest + math.log(total))


@njit(cache=True, nogil=True)
def normalize_scores(
    scores: FloatArray, row_weights: FloatArray, mass: FloatArray
) -> float:
    """Turn scores (n, k) into responsibilities times row weights, in place.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Logarithms of weight times density; finite.
    row_weights : ndarray of shape (n,)
        Weights of the rows.
    mass : ndarray of shape (k,)
        Responsibilities are added up here.

    Returns
    -------
    float
        Log-likelihood of the rows, weighted.
    """
    total = 0.0
    for i in range(scores.shape[0]):
        weight = row_weights[i]
        total += weight * _normalize_row(scores[i], weight) if weight > 0.0 else 0.0
        if weight > 0.0:
            for j in range(mass.size):
                mass[j] += scores[i, j]
        else:
            scores[i, :] = 0.0
    return total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def score_linear_rows(
    starts: IntArray,
    stops: IntArray,
    indices: IntArray,
    values: FloatArray,
    exposure: FloatArray,
    table: FloatArray,
    offsets: FloatArray,
    slopes: FloatArray,
    scores: FloatArray,
) -> None:
    """Write the scores (n, k) of sparse rows.

    Parameters
    ----------
    starts, stops : ndarray of shape (n,)
        First entry of each row and the one after its last.
    indices, values : ndarray of shape (nnz,)
        Columns and values of the entries.
    exposure : ndarray of shape (n,)
        Exposures of the rows.
    table : ndarray of shape (d, k)
        What an entry of value one adds to the scores.
    offsets, slopes : ndarray of shape (k,)
        What every row gets, and what it gets for each unit of exposure.
    scores : ndarray of shape (n, k)
        Result.
    """
    for i in range(starts.size):
        columns = indices[starts[i] : stops[i]]
        counts = values[starts[i] : stops[i]]
        _score_row(columns, counts, table, offsets, slopes, exposure[i], scores[i])


@njit(cache=True, nogil=True, fastmath=_REORDER)
def step_linear_rows(
    starts: IntArray,
    stops: IntArray,
    indices: IntArray,
    values: FloatArray,
    row_weights: FloatArray,
    exposure: FloatArray,
    table: FloatArray,
    offsets: FloatArray,
    slopes: FloatArray,
    mass: FloatArray,
    exposed: FloatArray,
    sums: FloatArray,
) -> float:
    """Take the expectation step over sparse rows: `2 nnz k` multiply-adds.

    Parameters
    ----------
    starts, stops, indices, values
        As in `score_linear_rows`.
    row_weights : ndarray of shape (n,)
        Weights of the rows.
    exposure, table, offsets, slopes
        As in `score_linear_rows`.
    mass : ndarray of shape (k,)
        `sum_i w_i r_ij` is added here, r being the responsibilities.
    exposed : ndarray of shape (k,)
        `sum_i w_i r_ij e_i` is added here.
    sums : ndarray of shape (d, k)
        `sum_i w_i r_ij x_i` is added here.

    Returns
    -------
    float
        Log-likelihood of the rows, weighted, without terms that no component
        has a part in.
    """
    k = offsets.size
    shares = np.empty(k)
    total = 0.0
    for i in range(starts.size):
        weight = row_weights[i]
        if weight <= 0.0:
            continue
        columns = indices[starts[i] : stops[i]]
        counts = values[starts[i] : stops[i]]
        _score_row(columns, counts, table, offsets, slopes, exposure[i], shares)
        total += weight * _normalize_row(shares, weight)
        for j in range(k):
            mass[j] += shares[j]
            exposed[j] += shares[j] * exposure[i]
        for e in range(columns.size):
            x = counts[e]
            target = sums[columns[e]]
            for j in range(k):
                target[j] += x * shares[j]
    return total
