"""Rows of counts into files: whatever can be read can be written."""

from __future__ import annotations

import csv
import gzip
import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.flow import Block

__all__ = ["WRITTEN_FORMATS", "Rows", "write_counts"]

WRITTEN_FORMATS = ("csv", "tsv", "parquet", "uci", "mtx", "svmlight", "npz")
"""Formats in which counts are written."""


class Rows(Protocol):
    """What is to be written: a `CorpusReader`, or anything like it."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_features(self) -> int:
        """Number of columns."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        ...

    @property
    def document_ids(self) -> list[str]:
        """Identifiers of the rows."""
        ...

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows."""
        ...


def write_counts(
    rows: Rows,
    path: Path,
    form: str,
    *,
    zipped: bool = False,
    guard: Callable[[Any], Any] | None = None,
) -> None:
    """Write counts to a file, block by block.

    Parameters
    ----------
    rows : Rows
        The counts.
    path : Path
        Where to write.
    form : str
        One of `WRITTEN_FORMATS`; "csv", "tsv" and "parquet" have a line for each
        entry (id, item, count).
    zipped : bool
        Whether to zip the file with gzip.
    guard : callable or None
        Applied to names in CSV and TSV, so that no spreadsheet runs them.

    Examples
    --------
    >>> import pathlib, tempfile, tercet
    >>> from tercet.intake.formats.writing import write_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "counts.csv"
    ...     write_counts(tercet.read(["so it goes"]), path, "csv")
    ...     path.read_text().split()
    ['id,item,count', '1,goes,1', '1,it,1', '1,so,1']
    """
    writers: dict[str, Callable[[Rows, IO[bytes]], None]] = {
        "csv": lambda r, s: _write_long(r, s, ",", guard),
        "tsv": lambda r, s: _write_long(r, s, "\t", guard),
        "parquet": _write_parquet,
        "uci": _write_uci,
        "mtx": _write_matrix_market,
        "svmlight": _write_svmlight,
        "npz": _write_npz,
    }
    if form not in writers:
        raise ParameterError(
            f"format={form!r} cannot be written; choose one of "
            f"{', '.join(WRITTEN_FORMATS)}."
        )
    with _open_for_writing(path, zipped) as stream:
        writers[form](rows, stream)


@contextmanager
def _open_for_writing(path: Path, zipped: bool) -> Iterator[IO[bytes]]:
    with path.open("wb") as raw:
        if not zipped:
            yield raw
            return
        # No name and no time inside, so that the same rows give the same file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
            yield stream  # type: ignore[misc]


def _iterate_sparse(rows: Rows) -> Iterator[tuple[int, sparse.csr_array]]:
    for block in rows:
        matrix = sparse.csr_array(block.rows)
        matrix.sort_indices()
        yield block.start, matrix


def _iterate_entries(rows: Rows) -> Iterator[tuple[Any, Any, Any]]:
    for start, matrix in _iterate_sparse(rows):
        lengths = np.diff(matrix.indptr)
        where = np.repeat(np.arange(start, start + len(lengths)), lengths)
        yield where, matrix.indices, matrix.data


def _show(value: float) -> str:
    """Return a number without a needless point, and exactly."""
    return str(int(value)) if value == int(value) else repr(float(value))


def _list_names(rows: Rows) -> list[str]:
    names = rows.feature_names
    if names is None:
        return [f"x{column}" for column in range(rows.n_features)]
    return list(names)


def _write_long(
    rows: Rows,
    stream: IO[bytes],
    separator: str,
    guard: Callable[[Any], Any] | None,
) -> None:
    guarded = guard or (lambda value: value)
    names = [guarded(name) for name in _list_names(rows)]
    ids = rows.document_ids
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(["id", "item", "count"])
    for where, columns, values in _iterate_entries(rows):
        writer.writerows(
            (guarded(ids[i]), names[j], _show(value))
            for i, j, value in zip(
                where.tolist(), columns.tolist(), values.tolist(), strict=True
            )
        )
    text.flush()
    text.detach()


def _write_parquet(rows: Rows, stream: IO[bytes]) -> None:
    try:
        import polars as pl
    except ImportError:
        raise ParameterError(
            "format='parquet' needs polars; install it with "
            "`pip install 'tercet[frames]'`."
        ) from None
    names = np.array(_list_names(rows), dtype=object)
    ids = np.array(rows.document_ids, dtype=object)
    frames = [
        pl.DataFrame(
            {
                "id": ids[where].tolist(),
                "item": names[columns].tolist(),
                "count": values,
            },
            schema={"id": pl.String, "item": pl.String, "count": pl.Float64},
        ).with_columns(pl.col("id", "item").cast(pl.Categorical))
        for where, columns, values in _iterate_entries(rows)
    ]
    table = pl.concat(frames).with_columns(pl.col("id", "item").cast(pl.String))
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    stream.write(buffer.getbuffer())


def _count_entries(rows: Rows) -> int:
    return sum(matrix.nnz for _, matrix in _iterate_sparse(rows))


def _write_triples(rows: Rows, stream: IO[bytes]) -> None:
    for where, columns, values in _iterate_entries(rows):
        lines = [
            f"{i} {j} {_show(value)}\n"
            for i, j, value in zip(
                (where + 1).tolist(),
                (columns + 1).tolist(),
                values.tolist(),
                strict=True,
            )
        ]
        stream.write("".join(lines).encode())


def _write_uci(rows: Rows, stream: IO[bytes]) -> None:
    sizes = (rows.n_rows, rows.n_features, _count_entries(rows))
    stream.write("".join(f"{size}\n" for size in sizes).encode())
    _write_triples(rows, stream)


def _write_matrix_market(rows: Rows, stream: IO[bytes]) -> None:
    entries = _count_entries(rows)
    stream.write(
        "%%MatrixMarket matrix coordinate real general\n"
        f"{rows.n_rows} {rows.n_features} {entries}\n".encode()
    )
    _write_triples(rows, stream)


def _write_svmlight(rows: Rows, stream: IO[bytes]) -> None:
    columns = getattr(rows, "columns", {})
    labels = columns.get("label")
    for start, matrix in _iterate_sparse(rows):
        lines = []
        for i in range(matrix.shape[0]):
            first, last = matrix.indptr[i], matrix.indptr[i + 1]
            label = 0.0 if labels is None else _read_label(labels[start + i])
            fields = [
                f"{j + 1}:{_show(value)}"
                for j, value in zip(
                    matrix.indices[first:last].tolist(),
                    matrix.data[first:last].tolist(),
                    strict=True,
                )
            ]
            lines.append(" ".join([_show(label), *fields]))
        stream.write(("\n".join(lines) + "\n").encode())


def _read_label(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def _write_npz(rows: Rows, stream: IO[bytes]) -> None:
    """Write what `scipy.sparse.load_npz` reads, one array after another."""
    lengths = [np.diff(matrix.indptr) for _, matrix in _iterate_sparse(rows)]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    # An archive goes back to mend its headers, which a gzip stream cannot.
    with tempfile.SpooledTemporaryFile(1 << 26, prefix="tercet-") as copy:
        _fill_archive(rows, indptr, copy)
        copy.seek(0)
        shutil.copyfileobj(copy, stream, 1 << 20)


def _fill_archive(rows: Rows, indptr: Any, stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        _add_array(archive, "indptr", indptr)
        for name, kind in (("indices", np.int64), ("data", np.float64)):
            with archive.open(_entry(name), "w", force_zip64=True) as part:
                header = {
                    "descr": np.dtype(kind).str,
                    "fortran_order": False,
                    "shape": (int(indptr[-1]),),
                }
                np.lib.format.write_array_header_1_0(part, header)
                for _, matrix in _iterate_sparse(rows):
                    part.write(getattr(matrix, name).astype(kind).tobytes())
        _add_array(archive, "format", np.array(b"csr"))
        _add_array(archive, "shape", np.array([rows.n_rows, rows.n_features]))
        _add_array(archive, "_is_array", np.array(True))


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _add_array(archive: zipfile.ZipFile, name: str, array: Any) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
    archive.writestr(_entry(name), buffer.getvalue())
