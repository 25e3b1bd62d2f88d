"""Coordinates in which the moments of any subset of rows are taken.

With few features, or short rows, the coordinates are the features themselves
and a node's pair moment is its Gram matrix. With many features they are the
leading directions of the pair moment of all rows, a little more than the tree
will have leaves: the centers of a mixture span no more than that, so every
node's moments live there. The rows are projected once, and each node then
costs a few small dense products.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tercet.flow import FloatArray, IntArray
from tercet.hierarchy.rows import Table
from tercet.kernels.sums import add_pair
from tercet.kernels.tree_splits import (
    add_gram,
    add_split_slices,
    fill_dense,
    mirror_upper,
    project_members,
)
from tercet.moments.subspace import orthonormalize

__all__ = [
    "Coordinates",
    "FeatureCoordinates",
    "SubspaceCoordinates",
    "choose_coordinates",
]

# Up to this many features Gram matrices are used.
_MOST_GRAM_FEATURES = 512

# Rows that are turned into dense ones at once, where that is quicker.
_DENSE_ROWS = 1024

# Directions beyond the number of leaves.
_EXTRA_DIRECTIONS = 4
_MOST_DIRECTIONS = 128

# Rows that the directions are learned from, and products with their moment.
_LEARNING_ROWS = 2048
_PRODUCTS = 3


class Coordinates(Protocol):
    """What a split needs to know of the rows of a node; see the two kinds."""

    def sum_pairs(self, members: IntArray, weights: FloatArray) -> FloatArray:
        """Return `sum_i w_i z_i z_i'` (p, p), z being the rows' coordinates."""
        ...

    def sum_slices(
        self, members: IntArray, weights: FloatArray, directions: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return `y_i = u' z_i` (m, 2) and `sum_i w_i z_i y_i y_i'`, packed (p, 3)."""
        ...

    def lift(self, directions: FloatArray) -> FloatArray:
        """Return directions (p, m) among the features (d, m)."""
        ...

    def lower(self, vectors: FloatArray) -> FloatArray:
        """Return what vectors (d, m) are in these coordinates (p, m)."""
        ...

    def multiply(
        self, pairs: FloatArray, total: FloatArray, vectors: FloatArray
    ) -> FloatArray:
        """Return `sum_i w_i x_i x_i' V` (d, m), given `sum_pairs` and `sum_i w_i x_i`."""
        ...


class FeatureCoordinates:
    """The features themselves.

    Parameters
    ----------
    table : Table
        Rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.coordinates import FeatureCoordinates
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.intake import open_source
    >>> table = gather_rows(open_source(np.array([[1, 1], [0, 2]])))
    >>> FeatureCoordinates(table).sum_pairs(np.arange(2), np.ones(2))
    array([[1., 1.],
           [1., 5.]])
    """

    def __init__(self, table: Table) -> None:
        self.table = table

    def sum_pairs(self, members: IntArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrix of a node's rows."""
        matrix = self.table.matrix
        d = self.table.n_features
        gram = np.zeros((d, d))
        # A row of m entries has m (m + 1) / 2 products; BLAS makes d^2 of them,
        # many times as fast.
        if matrix.nnz > 0.2 * matrix.shape[0] * d:
            for start in range(0, members.size, _DENSE_ROWS):
                part = slice(start, start + _DENSE_ROWS)
                rows = np.zeros((members[part].size, d))
                fill_dense(*self.table.entries, members[part], rows)
                gram += (rows * weights[part, None]).T @ rows
            return gram
        add_gram(*self.table.entries, members, weights, gram)
        mirror_upper(gram)
        return gram

    def sum_slices(
        self, members: IntArray, weights: FloatArray, directions: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return projections and whitened slices, one for each feature."""
        projected = np.empty((members.size, 2))
        slices = np.zeros((self.table.n_features, 3))
        basis = np.ascontiguousarray(directions)
        add_split_slices(
            *self.table.entries, members, weights, basis, projected, slices
        )
        return projected, slices

    def lift(self, directions: FloatArray) -> FloatArray:
        """Return the directions: features are the coordinates."""
        return directions

    def lower(self, vectors: FloatArray) -> FloatArray:
        """Return the vectors: features are the coordinates."""
        return vectors

    def multiply(
        self,
        pairs: FloatArray,
        total: FloatArray,  # noqa: ARG002
        vectors: FloatArray,
    ) -> FloatArray:
        """Return the product with the Gram matrix."""
        return pairs @ vectors


class SubspaceCoordinates:
    """Leading directions of the pair moment of all rows.

    Parameters
    ----------
    table : Table
        Rows.
    basis : ndarray of shape (d, p)
        Orthonormal columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.coordinates import SubspaceCoordinates
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.intake import open_source
    >>> table = gather_rows(open_source(np.array([[1, 1, 0], [0, 2, 0]])))
    >>> SubspaceCoordinates(table, np.eye(3)[:, :2]).sum_pairs(np.arange(2), np.ones(2))
    array([[1., 1.],
           [1., 5.]])
    """

    def __init__(self, table: Table, basis: FloatArray) -> None:
        self.basis = np.ascontiguousarray(basis)
        self.projected = np.empty((table.n_rows, basis.shape[1]))
        project_members(
            *table.entries, np.arange(table.n_rows), self.basis, self.projected
        )

    def sum_pairs(self, members: IntArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrix of a node's rows in the subspace."""
        z = self.projected[members]
        return np.asarray((z * weights[:, None]).T @ z)

    def sum_slices(
        self, members: IntArray, weights: FloatArray, directions: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return projections and whitened slices, one for each direction."""
        z = self.projected[members]
        y = z @ directions
        squares = np.stack([y[:, 0] ** 2, y[:, 0] * y[:, 1], y[:, 1] ** 2], axis=1)
        squares *= weights[:, None]
        return y, z.T @ squares

    def lift(self, directions: FloatArray) -> FloatArray:
        """Return the directions among the features."""
        return self.basis @ directions

    def lower(self, vectors: FloatArray) -> FloatArray:
        """Return the parts of vectors that lie in the subspace."""
        return self.basis.T @ vectors

    def multiply(
        self, pairs: FloatArray, total: FloatArray, vectors: FloatArray
    ) -> FloatArray:
        """Return the product with the factorial pairs inside the subspace.

        Expected counts in pairs of different tokens lie in the subspace; the
        pairs of a token with itself are a diagonal, which is added as it is.
        """
        scaled = total[:, None] * self.basis
        inside = pairs - self.basis.T @ scaled
        product = self.basis @ (inside @ (self.basis.T @ vectors))
        return np.asarray(product + total[:, None] * vectors)


def choose_coordinates(
    table: Table, n_leaves: int | None, *, factorial: bool
) -> Coordinates:
    """Return the coordinates that suit a table.

    Parameters
    ----------
    table : Table
        Rows.
    n_leaves : int or None
        Leaves that the tree may get; None if there is no bound.
    factorial : bool
        Whether the pair moment is corrected on its diagonal.

    Returns
    -------
    Coordinates
        Of either kind.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.coordinates import choose_coordinates
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.intake import open_source
    >>> table = gather_rows(open_source(np.eye(3)))
    >>> type(choose_coordinates(table, 2, factorial=False)).__name__
    'FeatureCoordinates'
    """
    if table.n_features <= _MOST_GRAM_FEATURES:
        return FeatureCoordinates(table)
    wanted = _MOST_DIRECTIONS if n_leaves is None else n_leaves + _EXTRA_DIRECTIONS
    width = min(max(wanted, 8), _MOST_DIRECTIONS)
    return SubspaceCoordinates(table, _learn_basis(table, width, factorial=factorial))


def _learn_basis(table: Table, width: int, *, factorial: bool) -> FloatArray:
    """Return leading directions of the pair moment, from rows spread over the table."""
    heavy = np.flatnonzero(table.weights > 0.0)
    count = max(_LEARNING_ROWS, 32 * width)
    step = max(1, heavy.size // count)
    rows = table.matrix if step == 1 else table.matrix[heavy[::step]]
    weights = table.weights if step == 1 else table.weights[heavy[::step]]
    total = rows.T @ weights
    # A start that sees every feature, and none as its neighbour: nothing is drawn.
    spread = np.arange(1.0, table.n_features * width + 1.0)
    block = np.cos(spread * spread * (np.pi * (np.sqrt(5.0) - 1.0)))
    block = block.reshape(table.n_features, width)
    block[:, 0] = total
    for _ in range(_PRODUCTS):
        product = _multiply_rows(rows, weights, block)
        if factorial:
            product -= total[:, None] * block
        block = orthonormalize(product)
    return np.asarray(block)


def _multiply_rows(rows: Any, weights: FloatArray, block: FloatArray) -> FloatArray:
    pair = np.zeros_like(block)
    projected = np.empty((rows.shape[0], block.shape[1]))
    add_pair(
        rows.indptr,
        rows.indices,
        rows.data,
        weights,
        np.ascontiguousarray(block),
        projected,
        pair,
    )
    return np.asarray(pair)
