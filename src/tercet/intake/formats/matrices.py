"""Counts in files of numbers: UCI bag-of-words, Matrix Market, SVMlight, SciPy."""

from __future__ import annotations

import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tercet.exceptions import FileFormatError
from tercet.flow import IntArray
from tercet.intake.formats.entries import EntryRows
from tercet.intake.formats.numbers import parse_lines, show_line
from tercet.intake.formats.opening import iterate_chunks, open_bytes, unzipped_path
from tercet.intake.formats.problems import Problems
from tercet.intake.formats.stores import RowStore

__all__ = ["read_matrix_market", "read_npz", "read_svmlight", "read_uci"]

_CHUNK_ENTRIES = 1 << 18
_MOST_COLUMNS = 1 << 25
_MOST_ROWS = 2**31 - 1

# What readers of archives and arrays raise when they meet damage.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)


def read_uci(path: Path, store: RowStore, problems: Problems) -> int:
    """Read a file of the UCI collection "Bag of Words".

    Three lines with the numbers of documents, words and entries, then lines with a
    document, a word (both from 1) and a count.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.
    store : RowStore
        Where the rows go.
    problems : Problems
        Takes up bad lines.

    Returns
    -------
    int
        Number of words.
    """
    with open_bytes(path) as stream:
        sizes = [_read_size(path, stream, number) for number in (1, 2, 3)]
        n_rows, n_columns, _ = sizes
        _check_sizes(path, n_rows, n_columns)
        with EntryRows(store) as entries:
            _read_triples(stream, 3, (n_rows, n_columns), entries, problems)
    return n_columns


def _read_size(path: Path, stream: BinaryIO, number: int) -> int:
    line = stream.readline(1000)
    try:
        size = int(line)
    except ValueError:
        size = -1
    if size < 0:
        raise FileFormatError(
            f"{path} is not in UCI form: line {number} is {show_line(line.strip())}, "
            "but must be the number of "
            f"{('documents', 'words', 'entries')[number - 1]}."
        )
    return size


def _check_sizes(path: Path, n_rows: int, n_columns: int) -> None:
    if n_rows > _MOST_ROWS or n_columns > _MOST_COLUMNS:
        raise FileFormatError(
            f"{path} claims {n_rows} rows and {n_columns} columns; at most {_MOST_ROWS} "
            f"and {_MOST_COLUMNS} are read."
        )


def _read_triples(
    stream: BinaryIO,
    before: int,
    shape: tuple[int, int],
    entries: EntryRows,
    problems: Problems,
    *,
    n_fields: int = 3,
    mirrored: bool = False,
) -> None:
    """Read lines of row, column and value; indices count from 1."""
    for passed, lines in iterate_chunks(stream):
        values, places = parse_lines(lines, n_fields, before + passed, problems)
        rows, columns = values[:, 0] - 1, values[:, 1] - 1
        sound = (rows == np.floor(rows)) & (columns == np.floor(columns))
        sound &= (rows >= 0) & (rows < shape[0])
        sound &= (columns >= 0) & (columns < shape[1])
        for place in places[~sound]:
            problems.add(
                int(place), f"indices outside 1 to {shape[0]} and 1 to {shape[1]}"
            )
        rows, columns = rows[sound].astype(np.int64), columns[sound].astype(np.int64)
        data = values[sound, 2] if n_fields == 3 else np.ones(len(rows))
        entries.add(rows, columns, data)
        if mirrored:
            off = rows != columns
            entries.add(columns[off], rows[off], data[off])
    entries.finish(shape[0])


def read_matrix_market(path: Path, store: RowStore, problems: Problems) -> int:
    """Read a Matrix Market file: coordinates or an array, real, integer or pattern.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.
    store : RowStore
        Where the rows go.
    problems : Problems
        Takes up bad lines.

    Returns
    -------
    int
        Number of columns.
    """
    with open_bytes(path) as stream:
        form, values, symmetry = _read_banner(path, stream)
        number = 1
        while (line := stream.readline(1 << 16)).startswith(b"%") or line == b"\n":
            number += 1
        number += 1
        try:
            sizes = [int(field) for field in line.split()]
        except ValueError:
            sizes = []
        wanted = 3 if form == "coordinate" else 2
        if len(sizes) != wanted or min(sizes) < 0:
            raise FileFormatError(
                f"{path}: line {number} is {show_line(line.strip())}, but must be "
                f"{wanted} sizes."
            )
        n_rows, n_columns = sizes[:2]
        _check_sizes(path, n_rows, n_columns)
        shape = (n_rows, n_columns)
        with EntryRows(store) as entries:
            if form == "array":
                _read_array(path, stream, number, shape, entries)
                return n_columns
            _read_triples(
                stream,
                number,
                shape,
                entries,
                problems,
                n_fields=2 if values == "pattern" else 3,
                mirrored=symmetry == "symmetric",
            )
    return n_columns


