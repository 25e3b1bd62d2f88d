"""CSV, TSV and Parquet tables of numbers: one column an item, or long form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tercet.exceptions import DataError
from tercet.intake.formats.entries import EntryRows
from tercet.intake.formats.parquet import iterate_parquet
from tercet.intake.formats.problems import Problems
from tercet.intake.formats.records import (
    RecordFile,
    Records,
    iterate_delimited,
    iterate_named_rows,
    read_header,
)
from tercet.intake.formats.stores import RowStore
from tercet.intake.texts.counting import WordNumbers

__all__ = ["LongRequest", "read_long", "read_wide"]

_BLOCK_ENTRIES = 1 << 17
_MISSING = frozenset({"", "NA", "na", "nan", "NaN", "null", "None"})


def read_wide(
    file: RecordFile,
    ids: str | None,
    columns: Sequence[str],
    store: RowStore,
    problems: Problems,
) -> tuple[Records, list[str]]:
    """Read a table with one column an item.

    Parameters
    ----------
    file : RecordFile
        CSV, TSV or Parquet.
    ids : str or None
        Column of identifiers.
    columns : sequence of str
        Columns that are no items, to be kept beside.
    store : RowStore
        Where the rows go; an empty cell is a missing value.
    problems : Problems
        Takes up bad lines.

    Returns
    -------
    records : Records
        Identifiers and further columns.
    names : list of str
        Names of the items.
    """
    header = read_header(file)
    beside = [name for name in (ids, *columns) if name is not None]
    _check_columns(file, header, beside)
    items = [(j, name) for j, name in enumerate(header) if name not in beside]
    if not items:
        raise DataError(f"{file.path} has no column left for items.")
    records = Records([], {name: [] for name in columns})
    rows: list[list[float]] = []
    for number, fields in _iterate_fields(file, header, problems):
        values = _parse_cells(number, fields, items, problems)
        if values is None:
            continue
        rows.append(values)
        identity = str(store.n_rows + len(rows))
        records.ids.append(identity if ids is None else str(fields[header.index(ids)]))
        for name in columns:
            records.columns[name].append(fields[header.index(name)])
        if len(rows) * len(items) >= _BLOCK_ENTRIES:
            _store_dense(rows, store)
            rows = []
    if rows:
        _store_dense(rows, store)
    return records, [name for _, name in items]


def _check_columns(
    file: RecordFile, header: Sequence[str], names: Sequence[str]
) -> None:
    missing = [name for name in names if name not in header]
    if missing:
        shown = ", ".join(map(repr, header[:12])) + (", ..." if header[12:] else "")
        raise DataError(
            f"{file.path} has no column {missing[0]!r}; its columns are {shown}."
        )


def _iterate_fields(
    file: RecordFile, header: list[str], problems: Problems
) -> Iterator[tuple[int, Sequence[Any]]]:
    if file.format != "parquet":
        yield from iterate_delimited(file, problems)
        return
    for number, row in iterate_parquet(file.path, header):
        yield number, list(row.values())


def _parse_cells(
    number: int,
    fields: Sequence[Any],
    items: Sequence[tuple[int, str]],
    problems: Problems,
) -> list[float] | None:
    values = []
    for place, name in items:
        value = parse_number(fields[place])
        if value is None:
            problems.add(
                number,
                f"column {name!r} holds {str(fields[place])[:40]!r}, not a number",
            )
            return None
        values.append(value)
    return values


def parse_number(cell: Any) -> float | None:
    """Return a cell as a number, not-a-number where it is empty, None for others.

    Examples
    --------
    >>> from tercet.intake.formats.tables import parse_number
    >>> parse_number("2"), parse_number(""), parse_number("two"), parse_number("inf")
    (2.0, nan, None, None)
    """
    if cell is None or (isinstance(cell, str) and cell.strip() in _MISSING):
        return math.nan
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return None if math.isinf(value) else value


def _store_dense(rows: list[list[float]], store: RowStore) -> None:
    table = np.array(rows)
    # A missing value is not zero.
    where, columns = np.nonzero(table)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(table)))])
    store.add(indptr, columns, table[where, columns])


@dataclass(frozen=True)
class LongRequest:
    """Which columns of a long table are what.

    Parameters
    ----------
    ids, item : str
        Columns that say which row and which item.
    count : str or None
        Column that says how often; None is once a line.
    columns : tuple of str
        Columns to be kept beside; the first line of each row says their values.
    """

    ids: str = "id"
    item: str = "item"
    count: str | None = "count"
    columns: tuple[str, ...] = ()


def read_long(
    file: RecordFile,
    request: LongRequest,
    store: RowStore,
    problems: Problems,
    vocabulary: Sequence[str] | None = None,
) -> tuple[Records, list[str]]:
    """Read a table with a line for each entry: identifier, item, count.

    Parameters
    ----------
    file : RecordFile
        CSV, TSV or Parquet.
    request : LongRequest
        Which columns.
    store : RowStore
        Where the rows go, in the order in which their identifiers appear.
    problems : Problems
        Takes up bad lines.
    vocabulary : sequence of str or None
        Items that are known; others are passed over. None takes all.

    Returns
    -------
    records : Records
        Identifiers and further columns.
    items : list of str
        Names of the items.
    """
    names = [request.ids, request.item, *request.columns]
    if request.count is not None:
        names.append(request.count)
    rows: dict[str, int] = {}
    records = Records([], {name: [] for name in request.columns})
    with EntryRows(store) as entries:
        tally = _Tally(entries, vocabulary)
        for number, row in iterate_named_rows(file, names, problems):
            entry = _parse_entry(number, row, request, problems)
            if entry is None:
                continue
            identity, item, count = entry
            if identity not in rows:
                rows[identity] = len(rows)
                for name in request.columns:
                    records.columns[name].append(row[name])
            tally.add(rows[identity], item, count)
        tally.flush()
        entries.finish(len(rows))
    records.ids = list(rows)
    return records, tally.numbers.words


class _Tally:
    """Gathers entries with named items and passes them on in runs."""

    def __init__(self, entries: EntryRows, vocabulary: Sequence[str] | None) -> None:
        self.numbers = WordNumbers(vocabulary or ())
        self._fixed = None if vocabulary is None else frozenset(vocabulary)
        self._entries = entries
        self._waiting: list[tuple[int, str, float]] = []

    def add(self, row: int, item: str, count: float) -> None:
        """Take an entry, unless its item is not known."""
        if self._fixed is not None and item not in self._fixed:
            return
        self._waiting.append((row, item, count))
        if len(self._waiting) >= _BLOCK_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """Pass on what waits."""
        if not self._waiting:
            return
        rows, items, counts = zip(*self._waiting, strict=True)
        columns = self.numbers.number(items).astype(np.int64)
        self._entries.add(np.array(rows), columns, np.array(counts))
        self._waiting.clear()


def _parse_entry(
    number: int,
    row: Mapping[str, Any],
    request: LongRequest,
    problems: Problems,
) -> tuple[str, str, float] | None:
    for name in (request.ids, request.item):
        if row[name] is None or row[name] == "":
            problems.add(number, f"column {name!r} is empty")
            return None
    count = 1.0
    if request.count is not None:
        parsed = parse_number(row[request.count])
        if parsed is None or math.isnan(parsed):
            shown = str(row[request.count])[:40]
            problems.add(
                number, f"column {request.count!r} holds {shown!r}, not a number"
            )
            return None
        count = parsed
    return str(row[request.ids]), str(row[request.item]), count
