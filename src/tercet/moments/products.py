"""Block products: one block of rows against a basis, sparse or dense.

Sparse rows go through the compiled loops, dense rows through BLAS; callers
need not know which.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy import sparse

from tercet.flow import Block, FloatArray, IntArray
from tercet.kernels import sums as kernels

__all__ = [
    "add_block_diagonals",
    "add_block_pair",
    "add_block_slices",
    "add_triples",
    "row_lengths",
    "weighted_total",
]

# Rows whose p x p products are in flight at once; with p = 60 the buffers of
# this many rows stay in a second-level cache.
_TRIPLE_ROWS = 512


def _parts(rows: sparse.csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    return rows.indptr, rows.indices, rows.data


def row_lengths(block: Block) -> FloatArray:
    """Return the number of tokens of each row, in float64."""
    if block.is_sparse:
        rows = cast(sparse.csr_array, block.rows)
        return np.asarray(rows @ np.ones(rows.shape[1]))
    return np.asarray(cast(FloatArray, block.rows).sum(axis=1, dtype=np.float64))


def weighted_total(block: Block, scale: FloatArray) -> FloatArray:
    """Return `sum_i s_i x_i`, shape (d,)."""
    return np.asarray(block.rows.T @ scale)


def add_block_pair(
    block: Block, scale: FloatArray, basis: FloatArray, pair: FloatArray
) -> FloatArray:
    """Add `sum_i s_i x_i z_i'` to `pair` and return the projected rows z (n, p)."""
    projected = np.empty((block.n_rows, basis.shape[1]))
    if block.is_sparse:
        parts = _parts(cast(sparse.csr_array, block.rows))
        kernels.add_pair(*parts, scale, basis, projected, pair)
    else:
        rows = cast(FloatArray, block.rows)
        np.matmul(rows, basis, out=projected)
        pair += rows.T @ (projected * scale[:, None])
    return projected


def add_block_cross(
    block: Block, scale: FloatArray, projected: FloatArray, cross: FloatArray
) -> None:
    """Add `sum_i s_i x_i z_i'` to `cross` for rows already projected."""
    if block.is_sparse:
        parts = _parts(cast(sparse.csr_array, block.rows))
        kernels.add_cross(*parts, scale, projected, cross)
    else:
        cross += cast(FloatArray, block.rows).T @ (projected * scale[:, None])


def add_triples(projected: FloatArray, scale: FloatArray, third: FloatArray) -> None:
    """Add `sum_i s_i z_i (x) z_i (x) z_i` to `third` where a <= b and a <= c.

    The tensor is symmetric, so for each a only the corner from a on is formed:
    p^3 / 3 multiply-adds a row, as matrix products over rows that stay in cache.
    """
    n_rows, width = projected.shape
    for start in range(0, n_rows, _TRIPLE_ROWS):
        stop = start + _TRIPLE_ROWS
        columns = np.ascontiguousarray(projected[start:stop].T)
        scaled = columns * scale[start:stop]
        for a in range(width):
            third[a, a:, a:] += (scaled[a:] * columns[a]) @ columns[a:].T


def add_block_slices(
    block: Block,
    scale: FloatArray,
    basis: FloatArray,
    projected: FloatArray,
    correction: float,
    features: IntArray,
    slices: FloatArray,
) -> None:
    """Add `sum_i s_i x_ir Q_i` to the slices (m, p, p) of the given features."""
    if block.is_sparse:
        position = np.full(block.n_features, -1, dtype=np.int64)
        position[features] = np.arange(features.size)
        width = basis.shape[1]
        parts = _parts(cast(sparse.csr_array, block.rows))
        square = np.empty((width, width))
        kernels.add_slices(
            *parts, scale, basis, projected, correction, position, square, slices
        )
        return
    rows = cast(FloatArray, block.rows)
    for start in range(0, block.n_rows, _TRIPLE_ROWS):
        part = slice(start, start + _TRIPLE_ROWS)
        squares = projected[part, :, None] * projected[part, None, :]
        if correction != 0.0:
            squares -= correction * np.einsum(
                "ij,ja,jb->iab", rows[part], basis, basis, optimize=True
            )
        wanted = rows[part][:, features] * scale[part, None]
        slices += np.tensordot(wanted, squares, axes=(0, 0))


def add_block_diagonals(
    block: Block,
    scale: FloatArray,
    basis: FloatArray,
    correction: float,
    pair: FloatArray,
    diagonals: FloatArray,
) -> None:
    """Add `sum_i s_i x_i z_i'` and `sum_i s_i x_i q_i'`, both (d, p)."""
    if block.is_sparse:
        scratch = np.empty((2, basis.shape[1]))
        parts = _parts(cast(sparse.csr_array, block.rows))
        kernels.add_diagonals(
            *parts, scale, basis, correction, scratch, pair, diagonals
        )
        return
    rows = cast(FloatArray, block.rows)
    projected = rows @ basis
    pair += rows.T @ (projected * scale[:, None])
    squares = projected**2 - correction * (rows @ basis**2)
    diagonals += rows.T @ (squares * scale[:, None])