def _read_banner(path: Path, stream: BinaryIO) -> tuple[str, str, str]:
    banner = stream.readline(1000).decode("ascii", "replace").lower().split()
    sound = len(banner) == 5 and banner[:2] == ["%%matrixmarket", "matrix"]
    if not sound:
        raise FileFormatError(
            f"{path} does not begin with '%%MatrixMarket matrix' and three words."
        )
    form, values, symmetry = banner[2:]
    known = (
        form in ("coordinate", "array")
        and values in ("real", "integer", "pattern", "unsigned-integer")
        and symmetry in (("general", "symmetric") if form != "array" else ("general",))
    )
    if not known:
        raise FileFormatError(
            f"{path} is a Matrix Market file of the kind '{' '.join(banner[2:])}'; real "
            "or integer values of a general or symmetric matrix are read."
        )
    return form, values, symmetry


def _read_array(
    path: Path,
    stream: BinaryIO,
    before: int,
    shape: tuple[int, int],
    entries: EntryRows,
) -> None:
    """Read values column by column; a bad one would shift all that follow."""
    strict = Problems(limit=0)
    n_read, n_all = 0, shape[0] * shape[1]
    for passed, lines in iterate_chunks(stream):
        values, _ = parse_lines(lines, 1, before + passed, strict)
        index = np.arange(n_read, n_read + len(values))
        n_read += len(values)
        if n_read > n_all:
            break
        filled = values[:, 0] != 0
        columns, rows = np.divmod(index[filled], max(1, shape[0]))
        entries.add(rows, columns, values[filled, 0])
    if n_read != n_all:
        raise FileFormatError(
            f"{path} has {'more' if n_read > n_all else 'fewer'} values than the "
            f"{n_all} of {shape[0]} x {shape[1]}."
        )
    entries.finish(shape[0])


def read_svmlight(
    path: Path, store: RowStore, problems: Problems
) -> tuple[list[float], int, bool]:
    """Read an SVMlight or LIBSVM file.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.
    store : RowStore
        Where the rows go; columns are the indices of the file.
    problems : Problems
        Takes up bad lines.

    Returns
    -------
    labels : list of float
        The first number of each line.
    n_columns : int
        One more than the largest index.
    from_one : bool
        Whether index 0 does not occur.
    """
    labels: list[float] = []
    lowest = 1
    with open_bytes(path) as stream:
        for passed, lines in iterate_chunks(stream):
            indptr = [0]
            indices: list[int] = []
            values: list[float] = []
            for number, line in enumerate(lines.split(b"\n"), start=passed + 1):
                body = line.partition(b"#")[0].split()
                if not body:
                    continue
                parsed = _parse_svmlight(body)
                if isinstance(parsed, str):
                    problems.add(number, parsed)
                    continue
                label, row = parsed
                labels.append(label)
                indices += row
                values += row.values()
                indptr.append(len(indices))
            columns = np.array(indices, dtype=np.int64)
            lowest = min(lowest, int(columns.min(initial=1)))
            store.add(np.array(indptr), columns, np.array(values, dtype=np.float64))
    return labels, store.n_columns, lowest > 0


def _parse_svmlight(body: list[bytes]) -> tuple[float, dict[int, float]] | str:
    """Return label and entries of a line, or what is wrong with it."""
    row: dict[int, float] = {}
    try:
        label = float(body[0])
        for field in body[1:]:
            key, _, value = field.partition(b":")
            if key == b"qid":
                continue
            index, number = int(key), float(value)
            if not 0 <= index <= _MOST_COLUMNS or not np.isfinite(number):
                return f"entry {show_line(field)} is out of range"
            if number:
                row[index] = row.get(index, 0.0) + number
    except ValueError:
        return f"{show_line(b' '.join(body))} is not 'label index:value ...'"
    return label, row


