"""Two views of the same rows, side by side, as a source of blocks.

Row i of the first view and row i of the second are two looks at one thing: a
speech and its translation, a picture and its caption. Nothing but their order
holds them together, so different numbers of rows are an error of its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.exceptions import AlignmentError, DataError, ParameterError
from tercet.flow import Block, FloatArray, Pass, Source
from tercet.intake.execution import (
    count_threads,
    run_arriving,
    run_shares,
    share_evenly,
)
from tercet.intake.memory import choose_block_rows
from tercet.intake.readers import is_sequence_of_blocks, is_table, read_table
from tercet.intake.requirements import Requirement
from tercet.intake.sources import open_source
from tercet.intake.tables import SparseTable, Table
from tercet.intake.validation import Audit, validate_block, validate_weights

__all__ = ["PairedBlock", "PairedSource", "open_pair"]

State = TypeVar("State")
Rows: TypeAlias = sparse.csr_array | FloatArray


@dataclass(frozen=True, eq=False)
class PairedBlock(Block):
    """A run of consecutive rows of two views; `rows` are those of the first.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n, d1)
        Rows in the first view.
    start : int
        Index of the first row in the whole source.
    weights : ndarray of shape (n,) or None
        Row weights; None means one each.
    second : csr_array or ndarray of shape (n, d2)
        The same rows in the second view.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import PairedBlock
    >>> block = PairedBlock(np.ones((2, 3)), second=np.ones((2, 5)))
    >>> block.first_block.n_features, block.second_block.n_features
    (3, 5)
    """

    second: Rows = field(kw_only=True)

    @property
    def first_block(self) -> Block:
        """The rows of the first view."""
        return Block(self.rows, self.start, self.weights)

    @property
    def second_block(self) -> Block:
        """The rows of the second view."""
        return Block(self.second, self.start, self.weights)


@runtime_checkable
class PairedSource(Protocol):
    """Rows of two views that a pass can be run over; a `tercet.flow.Source`.

    Its blocks are `PairedBlock`; `n_features` and `feature_names` are those of
    the first view.
    """

    n_features: int
    second_features: int
    feature_names: tuple[str, ...] | None
    second_names: tuple[str, ...] | None
    rereadable: bool

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every pair of rows and return its final state."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield the pairs of rows block by block, in order."""
        ...


def open_pair(
    X1: Any,
    X2: Any,
    *,
    sample_weight: ArrayLike | None = None,
    requirements: Sequence[Requirement | str] = (
        Requirement.COUNTS,
        Requirement.COUNTS,
    ),
    n_jobs: int | None = None,
    block_rows: int | None = None,
) -> PairedSource:
    """Open two views of the same rows as one source.

    Parameters
    ----------
    X1, X2 : array, sparse array, data frame, blocks, callable, iterator or Source
        The views, each in any form that `open_source` takes. Streams need not be
        cut at the same rows. Weights may come with the blocks of either stream.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the pairs of rows, if at least one view is in memory.
    requirements : pair of {"counts", "reals", ...}, default=("counts", "counts")
        Values that are allowed in each view.
    n_jobs : int or None, default=None
        Threads of a run; None is one, -1 all cores.
    block_rows : int or None, default=None
        Largest number of rows that a pass is shown at once; None chooses a size
        that suits the cache.

    Returns
    -------
    PairedSource
        Pairs of rows, checked as they go by.

    Raises
    ------
    AlignmentError
        If the views have different numbers of rows; for streams, when the
        shorter one ends.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.pairs import open_pair
    >>> pair = open_pair(np.eye(3), np.ones((3, 2)))
    >>> pair.n_features, pair.second_features
    (3, 2)
    >>> open_pair(np.eye(3), np.ones((4, 2)))
    Traceback (most recent call last):
    ...
    tercet.exceptions.AlignmentError: X1 has 3 rows, but X2 has 4: row i of one \
view must belong to row i of the other. Drop the rows that have no counterpart.
    """
    if len(requirements) != 2:
        raise ParameterError(
            f"requirements={requirements!r} must name one requirement for each of the "
            "two views."
        )
    wanted = (Requirement(str(requirements[0])), Requirement(str(requirements[1])))
    if all(_is_in_memory(view) for view in (X1, X2)):
        tables = (_named("X1", read_table, X1), _named("X2", read_table, X2))
        return _MemoryPair(tables, wanted, sample_weight, n_jobs, block_rows)
    sources = []
    for name, view, kind in zip(("X1", "X2"), (X1, X2), wanted, strict=True):
        heavy = sample_weight if _is_in_memory(view) else None
        sources.append(
            _named(name, open_source, view, requirement=kind, sample_weight=heavy)
        )
    if sample_weight is not None and not any(_is_in_memory(v) for v in (X1, X2)):
        raise ParameterError(
            "sample_weight is for rows in memory; blocks bring their own weights, as "
            "pairs (rows, weights)."
        )
    return _StreamPair(sources[0], sources[1], count_threads(n_jobs), block_rows)


