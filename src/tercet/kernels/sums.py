"""Sums over the non-zeros of sparse rows against a table of basis rows.

All loops run over compressed sparse rows (`indptr`, `indices`, `values`) and
add into arrays that the caller owns, so that each thread can keep its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tercet.flow import FloatArray, IntArray

__all__ = [
    "add_cross",
    "add_diagonals",
    "add_pair",
    "add_slices",
    "project_rows",
]

# Reordering a sum changes rounding only; NaN and infinity keep their meaning.
_REORDER = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def project_rows(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    basis: FloatArray,
    projected: FloatArray,
) -> None:
    """Write `z_i = B' x_i` for each row into `projected` (n, p)."""
    width = basis.shape[1]
    for i in range(indptr.size - 1):
        z = projected[i]
        for a in range(width):
            z[a] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x = values[e]
            b = basis[indices[e]]
            for a in range(width):
                z[a] += x * b[a]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_pair(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    scale: FloatArray,
    basis: FloatArray,
    projected: FloatArray,
    pair: FloatArray,
) -> None:
    """Write `z_i = B' x_i` and add `sum_i s_i x_i z_i'` to `pair` (d, p).

    Both products in one visit of a row: its indices, its values and the basis
    rows that they touch are still in cache when the second one needs them.
    """
    width = basis.shape[1]
    for i in range(indptr.size - 1):
        z = projected[i]
        for a in range(width):
            z[a] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x = values[e]
            b = basis[indices[e]]
            for a in range(width):
                z[a] += x * b[a]
        s = scale[i]
        if s != 0.0:
            for e in range(indptr[i], indptr[i + 1]):
                x = s * values[e]
                target = pair[indices[e]]
                for a in range(width):
                    target[a] += x * z[a]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_cross(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    scale: FloatArray,
    projected: FloatArray,
    cross: FloatArray,
) -> None:
    """Add `sum_i s_i x_i z_i'` to `cross` (d, p), the z_i being known."""
    width = projected.shape[1]
    for i in range(indptr.size - 1):
        s = scale[i]
        if s == 0.0:
            continue
        z = projected[i]
        for e in range(indptr[i], indptr[i + 1]):
            x = s * values[e]
            target = cross[indices[e]]
            for a in range(width):
                target[a] += x * z[a]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _write_square(
    columns: IntArray,
    counts: FloatArray,
    basis: FloatArray,
    z: FloatArray,
    correction: float,
    square: FloatArray,
) -> None:
    """Write `z z' - correction * sum_j x_j b_j b_j'` of one row into `square`."""
    width = z.size
    for a in range(width):
        for c in range(width):
            square[a, c] = z[a] * z[c]
    if correction != 0.0:
        for e in range(columns.size):
            b = basis[columns[e]]
            for a in range(width):
                xb = correction * counts[e] * b[a]
                for c in range(width):
                    square[a, c] -= xb * b[c]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_slices(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    scale: FloatArray,
    basis: FloatArray,
    projected: FloatArray,
    correction: float,
    position: IntArray,
    square: FloatArray,
    slices: FloatArray,
) -> None:
    """Add `sum_i s_i x_ir Q_i` to the slice of each wanted feature r.

    `Q_i = z_i z_i' - correction * sum_j x_ij b_j b_j'`. `position[r]` is the
    place of feature r in `slices` (m, p, p), or -1. `square` (p, p) is scratch.
    """
    width = basis.shape[1]
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        columns = indices[start:stop]
        counts = values[start:stop]
        if scale[i] == 0.0 or not np.any(position[columns] >= 0):
            continue
        _write_square(columns, counts, basis, projected[i], correction, square)
        for e in range(columns.size):
            place = position[columns[e]]
            if place >= 0:
                x = scale[i] * counts[e]
                target = slices[place]
                for a in range(width):
                    for c in range(width):
                        target[a, c] += x * square[a, c]


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_diagonals(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    scale: FloatArray,
    basis: FloatArray,
    correction: float,
    projected: FloatArray,
    pair: FloatArray,
    diagonals: FloatArray,
) -> None:
    """Add `sum_i s_i x_i z_i'` to `pair` and `sum_i s_i x_i q_i'` to `diagonals`.

    `q_i = z_i^2 - correction * sum_j x_ij b_j^2`, the diagonal of
    `z_i z_i' - correction * sum_j x_ij b_j b_j'`. `projected` is scratch (2, p).
    """
    width = basis.shape[1]
    z = projected[0]
    q = projected[1]
    for i in range(indptr.size - 1):
        s = scale[i]
        if s == 0.0:
            continue
        for a in range(width):
            z[a] = 0.0
            q[a] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x = values[e]
            b = basis[indices[e]]
            for a in range(width):
                z[a] += x * b[a]
                q[a] += x * b[a] * b[a]
        for a in range(width):
            q[a] = z[a] * z[a] - correction * q[a]
        for e in range(indptr[i], indptr[i + 1]):
            x = s * values[e]
            first = pair[indices[e]]
            second = diagonals[indices[e]]
            for a in range(width):
                first[a] += x * z[a]
                second[a] += x * q[a]
