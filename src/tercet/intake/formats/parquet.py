"""Parquet files, in batches, by way of polars."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tercet.exceptions import FileFormatError, ParameterError
from tercet.intake.formats.opening import unzipped_path

__all__ = ["iterate_parquet", "list_parquet_columns"]

_BATCH_ROWS = 4096


def list_parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.

    Returns
    -------
    list of str
        In the order of the file.
    """
    polars = _import_polars()
    with unzipped_path(path) as plain:
        try:
            return list(polars.scan_parquet(plain).collect_schema())
        except polars.exceptions.PolarsError as error:
            raise _damage(path, error) from error


def iterate_parquet(
    path: Path, names: list[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield some columns of a Parquet file, row by row.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.
    names : list of str
        Columns that are wanted.

    Yields
    ------
    number, row : int, dict
        Number of the row, from 1, and its values.
    """
    polars = _import_polars()
    number = 0
    with unzipped_path(path) as plain:
        try:
            frames = polars.scan_parquet(plain).select(names)
            batches = frames.collect_batches(
                chunk_size=_BATCH_ROWS, maintain_order=True
            )
            for batch in batches:
                for row in batch.iter_rows(named=True):
                    number += 1
                    yield number, row
        except polars.exceptions.PolarsError as error:
            raise _damage(path, error) from error


def _damage(path: Path, error: Exception) -> FileFormatError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
    return FileFormatError(f"{path} is not a sound Parquet file ({reason}).")


def _import_polars() -> Any:
    try:
        import polars as pl
    except ImportError:
        raise ParameterError(
            "format='parquet' needs polars; install it with "
            "`pip install 'tercet[frames]'`."
        ) from None
    return pl
