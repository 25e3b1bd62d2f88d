"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from tercet.exceptions import ParameterError

__all__ = [
    "INPUT",
    "MODEL_FILE",
    "json_option",
    "output_option",
    "quiet_option",
    "reading_options",
    "split_words",
    "word_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])

INPUT = click.Path(path_type=Path)
MODEL_FILE = click.Path(path_type=Path, dir_okay=False)

_FORMATS = [
    "folder",
    "lines",
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "uci",
    "mtx",
    "svmlight",
    "npz",
]


class _Share(click.ParamType):  # type: ignore[type-arg]
    """A number of documents, or a share of them."""

    name = "number|share"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        """Return an int for digits, a float otherwise."""
        if isinstance(value, int | float):
            return value
        try:
            return int(value) if value.isdigit() else float(value)
        except ValueError:
            self.fail(
                f"{value!r} is neither a number nor a share such as 0.5", param, ctx
            )


class _Sizes(click.ParamType):  # type: ignore[type-arg]
    """Shortest and longest n-grams."""

    name = "low,high"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return a pair of integers."""
        if isinstance(value, tuple):
            return value[0], value[1]
        try:
            low, _, high = value.partition(",")
            return int(low), int(high or low)
        except ValueError:
            self.fail(f"{value!r} is not a pair such as 1,2", param, ctx)


def _apply(options: list[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reading_options(command: Command) -> Command:
    """Add the options that say how a file is read.

    Parameters
    ----------
    command : callable
        Takes them as keyword arguments.

    Returns
    -------
    callable
        The command.
    """
    return _apply(
        [
            click.option(
                "--format", type=click.Choice(_FORMATS), help="Format; else by name."
            ),
            click.option("--text", metavar="COLUMN", help="Column of texts [text]."),
            click.option("--ids", metavar="COLUMN", help="Column of identifiers [id]."),
            click.option(
                "--item", metavar="COLUMN", help="Column of items (long form)."
            ),
            click.option(
                "--count", metavar="COLUMN", help="Column of counts (long form)."
            ),
            click.option(
                "--column",
                "columns",
                multiple=True,
                metavar="COLUMN",
                help="Keep a column beside (a time, a label); may be repeated.",
            ),
            click.option("--names", type=INPUT, help="File with names of the columns."),
            click.option(
                "--first-index",
                type=click.Choice(["0", "1"]),
                help="First index of an SVMlight file.",
            ),
            click.option("--encoding", help="Encoding of texts [utf-8]."),
            click.option(
                "--max-bad-lines",
                type=click.IntRange(min=0),
                help="Stop when more lines than this are bad.",
            ),
        ],
        command,
    )


def word_options(command: Command) -> Command:
    """Add the options that say which words are counted.

    Parameters
    ----------
    command : callable
        Takes them as keyword arguments.

    Returns
    -------
    callable
        The command.
    """
    return _apply(
        [
            click.option(
                "--stop-words",
                metavar="LANGUAGE|FILE",
                help="english, french, german, italian, spanish, or a file of words.",
            ),
            click.option(
                "--stemming", metavar="LANGUAGE", help="Count stems of words."
            ),
            click.option(
                "--min-df", type=_Share(), help="Least documents of a word [2]."
            ),
            click.option("--max-df", type=_Share(), help="Most documents of a word."),
            click.option(
                "--keep-share",
                type=float,
                help="Keep the most frequent words that make up this share (0.7).",
            ),
            click.option(
                "--max-features", type=click.IntRange(min=1), help="Keep so many words."
            ),
            click.option("--ngrams", type=_Sizes(), help="N-grams, as in 1,2."),
            click.option(
                "--strip-accents",
                type=click.Choice(["unicode", "ascii"]),
                help="Take accents off.",
            ),
            click.option("--case-sensitive", is_flag=True, help="Keep upper case."),
            click.option("--token-pattern", metavar="REGEX", help="What a word is."),
            click.option(
                "--binary", is_flag=True, help="Count a word once a document."
            ),
        ],
        command,
    )


def json_option(command: Command) -> Command:
    """Add `--json`.

    Parameters
    ----------
    command : callable
        Takes `as_json`.

    Returns
    -------
    callable
        The command.
    """
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def quiet_option(command: Command) -> Command:
    """Add `--quiet`.

    Parameters
    ----------
    command : callable
        Takes `quiet`.

    Returns
    -------
    callable
        The command.
    """
    return click.option("--quiet", "-q", is_flag=True, help="No bars, no notes.")(
        command
    )


def output_option(command: Command) -> Command:
    """Add `--output` for a table.

    Parameters
    ----------
    command : callable
        Takes `output`.

    Returns
    -------
    callable
        The command.
    """
    return click.option(
        "--output",
        "-o",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File to write: .csv, .parquet or .json; else CSV is printed.",
    )(command)


_READING = (
    "format",
    "text",
    "ids",
    "item",
    "count",
    "columns",
    "names",
    "first_index",
    "encoding",
    "max_bad_lines",
)
_WORDS = {
    "stop_words": "stop_words",
    "stemming": "stemming",
    "min_df": "min_df",
    "max_df": "max_df",
    "keep_share": "keep_share",
    "max_features": "max_features",
    "ngrams": "ngram_range",
    "strip_accents": "strip_accents",
    "token_pattern": "token_pattern",
}


def split_words(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part what `tercet.read` takes into reading and words, and leave the rest.

    Parameters
    ----------
    options : dict
        All options of a command; those that belong to reading are taken out.

    Returns
    -------
    reading, words : dict
        Arguments of `tercet.read`; of the words only those that were given.

    Examples
    --------
    >>> from tercet.cli.options import split_words
    >>> split_words({"text": "body", "ngrams": (1, 2), "min_df": None})
    ({'text': 'body'}, {'ngram_range': (1, 2)})
    """
    reading = {name: options.pop(name) for name in _READING if name in options}
    if reading.get("first_index") is not None:
        reading["first_index"] = int(reading["first_index"])
    words = {
        setting: options.pop(name)
        for name, setting in _WORDS.items()
        if name in options
    }
    words = {name: value for name, value in words.items() if value is not None}
    if options.pop("case_sensitive", False):
        words["lowercase"] = False
    if options.pop("binary", False):
        words["binary"] = True
    if "stop_words" in words:
        words["stop_words"] = _read_stop_words(words["stop_words"])
    return reading, words


def _read_stop_words(given: str) -> Any:
    """Return the name of a language, or the words of a file."""
    from tercet.intake import LANGUAGES

    if given in LANGUAGES:
        return given
    path = Path(given)
    if not path.is_file():
        raise ParameterError(
            f"stop_words={given!r} is neither a language with a list "
            f"({', '.join(LANGUAGES)}) nor a file of words."
        )
    try:
        return path.read_text(encoding="utf-8").split()
    except UnicodeDecodeError as error:
        raise ParameterError(
            f"stop_words={given!r} is not UTF-8 ({error.reason}); convert the file."
        ) from None
