"""Small passes: two in one reading of the rows, and the lengths of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from tercet.flow import Block, FloatArray, Pass

__all__ = ["BothPass", "LengthPass", "Lengths"]

Left = TypeVar("Left")
Right = TypeVar("Right")


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
