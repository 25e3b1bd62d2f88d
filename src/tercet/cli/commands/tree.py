"""`tercet tree`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tercet.cli.commands.fit import with_jobs
from tercet.cli.fitting import fit_reader, name_output
from tercet.cli.models import read_settings
from tercet.cli.options import (
    INPUT,
    json_option,
    quiet_option,
    reading_options,
    split_words,
    word_options,
)
from tercet.cli.outputs import format_json
from tercet.cli.progress import watch
from tercet.cli.reading import is_model_file, note, open_corpus, open_model
from tercet.exceptions import ParameterError

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet tree speeches/ --n-leaves 8 --stop-words english -o speeches.tercet
  tercet tree speeches.tercet
  tercet tree visits.csv --kind bisecting --ids patient --json
"""

_KINDS = ("topic-tree", "bisecting")


@click.command("tree", epilog=_EPILOG)
@click.argument("source", type=INPUT)
@click.option("--output", "-o", type=INPUT, help="Model file [name of the source].")
@click.option(
    "--kind", type=click.Choice(_KINDS), default="topic-tree", show_default=True
)
@click.option("--n-leaves", "-k", type=click.IntRange(min=1), help="Leaves [8].")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter."
)
@reading_options
@word_options
@json_option
@quiet_option
def command(
    source: Path,
    output: Path | None,
    kind: str,
    n_leaves: int | None,
    settings: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn a tree from SOURCE and print it; of a model, print its tree."""
    reading, words = split_words(options)
    if source.is_file() and is_model_file(source):
        model = open_model(source)
        if not hasattr(model, "hierarchy_"):
            raise ParameterError(
                f"{source} is a {type(model).__name__}, which has no tree; learn one with "
                "`tercet tree DATA`."
            )
    else:
        with watch(quiet=quiet) as bars:
            reader = open_corpus(source, bars, reading, words, quiet=quiet)
            given = with_jobs(read_settings(settings), kind, -1)
            model = fit_reader([reader], kind, n_leaves, given, bars, quiet=quiet)
        target = name_output(source, output)
        model.save(target)
        note(f"wrote {target}", quiet=quiet)
    click.echo(format_json(model.to_dict()) if as_json else model.export_text())
