"""Rows in memory, cut into blocks without a copy where that is possible.

A table is one object that holds rows (a sparse matrix, an array, a data frame)
behind two operations: how many bytes a row has, and `cut`, which gives a run of
rows in the form that a `Block` promises. Conversion happens inside `cut`, so its
memory is that of a block, whatever the size of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tercet.exceptions import DataError
from tercet.flow import FloatArray

__all__ = ["ArrayTable", "SparseTable", "Table", "read_array", "read_sparse"]

_INT32_LIMIT = int(np.iinfo(np.int32).max)


class Table(Protocol):
    """Rows in memory."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_features(self) -> int:
        """Number of columns."""
        ...

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        ...

    @property
    def kind(self) -> str:
        """NumPy kind of the values before conversion: f, i, u or b."""
        ...

    def measure_bytes(self, start: int, stop: int) -> int:
        """Return the bytes that these rows take when converted."""
        ...

    def cut(self, start: int, stop: int) -> sparse.csr_array | FloatArray:
        """Return these rows as a block holds them."""
        ...


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Rows in compressed sparse row form, sorted and without duplicates.

    Parameters
    ----------
    matrix : csr_array of shape (n, d)
        The rows, of any real dtype.
    names : tuple of str or None, default=None
        Names of the columns.
    """

    matrix: sparse.csr_array
    names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def kind(self) -> str:
        """NumPy kind of the values before conversion."""
        return str(self.matrix.dtype.kind)

    def measure_bytes(self, start: int, stop: int) -> int:
        """Return the bytes that these rows take when converted."""
        entries = int(self.matrix.indptr[stop]) - int(self.matrix.indptr[start])
        return 12 * entries + 4 * (stop - start)

    def cut(self, start: int, stop: int) -> sparse.csr_array:
        """Return these rows; values and indices are views when they fit."""
        bounds = self.matrix.indptr[start : stop + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        small = last - first <= _INT32_LIMIT and self.n_features <= _INT32_LIMIT
        # One index type everywhere: compiled kernels then need one variant only.
        index_type = np.int32 if small else np.int64
        rows = sparse.csr_array((stop - start, self.n_features), dtype=np.float64)
        # Given to the constructor, slices of larger arrays would be copied.
        rows.data = self.matrix.data[first:last].astype(np.float64, copy=False)
        rows.indices = self.matrix.indices[first:last].astype(index_type, copy=False)
        rows.indptr = (bounds - first).astype(index_type, copy=False)
        rows.has_canonical_format = True
        return rows


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """Rows of a dense array.

    Parameters
    ----------
    array : ndarray of shape (n, d)
        The rows, of any real dtype and in any order in memory.
    names : tuple of str or None, default=None
        Names of the columns.
    """

    array: NDArray[Any]
    names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.array.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    @property
    def kind(self) -> str:
        """NumPy kind of the values before conversion."""
        return str(self.array.dtype.kind)

    def measure_bytes(self, start: int, stop: int) -> int:
        """Return the bytes that these rows take when converted."""
        return 8 * self.n_features * (stop - start)

    def cut(self, start: int, stop: int) -> FloatArray:
        """Return these rows; a view if the array is C-ordered float64."""
        return np.ascontiguousarray(self.array[start:stop], dtype=np.float64)


def read_sparse(matrix: Any, names: tuple[str, ...] | None = None) -> SparseTable:
    """Read any SciPy sparse matrix or array; the given object is left as it is.

    Parameters
    ----------
    matrix : sparse matrix or sparse array of shape (n, d)
        Any format. Duplicate entries are added up and explicit zeros are dropped,
        on a copy that is made only if there are any.
    names : tuple of str or None, default=None
        Names of the columns.

    Returns
    -------
    SparseTable
        The rows, sharing memory with a CSR matrix that is in canonical form.

    Examples
    --------
    >>> from scipy import sparse
    >>> from tercet.intake.tables import read_sparse
    >>> doubled = sparse.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(1, 3))
    >>> read_sparse(doubled).cut(0, 1).toarray()
    array([[0., 3., 0.]])
    """
    if matrix.ndim != 2:
        raise DataError(
            f"X has {matrix.ndim} dimension(s); rows and columns are needed. Reshape "
            "your data, with `X.reshape(1, -1)` for a single row."
        )
    _refuse_kind(matrix.dtype)
    if matrix.format == "csr":
        _check_structure(matrix)
        matrix = _widen(matrix)
        rows = sparse.csr_array(
            (matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False
        )
    else:
        rows = sparse.csr_array(_widen(matrix))
    tidy = rows.has_canonical_format
    stored = rows.data[: int(rows.indptr[-1])]
    if not tidy or np.count_nonzero(stored) != stored.size:
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return SparseTable(rows, names)


def read_array(array: Any, names: tuple[str, ...] | None = None) -> ArrayTable:
    """Read a dense array or anything that NumPy can turn into one.

    Parameters
    ----------
    array : array-like of shape (n, d)
        Numbers of any real type.
    names : tuple of str or None, default=None
        Names of the columns.

    Returns
    -------
    ArrayTable
        The rows; an array is not copied.

    Examples
    --------
    >>> from tercet.intake.tables import read_array
    >>> read_array([[1, 2], [3, 4]]).cut(1, 2)
    array([[3., 4.]])
    """
    if np.ma.is_masked(array):
        raise DataError(
            "X is a masked array with masked values; fill them in with "
            "`X.filled(...)`, or drop their rows."
        )
    try:
        values = np.asarray(array)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"X of type {type(array).__name__} cannot be read as a table of numbers: "
            f"{str(error).rstrip('.')}."
        ) from None
    if values.ndim != 2:
        raise DataError(
            f"X has {values.ndim} dimension(s) (shape={values.shape}); rows and columns "
            "are needed. Reshape your data, with `X.reshape(1, -1)` for a single row or "
            "`X.reshape(-1, 1)` for a single column."
        )
    if values.dtype == object:
        values = _convert_objects(values)
    _refuse_kind(values.dtype)
    return ArrayTable(values, names)


def _widen(matrix: Any) -> Any:
    """Return a matrix whose dtype has room for the sum of duplicate entries."""
    kind, size = matrix.dtype.kind, matrix.dtype.itemsize
    # Only these formats can hold an entry twice.
    if matrix.format not in ("csr", "csc", "coo", "bsr") or kind == "b" or size >= 8:
        return matrix
    if matrix.format in ("csr", "csc") and matrix.has_canonical_format:
        return matrix
    return matrix.astype(np.float64 if kind == "f" else np.int64)


class _ValueTypeError(DataError, TypeError):
    """An entry is of a type that no number can be made of."""


def _convert_objects(values: NDArray[Any]) -> FloatArray:
    for flat, value in enumerate(values.ravel()):
        if isinstance(value, str | bytes):
            row, column = divmod(flat, values.shape[1])
            raise DataError(
                f"X holds {value!r} at row {row}, column {column}; numbers are needed. "
                "Turn text into counts first."
            )
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _ValueTypeError(
            f"X holds objects that are not numbers: {error}. Select or convert the "
            "numeric columns."
        ) from None


def _refuse_kind(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise DataError(
            "Complex data not supported: X is complex. Give its real part, its "
            "modulus, or both parts as columns."
        )
    if dtype.kind not in "biuf":
        raise DataError(
            f"X has values of dtype {dtype}; numbers are needed. Turn text into counts "
            "and dates into numbers first."
        )


def _check_structure(matrix: Any) -> None:
    """Look at the arrays of a CSR matrix, which users may build by hand."""
    bounds, indices = matrix.indptr, matrix.indices
    sound = bounds[0] == 0 and bool(np.all(bounds[1:] >= bounds[:-1]))
    if not sound or bounds[-1] > min(indices.size, matrix.data.size):
        raise DataError(
            "X is a damaged CSR matrix: its row pointers do not rise from 0 to the "
            "number of entries. Build it anew, for example from coordinates."
        )
    indices = indices[: int(bounds[-1])]
    if indices.size and (indices.min() < 0 or indices.max() >= matrix.shape[1]):
        raise DataError(
            f"X is a damaged CSR matrix: a column index lies outside 0 to "
            f"{matrix.shape[1] - 1}. Build it anew with the right shape."
        )
