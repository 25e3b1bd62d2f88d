"""`tercet report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tercet.cli.options import (
    INPUT,
    MODEL_FILE,
    json_option,
    quiet_option,
    reading_options,
    split_words,
)
from tercet.cli.outputs import format_json
from tercet.cli.progress import watch
from tercet.cli.reading import note, open_corpus, open_model
from tercet.exceptions import ParameterError

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet report speeches.tercet
  tercet report speeches.tercet --corpus speeches.jsonl --time year -o speeches.html
"""


@click.command("report", epilog=_EPILOG)
@click.argument("model", type=MODEL_FILE)
@click.option("--corpus", "-c", type=INPUT, help="Documents to show beside the model.")
@click.option("--time", "time", metavar="COLUMN", help="Column of times, for trends.")
@click.option("--title", help="Heading of the page.")
@click.option("--output", "-o", type=INPUT, help="Page [name of the model, .html].")
@reading_options
@json_option
@quiet_option
def command(
    model: Path,
    corpus: Path | None,
    time: str | None,
    title: str | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write an interactive page about MODEL; it works offline, in one file."""
    reading, _ = split_words(options)
    fitted = open_model(model)
    if time is not None and corpus is None:
        raise ParameterError(
            f"time={time!r} names a column of a corpus; add --corpus FILE."
        )
    if time is not None and time not in reading["columns"]:
        reading["columns"] = (*reading["columns"], time)
    target = model.with_suffix(".html") if output is None else output
    from tercet.report import write_report

    with watch(quiet=quiet) as bars:
        reader = None
        if corpus is not None:
            reader = open_corpus(corpus, bars, reading, like=fitted, quiet=quiet)
        write_report(fitted, target, corpus=reader, times=time, title=title)
    if as_json:
        click.echo(format_json({"file": str(target), "bytes": target.stat().st_size}))
    else:
        note(f"wrote {target}", quiet=quiet)
