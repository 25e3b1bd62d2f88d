"""Which format a file has, and what its columns mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tercet.exceptions import DataError, FileFormatError, ParameterError
from tercet.intake.formats.opening import (
    find_encoding,
    is_gzip,
    iterate_lines,
    open_bytes,
    open_text,
)
from tercet.intake.formats.records import RecordFile, TextRequest, read_header
from tercet.intake.formats.tables import LongRequest

__all__ = [
    "FORMATS",
    "Layout",
    "describe_file",
    "find_format",
    "find_layout",
    "find_names_file",
    "read_names_file",
]

FORMATS = (
    "folder",
    "lines",
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "uci",
    "mtx",
    "svmlight",
    "npz",
)
"""Formats that are read; each may be zipped with gzip."""

_ENDINGS = {
    ".txt": "lines",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".uci": "uci",
    ".mtx": "mtx",
    ".mm": "mtx",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
}
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"PK", "npz"),
    (b"%%MatrixMarket", "mtx"),
    (b"{", "jsonl"),
)
_NAMES_ENDINGS = (".vocab.txt", ".features.txt")


def find_format(path: Path, given: str | None = None) -> tuple[str, str]:
    """Return the format of a file and how it is known.

    Parameters
    ----------
    path : Path
        File or folder.
    given : str or None
        What the user said.

    Returns
    -------
    format, reason : str
        One of `FORMATS`, and "given", "name" or "content".

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.layouts import find_format
    >>> find_format(pathlib.Path(__file__).parent)
    ('folder', 'name')
    """
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    if given is not None:
        return _check_given(path, given), "given"
    if path.is_dir():
        return "folder", "name"
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword."):
        return "uci", "name"
    ending = Path(name).suffix
    if ending in _ENDINGS:
        return _ENDINGS[ending], "name"
    with open_bytes(path) as stream:
        head = stream.read(64).lstrip()
    for magic, form in _MAGIC:
        if head.startswith(magic):
            return form, "content"
    raise FileFormatError(
        f"{path}: neither its name nor its content tells its format; say format= one of "
        f"{', '.join(FORMATS)}."
    )


def _check_given(path: Path, given: str) -> str:
    if given not in FORMATS:
        raise ParameterError(
            f"format={given!r} is not known; choose one of {', '.join(FORMATS)}."
        )
    if path.is_dir() != (given == "folder"):
        kind = "a folder" if path.is_dir() else "a file"
        raise ParameterError(f"format={given!r} does not suit {path}, which is {kind}.")
    return given


@dataclass(frozen=True)
class Layout:
    """What the columns of a file mean; exactly one of the requests is set.

    Parameters
    ----------
    kind : {"text", "wide", "long", "matrix"}
        Texts; one column an item; a line for each entry; numbers without names.
    text : TextRequest or None
        For texts.
    long : LongRequest or None
        For the long form.
    ids : str or None
        Column of identifiers of a wide table.
    columns : tuple of str
        Further columns of a wide table.
    """

    kind: str
    text: TextRequest | None = None
    long: LongRequest | None = None
    ids: str | None = None
    columns: tuple[str, ...] = ()


def find_layout(
    file: RecordFile,
    *,
    text: str | None,
    ids: str | None,
    item: str | None,
    count: str | None,
    columns: Sequence[str],
) -> Layout:
    """Return what the columns of a file mean, from what the user said and the header.

    Parameters
    ----------
    file : RecordFile
        What to read.
    text, ids, item, count : str or None
        Names of columns that the user gave.
    columns : sequence of str
        Further columns to be kept.

    Returns
    -------
    Layout
        A column named "text" makes texts, columns named "id" and "item" the long
        form; any other table has one column an item.
    """
    kept = tuple(columns)
    if file.format in ("folder", "lines"):
        _refuse(file, text=text, ids=ids, item=item, count=count, columns=kept or None)
        return Layout("text", text=TextRequest())
    if file.format == "jsonl":
        _refuse(file, item=item, count=count)
        keys = _read_keys(file)
        named = ids or ("id" if "id" in keys else None)
        return Layout("text", text=TextRequest(text or "text", named, kept))
    if file.format not in ("csv", "tsv", "parquet"):
        _refuse(file, text=text, ids=ids, item=item, count=count, columns=kept or None)
        return Layout("matrix")
    header = read_header(file)
    named = ids or ("id" if "id" in header else None)
    if text is not None and item is not None:
        raise ParameterError(
            f"text={text!r} and item={item!r} exclude one another: a table holds texts "
            "or a line for each entry."
        )
    if text is not None or (item is None and "text" in header):
        return Layout("text", text=TextRequest(text or "text", named, kept))
    if item is not None or {"id", "item"} <= set(header):
        tally = count or ("count" if "count" in header else None)
        request = LongRequest(named or "id", item or "item", tally, kept)
        return Layout("long", long=request)
    return Layout("wide", ids=named, columns=kept)


def _refuse(file: RecordFile, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name}={value!r} names a column, but {file.path} ({file.format}) has "
                "no columns of that kind; leave it out."
            )


def _read_keys(file: RecordFile) -> set[str]:
    """Return the keys of the first records of a file of JSON lines."""
    encoding, _ = find_encoding(file.path, file.encoding)
    with open_text(file.path, encoding) as stream:
        for _, line in islice(iterate_lines(stream), 20):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                return set(row)
    return set()


def find_names_file(path: Path) -> Path | None:
    """Return the file with the names of the columns that lies beside a matrix.

    Parameters
    ----------
    path : Path
        "docword.x.txt" has "vocab.x.txt" beside it; "x.mtx", "x.npz" and "x.svm" have
        "x.vocab.txt" or "x.features.txt". Each may be zipped.

    Returns
    -------
    Path or None
        None if there is none.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.layouts import find_names_file
    >>> find_names_file(pathlib.Path(__file__)) is None
    True
    """
    plain = path.name.removesuffix(".gz")
    if plain.startswith("docword."):
        names = [plain.replace("docword.", "vocab.", 1)]
    else:
        names = [f"{Path(plain).stem}{ending}" for ending in _NAMES_ENDINGS]
    for name in names:
        for candidate in (path.with_name(name), path.with_name(f"{name}.gz")):
            if candidate.is_file():
                return candidate
    return None


def read_names_file(path: Path, encoding: str | None = None) -> list[str]:
    """Return the names of columns, one on each line.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.
    encoding : str or None
        None is UTF-8.

    Returns
    -------
    list of str
        In the order of the columns.
    """
    known, _ = find_encoding(path, encoding)
    with open_text(path, known) as stream:
        names = [line for _, line in iterate_lines(stream)]
    while names and not names[-1]:
        names.pop()
    if len(set(names)) != len(names):
        raise DataError(f"{path} has the same name on two lines; names must differ.")
    return names


def describe_file(file: RecordFile, layout: Layout) -> dict[str, str]:
    """Return format, layout, encoding and how each is known.

    Parameters
    ----------
    file : RecordFile
        What is read.
    layout : Layout
        What its columns mean.

    Returns
    -------
    dict of str
        Facts for a report.
    """
    facts = {"format": file.format, "layout": layout.kind}
    if file.path.is_file():
        facts["compression"] = "gzip" if is_gzip(file.path) else "none"
        if layout.kind != "matrix" and file.format != "parquet":
            encoding, reason = find_encoding(file.path, file.encoding)
            facts["encoding"] = f"{encoding} ({reason})"
    else:
        facts["encoding"] = file.encoding or "utf-8 (default, or byte order mark)"
    return facts
