"""Progress of long work, for someone who watches a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tercet.flow import Block
from tercet.intake import CorpusReader

__all__ = ["Watch", "WatchedReader", "watch"]


class WatchedReader:
    """Rows of a reader, with a bar for each reading of them.

    Parameters
    ----------
    reader : CorpusReader
        Whose rows are read.
    watch : Watch
        Where the bars are drawn.

    Attributes
    ----------
    feature_names : tuple of str or None
        Those of the reader.
    text_pipeline : TextPipeline or None
        That of the reader.
    """

    def __init__(self, reader: CorpusReader, watch: Watch) -> None:
        self._reader = reader
        self._watch = watch
        self._n_passes = 0
        self.feature_names = reader.feature_names
        self.text_pipeline = reader.text_pipeline

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows and move the bar."""
        self._n_passes += 1
        title = f"pass {self._n_passes} over the rows"
        with self._watch.task(title, self._reader.n_rows) as advance:
            for block in self._reader:
                yield block
                advance(block.n_rows)


class Watch:
    """Bars on standard error, or nothing.

    Parameters
    ----------
    progress : rich.progress.Progress or None
        Draws the bars; None draws nothing.

    Examples
    --------
    >>> from tercet.cli.progress import Watch
    >>> with Watch(None).task("waiting", 10) as advance:
    ...     advance(5)
    """

    def __init__(self, progress: Any) -> None:
        self._progress = progress

    @contextmanager
    def task(self, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show a bar while something goes on.

        Parameters
        ----------
        title : str
            What goes on.
        total : int or None
            How much there is to do.

        Yields
        ------
        callable
            Told how much more has been done.
        """
        if self._progress is None:
            yield lambda _: None
            return
        progress = self._progress
        task = progress.add_task(title, total=total)
        try:
            yield lambda done: progress.advance(task, done)
        finally:
            progress.remove_task(task)

    def load(self, reader: CorpusReader) -> CorpusReader:
        """Read and count a corpus, with a bar over the bytes of its files.

        Parameters
        ----------
        reader : CorpusReader
            What to read.

        Returns
        -------
        CorpusReader
            The same.
        """
        title = "reading" if reader.path is None else f"reading {reader.path.name}"
        with self.task(title, _measure_bytes(reader.path)) as advance:
            return reader.load(advance)

    def rows(self, reader: CorpusReader) -> Any:
        """Return rows for a model, watched if anyone watches.

        Parameters
        ----------
        reader : CorpusReader
            Whose rows.

        Returns
        -------
        CorpusReader or WatchedReader
            What `fit` takes.
        """
        return reader if self._progress is None else WatchedReader(reader, self)


def _measure_bytes(path: Path | None) -> int | None:
    if path is None:
        return None
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


@contextmanager
def watch(*, quiet: bool = False) -> Iterator[Watch]:
    """Show bars with the time that is left, if standard error is a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing in any case.

    Yields
    ------
    Watch
        Which reads and shows.

    Examples
    --------
    >>> from tercet.cli.progress import watch
    >>> with watch(quiet=True) as bars, bars.task("waiting", None) as advance:
    ...     advance(1)
    """
    if quiet or not sys.stderr.isatty():
        yield Watch(None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Watch(progress)
