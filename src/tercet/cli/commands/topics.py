"""`tercet topics`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tercet.cli.options import MODEL_FILE, json_option, output_option
from tercet.cli.outputs import format_json, write_table
from tercet.cli.reading import open_model

__all__ = ["command", "tabulate_components"]

_EPILOG = """\b
Examples:
  tercet topics speeches.tercet
  tercet topics speeches.tercet --n-words 20 -o topics.csv
  tercet topics speeches.tercet --json
"""


@click.command("topics", epilog=_EPILOG)
@click.argument("model", type=MODEL_FILE)
@click.option(
    "--n-words", "-n", type=click.IntRange(min=1), default=10, show_default=True
)
@output_option
@json_option
def command(model: Path, n_words: int, output: Path | None, as_json: bool) -> None:
    """Print the topics or centres of MODEL with their largest words or items."""
    from tercet.models.facts import describe_model

    facts = describe_model(open_model(model), n_top=n_words)
    if as_json:
        click.echo(format_json(facts))
    elif output is not None:
        write_table(tabulate_components(facts), output)
    else:
        for part in facts["components"]:
            words = " ".join(str(name) for name, _ in part["top"])
            click.echo(f"{part['index']:>3}  {part['weight']:.3f}  {words}")


def tabulate_components(facts: dict[str, Any]) -> dict[str, list[Any]]:
    """Return components and their largest features as columns of a table.

    Parameters
    ----------
    facts : dict
        From `tercet.models.facts.describe_model`.

    Returns
    -------
    dict
        Columns component, weight, rank, name and value.

    Examples
    --------
    >>> from tercet.cli.commands.topics import tabulate_components
    >>> tabulate_components(
    ...     {"components": [{"index": 0, "weight": 1.0, "top": [["war", 0.5]]}]}
    ... )["name"]
    ['war']
    """
    rows = [
        (part["index"], part["weight"], rank, name, value)
        for part in facts["components"]
        for rank, (name, value) in enumerate(part["top"], start=1)
    ]
    names = ("component", "weight", "rank", "name", "value")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
