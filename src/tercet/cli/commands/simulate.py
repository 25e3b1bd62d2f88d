"""`tercet simulate`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from scipy import sparse

from tercet.cli.commands.convert import find_written_format
from tercet.cli.models import read_settings
from tercet.cli.options import INPUT, json_option, quiet_option
from tercet.cli.outputs import format_json, replace_file, write_table
from tercet.cli.reading import note
from tercet.exceptions import ParameterError
from tercet.flow import Block

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet simulate lda --rows 2000 --features 500 -k 10 -o lda.npz --truth lda.json
  tercet simulate bernoulli -o table.csv --seed 7
  tercet simulate gaussian --set spread=5 -o points.parquet
"""

_MAKERS = {
    "lda": "make_lda",
    "single-topic": "make_single_topic",
    "gamma-poisson": "make_gamma_poisson",
    "hierarchical": "make_hierarchical_topics",
    "bernoulli": "make_bernoulli_mixture",
    "poisson": "make_poisson_mixture",
    "gaussian": "make_spherical_gaussians",
}

_TABLES = ("bernoulli", "poisson", "gaussian")


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Drawn rows, as files are written from."""

    rows: sparse.csr_array

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.rows.shape[1])

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"x{column}" for column in range(self.n_features))

    @property
    def document_ids(self) -> list[str]:
        return [str(row + 1) for row in range(self.n_rows)]

    def __iter__(self) -> Iterator[Block]:
        yield Block(self.rows)


@click.command("simulate", epilog=_EPILOG)
@click.argument("kind", type=click.Choice(list(_MAKERS)))
@click.option(
    "--output", "-o", type=INPUT, required=True, help="File of rows to write."
)
@click.option("--truth", type=INPUT, help="File for the parameters, .json.")
@click.option(
    "--rows", "-n", type=click.IntRange(min=1), default=1000, show_default=True
)
@click.option("--features", "-d", type=click.IntRange(min=1), help="Number of columns.")
@click.option("--n-components", "-k", type=click.IntRange(min=1), help="Components.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@json_option
@quiet_option
def command(
    kind: str,
    output: Path,
    truth: Path | None,
    rows: int,
    features: int | None,
    n_components: int | None,
    settings: tuple[str, ...],
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw rows from a model of KIND whose parameters are known.

    The ending of --output says how they are written: .npz, .mtx, .svm, .uci, or .csv,
    .tsv and .parquet (a line for each entry; .csv and .parquet have one column a feature
    for bernoulli, poisson and gaussian).
    """
    from tercet import datasets

    make = getattr(datasets, _MAKERS[kind])
    given = read_settings(settings)
    for name, value in (("n_features", features), ("n_components", n_components)):
        if value is not None:
            given[name] = value
    known = inspect.signature(make).parameters
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None:
        raise ParameterError(
            f"{wrong!r} is not a parameter of kind={kind!r}; it has {', '.join(known)}."
        )
    sample = make(rows, **given, random_state=seed)
    _write(sample.rows, output, wide=kind in _TABLES)
    if truth is not None:
        with replace_file(truth) as part:
            part.write_text(format_json(_describe(sample)), encoding="utf-8")
    shape = {"n_rows": sample.n_rows, "n_features": sample.n_features}
    if as_json:
        click.echo(format_json({"file": str(output), **shape, "kind": kind}))
    else:
        note(f"wrote {output}", quiet=quiet)


def _write(rows: Any, output: Path, *, wide: bool) -> None:
    from tercet.intake.formats.writing import write_counts

    if wide and output.suffix.lower() in (".csv", ".parquet"):
        rows = rows.toarray() if sparse.issparse(rows) else rows
        write_table(
            {f"x{j}": column.tolist() for j, column in enumerate(rows.T)}, output
        )
        return
    form = find_written_format(output)
    zipped = output.name.endswith(".gz")
    with replace_file(output) as part:
        write_counts(_Drawn(sparse.csr_array(rows)), part, form, zipped=zipped)


def _describe(sample: Any) -> dict[str, Any]:
    """Return the truth as plain values."""
    found = sample.parameters
    facts = {
        name: getattr(found, name)
        for name in ("centers", "weights", "concentration", "rate", "variances")
        if getattr(found, name) is not None
    }
    facts["labels"] = sample.labels
    facts["settings"] = {
        name: value for name, value in sample.settings.items() if name != "parameters"
    }
    return facts
