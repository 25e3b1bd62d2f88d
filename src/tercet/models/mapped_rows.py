"""A source whose blocks are changed on their way to a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse

from tercet.flow import Block, FloatArray, IntArray, Pass, Source

__all__ = [
    "MappedSource",
    "fill_gaps",
    "take_columns",
    "threshold_block",
    "weigh_block",
]

State = TypeVar("State")


class MappedSource:
    """Another source, whose blocks go through a function first.

    Parameters
    ----------
    source : Source
        Rows.
    function : callable
        Takes a block and returns one with as many rows; called from several
        threads at once.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.models.mapped_rows import MappedSource, threshold_block
    >>> source = open_source(np.array([[0.2, 0.7]]), requirement="reals")
    >>> binary = MappedSource(source, lambda block: threshold_block(block, 0.5))
    >>> next(binary.blocks()).rows
    array([[0., 1.]])
    """

    def __init__(self, source: Source, function: Callable[[Block], Block]) -> None:
        self.n_features = source.n_features
        self.feature_names = source.feature_names
        self.rereadable = source.rereadable
        self.source = source
        self._function = function

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        return self.source.run(_MappedPass(work, self._function))

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        for block in self.source.blocks():
            yield self._function(block)


@dataclass(frozen=True)
class _MappedPass(Generic[State]):
    """Another pass, which is shown changed blocks."""

    work: Pass[State]
    function: Callable[[Block], Block]

    def initial(self) -> State:
        """Return the identity of the other pass."""
        return self.work.initial()

    def update(self, state: State, block: Block) -> State:
        """Show the other pass a changed block."""
        return self.work.update(state, self.function(block))

    def merge(self, left: State, right: State) -> State:
        """Merge as the other pass does."""
        return self.work.merge(left, right)


def threshold_block(block: Block, threshold: float) -> Block:
    """Return a block with one for every value above a threshold, else zero.

    Parameters
    ----------
    block : Block
        Rows; NaN stays what it is.
    threshold : float
        Not negative for sparse rows, whose zeros are not stored.

    Returns
    -------
    Block
        Binary rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.models.mapped_rows import threshold_block
    >>> threshold_block(Block(np.array([[3.0, 0.0, np.nan]])), 0.0).rows
    array([[ 1.,  0., nan]])
    """
    rows: Any = block.rows
    if sparse.issparse(rows):
        ones = (rows.data > threshold).astype(np.float64)
        rows = sparse.csr_array((ones, rows.indices, rows.indptr), shape=rows.shape)
        if not ones.all():
            # The structure above is that of the block, which is not ours.
            rows = rows.copy()
            rows.eliminate_zeros()
        return replace(block, rows=rows)
    ones = (rows > threshold).astype(np.float64)
    return replace(block, rows=np.where(np.isnan(rows), np.nan, ones))


def weigh_block(block: Block, factors: FloatArray) -> Block:
    """Return a block whose row weights are multiplied by factors.

    Parameters
    ----------
    block : Block
        Rows.
    factors : ndarray of shape (n,)
        A factor for each row of the whole source.

    Returns
    -------
    Block
        The same rows with other weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.models.mapped_rows import weigh_block
    >>> weigh_block(Block(np.ones((1, 2)), start=1), np.array([5.0, 7.0])).weights
    array([7.])
    """
    part = factors[block.start : block.start + block.n_rows]
    return replace(
        block, weights=part if block.weights is None else block.weights * part
    )


def fill_gaps(block: Block, values: FloatArray) -> Block:
    """Return a block in which missing entries have the values of their columns.

    Parameters
    ----------
    block : Block
        Rows.
    values : ndarray of shape (d,)
        A value for each column.

    Returns
    -------
    Block
        Rows without NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.models.mapped_rows import fill_gaps
    >>> fill_gaps(Block(np.array([[np.nan, 1.0]])), np.array([0.5, 0.5])).rows
    array([[0.5, 1. ]])
    """
    rows: Any = block.rows
    if sparse.issparse(rows):
        return block
    return replace(block, rows=np.where(np.isnan(rows), values, rows))


def take_columns(block: Block, columns: IntArray) -> Block:
    """Return a block of some of the columns.

    Parameters
    ----------
    block : Block
        Rows.
    columns : ndarray of int
        Which columns are kept, ascending.

    Returns
    -------
    Block
        The same rows with fewer columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.models.mapped_rows import take_columns
    >>> take_columns(Block(np.array([[1.0, 2.0, 3.0]])), np.array([0, 2])).rows
    array([[1., 3.]])
    """
    rows: Any = block.rows
    return replace(block, rows=rows[:, columns])
