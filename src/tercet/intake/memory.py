"""A source whose rows are all in memory, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import Block, FloatArray, Pass
from tercet.intake.execution import run_shares, share_evenly
from tercet.intake.requirements import Requirement
from tercet.intake.tables import SparseTable, Table
from tercet.intake.validation import Audit, validate_block

__all__ = ["MemorySource", "choose_block_rows"]

State = TypeVar("State")

BLOCK_BYTES = 2 << 20
"""Bytes of a block by default: about the second-level cache of a core."""

_FEWEST_ROWS, _MOST_ROWS = 16, 1 << 16


class MemorySource:
    """Rows of one table, cut into blocks and shared among threads.

    The values are checked during the first run that reaches the end, and not
    again.

    Parameters
    ----------
    table : Table
        The rows.
    requirement : Requirement
        What the model takes.
    weights : ndarray of shape (n,) or None, default=None
        Row weights, already checked.
    n_threads : int, default=1
        Threads of a run.
    block_rows : int or None, default=None
        Rows of a block; None chooses a size that suits the cache.
    feature_names : tuple of str or None, default=None
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> source = open_source(np.arange(6).reshape(3, 2), block_rows=2)
    >>> [block.n_rows for block in source.blocks()]
    [2, 1]
    """

    rereadable = True

    def __init__(
        self,
        table: Table,
        requirement: Requirement,
        weights: FloatArray | None = None,
        n_threads: int = 1,
        block_rows: int | None = None,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        self.n_features = table.n_features
        self.n_rows = table.n_rows
        self.feature_names = feature_names
        self.requirement = requirement
        self.block_rows = block_rows or choose_block_rows(table)
        self._table = table
        self._weights = weights
        self._n_threads = n_threads
        self._validated = False
        self._only: Block | None = None  # all rows, if they make one block

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        starts = range(0, self.n_rows, self.block_rows)
        costs = [self._table.measure_bytes(*self._limits(start)) for start in starts]
        shares = share_evenly(costs, self._n_threads)
        audits = [Audit() for _ in shares]

        def feed(share: int) -> Iterator[Block]:
            first, last = shares[share]
            return self._cut(starts[first:last], audits[share])

        state = run_shares(work, len(shares), feed)
        self._conclude(audits)
        return state

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        audit = Audit()
        yield from self._cut(range(0, self.n_rows, self.block_rows), audit)
        self._conclude([audit])

    def whole_sparse(self) -> Block | None:
        """Return all rows as one block without a copy, or None for dense rows."""
        if not isinstance(self._table, SparseTable):
            return None
        audit = Audit()
        for _ in self._cut(range(0, self.n_rows, self.block_rows), audit):
            pass
        self._conclude([audit])
        return Block(self._table.cut(0, self.n_rows), 0, self._weights)

    def _limits(self, start: int) -> tuple[int, int]:
        return start, min(start + self.block_rows, self.n_rows)

    def _block(self, start: int) -> Block:
        """Return a block; all rows in one are kept, as cutting them has a price."""
        first, last = self._limits(start)
        weights = None if self._weights is None else self._weights[first:last]
        block = Block(self._table.cut(first, last), first, weights)
        if last - first == self.n_rows:
            self._only = block
        return block

    def _cut(self, starts: range, audit: Audit) -> Iterator[Block]:
        unknown = not self._validated
        for start in starts:
            block = self._only or self._block(start)
            if unknown:
                validate_block(
                    block,
                    self.requirement,
                    feature_names=self.feature_names,
                    kind=self._table.kind,
                )
                audit.add(block)
            yield block

    def _conclude(self, audits: list[Audit]) -> None:
        if self._validated:
            return
        total = Audit()
        for audit in audits:
            total.join(audit)
        total.conclude(self.requirement)
        self._validated = True


def choose_block_rows(table: Table) -> int:
    """Return how many rows of a table make a block of a few megabytes.

    Parameters
    ----------
    table : Table
        Rows in memory.

    Returns
    -------
    int
        Between 16 and 65,536.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.memory import choose_block_rows
    >>> from tercet.intake.tables import read_array
    >>> choose_block_rows(read_array(np.zeros((10, 1024))))
    256
    """
    if table.n_rows == 0:
        raise DataError("X has no rows: there is nothing to learn from.")
    row_bytes = table.measure_bytes(0, table.n_rows) / table.n_rows
    rows = BLOCK_BYTES / max(row_bytes, 1.0)
    return int(np.clip(rows, _FEWEST_ROWS, _MOST_ROWS))
