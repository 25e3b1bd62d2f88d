"""Opening files and models for the commands, and saying what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tercet.cli.progress import Watch
from tercet.exceptions import FileFormatError, ParameterError
from tercet.intake import CorpusReader, TextPipeline, count_threads, read

__all__ = [
    "is_model_file",
    "note",
    "open_corpus",
    "open_model",
    "open_views",
    "report_reading",
]

_MIN_DF = 2


def note(sentence: str, *, quiet: bool = False) -> None:
    """Say something to the person at the terminal, not to the next program.

    Parameters
    ----------
    sentence : str
        What to say.
    quiet : bool
        Whether to keep silent.
    """
    if not quiet:
        click.echo(f"tercet: {sentence}", err=True)


def open_corpus(
    path: Path,
    bars: Watch,
    reading: dict[str, Any],
    words: dict[str, Any] | None = None,
    *,
    like: Any = None,
    jobs: int = -1,
    quiet: bool = False,
    meanwhile: Callable[[], object] | None = None,
) -> CorpusReader:
    """Read a file and say what was left out.

    Parameters
    ----------
    path : Path
        File or folder.
    bars : Watch
        Shows how far reading is.
    reading, words : dict
        Arguments of `tercet.read`.
    like : model or None
        Whose words are counted.
    jobs : int
        Processes.
    quiet : bool
        Whether to keep silent.
    meanwhile : callable or None
        Done in a thread while the file is read, if there are several processes.

    Returns
    -------
    CorpusReader
        Already read.
    """
    _refuse_model(path)
    given = dict(words or {})
    reader = read(path, like=like, n_jobs=jobs, **reading, **given)
    if like is None and reader.layout.kind == "text" and "min_df" not in given:
        # A word of one document says nothing about words that go together.
        pipeline = TextPipeline(**given, min_df=_MIN_DF)
        reader = read(path, n_jobs=jobs, pipeline=pipeline, **reading)
    with _beside(meanwhile if count_threads(jobs) > 1 else None):
        bars.load(reader)
    report_reading(reader, quiet=quiet)
    return reader


@contextmanager
def _beside(work: Callable[[], object] | None) -> Iterator[None]:
    """Do work in a thread as long as the block lasts; its result is not needed."""
    if work is None:
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work)
        yield


def open_views(
    model: Any,
    source: Path,
    second: Path | None,
    bars: Watch,
    reading: dict[str, Any],
    second_text: str | None = None,
    *,
    quiet: bool = False,
) -> list[CorpusReader]:
    """Read what a model takes: one file, or one or two views.

    Parameters
    ----------
    model : estimator
        Fitted; its words are counted.
    source : Path
        The rows, or the first view.
    second : Path or None
        The second view.
    bars : Watch
        Shows how far reading is.
    reading : dict
        Arguments of `tercet.read`.
    second_text : str or None
        Column of texts of the second view.
    quiet : bool
        Whether to keep silent.

    Returns
    -------
    list of CorpusReader
        One or two.
    """
    views = hasattr(model, "view")
    if second is not None and not views:
        raise ParameterError(
            f"{type(model).__name__} takes one file, but a second one was given."
        )
    first = model.view(0) if views else model
    readers = [open_corpus(source, bars, reading, like=first, quiet=quiet)]
    if second is not None:
        other = reading | {"text": second_text or reading["text"]}
        readers.append(
            open_corpus(second, bars, other, like=model.view(1), quiet=quiet)
        )
    return readers


def _refuse_model(path: Path) -> None:
    if path.is_file() and is_model_file(path):
        raise ParameterError(
            f"{path} is a model, but data are needed here; see `tercet info {path}`."
        )


def report_reading(reader: CorpusReader, *, quiet: bool = False) -> None:
    """Say what was read, in which encoding, and which lines were left out.

    Parameters
    ----------
    reader : CorpusReader
        Already read.
    quiet : bool
        Whether to keep silent; bad lines are told in any case.
    """
    facts = reader.describe()
    known = ", ".join(
        str(facts[key])
        for key in ("format", "encoding", "compression")
        if facts.get(key) not in (None, "none")
    )
    noun = "documents" if reader.layout.kind == "text" else "rows"
    note(
        f"read {facts['n_rows']:,} {noun} with {facts['n_features']:,} columns from "
        f"{facts['path']} ({known})",
        quiet=quiet,
    )
    for sentence in facts["notes"]:
        note(sentence, quiet=quiet)
    if facts["n_bad_lines"]:
        lines = (
            "1 bad line"
            if facts["n_bad_lines"] == 1
            else (f"{facts['n_bad_lines']:,} bad lines")
        )
        note(f"{lines} left out: {reader.problems.describe()}")


def is_model_file(path: Path) -> bool:
    """Return whether a file is a saved model, by its first bytes.

    Parameters
    ----------
    path : Path
        Any file.

    Returns
    -------
    bool
        True for safetensors files.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.cli.reading import is_model_file
    >>> is_model_file(pathlib.Path(__file__))
    False
    """
    with path.open("rb") as stream:
        head = stream.read(10)
    # Eight bytes with the length of the JSON header, which begins with a brace.
    return len(head) == 10 and head[8:10] == b'{"' and head[5:8] == b"\0\0\0"


def open_model(path: Path) -> Any:
    """Load a model.

    Parameters
    ----------
    path : Path
        File that `tercet fit` wrote.

    Returns
    -------
    estimator
        The fitted model.
    """
    from tercet.models.files import load

    if path.is_file() and not is_model_file(path):
        raise FileFormatError(
            f"{path} is not a model; make one with `tercet fit {path} -o model.tercet`."
        )
    return load(path)
