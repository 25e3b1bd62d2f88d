"""`tercet info`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

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
from tercet.cli.reading import is_model_file, open_corpus, open_model

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet info speeches.tercet
  tercet info docword.kos.txt.gz --json
"""


@click.command("info", epilog=_EPILOG)
@click.argument("source", type=INPUT)
@reading_options
@word_options
@json_option
@quiet_option
def command(source: Path, as_json: bool, quiet: bool, **options: Any) -> None:
    """Tell what SOURCE holds, a model or data."""
    reading, words = split_words(options)
    if source.is_file() and is_model_file(source):
        from tercet.models.facts import describe_model

        model = open_model(source)
        click.echo(format_json(describe_model(model)) if as_json else str(model))
        return
    with watch(quiet=quiet) as bars:
        words.setdefault("min_df", 1)
        reader = open_corpus(source, bars, reading, words, quiet=True)
    facts = reader.describe()
    if as_json:
        click.echo(format_json(facts))
        return
    for key, value in facts.items():
        if value not in (None, [], ""):
            click.echo(f"{key.replace('_', ' ')}: {_show(value)}")


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)
