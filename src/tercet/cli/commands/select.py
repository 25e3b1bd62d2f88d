"""`tercet select`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tercet.cli.fitting import guess_model, list_candidates
from tercet.cli.models import MODELS, make_model, read_settings
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
from tercet.cli.reading import open_corpus
from tercet.exceptions import ParameterError

__all__ = ["command", "read_candidates"]

_EPILOG = """\b
Examples:
  tercet select speeches/ --stop-words english --candidates 5,10,15,20
  tercet select visits.csv --model bernoulli --candidates 2:8 --json
"""


def read_candidates(text: str | None) -> list[int] | None:
    """Return numbers of components from "5,10,20" or "2:8".

    Parameters
    ----------
    text : str or None
        What the user said.

    Returns
    -------
    list of int or None
        Rising; None where nothing was said.

    Examples
    --------
    >>> from tercet.cli.commands.select import read_candidates
    >>> read_candidates("2:5"), read_candidates("10,5")
    ([2, 3, 4, 5], [5, 10])
    """
    if text is None:
        return None
    try:
        low, colon, high = text.partition(":")
        found = (
            list(range(int(low), int(high) + 1))
            if colon
            else sorted({int(part) for part in text.split(",")})
        )
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise ParameterError(
            f"candidates={text!r} are not numbers of components; write 5,10,20 or 2:8."
        )
    return found


@click.command("select", epilog=_EPILOG)
@click.argument("source", type=INPUT)
@click.option("--model", "-m", type=click.Choice(list(MODELS)), help="Kind of model.")
@click.option("--candidates", "-k", metavar="LIST", help="As 5,10,20 or 2:8.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter."
)
@output_option
@reading_options
@word_options
@json_option
@quiet_option
def command(
    source: Path,
    model: str | None,
    candidates: str | None,
    settings: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare numbers of components on SOURCE, side by side.

    Held-out rows, coherence, the spectrum and description length, for topic models and
    mixtures; see `tercet.select_components`.
    """
    reading, words = split_words(options)
    numbers = read_candidates(candidates)
    from tercet import select_components

    with watch(quiet=quiet) as bars:
        reader = open_corpus(source, bars, reading, words, quiet=quiet)
        name = model or guess_model(reader)
        if MODELS[name].size != "n_components" or MODELS[name].views:
            raise ParameterError(
                f"model={name!r} has no numbers of components to compare."
            )
        most = min(reader.n_features, reader.n_rows, 40)
        estimator = make_model(name, None, read_settings(settings))
        tried = numbers or list_candidates(most)
        found = select_components(bars.rows(reader), tried, estimator)
    rows = found.to_rows()
    if output is not None:
        write_table({key: [row[key] for row in rows] for key in rows[0]}, output)
    elif as_json:
        click.echo(format_json({"chosen": int(found.choose()), "candidates": rows}))
    else:
        click.echo(str(found))
