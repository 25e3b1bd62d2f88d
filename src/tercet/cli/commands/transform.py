"""`tercet transform`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from tercet.cli.options import (
    INPUT,
    MODEL_FILE,
    json_option,
    output_option,
    quiet_option,
    reading_options,
    split_words,
)
from tercet.cli.outputs import format_json, write_table
from tercet.cli.progress import watch
from tercet.cli.reading import open_model, open_views

__all__ = ["command", "tabulate_rows"]

_EPILOG = """\b
Examples:
  tercet transform speeches.tercet new.jsonl -o shares.csv
  tercet transform visits.tercet visits.csv --ids patient -o clusters.parquet
"""


@click.command("transform", epilog=_EPILOG)
@click.argument("model", type=MODEL_FILE)
@click.argument("source", type=INPUT)
@click.argument("second", type=INPUT, required=False)
@click.option(
    "--second-text", metavar="COLUMN", help="Column of texts of the second view."
)
@output_option
@reading_options
@json_option
@quiet_option
def command(
    model: Path,
    source: Path,
    second: Path | None,
    second_text: str | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write what MODEL finds in each row of SOURCE: shares, clusters or leaves.

    Texts are cut and counted as they were when the model was learned. A model of two
    views takes the first of them, or both.
    """
    reading, _ = split_words(options)
    fitted = open_model(model)
    with watch(quiet=quiet) as bars:
        readers = open_views(
            fitted, source, second, bars, reading, second_text, quiet=quiet
        )
        reader = readers[0]
        columns = tabulate_rows(fitted, *map(bars.rows, readers))
    beside = {name: reader.columns[name] for name in reading["columns"]}
    table = {"id": reader.document_ids, **beside, **columns}
    if as_json:
        rows = zip(*table.values(), strict=True)
        click.echo(format_json([dict(zip(table, row, strict=True)) for row in rows]))
        return
    write_table(table, output)


def tabulate_rows(model: Any, *views: Any) -> dict[str, Any]:
    """Return what a model finds in each row, as columns of a table.

    Parameters
    ----------
    model : estimator
        Fitted.
    *views : CorpusReader or rows
        What the model takes.

    Returns
    -------
    dict
        An array for each component, and the most likely one; for trees the leaf.
    """
    if hasattr(model, "hierarchy_"):
        return {"leaf": np.asarray(model.predict(*views))}
    infer = model.predict_proba if hasattr(model, "predict_proba") else model.transform
    shares = np.asarray(infer(*views))
    columns = {f"component_{k}": column for k, column in enumerate(shares.T)}
    return {"largest": shares.argmax(axis=1), **columns}
