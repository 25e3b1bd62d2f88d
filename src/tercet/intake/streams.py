"""Rows that arrive block by block: from a callable, a list or an iterator."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, Pass
from tercet.intake.execution import run_arriving
from tercet.intake.memory import choose_block_rows
from tercet.intake.readers import read_table
from tercet.intake.requirements import Requirement
from tercet.intake.tables import Table
from tercet.intake.validation import Audit, validate_block, validate_weights

__all__ = ["StreamSource", "iterate_once", "iterate_with"]

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some rows of one arriving block."""

    table: Table
    first: int
    last: int
    start: int
    weights: FloatArray | None


class StreamSource:
    """Blocks that arrive in order, at most one more in memory than threads.

    Parameters
    ----------
    open_stream : callable
        Gives an iterator of blocks: matrices, data frames, pairs of one of them
        and the weights of its rows, or `Block`.
    rereadable : bool
        Whether `open_stream` may be called again.
    requirement : Requirement
        What the model takes.
    n_threads : int, default=1
        Threads of a run.
    block_rows : int or None, default=None
        Largest number of rows that a pass is shown at once; None chooses a size
        that suits the cache. Smaller blocks stay as they come.
    feature_names : tuple of str or None, default=None
        Names of the columns; None takes those of the first block.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> source = open_source(lambda: iter([np.eye(3), np.ones((2, 3))]))
    >>> source.n_features, [block.start for block in source.blocks()]
    (3, [0, 3])
    """

    def __init__(
        self,
        open_stream: Callable[[], Iterator[Any]],
        rereadable: bool,
        requirement: Requirement,
        n_threads: int = 1,
        block_rows: int | None = None,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        self.rereadable = rereadable
        self.requirement = requirement
        self._open_stream = open_stream
        self._n_threads = n_threads
        self._block_rows = block_rows
        self._n_rows: int | None = None
        self._stream: Iterator[Any] | None = None
        first, _ = _read_item(self._peek(), 0)
        self.n_features = first.n_features
        self.feature_names = feature_names or first.names

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        audit, lock = Audit(), threading.Lock()

        def prepare(piece: _Piece) -> Block:
            block = self._cut(piece)
            with lock:
                audit.add(block)
            return block

        state = run_arriving(work, self._n_threads, self._arrive(), prepare)
        self._conclude(audit)
        return state

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        audit = Audit()
        for piece in self._arrive():
            block = self._cut(piece)
            audit.add(block)
            yield block
        self._conclude(audit)

    def _peek(self) -> Any:
        """Look at the first block, without losing it where it cannot come again."""
        stream = self._open_stream()
        nothing = object()
        first = next(stream, nothing)
        if first is nothing:
            raise DataError(
                "X gave no blocks: there is nothing to learn from. Check that the "
                "iterator is new and that the callable returns its blocks."
            )
        if not self.rereadable:
            self._stream = _resume([first], stream)
        elif hasattr(stream, "close"):
            stream.close()
        return first

    def _start(self) -> Iterator[Any]:
        if self.rereadable:
            return self._open_stream()
        stream, self._stream = self._stream, None
        if stream is None:
            raise DataError(
                "X is an iterator and has been read already; its rows are gone. Pass a "
                "callable that gives the blocks anew (`lambda: read_blocks()`), or a "
                "list of blocks, to read them more than once."
            )
        return stream

    def _arrive(self) -> Iterator[_Piece]:
        start = 0
        for position, item in enumerate(self._start()):
            table, weights = _read_item(item, position, start)
            self._check_columns(table, position)
            n_rows = table.n_rows
            if n_rows == 0:
                continue
            step = self._block_rows or choose_block_rows(table)
            for first in range(0, n_rows, step):
                last = min(first + step, n_rows)
                yield _Piece(
                    table,
                    first,
                    last,
                    start + first,
                    None if weights is None else weights[first:last],
                )
            start += n_rows
            # Let go before the next block is made.
            del item, table, weights

    def _cut(self, piece: _Piece) -> Block:
        table = piece.table
        block = Block(table.cut(piece.first, piece.last), piece.start, piece.weights)
        validate_block(
            block, self.requirement, feature_names=self.feature_names, kind=table.kind
        )
        return block

    def _check_columns(self, table: Table, position: int) -> None:
        if table.n_features != self.n_features:
            raise DataError(
                f"Block {position} of X has {table.n_features} features, but block 0 has "
                f"{self.n_features}; build every block with the same columns in the "
                "same order."
            )
        names = self.feature_names
        if table.names is None or names is None or table.names == names:
            return
        column = next(j for j in range(len(names)) if names[j] != table.names[j])
        raise DataError(
            f"Block {position} of X names column {column} {table.names[column]!r}, but it "
            f"is {names[column]!r} in block 0; build every block with the same columns "
            "in the same order."
        )

    def _conclude(self, audit: Audit) -> None:
        audit.conclude(self.requirement)
        if self._n_rows not in (None, audit.n_rows):
            raise DataError(
                f"X gave {audit.n_rows} rows at this reading but {self._n_rows} at an "
                "earlier one; every call must give the same blocks."
            )
        self._n_rows = audit.n_rows


def iterate_with(give: Callable[[], Iterable[Any]]) -> Callable[[], Iterator[Any]]:
    """Return a callable that gives a fresh iterator each time, or complains.

    Parameters
    ----------
    give : callable
        Gives an iterable of blocks.

    Returns
    -------
    callable
        Gives iterators.

    Examples
    --------
    >>> from tercet.intake.streams import iterate_with
    >>> list(iterate_with(lambda: [1, 2])())
    [1, 2]
    """
    latest: list[Iterator[Any]] = []

    def start() -> Iterator[Any]:
        blocks = give()
        try:
            stream = iter(blocks)
        except TypeError:
            raise ParameterError(
                f"X is a callable that returned a {type(blocks).__name__}; it must "
                "return an iterator of blocks."
            ) from None
        if latest and stream is latest[0]:
            raise ParameterError(
                "X is a callable that returned the same iterator twice; it must make a "
                "new one at each call, since the rows are read several times."
            )
        # Kept so that another iterator cannot take its place in memory.
        latest[:] = [stream]
        return stream

    return start


def iterate_once(stream: Iterator[Any]) -> Callable[[], Iterator[Any]]:
    """Return a callable that gives an iterator which can be read once.

    Parameters
    ----------
    stream : iterator
        Of blocks.

    Returns
    -------
    callable
        Gives that iterator.

    Examples
    --------
    >>> from tercet.intake.streams import iterate_once
    >>> list(iterate_once(iter([1, 2]))())
    [1, 2]
    """
    return lambda: stream


def _resume(taken: list[Any], stream: Iterator[Any]) -> Iterator[Any]:
    """Yield what was taken from a stream, without holding on to it, and the rest."""
    while taken:
        yield taken.pop(0)
    yield from stream


def _read_item(
    item: Any, position: int, start: int = 0
) -> tuple[Table, FloatArray | None]:
    """Read an arriving block: a matrix, a frame, a pair with weights, a `Block`."""
    weights: Any = None
    if isinstance(item, Block):
        item, weights = item.rows, item.weights
    elif isinstance(item, tuple) and len(item) == 2:
        item, weights = item
    try:
        table = read_table(item)
        if weights is not None:
            weights = validate_weights(weights, table.n_rows, start)
    except DataError as error:
        raise DataError(f"Block {position} of X cannot be used. {error}") from error
    return table, weights
