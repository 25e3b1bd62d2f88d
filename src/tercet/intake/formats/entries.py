"""Entries of a matrix in any order, brought into rows in bounded memory."""

from __future__ import annotations

import tempfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tercet.exceptions import FileFormatError
from tercet.flow import IntArray
from tercet.intake.formats.stores import RowStore

__all__ = ["EntryRows"]

_ENTRY = np.dtype([("row", "<i8"), ("column", "<i4"), ("value", "<f8")])
_BLOCK_ENTRIES = 1 << 19
_EMPTY_ROWS = 1 << 20
_MEMORY_BYTES = 64 << 20


class EntryRows:
    """Takes entries (row, column, value) and puts rows into a store.

    As long as the row numbers rise, rows go straight to the store. From the first
    step back all that has not gone there yet, and all that follows, is written to a
    temporary file and sorted into buckets of rows there: two readings of the entries,
    and memory for one bucket.

    Parameters
    ----------
    store : RowStore
        Where the rows go.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.formats.entries import EntryRows
    >>> from tercet.intake.formats.stores import RowStore
    >>> store = RowStore()
    >>> entries = EntryRows(store)
    >>> entries.add(np.array([1, 0, 1]), np.array([0, 1, 0]), np.array([2.0, 5.0, 1.0]))
    >>> entries.finish(n_rows=3)
    >>> next(store.blocks()).toarray()
    array([[0., 5.],
           [3., 0.],
           [0., 0.]])
    """

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._waiting: list[NDArray[Any]] = []
        self._n_waiting = 0
        self._last = -1
        # Rows before this one are in the store.
        self._done = 0
        self._file: BinaryIO | None = None
        self._counts: IntArray = np.zeros(1024, dtype=np.int64)
        self._n_rows = 0
        self._n_entries = 0

    def __enter__(self) -> EntryRows:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the temporary file, if there is one."""
        if self._file is not None:
            self._file.close()

    def add(self, rows: IntArray, columns: IntArray, values: NDArray[Any]) -> None:
        """Take some entries."""
        if len(rows) == 0:
            return
        entries = np.empty(len(rows), dtype=_ENTRY)
        entries["row"], entries["column"], entries["value"] = rows, columns, values
        self._n_rows = max(self._n_rows, int(rows.max()) + 1)
        self._n_entries += len(rows)
        if self._file is None:
            rising = rows[0] >= self._last and bool(np.all(rows[1:] >= rows[:-1]))
            if rising:
                self._last = int(rows[-1])
                self._waiting.append(entries)
                self._n_waiting += len(entries)
                if self._n_waiting > _BLOCK_ENTRIES:
                    self._flush()
                return
            self._turn_to_file()
        self._write(entries)

    def finish(self, n_rows: int | None = None) -> None:
        """Put all that waits into the store.

        Parameters
        ----------
        n_rows : int or None
            Rows of the matrix; None ends with the last row that has an entry.
        """
        n_rows = self._n_rows if n_rows is None else n_rows
        if n_rows > _EMPTY_ROWS and n_rows > 100 * (self._n_entries + 1):
            raise FileFormatError(
                f"The file claims {n_rows:,} rows but has {self._n_entries:,} entries; "
                "its sizes are damaged."
            )
        if self._file is None:
            self._emit(self._join(), n_rows)
            return
        with self._file:
            self._sort_out(self._file, n_rows)

    def _join(self) -> NDArray[Any]:
        entries = (
            np.concatenate(self._waiting) if self._waiting else np.empty(0, _ENTRY)
        )
        self._waiting, self._n_waiting = [], 0
        return entries

    def _flush(self) -> None:
        """Put all rows but the last, which may go on, into the store."""
        entries = self._join()
        cut = int(np.searchsorted(entries["row"], self._last))
        self._emit(entries[:cut], self._last)
        self._waiting, self._n_waiting = [entries[cut:]], len(entries) - cut

    def _emit(self, entries: NDArray[Any], stop: int) -> None:
        """Put the rows up to one into the store."""
        start, self._done = self._done, stop
        if stop <= start:
            return
        width = int(entries["column"].max()) + 1 if len(entries) else 1
        rows = sparse.coo_array(
            (entries["value"], (entries["row"] - start, entries["column"])),
            shape=(stop - start, width),
        ).tocsr()
        rows.eliminate_zeros()
        self._store.add(rows.indptr, rows.indices, rows.data)

    def _turn_to_file(self) -> None:
        """Move what is in the store and what waits into a file of entries."""
        self._file = tempfile.SpooledTemporaryFile(_MEMORY_BYTES, prefix="tercet-")  # type: ignore[assignment]  # noqa: SIM115
        waiting, start = self._join(), 0
        for block in self._store.blocks():
            coo = block.tocoo()
            entries = np.empty(coo.nnz, dtype=_ENTRY)
            entries["row"], entries["column"] = coo.row + start, coo.col
            entries["value"] = coo.data
            self._write(entries)
            start += block.shape[0]
        self._store.clear()
        self._done = 0
        self._write(waiting)

    def _write(self, entries: NDArray[Any]) -> None:
        assert self._file is not None
        if len(entries) == 0:
            return
        largest = int(entries["row"].max())
        if largest >= len(self._counts):
            grown = max(2 * len(self._counts), largest + 1)
            self._counts = np.pad(self._counts, (0, grown - len(self._counts)))
        first = int(entries["row"].min())
        counts = np.bincount(entries["row"] - first)
        self._counts[first : first + len(counts)] += counts
        self._file.write(entries.tobytes())

    def _sort_out(self, file: BinaryIO, n_rows: int) -> None:
        """Sort the entries of the file into buckets of rows, then emit each."""
        counts = np.zeros(n_rows, dtype=np.int64)
        known = min(n_rows, len(self._counts))
        counts[:known] = self._counts[:known]
        ends = np.cumsum(counts)
        # The bucket of a row is told by the entries before it.
        buckets = (ends - counts) // _BLOCK_ENTRIES
        n_buckets = int(buckets[-1]) + 1 if n_rows else 0
        limits = np.searchsorted(buckets, np.arange(n_buckets + 1))
        starts = np.concatenate([[0], ends])[limits]
        with tempfile.SpooledTemporaryFile(_MEMORY_BYTES, prefix="tercet-") as sorted_:
            places = starts[:-1].copy()
            file.seek(0)
            while data := file.read(_BLOCK_ENTRIES * _ENTRY.itemsize):
                entries = np.frombuffer(data, dtype=_ENTRY)
                where = buckets[entries["row"]]
                order = np.argsort(where, kind="stable")
                entries, where = entries[order], where[order]
                for bucket in np.unique(where):
                    part = entries[where == bucket]
                    sorted_.seek(int(places[bucket]) * _ENTRY.itemsize)
                    sorted_.write(part.tobytes())
                    places[bucket] += len(part)
            for bucket in range(n_buckets):
                sorted_.seek(int(starts[bucket]) * _ENTRY.itemsize)
                size = int(starts[bucket + 1] - starts[bucket]) * _ENTRY.itemsize
                entries = np.frombuffer(sorted_.read(size), dtype=_ENTRY)
                self._emit(entries, int(limits[bucket + 1]))
        self._emit(np.empty(0, _ENTRY), n_rows)
