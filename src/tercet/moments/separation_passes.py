"""Sums of whitened rows from which independent components are told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np
from scipy import sparse

from tercet.flow import Block, FloatArray, Pass, Source
from tercet.moments.view_passes import project_block

__all__ = [
    "CenteredSource",
    "FourthPass",
    "FourthState",
    "SpreadPass",
    "choose_chunk",
]

State = TypeVar("State")

# Rows whose products are in flight at once: their buffers stay in cache, and there
# are enough of them that calls cost little.
_FEWEST_ROWS, _VALUES = 512, 8192


def choose_chunk(k: int) -> int:
    """Return how many rows of some sources are worked on at once.

    Parameters
    ----------
    k : int
        Number of sources.

    Returns
    -------
    int
        Rows; the same for any cut into blocks.

    Examples
    --------
    >>> from tercet.moments.separation_passes import choose_chunk
    >>> choose_chunk(4), choose_chunk(20)
    (2048, 512)
    """
    return max(_FEWEST_ROWS, _VALUES // k)


class CenteredSource:
    """Rows less a mean, dense block by block.

    Products of rows far from zero lose digits that those of centred rows keep.

    Parameters
    ----------
    source : Source
        Rows.
    mean : ndarray of shape (d,)
        What is taken from each.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.moments.separation_passes import CenteredSource
    >>> rows = CenteredSource(open_source(np.eye(2) + 5.0), np.full(2, 5.0))
    >>> next(rows.blocks()).rows
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, source: Source, mean: FloatArray) -> None:
        self.n_features = source.n_features
        self.feature_names = source.feature_names
        self.rereadable = source.rereadable
        self._source = source
        self._mean = mean

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        return self._source.run(_CenteredPass(work, self._mean))

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        for block in self._source.blocks():
            yield _center(block, self._mean)


class _CenteredPass(Generic[State]):
    """A pass that is shown centred rows."""

    def __init__(self, work: Pass[State], mean: FloatArray) -> None:
        self._work = work
        self._mean = mean
        self.initial = work.initial
        self.merge = work.merge

    def update(self, state: State, block: Block) -> State:
        return self._work.update(state, _center(block, self._mean))


def _center(block: Block, mean: FloatArray) -> Block:
    rows = block.rows
    if block.is_sparse:
        rows = cast(sparse.csr_array, rows).toarray()
    return Block(cast(FloatArray, rows) - mean, block.start, block.weights)


@dataclass(frozen=True, eq=False)
class SpreadPass:
    """Sums of `(x - m) (x - m)'`, for few features.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        The m.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.moments.separation_passes import SpreadPass
    >>> rows = open_source(np.array([[1.0, 2.0], [3.0, 2.0]]))
    >>> rows.run(SpreadPass(np.array([2.0, 1.0])))
    array([[2., 0.],
           [0., 2.]])
    """

    mean: FloatArray

    def initial(self) -> FloatArray:
        """Return zero sums."""
        return np.zeros((self.mean.size, self.mean.size))

    def update(self, state: FloatArray, block: Block) -> FloatArray:
        """Take in one block of rows."""
        rows = cast(FloatArray, _center(block, self.mean).rows)
        scaled = rows if block.weights is None else rows * block.weights[:, None]
        state += scaled.T @ rows
        return state

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Add the right sums to the left."""
        left += right
        return left


@dataclass(eq=False)
class FourthState:
    """Third and fourth sums of whitened rows, while they grow."""

    mass: float
    thirds: FloatArray
    fourths: FloatArray


@dataclass(frozen=True, eq=False)
class FourthPass:
    """Sums of `z_a z_b z_c` and `z_a z_b z_c^2` of projected rows, a <= b.

    Parameters
    ----------
    directions : ndarray of shape (d, k)
        C-ordered directions.
    shift : ndarray of shape (k,)
        Taken from projected rows.
    stride : int
        Only each row whose number is a multiple of it is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.moments.separation_passes import FourthPass
    >>> rows = open_source(np.array([[1.0], [2.0], [3.0]]), requirement="reals")
    >>> state = rows.run(FourthPass(np.eye(1), np.zeros(1), stride=2))
    >>> state.mass, state.thirds, state.fourths
    (2.0, array([[28.]]), array([[82.]]))
    """

    directions: FloatArray
    shift: FloatArray
    stride: int = 1

    def initial(self) -> FourthState:
        """Return zero sums."""
        k = self.directions.shape[1]
        packed = (k * (k + 1) // 2, k)
        return FourthState(0.0, np.zeros(packed), np.zeros(packed))

    def update(self, state: FourthState, block: Block) -> FourthState:
        """Take in one block of rows."""
        # Rows are chosen by their number, so that no cut changes the choice.
        chosen = slice(-block.start % self.stride, None, self.stride)
        rows = Block(block.rows[chosen]) if self.stride > 1 else block
        scale = np.ones(block.n_rows) if block.weights is None else block.weights
        scale = scale[chosen]
        projected = project_block(rows, self.directions) - self.shift
        state.mass += float(scale.sum())
        n_rows, k = projected.shape
        first, last = np.triu_indices(k)
        chunk = choose_chunk(k)
        for start in range(0, n_rows, chunk):
            some = slice(start, start + chunk)
            # A direction lies in one piece, so that pairs are products of vectors.
            z = np.ascontiguousarray(projected[some].T)
            products = (z * scale[some])[first] * z[last]
            state.thirds += products @ z.T
            state.fourths += products @ (z * z).T
        return state

    def merge(self, left: FourthState, right: FourthState) -> FourthState:
        """Add the right sums to the left."""
        left.mass += right.mass
        left.thirds += right.thirds
        left.fourths += right.fourths
        return left
