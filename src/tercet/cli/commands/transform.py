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
from tercet.cli.reading import open_corpus, open_model

__all__ = ["command", "tabulate_rows"]

_EPILOG = """\b
Examples:
  tercet transform speeches.tercet new.jsonl -o shares.csv
  tercet transform visits.tercet visits.csv --ids patient -o clusters.parquet
"""


@click.command("transform", epilog=_EPILOG)
@click.argument("model", type=MODEL_FILE)
@click.argument("source", type=INPUT)
@output_option
@reading_options
@json_option
@quiet_option
def command(
    model: Path,
    source: Path,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write what MODEL finds in each row of SOURCE: shares, clusters or leaves.

    Texts are cut and counted as they were when the model was learned.
    """
    reading, _ = split_words(options)
    fitted = open_model(model)
    with watch(quiet=quiet) as bars:
        reader = open_corpus(source, bars, reading, like=fitted, quiet=quiet)
        columns = tabulate_rows(fitted, bars.rows(reader))
    beside = {name: reader.columns[name] for name in reading["columns"]}
    table = {"id": reader.document_ids, **beside, **columns}
    if as_json:
        rows = zip(*table.values(), strict=True)
        click.echo(format_json([dict(zip(table, row, strict=True)) for row in rows]))
        return
    write_table(table, output)


def tabulate_rows(model: Any, rows: Any) -> dict[str, Any]:
    """Return what a model finds in each row, as columns of a table.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : CorpusReader or rows
        What the model takes.

    Returns
    -------
    dict
        An array for each component, and the most likely one; for trees the leaf.
    """
    if hasattr(model, "hierarchy_"):
        return {"leaf": np.asarray(model.predict(rows))}
    infer = model.predict_proba if hasattr(model, "predict_proba") else model.transform
    shares = np.asarray(infer(rows))
    columns = {f"component_{k}": column for k, column in enumerate(shares.T)}
    return {"largest": shares.argmax(axis=1), **columns}
