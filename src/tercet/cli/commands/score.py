"""`tercet score`."""

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
from tercet.cli.reading import open_model, open_views
from tercet.exceptions import ParameterError

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet score speeches.tercet held_out.jsonl
  tercet score visits.tercet visits.csv --ids patient --json
"""

_MEASURES = ("perplexity", "bic", "aic")


@click.command("score", epilog=_EPILOG)
@click.argument("model", type=MODEL_FILE)
@click.argument("source", type=INPUT)
@click.argument("second", type=INPUT, required=False)
@click.option(
    "--second-text", metavar="COLUMN", help="Column of texts of the second view."
)
@reading_options
@json_option
@quiet_option
def command(
    model: Path,
    source: Path,
    second: Path | None,
    second_text: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Measure how well MODEL predicts the rows of SOURCE.

    The score is that of the model's `score` method (larger is better); perplexity and
    information criteria (smaller is better) are added where the model has them.
    """
    reading, _ = split_words(options)
    fitted = open_model(model)
    if not hasattr(fitted, "score"):
        raise ParameterError(
            f"{type(fitted).__name__} has no score; compare its clusters with labels, or "
            "score a mixture."
        )
    with watch(quiet=quiet) as bars:
        readers = open_views(
            fitted, source, second, bars, reading, second_text, quiet=quiet
        )
        rows = [bars.rows(reader) for reader in readers]
        facts = {"score": float(fitted.score(*rows)), "n_rows": readers[0].n_rows}
        for name in _MEASURES:
            if hasattr(fitted, name):
                facts[name] = float(getattr(fitted, name)(*rows))
    if as_json:
        click.echo(format_json(facts))
        return
    for name, value in facts.items():
        click.echo(f"{name}: {value:,.6g}" if name != "n_rows" else f"rows: {value:,}")
