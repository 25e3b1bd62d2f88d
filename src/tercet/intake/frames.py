"""Data frames, known by the module of their type so that nothing is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import FloatArray
from tercet.intake.tables import ArrayTable, SparseTable, Table, read_sparse

__all__ = ["PandasTable", "PolarsTable", "is_frame", "read_frame", "read_names"]

_NUMERIC = "biuf"


@dataclass(frozen=True, eq=False)
class PandasTable:
    """Rows of a pandas frame, converted a block at a time.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (n, d)
        Numeric columns, of one dtype or of several.
    names : tuple of str or None
        Names of the columns.
    kind : str
        NumPy kind to which all columns can be brought without loss.
    """

    frame: Any
    names: tuple[str, ...] | None
    kind: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.frame.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.frame.shape[1])

    def measure_bytes(self, start: int, stop: int) -> int:
        """Return the bytes that these rows take when converted."""
        return 8 * self.n_features * (stop - start)

    def cut(self, start: int, stop: int) -> FloatArray:
        """Return these rows; what pandas calls missing becomes NaN."""
        part = self.frame.iloc[start:stop]
        return np.ascontiguousarray(part.to_numpy(dtype=np.float64, na_value=np.nan))


@dataclass(frozen=True, eq=False)
class PolarsTable:
    """Rows of a polars frame, converted a block at a time.

    Parameters
    ----------
    frame : polars.DataFrame of shape (n, d)
        Numeric columns, of one dtype or of several.
    names : tuple of str or None
        Names of the columns.
    kind : str
        NumPy kind to which all columns can be brought without loss.
    """

    frame: Any
    names: tuple[str, ...] | None
    kind: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.frame.height)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.frame.width)

    def measure_bytes(self, start: int, stop: int) -> int:
        """Return the bytes that these rows take when converted."""
        return 8 * self.n_features * (stop - start)

    def cut(self, start: int, stop: int) -> FloatArray:
        """Return these rows; nulls become NaN."""
        part = self.frame.slice(start, stop - start)
        return np.ascontiguousarray(part.to_numpy(), dtype=np.float64)


def is_frame(X: object) -> bool:
    """Return whether an object is a pandas or polars frame.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    bool
        True for a `DataFrame` of either library.

    Examples
    --------
    >>> from tercet.intake.frames import is_frame
    >>> is_frame([[1, 2]])
    False
    """
    return _find_library(X) is not None


def read_names(X: Any) -> tuple[str, ...] | None:
    """Read the names of the columns of a data frame.

    Parameters
    ----------
    X : object
        Anything that may be given as data.

    Returns
    -------
    tuple of str or None
        The names if X is a data frame whose columns are all named by strings.

    Examples
    --------
    >>> from tercet.intake import read_names
    >>> read_names([[1, 2]]) is None
    True
    """
    if not is_frame(X):
        return None
    names = tuple(X.columns)
    if not all(isinstance(name, str) for name in names):
        return None
    return tuple(str(name) for name in names)


def read_frame(frame: Any) -> Table:
    """Read a data frame of pandas or polars.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame of shape (n, d)
        Numeric columns. A pandas frame of sparse columns stays sparse.

    Returns
    -------
    Table
        The rows with the names of the columns.
    """
    if len(frame) == 0 and frame.shape[1]:
        # The dtypes of columns without rows mean nothing.
        return ArrayTable(np.empty((0, frame.shape[1])), read_names(frame))
    if _find_library(frame) == "polars":
        return _read_polars(frame)
    return _read_pandas(frame)


def _find_library(X: object) -> str | None:
    for kind in type(X).__mro__:
        library = kind.__module__.partition(".")[0]
        if kind.__name__ == "DataFrame" and library in ("pandas", "polars"):
            return library
    return None


def _read_pandas(frame: Any) -> Table:
    names = read_names(frame)
    dtypes = list(frame.dtypes)
    for column, dtype in zip(frame.columns, dtypes, strict=True):
        if getattr(dtype, "kind", "O") not in _NUMERIC:
            _refuse_column(column, dtype)
    # Only pandas' own sparse dtype has a fill value; zero is the one that can stay.
    fills = [getattr(dtype, "fill_value", None) for dtype in dtypes]
    if dtypes and all(fill is not None and fill == 0 for fill in fills):
        table: SparseTable = read_sparse(frame.sparse.to_coo(), names)
        return table
    return PandasTable(frame, names, _join_pandas_kinds(dtypes))


def _join_pandas_kinds(dtypes: list[Any]) -> str:
    # Extension dtypes have room for missing values, so they get every check.
    if not all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return "f"
    return _join_kinds({str(dtype.kind) for dtype in dtypes})


def _read_polars(frame: Any) -> Table:
    kinds = set()
    for name, dtype in frame.schema.items():
        if dtype.is_unsigned_integer():
            kinds.add("u")
        elif dtype.is_integer():
            kinds.add("i")
        elif dtype.is_numeric():
            kinds.add("f")
        elif str(dtype) == "Boolean":
            kinds.add("b")
        else:
            _refuse_column(name, dtype)
        if frame[name].null_count():
            kinds.add("f")
    return PolarsTable(frame, read_names(frame), _join_kinds(kinds))


def _join_kinds(kinds: set[str]) -> str:
    if len(kinds) == 1:
        return next(iter(kinds))
    for kind in "fiu":
        if kind in kinds:
            return kind
    return "f"


def _refuse_column(column: object, dtype: object) -> None:
    raise DataError(
        f"Column {column!r} of X has dtype {dtype}; numbers are needed. Drop the column, "
        "or turn its values into counts or indicators first."
    )
