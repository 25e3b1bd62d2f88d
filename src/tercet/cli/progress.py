"""Progress of long work, for someone who watches a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tercet.flow import Block, Pass, Source

__all__ = ["WatchedSource", "watch"]

State = TypeVar("State")


class _CountedPass:
    """A pass that tells how many rows it has taken in."""

    def __init__(self, work: Pass[State], advance: Any) -> None:
        self._work = work
        self._advance = advance

    def initial(self) -> Any:
        return self._work.initial()

    def update(self, state: Any, block: Block) -> Any:
        state = self._work.update(state, block)
        self._advance(block.n_rows)
        return state

    def merge(self, left: Any, right: Any) -> Any:
        return self._work.merge(left, right)


class WatchedSource:
    """A source that shows a bar while a pass runs over it.

    Parameters
    ----------
    source : Source
        Where the rows are.
    progress : rich.progress.Progress
        Where the bars are drawn.
    """

    def __init__(self, source: Source, progress: Any) -> None:
        self._source = source
        self._progress = progress
        self._passes = 0
        self._lock = threading.Lock()
        self.n_features = source.n_features
        self.feature_names = source.feature_names
        self.rereadable = source.rereadable

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where the source knows it."""
        return getattr(self._source, "n_rows", None)

    def run(self, work: Pass[State]) -> State:
        """Run a pass and show how far it is."""
        self._passes += 1
        task = self._progress.add_task(f"reading {self._passes}", total=self.n_rows)

        def advance(rows: int) -> None:
            with self._lock:
                self._progress.advance(task, rows)

        try:
            state: State = self._source.run(_CountedPass(work, advance))
        finally:
            self._progress.remove_task(task)
        return state

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        yield from self._source.blocks()


@contextmanager
def watch(source: Source, *, quiet: bool = False) -> Iterator[Source]:
    """Show a bar for each reading of a source, if standard error is a terminal.

    Parameters
    ----------
    source : Source
        Where the rows are.
    quiet : bool
        Show nothing in any case.

    Yields
    ------
    Source
        What to read from.
    """
    if quiet or not sys.stderr.isatty():
        yield source
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield WatchedSource(source, progress)
