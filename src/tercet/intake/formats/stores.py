"""Rows put aside while their columns are not settled yet: in memory, then on disk."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tercet.flow import FloatArray, IntArray

__all__ = ["RowStore"]

_MEMORY_BYTES = 256 << 20


@dataclass(frozen=True, eq=False)
class _Piece:
    """Rows of one block, in memory or at a place of the spill file."""

    n_rows: int
    n_entries: int
    pointer_type: np.dtype[Any]
    value_type: np.dtype[Any]
    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None
    place: int


class RowStore:
    """Sparse rows in the order in which they came.

    Beyond a limit they go to a file without a name, which the system deletes
    with the process, however that ends.

    Parameters
    ----------
    memory_bytes : int
        Bytes that are kept in memory.

    Attributes
    ----------
    n_rows, n_entries : int
        What has been put in.
    row_counts, totals : ndarray of shape (n_columns,)
        Of each column: rows with an entry, and the sum of its values.
    dense_share : float
        Share of the cells that hold an entry.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.formats.stores import RowStore
    >>> store = RowStore()
    >>> store.add(np.array([0, 2]), np.array([1, 0]), np.array([3.0, 1.0]))
    >>> next(store.blocks(np.array([0, 1]))).toarray()
    array([[1., 3.]])
    """

    def __init__(self, memory_bytes: int = _MEMORY_BYTES) -> None:
        self._memory_bytes = memory_bytes
        self._file: int | None = None
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self.n_rows = 0
        self.n_entries = 0
        self._rows_with: IntArray = np.zeros(1024, dtype=np.int64)
        self._totals: FloatArray = np.zeros(1024)
        self._largest = -1
        self._room = self._memory_bytes
        self._pieces: list[_Piece] = []
        self._end = 0
        self._settled: IntArray | None = None

    @property
    def n_columns(self) -> int:
        """One more than the largest column index so far."""
        return self._largest + 1

    @property
    def row_counts(self) -> IntArray:
        """Rows that have an entry in each column."""
        return self._rows_with[: self.n_columns]

    @property
    def totals(self) -> FloatArray:
        """Sum of each column."""
        return self._totals[: self.n_columns]

    @property
    def dense_share(self) -> float:
        """Share of the cells that hold an entry."""
        return self.n_entries / max(1, self.n_rows * self.n_columns)

    def add(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any]
    ) -> None:
        """Put rows in; columns are unique within a row."""
        if len(indices):
            self._largest = max(self._largest, int(indices.max()))
            self._count(indices, values)
        self.n_rows += len(indptr) - 1
        self.n_entries += len(indices)
        arrays = (
            _shrink(indptr),
            indices.astype(np.int32, copy=False),
            _shrink(values),
        )
        self._keep(arrays)

    def settle(self, mapping: IntArray) -> None:
        """Renumber the columns of what is in memory, once and for all readings."""
        self._settled = mapping
        # One by one, so that old and new rows are not all there at once.
        for place, piece in enumerate(self._pieces):
            if piece.arrays is not None:
                indptr, indices, values = _renumber(*piece.arrays, mapping)
                arrays = (_shrink(indptr), indices, _shrink(values))
                self._pieces[place] = _describe(arrays, kept=True)

    def blocks(
        self, mapping: IntArray | None = None, n_columns: int | None = None
    ) -> Iterator[sparse.csr_array]:
        """Yield the rows, with the columns that they have in the end.

        Parameters
        ----------
        mapping : ndarray of shape (n_columns,) or None
            Number of each column in the end, -1 for those that are dropped. None
            takes what was given to `settle`, or else leaves the columns alone.
        n_columns : int or None
            Columns of the result; None takes one more than the largest number.

        Yields
        ------
        csr_array
            Float64 values and sorted columns.
        """
        settled = mapping is None and self._settled is not None
        mapping = self._settled if mapping is None else mapping
        if n_columns is None:
            n_columns = (
                self.n_columns if mapping is None else int(mapping.max(initial=-1)) + 1
            )
        for piece in self._pieces:
            indptr, indices, values = self._load(piece)
            if mapping is not None and not (settled and piece.arrays is not None):
                indptr, indices, values = _renumber(indptr, indices, values, mapping)
            rows = sparse.csr_array(
                (values.astype(np.float64), indices, indptr.astype(np.int32)),
                shape=(piece.n_rows, n_columns),
            )
            if mapping is None:
                rows.sort_indices()
            rows.has_canonical_format = True
            yield rows

    def _count(self, indices: NDArray[Any], values: NDArray[Any]) -> None:
        while self._largest >= len(self._rows_with):
            grown = 2 * len(self._rows_with)
            self._rows_with = np.pad(self._rows_with, (0, grown - len(self._rows_with)))
            self._totals = np.pad(self._totals, (0, grown - len(self._totals)))
        n = self._largest + 1
        self._rows_with[:n] += np.bincount(indices, minlength=n)
        self._totals[:n] += np.bincount(indices, weights=values, minlength=n)

    def _keep(self, arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]) -> None:
        size = sum(array.nbytes for array in arrays)
        if size <= self._room:
            self._room -= size
            self._pieces.append(_describe(arrays, kept=True))
            return
        self._room = 0
        if self._file is None:
            with tempfile.TemporaryFile(prefix="tercet-") as stream:
                self._file = os.dup(stream.fileno())
            weakref.finalize(self, os.close, self._file)
        self._pieces.append(_describe(arrays, kept=False, place=self._end))
        for array in arrays:
            data = np.ascontiguousarray(array).data.cast("B")
            while data:
                written = os.pwrite(self._file, data, self._end)
                self._end += written
                data = data[written:]

    def _load(self, piece: _Piece) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        if piece.arrays is not None:
            return piece.arrays
        indptr, place = self._read(piece.pointer_type, piece.n_rows + 1, piece.place)
        indices, place = self._read(np.dtype(np.int32), piece.n_entries, place)
        values, _ = self._read(piece.value_type, piece.n_entries, place)
        return indptr, indices, values

    def _read(
        self, dtype: np.dtype[Any], count: int, place: int
    ) -> tuple[NDArray[Any], int]:
        assert self._file is not None
        size = count * dtype.itemsize
        parts = []
        while size:
            part = os.pread(self._file, size, place)
            if not part:
                raise OSError("The file of rows that were put aside has been cut.")
            parts.append(part)
            size -= len(part)
            place += len(part)
        return np.frombuffer(b"".join(parts), dtype=dtype), place


def _describe(
    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    *,
    kept: bool,
    place: int = 0,
) -> _Piece:
    indptr, indices, values = arrays
    return _Piece(
        len(indptr) - 1,
        len(indices),
        indptr.dtype,
        values.dtype,
        arrays if kept else None,
        place,
    )


def _shrink(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values in the smallest type that holds them exactly."""
    if len(values) == 0:
        return values.astype(np.uint8)
    if values.dtype.kind == "f":
        low, high = float(values.min()), float(values.max())
        # A comparison with not-a-number is false.
        if not (low >= 0.0 and high < 2**31):
            return values
        whole = values.astype(np.int32)
        if not np.array_equal(whole, values):
            return values
        values = whole
    low, high = int(values.min()), int(values.max())
    if low < 0:
        return values
    for dtype in (np.uint8, np.uint16, np.int32):
        if high <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values


def _renumber(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    mapping: IntArray,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return rows with new column numbers, without those that are dropped, sorted."""
    columns = mapping[indices]
    kept = columns >= 0
    if not kept.all():
        before = np.concatenate([[0], np.cumsum(kept)])
        indptr = before[indptr]
        columns, values = columns[kept], values[kept]
    rows = sparse.csr_array(
        (
            values.astype(np.float64),
            columns.astype(np.int32),
            indptr.astype(np.int32),
        ),
        shape=(len(indptr) - 1, int(mapping.max(initial=-1)) + 1),
    )
    rows.sort_indices()
    return rows.indptr, rows.indices, rows.data
