"""Texts, one after another, from folders, lines, JSON lines, CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tercet.exceptions import DataError, FileFormatError
from tercet.intake.formats.opening import (
    LONGEST_LINE,
    MARK,
    find_encoding,
    iterate_lines,
    open_text,
)
from tercet.intake.formats.parquet import iterate_parquet, list_parquet_columns
from tercet.intake.formats.problems import Problems

__all__ = [
    "RecordFile",
    "Records",
    "TextRequest",
    "iterate_delimited",
    "iterate_records",
    "read_header",
]

_BLOCK_CHARACTERS = 1 << 19
_BLOCK_RECORDS = 4096
_FOLDER_ENDINGS = (".txt", ".txt.gz", ".text", ".md")


@dataclass(frozen=True)
class RecordFile:
    """A file or folder of records.

    Parameters
    ----------
    path : Path
        Where it is.
    format : str
        "folder", "lines", "jsonl", "csv", "tsv" or "parquet".
    encoding : str or None
        None is UTF-8, unless the file begins with a byte order mark.
    """

    path: Path
    format: str
    encoding: str | None = None

    @property
    def separator(self) -> str:
        """What parts the fields of a line."""
        return "\t" if self.format == "tsv" else ","


@dataclass(frozen=True)
class TextRequest:
    """What is wanted of each record.

    Parameters
    ----------
    text : str
        Name of the column of texts.
    ids : str or None
        Name of the column of identifiers; None numbers the records from 1, or
        takes the names of the files of a folder.
    columns : tuple of str
        Names of further columns.
    """

    text: str = "text"
    ids: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (self.text, *((self.ids,) if self.ids else ()), *self.columns)


@dataclass
class Records:
    """Some records.

    Parameters
    ----------
    ids : list of str
        Identifier of each.
    columns : dict
        Values of each further column.
    """

    ids: list[str] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)


def iterate_records(
    file: RecordFile, request: TextRequest, problems: Problems
) -> Iterator[tuple[Records, list[str]]]:
    """Yield records in blocks of about half a million characters.

    Parameters
    ----------
    file : RecordFile
        What to read.
    request : TextRequest
        Which columns.
    problems : Problems
        Takes up the lines that are left out.

    Yields
    ------
    records, texts
        Equally many of both.
    """
    if file.format == "folder":
        stream = _iterate_folder(file, problems)
    elif file.format == "lines":
        stream = _iterate_text_lines(file, problems)
    else:
        stream = _iterate_rows(file, request, problems)
    names = request.columns
    records, texts, size = _empty(names), [], 0
    for number, (identity, text, extra) in enumerate(stream, start=1):
        records.ids.append(str(number) if identity is None else identity)
        for name, value in zip(names, extra, strict=False):
            records.columns[name].append(value)
        texts.append(text)
        size += len(text)
        if size > _BLOCK_CHARACTERS or len(texts) >= _BLOCK_RECORDS:
            yield records, texts
            records, texts, size = _empty(names), [], 0
    if texts:
        yield records, texts


def _empty(names: tuple[str, ...]) -> Records:
    return Records([], {name: [] for name in names})


_Item = tuple[str | None, str, Sequence[Any]]


def _iterate_folder(file: RecordFile, problems: Problems) -> Iterator[_Item]:
    paths = sorted(
        path
        for path in file.path.rglob("*")
        if path.name.endswith(_FOLDER_ENDINGS) and path.is_file()
    )
    if not paths:
        raise DataError(
            f"{file.path} holds no text files ({', '.join(_FOLDER_ENDINGS)}); name the "
            "folder in which they are."
        )
    for path in paths:
        name = str(path.relative_to(file.path))
        try:
            encoding, _ = find_encoding(path, file.encoding)
            with open_text(path, encoding) as stream:
                text = stream.read(LONGEST_LINE)
        except FileFormatError as error:
            problems.add(name, str(error))
            continue
        if MARK in text:
            problems.add(name, _describe_marks(text, encoding))
            continue
        yield name, text, ()


def _iterate_text_lines(file: RecordFile, problems: Problems) -> Iterator[_Item]:
    for number, line in _iterate_sound_lines(file, problems):
        if line.strip():
            yield str(number), line, ()


def _iterate_sound_lines(
    file: RecordFile, problems: Problems
) -> Iterator[tuple[int, str]]:
    """Yield lines that are text in the encoding of the file."""
    encoding, _ = find_encoding(file.path, file.encoding)
    with open_text(file.path, encoding) as stream:
        for number, line in iterate_lines(stream):
            if MARK in line:
                problems.add(number, _describe_marks(line, encoding))
            else:
                yield number, line


def _describe_marks(text: str, encoding: str) -> str:
    place = text.index(MARK) + 1
    if place == len(text) == 101:
        return f"longer than {LONGEST_LINE:,} characters"
    hint = "; say encoding='cp1252' or what it is" if "utf" in encoding else ""
    return f"character {place} is not {encoding}{hint}"


def _iterate_rows(
    file: RecordFile, request: TextRequest, problems: Problems
) -> Iterator[_Item]:
    """Yield records of files whose columns have names."""
    pick = _pick(request, problems)
    rows = (
        _iterate_json(file, problems)
        if file.format == "jsonl"
        else iterate_named_rows(file, request.names, problems)
    )
    for number, row in rows:
        item = pick(number, row)
        if item is not None:
            yield item


def _pick(
    request: TextRequest, problems: Problems
) -> Callable[[int, dict[str, Any]], _Item | None]:
    """Return what takes the wanted columns out of a record."""

    def pick(number: int, row: dict[str, Any]) -> _Item | None:
        text = row.get(request.text)
        if not isinstance(text, str):
            problems.add(number, _describe_lack(request.text, text, row))
            return None
        identity = None
        if request.ids is not None:
            identity = row.get(request.ids)
            if identity is None:
                problems.add(number, f"no column {request.ids!r}")
                return None
            identity = str(identity)
        return identity, text, [row.get(name) for name in request.columns]

    return pick


def _describe_lack(name: str, value: Any, row: dict[str, Any]) -> str:
    if value is not None:
        return f"{type(value).__name__}, not text, in column {name!r}"
    if name in row:
        return f"nothing in column {name!r}"
    shown = ", ".join(repr(key[:30]) for key in list(row)[:8])
    return f"no column {name!r} (there are: {shown})"


def _iterate_json(
    file: RecordFile, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in _iterate_sound_lines(file, problems):
        if not line or line.isspace():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            reason = getattr(error, "msg", str(error))
            problems.add(number, f"not JSON ({reason})")
            continue
        except RecursionError:
            problems.add(number, "JSON that is nested too deeply")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            problems.add(number, f"JSON of type {type(row).__name__}, not an object")


def read_header(file: RecordFile) -> list[str]:
    """Return the names of the columns of a CSV, TSV or Parquet file.

    Parameters
    ----------
    file : RecordFile
        What to read.

    Returns
    -------
    list of str
        In the order of the file.
    """
    if file.format == "parquet":
        return list_parquet_columns(file.path)
    encoding, _ = find_encoding(file.path, file.encoding)
    with open_text(file.path, encoding) as stream:
        _, header = next(_parse(stream, file), (0, None))
    if not isinstance(header, list) or not header:
        raise DataError(
            f"{file.path} has no header line; its first line must name the columns."
        )
    names = [name.strip() for name in header]
    if MARK in "".join(names):
        raise DataError(
            f"{file.path}: the header line is not {encoding}; say encoding='cp1252' or "
            "what it is."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            f"{file.path} has two columns of the name {twice!r}; rename one of them."
        )
    return names


def iterate_delimited(
    file: RecordFile, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line of a CSV or TSV file, after its header.

    Parameters
    ----------
    file : RecordFile
        What to read.
    problems : Problems
        Takes up lines with too many or too few fields.

    Yields
    ------
    number, fields : int, list of str
        The number is that of the last line of the record.
    """
    encoding, _ = find_encoding(file.path, file.encoding)
    with open_text(file.path, encoding) as stream:
        rows = _parse(stream, file)
        _, header = next(rows, (0, []))
        for number, fields in rows:
            if isinstance(fields, str):
                problems.add(number, fields)
            elif len(fields) != len(header):
                if fields:
                    problems.add(
                        number, f"{len(fields)} fields instead of {len(header)}"
                    )
            elif MARK in "".join(fields):
                problems.add(number, _describe_marks("".join(fields), encoding))
            else:
                yield number, fields


