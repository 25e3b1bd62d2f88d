"""Writing results so that an interrupted run leaves what was there before."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import click
import numpy as np

from tercet.exceptions import ParameterError
from tercet.storage import replace_file

__all__ = ["format_json", "format_table", "guard_cell", "replace_file", "write_table"]

# A spreadsheet takes a cell that begins so for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def format_json(value: Any) -> str:
    """Return indented JSON; arrays become lists, numbers that are none become null.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.cli.outputs import format_json
    >>> format_json({"weights": np.array([0.5, np.nan])}).split()
    ['{', '"weights":', '[', '0.5,', 'null', ']', '}']
    """
    return json.dumps(_plain(value), ensure_ascii=False, indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def guard_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    Texts that begin like a formula get an apostrophe in front; numbers stay.

    Examples
    --------
    >>> from tercet.cli.outputs import guard_cell
    >>> guard_cell("=1+1"), guard_cell(-1.5), guard_cell("plain")
    ("'=1+1", -1.5, 'plain')
    """
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def format_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as CSV.

    Parameters
    ----------
    columns : mapping of str to sequence
        Equally long columns.

    Returns
    -------
    str
        CSV with a header line.

    Examples
    --------
    >>> from tercet.cli.outputs import format_table
    >>> format_table({"word": ["=a"], "share": [0.5]}).splitlines()
    ['word,share', "'=a,0.5"]
    """
    text = io.StringIO()
    _write_csv(columns, text)
    return text.getvalue()


def _write_csv(columns: Mapping[str, Sequence[Any]], stream: TextIO) -> None:
    """Write row by row, so that a long table is not there twice."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([guard_cell(name) for name in columns])
    writer.writerows(
        [guard_cell(_plain_cell(cell)) for cell in row]
        for row in zip(*columns.values(), strict=True)
    )


def _plain_cell(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def write_table(columns: Mapping[str, Sequence[Any]], target: Path | None) -> None:
    """Write columns as CSV, Parquet or JSON, by the ending of the name.

    Parameters
    ----------
    columns : mapping of str to sequence
        Equally long columns.
    target : Path or None
        None prints CSV.

    Examples
    --------
    >>> from tercet.cli.outputs import write_table
    >>> write_table({"word": ["a"], "share": [0.5]}, None)
    word,share
    a,0.5
    """
    if target is None:
        click.echo(format_table(columns), nl=False)
        return
    ending = target.suffix.lower()
    if ending not in (".csv", ".json", ".parquet"):
        raise ParameterError(
            f"output={str(target)!r} ends in {ending!r}; results are written as .csv, "
            ".parquet or .json."
        )
    with replace_file(target) as part:
        if ending == ".csv":
            with part.open("w", encoding="utf-8", newline="") as stream:
                _write_csv(columns, stream)
        elif ending == ".json":
            rows = [
                dict(zip(columns, row, strict=True))
                for row in zip(*columns.values(), strict=True)
            ]
            part.write_text(format_json(rows), encoding="utf-8")
        else:
            _write_parquet(columns, part)


def _write_parquet(columns: Mapping[str, Sequence[Any]], part: Path) -> None:
    try:
        import polars as pl
    except ImportError:
        raise ParameterError(
            "output: Parquet files need polars; install it with "
            "`pip install 'tercet[frames]'`, or write .csv."
        ) from None
    pl.DataFrame(
        {name: list(column) for name, column in columns.items()}
    ).write_parquet(part)