class _MemoryPair:
    """Two tables, cut at the same rows and shared among threads."""

    rereadable = True

    def __init__(
        self,
        tables: tuple[Table, Table],
        requirements: tuple[Requirement, Requirement],
        sample_weight: ArrayLike | None,
        n_jobs: int | None,
        block_rows: int | None,
    ) -> None:
        first, second = tables
        if first.n_rows != second.n_rows:
            _refuse_lengths(first.n_rows, second.n_rows)
        if first.n_rows == 0:
            raise DataError("X1 and X2 have no rows: there is nothing to learn from.")
        self.n_rows = first.n_rows
        self.n_features = first.n_features
        self.second_features = second.n_features
        self.feature_names = first.names
        self.second_names = second.names
        self._tables = tables
        self._requirements = requirements
        self._weights = (
            None
            if sample_weight is None
            else validate_weights(sample_weight, self.n_rows)
        )
        self._block_rows = block_rows or min(choose_block_rows(t) for t in tables)
        self._n_threads = count_threads(n_jobs)
        self._validated = False

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every pair of rows and return its final state."""
        starts = range(0, self.n_rows, self._block_rows)
        costs = [
            sum(t.measure_bytes(s, self._stop(s)) for t in self._tables) for s in starts
        ]
        shares = share_evenly(costs, self._n_threads)
        audits = [(Audit(), Audit()) for _ in shares]

        def feed(share: int) -> Iterator[Block]:
            first, last = shares[share]
            return self._cut(starts[first:last], audits[share])

        state = run_shares(work, len(shares), feed)
        self._conclude(audits)
        return state

    def blocks(self) -> Iterator[Block]:
        """Yield the pairs of rows block by block, in order."""
        audits = (Audit(), Audit())
        yield from self._cut(range(0, self.n_rows, self._block_rows), audits)
        self._conclude([audits])

    def _stop(self, start: int) -> int:
        return min(start + self._block_rows, self.n_rows)

    def _cut(self, starts: range, audits: tuple[Audit, Audit]) -> Iterator[Block]:
        unknown = not self._validated
        names = (self.feature_names, self.second_names)
        for start in starts:
            stop = self._stop(start)
            weights = None if self._weights is None else self._weights[start:stop]
            rows, second = (table.cut(start, stop) for table in self._tables)
            block = PairedBlock(rows, start, weights, second=second)
            if unknown:
                for place, view in enumerate((block.first_block, block.second_block)):
                    _named(
                        f"X{place + 1}",
                        validate_block,
                        view,
                        self._requirements[place],
                        feature_names=names[place],
                        kind=self._tables[place].kind,
                    )
                    audits[place].add(view)
            yield block

    def _conclude(self, audits: list[tuple[Audit, Audit]]) -> None:
        if self._validated:
            return
        for place in (0, 1):
            total = Audit()
            for pair in audits:
                total.join(pair[place])
            _named(f"X{place + 1}", total.conclude, self._requirements[place])
        self._validated = True


class _StreamPair:
    """Two sources read in step, cut where either of them is cut."""

    def __init__(
        self, first: Source, second: Source, n_threads: int, block_rows: int | None
    ) -> None:
        self.n_features = first.n_features
        self.second_features = second.n_features
        self.feature_names = first.feature_names
        self.second_names = second.feature_names
        self.rereadable = first.rereadable and second.rereadable
        self._sources = (first, second)
        self._n_threads = n_threads
        self._block_rows = block_rows

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every pair of rows and return its final state."""
        return run_arriving(work, self._n_threads, self.blocks(), lambda block: block)

    def blocks(self) -> Iterator[Block]:
        """Yield the pairs of rows block by block, in order."""
        left, right = (_Rest(source.blocks()) for source in self._sources)
        start = 0
        while True:
            rows = min(left.fill("X1"), right.fill("X2"))
            if rows == 0:
                break
            rows = min(rows, self._block_rows or rows)
            first, second = left.take(rows), right.take(rows)
            yield PairedBlock(
                first.rows, start, _join_weights(first, second), second=second.rows
            )
            start += rows
        if left.left or right.left:
            _refuse_lengths(start + left.drain(), start + right.drain())


class _Rest:
    """What is left of a stream of blocks, taken a few rows at a time."""

    def __init__(self, stream: Iterator[Block]) -> None:
        self._stream = stream
        self._block: Block | None = None
        self._used = 0

    @property
    def left(self) -> int:
        """Rows at hand."""
        return 0 if self._block is None else self._block.n_rows - self._used

    def fill(self, name: str) -> int:
        """Return how many rows are at hand; zero at the end of the stream."""
        while self.left == 0:
            following = _named(name, next, self._stream, None)
            if following is None:
                return 0
            self._block, self._used = following, 0
        return self.left

    def take(self, n_rows: int) -> Block:
        """Return the next rows, which must be at hand."""
        block = cast(Block, self._block)
        start, stop = self._used, self._used + n_rows
        self._used = stop
        if start == 0 and stop == block.n_rows:
            return block
        weights = None if block.weights is None else block.weights[start:stop]
        if block.is_sparse:
            rows: Rows = SparseTable(cast(sparse.csr_array, block.rows)).cut(
                start, stop
            )
        else:
            rows = cast(FloatArray, block.rows)[start:stop]
        return Block(rows, block.start + start, weights)

    def drain(self) -> int:
        """Count the rows that are left, to the end of the stream."""
        return self.left + sum(block.n_rows for block in self._stream)


def _is_in_memory(view: Any) -> bool:
    plain = isinstance(view, list | tuple) and not is_sequence_of_blocks(view)
    return is_table(view) or plain


def _join_weights(first: Block, second: Block) -> FloatArray | None:
    if first.weights is None or second.weights is None:
        return second.weights if first.weights is None else first.weights
    if not np.array_equal(first.weights, second.weights):
        row = first.start + int(np.argmax(first.weights != second.weights))
        raise DataError(
            f"The blocks of X1 and of X2 bring different weights for row {row}; a pair "
            "of rows has one weight. Give the weights with one of the views."
        )
    return first.weights


def _refuse_lengths(first: int, second: int) -> None:
    raise AlignmentError(
        f"X1 has {first} rows, but X2 has {second}: row i of one view must belong to "
        "row i of the other. Drop the rows that have no counterpart."
    )


def _named(name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a reader or a check, and say which view its complaint is about."""
    try:
        return call(*args, **kwargs)
    except AlignmentError:
        raise
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
