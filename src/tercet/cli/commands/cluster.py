"""`tercet cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tercet.cli.commands.fit import with_jobs
from tercet.cli.commands.transform import tabulate_rows
from tercet.cli.fitting import fit_reader, guess_model, read_size
from tercet.cli.models import read_settings
from tercet.cli.options import (
    INPUT,
    json_option,
    output_option,
    quiet_option,
    reading_options,
    split_words,
    word_options,
)
from tercet.cli.outputs import format_json, write_table
from tercet.cli.progress import watch
from tercet.cli.reading import note, open_corpus

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet cluster visits.csv --ids patient -k 5 -o clusters.csv
  tercet cluster visits.parquet --kind bisecting --save visits.tercet --json
"""

_KINDS = ("bernoulli", "poisson", "gaussian", "single-topic", "bisecting")


@click.command("cluster", epilog=_EPILOG)
@click.argument("source", type=INPUT)
@click.option(
    "--kind", type=click.Choice(_KINDS), help="Kind of mixture; else by values."
)
@click.option("--n-clusters", "-k", metavar="N|auto", help="Number of clusters.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter."
)
@click.option("--save", type=INPUT, help="Keep the model in this file.")
@output_option
@reading_options
@word_options
@json_option
@quiet_option
def command(
    source: Path,
    kind: str | None,
    n_clusters: str | None,
    settings: tuple[str, ...],
    save: Path | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Group the rows of SOURCE into clusters and say what marks each of them.

    Clusters are printed with the items that are most frequent in them; --output writes
    the cluster of each row.
    """
    from tercet.models.facts import describe_model

    reading, words = split_words(options)
    with watch(quiet=quiet) as bars:
        reader = open_corpus(source, bars, reading, words, quiet=quiet)
        guess = guess_model(reader)
        name = kind or ("single-topic" if guess == "lda" else guess)
        given = with_jobs(read_settings(settings), name, -1)
        model = fit_reader(
            [reader], name, read_size(n_clusters), given, bars, quiet=quiet
        )
        table = {"id": reader.document_ids, **tabulate_rows(model, bars.rows(reader))}
    if save is not None:
        model.save(save)
        note(f"wrote {save}", quiet=quiet)
    if output is not None:
        write_table(table, output)
        note(f"wrote {output}", quiet=quiet)
    facts = describe_model(model)
    click.echo(format_json(facts) if as_json else str(model))