def _parse(stream: Any, file: RecordFile) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the fields of records, or what is wrong with them."""
    if csv.field_size_limit() < LONGEST_LINE:
        csv.field_size_limit(LONGEST_LINE)
    lines = (line for _, line in _iterate_with_ends(stream))
    reader = csv.reader(lines, delimiter=file.separator, strict=True)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, f"not {file.format.upper()} ({error})"
            continue
        yield reader.line_num, fields


def _iterate_with_ends(stream: Any) -> Iterator[tuple[int, str]]:
    for number, line in iterate_lines(stream):
        yield number, f"{line}\n"


def iterate_named_rows(
    file: RecordFile, names: Sequence[str], problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield some columns of a CSV, TSV or Parquet file, by name.

    Parameters
    ----------
    file : RecordFile
        What to read.
    names : sequence of str
        Columns that are wanted.
    problems : Problems
        Takes up bad lines.

    Yields
    ------
    number, row : int, dict
        Number of the line or row, and its values.
    """
    header = read_header(file)
    missing = [name for name in names if name not in header]
    if missing:
        shown = ", ".join(map(repr, header[:12])) + (", ..." if header[12:] else "")
        raise DataError(
            f"{file.path} has no column {missing[0]!r}; its columns are {shown}."
        )
    if file.format == "parquet":
        yield from iterate_parquet(file.path, list(names))
        return
    places = [(name, header.index(name)) for name in names]
    for number, fields in iterate_delimited(file, problems):
        yield number, {name: fields[place] for name, place in places}
