"""Small passes: two in one reading, lengths of rows, rows that follow others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from tercet.flow import Block, FloatArray, Pass, Source

__all__ = ["BothPass", "LaterSource", "LengthPass", "Lengths"]

Left = TypeVar("Left")
Right = TypeVar("Right")
State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class BothPass(Generic[Left, Right]):
    """Two passes side by side: the product of two monoids is one, too.

    Parameters
    ----------
    left, right : Pass
        The passes.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block, MomentPlan
    >>> from tercet.models.passing import BothPass
    >>> from tercet.moments import TallyPass
    >>> tally = TallyPass(2, MomentPlan("rows"))
    >>> work = BothPass(tally, tally)
    >>> [t.n_rows for t in work.update(work.initial(), Block(np.eye(2)))]
    [2, 2]
    """

    left: Pass[Left]
    right: Pass[Right]

    def initial(self) -> tuple[Left, Right]:
        """Return both identities."""
        return self.left.initial(), self.right.initial()

    def update(self, state: tuple[Left, Right], block: Block) -> tuple[Left, Right]:
        """Show a block to both."""
        return self.left.update(state[0], block), self.right.update(state[1], block)

    def merge(
        self, left: tuple[Left, Right], right: tuple[Left, Right]
    ) -> tuple[Left, Right]:
        """Merge each with its like."""
        return self.left.merge(left[0], right[0]), self.right.merge(left[1], right[1])


@dataclass(eq=False)
class Lengths:
    """Tokens of rows, by the first row of each block.

    Parameters
    ----------
    pieces : list of (int, ndarray)
        Index of a block's first row, and the tokens of its rows.
    """

    pieces: list[tuple[int, FloatArray]] = field(default_factory=list)

    def join(self) -> FloatArray:
        """Return the tokens of all rows, in order."""
        ordered = [piece for _, piece in sorted(self.pieces, key=lambda p: p[0])]
        return np.concatenate([np.empty(0), *ordered])


@dataclass(frozen=True, eq=False)
class LengthPass:
    """Tokens of every row, times the row's weight.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.models.passing import LengthPass
    >>> work = LengthPass()
    >>> work.update(work.initial(), Block(np.eye(2))).join()
    array([1., 1.])
    """

    def initial(self) -> Lengths:
        """Return no lengths."""
        return Lengths()

    def update(self, state: Lengths, block: Block) -> Lengths:
        """Measure one block."""
        tokens = np.asarray(block.rows.sum(axis=1), dtype=np.float64).ravel()
        if block.weights is not None:
            tokens = tokens * block.weights
        state.pieces.append((block.start, tokens))
        return state

    def merge(self, left: Lengths, right: Lengths) -> Lengths:
        """Put the blocks of both together."""
        left.pieces.extend(right.pieces)
        return left


class LaterSource:
    """The rows of a source, numbered from a later start on.

    What is drawn at random for a row depends on its number, so that batches
    which follow each other are treated as the parts of one table.

    Parameters
    ----------
    source : Source
        The rows.
    start : int
        Number of the first one.

    Examples
    --------
    >>> from tercet.intake import open_source
    >>> from tercet.models.passing import LaterSource
    >>> [block.start for block in LaterSource(open_source([[1, 2]]), 7).blocks()]
    [7]
    """

    def __init__(self, source: Source, start: int) -> None:
        self.n_features = source.n_features
        self.feature_names = source.feature_names
        self.rereadable = source.rereadable
        self.requirement: Any = getattr(source, "requirement", None)
        self._source = source
        self._start = int(start)

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        return self._source.run(_LaterPass(work, self._start))

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        for block in self._source.blocks():
            yield replace(block, start=block.start + self._start)


@dataclass(frozen=True, eq=False)
class _LaterPass(Generic[State]):
    """Another pass, which is shown blocks with a later start."""

    work: Pass[State]
    start: int

    def initial(self) -> State:
        """Return the identity of the other pass."""
        return self.work.initial()

    def update(self, state: State, block: Block) -> State:
        """Show the other pass a block."""
        return self.work.update(state, replace(block, start=block.start + self.start))

    def merge(self, left: State, right: State) -> State:
        """Merge as the other pass does."""
        return self.work.merge(left, right)
