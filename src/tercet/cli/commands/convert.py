"""`tercet convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tercet.cli.commands.topics import tabulate_components
from tercet.cli.options import (
    INPUT,
    json_option,
    quiet_option,
    reading_options,
    split_words,
    word_options,
)
from tercet.cli.outputs import format_json, guard_cell, replace_file, write_table
from tercet.cli.progress import watch
from tercet.cli.reading import is_model_file, note, open_corpus, open_model
from tercet.exceptions import ParameterError
from tercet.intake import CorpusReader

__all__ = ["command", "name_names", "write_rows"]

_EPILOG = """\b
Examples:
  tercet convert speeches/ counts.npz --stop-words english --min-df 3
  tercet convert docword.kos.txt.gz kos.mtx.gz
  tercet convert speeches.tercet topics.parquet
"""

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".mtx": "mtx",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".npz": "npz",
    ".uci": "uci",
}


@click.command("convert", epilog=_EPILOG)
@click.argument("source", type=INPUT)
@click.argument("target", type=INPUT)
@reading_options
@word_options
@json_option
@quiet_option
def command(
    source: Path, target: Path, as_json: bool, quiet: bool, **options: Any
) -> None:
    """Turn SOURCE, data or a model, into TARGET, a file of counts or a table.

    The ending of TARGET says how: .csv, .tsv or .parquet (a line for each entry), .mtx,
    .npz, .svm, .uci or docword.NAME.txt, each with .gz or without. Names of columns go
    beside a file that cannot hold them.
    """
    reading, words = split_words(options)
    if source.is_file() and is_model_file(source):
        from tercet.models.facts import describe_model

        model = open_model(source)
        facts = describe_model(model, n_top=int(model.n_features_in_))
        write_table(tabulate_components(facts), target)
        report: dict[str, Any] = {"file": str(target)}
    else:
        form = find_written_format(target)
        with watch(quiet=quiet) as bars:
            words.setdefault("min_df", 1)
            reader = open_corpus(source, bars, reading, words, quiet=quiet)
        write_rows(reader, target, form)
        report = reader.describe() | {"file": str(target)}
    if as_json:
        click.echo(format_json(report))
    else:
        note(f"wrote {target}", quiet=quiet)


def find_written_format(target: Path) -> str:
    """Return the format that the name of a file of counts asks for.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tercet.cli.commands.convert import find_written_format
    >>> (
    ...     find_written_format(Path("docword.a.txt.gz")),
    ...     find_written_format(Path("a.npz")),
    ... )
    ('uci', 'npz')
    """
    plain = target.name.removesuffix(".gz")
    if plain.startswith("docword."):
        return "uci"
    ending = Path(plain).suffix.lower()
    if ending not in _ENDINGS:
        raise ParameterError(
            f"target={str(target)!r} has an ending that is not written; choose one of "
            f"{', '.join(_ENDINGS)}, or docword.NAME.txt."
        )
    return _ENDINGS[ending]


def write_rows(reader: CorpusReader, target: Path, form: str) -> None:
    """Write counts, and the names of their columns beside them.

    Parameters
    ----------
    reader : CorpusReader
        The counts.
    target : Path
        Where.
    form : str
        Format.
    """
    from tercet.intake.formats.writing import write_counts

    zipped = target.name.endswith(".gz")
    guard = guard_cell if form in ("csv", "tsv") else None
    names = reader.feature_names
    if form not in ("csv", "tsv", "parquet") and names is not None:
        if any("\n" in name or "\r" in name for name in names):
            raise ParameterError(
                "A name of a column has a line break, which a file of names cannot hold; "
                "write .csv or .parquet."
            )
        with replace_file(name_names(target)) as part:
            part.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    with replace_file(target) as part:
        write_counts(reader, part, form, zipped=zipped, guard=guard)


def name_names(target: Path) -> Path:
    """Return where the names of columns go.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tercet.cli.commands.convert import name_names
    >>> name_names(Path("a.mtx.gz")).name, name_names(Path("docword.a.txt")).name
    ('a.vocab.txt', 'vocab.a.txt')
    """
    plain = target.name.removesuffix(".gz")
    if plain.startswith("docword."):
        return target.with_name(plain.replace("docword.", "vocab.", 1))
    return target.with_name(f"{Path(plain).stem}.vocab.txt")
