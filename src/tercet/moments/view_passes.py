"""Passes over pairs of rows: commutative monoids that leave two-view sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.flow import Block, FloatArray
from tercet.intake import PairedBlock
from tercet.kernels.sums import project_rows
from tercet.moments.products import add_block_cross, weighted_total
from tercet.moments.views import Pair

__all__ = [
    "CrossPass",
    "CrossState",
    "ViewsPass",
    "ViewsState",
    "project_block",
    "split_views",
]

# Rows whose products are in flight at once; their buffers stay in cache.
_CHUNK = 512


@dataclass(eq=False)
class ViewsState:
    """Everything that `TwoViewMoments` holds but tilted sums, while it grows."""

    n_rows: int
    total_weight: float
    magnitudes: FloatArray
    totals: Pair
    squares: Pair
    centers: Pair
    lifts: Pair
    within: Pair
    cross: FloatArray
    thirds: Pair


@dataclass(frozen=True, eq=False)
class ViewsPass:
    """All sums of pairs of rows against two bases, in one reading.

    Parameters
    ----------
    bases : pair of ndarray, (d1, p1) and (d2, p2)
        C-ordered directions.
    shifts : pair of ndarray, (p1,) and (p2,)
        Taken from projected rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_pair
    >>> from tercet.moments import ViewsPass
    >>> pair = open_pair(np.array([[3.0, 1.0], [2.0, 0.0]]), np.eye(2))
    >>> pair.run(ViewsPass((np.eye(2), np.eye(2)), (np.zeros(2), np.zeros(2)))).cross
    array([[3., 2.],
           [1., 0.]])
    """

    bases: Pair
    shifts: Pair

    def initial(self) -> ViewsState:
        """Return zero sums."""
        (d1, p1), (d2, p2) = self.bases[0].shape, self.bases[1].shape
        packed = (p1 * (p1 + 1) // 2, p2 * (p2 + 1) // 2)
        return ViewsState(
            n_rows=0,
            total_weight=0.0,
            magnitudes=np.zeros(2),
            totals=(np.zeros(d1), np.zeros(d2)),
            squares=(np.zeros(d1), np.zeros(d2)),
            centers=(np.zeros(p1), np.zeros(p2)),
            lifts=(np.zeros((d1, p2)), np.zeros((d2, p1))),
            within=(np.zeros((p1, p1)), np.zeros((p2, p2))),
            cross=np.zeros((p1, p2)),
            thirds=(np.zeros((packed[0], p2)), np.zeros((packed[1], p1))),
        )

    def update(self, state: ViewsState, block: Block) -> ViewsState:
        """Take in one block of pairs."""
        views = split_views(block)
        scale = np.ones(block.n_rows) if block.weights is None else block.weights
        projected = tuple(
            project_block(view, basis) - shift
            for view, basis, shift in zip(views, self.bases, self.shifts, strict=True)
        )
        state.n_rows += block.n_rows
        state.total_weight += float(scale.sum())
        for j, view in enumerate(views):
            magnitude, squares = _measure_sizes(view, scale)
            state.magnitudes[j] += magnitude
            state.squares[j][:] += squares
            state.totals[j][:] += weighted_total(view, scale)
            add_block_cross(view, scale, projected[1 - j], state.lifts[j])
            weighted = projected[j] * scale[:, None]
            state.centers[j][:] += weighted.sum(axis=0)
            state.within[j][:] += weighted.T @ projected[j]
            _add_thirds(projected[j], projected[1 - j], scale, state.thirds[j])
        state.cross += (projected[0] * scale[:, None]).T @ projected[1]
        return state

    def merge(self, left: ViewsState, right: ViewsState) -> ViewsState:
        """Add the right sums to the left."""
        left.n_rows += right.n_rows
        left.total_weight += right.total_weight
        left.magnitudes += right.magnitudes
        left.cross += right.cross
        for j in (0, 1):
            for name in ("totals", "squares", "centers", "lifts", "within", "thirds"):
                getattr(left, name)[j][...] += getattr(right, name)[j]
        return left


@dataclass(eq=False)
class CrossState:
    """Sums of one view against projections of the other, while they grow."""

    n_rows: int
    total_weight: float
    totals: Pair
    center: FloatArray
    lift: FloatArray


@dataclass(frozen=True, eq=False)
class CrossPass:
    """One product with the cross-covariance, which is never formed.

    Parameters
    ----------
    basis : ndarray of shape (d, p)
        C-ordered directions in view `side`; none (p = 0) for the totals alone.
    shift : ndarray of shape (p,)
        Taken from projected rows.
    side : {0, 1}
        The view that is projected; the other one is summed against it.
    n_other : int
        Features of the other view.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_pair
    >>> from tercet.moments import CrossPass
    >>> pair = open_pair(np.array([[3.0, 1.0], [2.0, 0.0]]), np.eye(2))
    >>> pair.run(CrossPass(np.ones((2, 1)), np.zeros(1), 1, 2)).lift.ravel()
    array([5., 1.])
    """

    basis: FloatArray
    shift: FloatArray
    side: int
    n_other: int

    def initial(self) -> CrossState:
        """Return zero sums."""
        d, p = self.basis.shape
        sizes = (d, self.n_other) if self.side == 0 else (self.n_other, d)
        return CrossState(
            n_rows=0,
            total_weight=0.0,
            totals=(np.zeros(sizes[0]), np.zeros(sizes[1])),
            center=np.zeros(p),
            lift=np.zeros((self.n_other, p)),
        )

    def update(self, state: CrossState, block: Block) -> CrossState:
        """Take in one block of pairs."""
        views = split_views(block)
        scale = np.ones(block.n_rows) if block.weights is None else block.weights
        state.n_rows += block.n_rows
        state.total_weight += float(scale.sum())
        for j in (0, 1):
            state.totals[j][:] += weighted_total(views[j], scale)
        if self.basis.shape[1]:
            projected = project_block(views[self.side], self.basis) - self.shift
            state.center += scale @ projected
            add_block_cross(views[1 - self.side], scale, projected, state.lift)
        return state

    def merge(self, left: CrossState, right: CrossState) -> CrossState:
        """Add the right sums to the left."""
        left.n_rows += right.n_rows
        left.total_weight += right.total_weight
        left.center += right.center
        left.lift += right.lift
        for j in (0, 1):
            left.totals[j][:] += right.totals[j]
        return left


def split_views(block: Block) -> tuple[Block, Block]:
    """Return the two views of a block of pairs.

    Parameters
    ----------
    block : Block
        A `PairedBlock`.

    Returns
    -------
    pair of Block
        The same rows in each view.
    """
    if not isinstance(block, PairedBlock):
        raise ParameterError(
            f"block={type(block).__name__} holds one view; passes over two views run "
            "over the source that tercet.intake.open_pair returns."
        )
    return block.first_block, block.second_block


def project_block(block: Block, basis: FloatArray) -> FloatArray:
    """Return `B' x_i` for each row, shape (n, p).

    Parameters
    ----------
    block : Block
        Rows of one view.
    basis : ndarray of shape (d, p)
        C-ordered directions.

    Returns
    -------
    ndarray of shape (n, p)
        Projected rows.
    """
    if not block.is_sparse:
        return np.asarray(cast(FloatArray, block.rows) @ basis)
    rows = cast(sparse.csr_array, block.rows)
    projected = np.empty((block.n_rows, basis.shape[1]))
    project_rows(rows.indptr, rows.indices, rows.data, basis, projected)
    return projected


def _measure_sizes(block: Block, scale: FloatArray) -> tuple[float, FloatArray]:
    """Return the weighted sum of absolute values and of squares of each feature."""
    if not block.is_sparse:
        rows = cast(FloatArray, block.rows)
        return float(scale @ np.abs(rows).sum(axis=1)), np.asarray(scale @ rows**2)
    table = cast(sparse.csr_array, block.rows)
    each = np.repeat(scale, np.diff(table.indptr))
    squares = np.bincount(
        table.indices, weights=each * table.data**2, minlength=table.shape[1]
    )
    return float(each @ np.abs(table.data)), np.asarray(squares, dtype=np.float64)


def _add_thirds(
    twice: FloatArray, once: FloatArray, scale: FloatArray, third: FloatArray
) -> None:
    """Add `sum_i s_i y_a y_c z_b` for a <= c, as matrix products."""
    first, last = np.triu_indices(twice.shape[1])
    for start in range(0, twice.shape[0], _CHUNK):
        rows = slice(start, start + _CHUNK)
        products = twice[rows][:, first] * twice[rows][:, last]
        third += products.T @ (once[rows] * scale[rows, None])