def read_npz(path: Path, store: RowStore) -> int:
    """Read a sparse matrix that `scipy.sparse.save_npz` wrote, piece by piece.

    Parameters
    ----------
    path : Path
        File to read, zipped once more or not.
    store : RowStore
        Where the rows go.

    Returns
    -------
    int
        Number of columns.
    """
    with unzipped_path(path) as plain:
        try:
            with zipfile.ZipFile(plain) as archive:
                return _read_archive(path, archive, store)
        except FileFormatError:
            raise
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.filename:
                raise
            raise FileFormatError(
                f"{path} is not a sound sparse matrix of SciPy ({str(error)[:100]}); write "
                "one with scipy.sparse.save_npz."
            ) from error


def _read_archive(path: Path, archive: zipfile.ZipFile, store: RowStore) -> int:
    form = bytes(_read_whole(archive, "format").item()).decode("ascii", "replace")
    shape = _read_whole(archive, "shape").ravel()
    if len(shape) != 2 or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise FileFormatError(f"{path} does not hold a matrix of rows and columns.")
    n_rows, n_columns = int(shape[0]), int(shape[1])
    _check_sizes(path, n_rows, n_columns)
    indptr = None
    names: tuple[str, ...] = ("row", "col", "data")
    if form in ("csr", "csc"):
        names = ("indices", "data")
        major = n_rows if form == "csr" else n_columns
        indptr = _read_whole(archive, "indptr").astype(np.int64)
        rising = bool(np.all(np.diff(indptr) >= 0))
        if len(indptr) != major + 1 or indptr[0] != 0 or not rising:
            raise FileFormatError(f"{path}: its row pointers are damaged.")
    elif form != "coo":
        raise FileFormatError(
            f"{path} holds a matrix in the format {form!r}; csr, csc and coo are read."
        )
    limit = None if indptr is None else int(indptr[-1])
    start = 0
    with EntryRows(store) as entries:
        for parts in _read_together(archive, names, limit):
            rows, columns = _place_entries(parts, start, indptr, form)
            start += len(rows)
            _check_indices(path, rows, columns, (n_rows, n_columns))
            values = parts[-1].astype(np.float64)
            filled = values != 0
            entries.add(rows[filled], columns[filled], values[filled])
        if limit is not None and start != limit:
            raise FileFormatError(f"{path}: {start} entries instead of {limit}.")
        entries.finish(n_rows)
    return n_columns


def _place_entries(
    parts: list[NDArray[Any]], start: int, indptr: IntArray | None, form: str
) -> tuple[IntArray, IntArray]:
    """Return row and column of a run of entries."""
    inner = parts[0].astype(np.int64)
    if indptr is None:
        return inner, parts[1].astype(np.int64)
    places = np.arange(start, start + len(inner))
    outer = np.searchsorted(indptr, places, side="right") - 1
    return (outer, inner) if form == "csr" else (inner, outer)


def _check_indices(
    path: Path, rows: IntArray, columns: IntArray, shape: tuple[int, int]
) -> None:
    for index, size, noun in ((rows, shape[0], "row"), (columns, shape[1], "column")):
        if len(index) and (index.min() < 0 or index.max() >= size):
            raise FileFormatError(
                f"{path}: a {noun} index lies outside 0 to {size - 1}."
            )


def _read_whole(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _read_together(
    archive: zipfile.ZipFile, names: tuple[str, ...], limit: int | None
) -> Iterator[list[NDArray[Any]]]:
    """Yield arrays of an archive side by side, piece by piece."""
    streams = [_read_pieces(archive, name, limit) for name in names]
    yield from (list(parts) for parts in zip(*streams, strict=True))


def _read_pieces(
    archive: zipfile.ZipFile, name: str, limit: int | None
) -> Iterator[NDArray[Any]]:
    with archive.open(f"{name}.npy") as stream:
        version = np.lib.format.read_magic(stream)
        read_header = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read_header(stream)
        if len(shape) != 1 or dtype.kind not in "iufb":
            raise ValueError(f"{name} is not a list of numbers")
        left = shape[0] if limit is None else min(limit, shape[0])
        while left:
            size = min(left, _CHUNK_ENTRIES)
            data = _read_exactly(stream, size * dtype.itemsize)
            yield np.frombuffer(data, dtype=dtype)
            left -= size


def _read_exactly(stream: Any, size: int) -> bytes:
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            raise EOFError("it ends too early")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
