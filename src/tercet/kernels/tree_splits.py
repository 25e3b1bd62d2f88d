"""Sums over some rows of a sparse matrix, for splitting them in two.

`members` says which rows of the compressed matrix (`indptr`, `indices`,
`values`) are visited, so that a node of a tree costs no copy of its rows;
`weights` belongs to the members. Results are added to arrays of the caller.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tercet.flow import FloatArray, IntArray

__all__ = [
    "TIE",
    "add_gram",
    "add_members",
    "add_split_slices",
    "fill_dense",
    "measure_lengths",
    "mirror_upper",
    "project_members",
    "route_rows",
    "score_members",
]

# An unsigned index cannot count from the end; without a check for that, loops
# over gathers become vector instructions, several times as fast.
_at = np.uint64

# Reordering a sum changes rounding only; NaN and infinity keep their meaning.
_REORDER = {"reassoc", "contract", "nsz", "arcp"}

# A row goes to the second side only if it is nearer to it by this, so that
# rounding does not decide about rows that are as near to both.
TIE = 1e-9


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_gram(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    members: IntArray,
    weights: FloatArray,
    gram: FloatArray,
) -> None:
    """Add `sum_i w_i x_i x_i'` to the upper triangle of `gram` (d, d).

    Column indices of a row must rise, which puts every product above or on the
    diagonal.
    """
    for m in range(members.size):
        start, stop = _at(indptr[members[m]]), _at(indptr[members[m] + 1])
        for e in range(start, stop):
            x = weights[m] * values[e]
            target = gram[_at(indices[e])]
            for g in range(e, stop):
                target[_at(indices[g])] += x * values[g]


@njit(cache=True, nogil=True)
def mirror_upper(matrix: FloatArray) -> None:
    """Write the upper triangle of a square matrix over the lower one."""
    for a in range(matrix.shape[0]):
        for b in range(a):
            matrix[a, b] = matrix[b, a]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def fill_dense(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    members: IntArray,
    block: FloatArray,
) -> None:
    """Write members as dense rows into `block` (m, d), which holds zeros."""
    for m in range(members.size):
        for e in range(_at(indptr[members[m]]), _at(indptr[members[m] + 1])):
            block[m, _at(indices[e])] = values[e]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def project_members(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    members: IntArray,
    basis: FloatArray,
    projected: FloatArray,
) -> None:
    """Write `z_i = B' x_i` of each member into `projected` (m, p)."""
    width = basis.shape[1]
    for m in range(members.size):
        z = projected[m]
        for a in range(width):
            z[a] = 0.0
        for e in range(_at(indptr[members[m]]), _at(indptr[members[m] + 1])):
            x = values[e]
            b = basis[_at(indices[e])]
            for a in range(width):
                z[a] += x * b[a]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_split_slices(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    members: IntArray,
    weights: FloatArray,
    basis: FloatArray,
    projected: FloatArray,
    slices: FloatArray,
) -> None:
    """Write `z_i = B' x_i` (two numbers), add `sum_i w_i x_ir z_i z_i'` to slices.

    `basis` is (d, 2); `slices` (d, 3) holds the entries (1, 1), (1, 2), (2, 2)
    of the whitened slice of each feature (thesis 001, equation 6.7).
    """
    for m in range(members.size):
        start, stop = _at(indptr[members[m]]), _at(indptr[members[m] + 1])
        first = 0.0
        second = 0.0
        for e in range(start, stop):
            first += values[e] * basis[_at(indices[e]), 0]
            second += values[e] * basis[_at(indices[e]), 1]
        projected[m, 0] = first
        projected[m, 1] = second
        w = weights[m]
        a, b, c = w * first * first, w * first * second, w * second * second
        for e in range(start, stop):
            target = slices[_at(indices[e])]
            target[0] += values[e] * a
            target[1] += values[e] * b
            target[2] += values[e] * c


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_members(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    members: IntArray,
    weights: FloatArray,
    total: FloatArray,
) -> None:
    """Add `sum_i w_i x_i` over the members to `total` (d,)."""
    for m in range(members.size):
        w = weights[m]
        for e in range(_at(indptr[members[m]]), _at(indptr[members[m] + 1])):
            total[_at(indices[e])] += w * values[e]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def score_members(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    members: IntArray,
    table: FloatArray,
    scores: FloatArray,
) -> None:
    """Write `sum_r x_ir table_r` of each member into `scores` (m,)."""
    for m in range(members.size):
        score = 0.0
        for e in range(_at(indptr[members[m]]), _at(indptr[members[m] + 1])):
            score += values[e] * table[_at(indices[e])]
        scores[m] = score


@njit(cache=True, nogil=True, fastmath=_REORDER)
def measure_lengths(
    indptr: IntArray, values: FloatArray, lengths: FloatArray, squares: FloatArray
) -> None:
    """Write the sum of the entries of each row, and the sum of their squares."""
    for i in range(lengths.size):
        total = 0.0
        square = 0.0
        for e in range(_at(indptr[i]), _at(indptr[i + 1])):
            total += values[e]
            square += values[e] * values[e]
        lengths[i] = total
        squares[i] = square


@njit(cache=True, nogil=True, fastmath=_REORDER)
def route_rows(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    tables: FloatArray,
    offsets: FloatArray,
    slopes: FloatArray,
    absolute: NDArray[np.bool_],
    orders: IntArray,
    firsts: IntArray,
    seconds: IntArray,
    nodes: IntArray,
) -> None:
    """Send every row down a tree and write the leaf that it reaches.

    Node v is split by table `orders[v]` of `tables` (s, d, 2), or is a leaf if
    that is negative; its children are `firsts[v]` and `seconds[v]`. A side's
    score is `offset + slope |x|^2 + sum_r x_r table_r`, of which splits with
    `absolute` compare the size.
    """
    for i in range(nodes.size):
        start, stop = _at(indptr[i]), _at(indptr[i + 1])
        square = 0.0
        for e in range(start, stop):
            square += values[e] * values[e]
        node = 0
        while orders[node] >= 0:
            s = orders[node]
            table = tables[s]
            first = 0.0
            second = 0.0
            for e in range(start, stop):
                row = table[_at(indices[e])]
                first += values[e] * row[0]
                second += values[e] * row[1]
            if absolute[s]:
                onward = abs(second) > (1.0 + TIE) * abs(first)
            else:
                gap = (offsets[s, 1] - offsets[s, 0]) + (second - first)
                gap += (slopes[s, 1] - slopes[s, 0]) * square
                onward = gap > TIE
            node = seconds[node] if onward else firsts[node]
        nodes[i] = node
