"""The door of the house: whatever holds rows becomes a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Registry, Source
from tercet.intake.execution import count_threads
from tercet.intake.memory import MemorySource
from tercet.intake.readers import is_sequence_of_blocks, is_table, read_table
from tercet.intake.requirements import Requirement
from tercet.intake.streams import StreamSource, iterate_once, iterate_with
from tercet.intake.validation import validate_weights

__all__ = ["open_source"]

_REQUIREMENTS = Registry[Requirement]("requirement")
for _requirement in Requirement:
    _REQUIREMENTS.add(_requirement.value, _requirement)


def open_source(
    X: Any,
    *,
    sample_weight: ArrayLike | None = None,
    requirement: Requirement | str = Requirement.INTEGERS,
    n_jobs: int | None = None,
    block_rows: int | None = None,
    feature_names: Sequence[str] | None = None,
) -> Source:
    """Open anything that holds rows as a source that passes can run over.

    Parameters
    ----------
    X : array, sparse array, data frame, blocks, callable, iterator or Source
        Rows in memory: a dense array or nested list, a SciPy sparse matrix of any
        format, a pandas or polars frame (names are kept). Or blocks of rows, which
        may be larger than memory in all: a list of blocks, a callable that returns
        a new iterator of blocks each time, an object that can be iterated again, or
        an iterator, which is read once. A block is any of the former, a pair of it
        and the weights of its rows, or a `tercet.flow.Block`. A source is returned
        as it is.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of rows in memory; blocks bring their own.
    requirement : {"integers", "counts", "binary", "binary-or-missing", "reals"}
        Values that are allowed; others are an error that names row and column.
    n_jobs : int or None, default=None
        Threads of a run; None is one, -1 all cores.
    block_rows : int or None, default=None
        Largest number of rows that a pass is shown at once; None chooses a size
        that suits the cache.
    feature_names : sequence of str or None, default=None
        Names of the columns; None takes those of a data frame.

    Returns
    -------
    Source
        The rows, checked as they go by.

    Raises
    ------
    DataError
        If there are no rows or no columns, or if X holds no numbers. Values are
        checked when the source is run.

    Examples
    --------
    >>> import pandas as pd
    >>> from tercet.intake import open_source
    >>> source = open_source(pd.DataFrame({"tax": [2, 0], "war": [1, 3]}))
    >>> source.feature_names, source.rereadable
    (('tax', 'war'), True)
    >>> open_source(block for block in [[[1, 0]], [[0, 2]]]).rereadable
    False
    """
    wanted = _REQUIREMENTS[str(requirement)]
    n_threads = count_threads(n_jobs)
    _check_block_rows(block_rows)
    if isinstance(X, Source):
        given = (sample_weight, n_jobs, block_rows, feature_names)
        if any(value is not None for value in given):
            raise ParameterError(
                "sample_weight, n_jobs, block_rows and feature_names belong to the call "
                "that opened this source; leave them out here."
            )
        _check_promise(X, wanted)
        return X
    _refuse_other_things(X)
    # Readers know the names of their columns, and keep few rows in one table.
    feature_names = feature_names or getattr(X, "feature_names", None)
    keep = getattr(X, "keep_rows", None)
    whole = keep() if keep is not None and sample_weight is None else None
    stream = None if whole is not None else _find_stream(X)
    if stream is not None:
        if sample_weight is not None:
            raise ParameterError(
                "sample_weight is for rows in memory; blocks bring their own weights, "
                "as pairs (rows, weights)."
            )
        source: Source = StreamSource(
            stream,
            rereadable=not isinstance(X, Iterator),
            requirement=wanted,
            n_threads=n_threads,
            block_rows=block_rows,
            feature_names=_read_given_names(feature_names),
        )
        _check_names(feature_names, source.n_features)
        return source
    table = read_table(X if whole is None else whole)
    if table.n_rows == 0:
        raise DataError(
            f"X has 0 sample(s) (shape=(0, {table.n_features})) while a minimum of 1 is "
            "required. Check the filter by which the rows were selected."
        )
    _check_names(feature_names, table.n_features)
    weights = (
        None if sample_weight is None else validate_weights(sample_weight, table.n_rows)
    )
    return MemorySource(
        table,
        wanted,
        weights,
        n_threads,
        block_rows,
        _read_given_names(feature_names) or table.names,
    )


def _find_stream(X: Any) -> Callable[[], Iterator[Any]] | None:
    """Return what opens the blocks of X, or None for rows in memory."""
    if is_table(X):
        return None
    if is_sequence_of_blocks(X):
        return lambda: iter(X)
    if isinstance(X, Iterator):
        return iterate_once(X)
    if callable(X) and not isinstance(X, type):
        return iterate_with(X)
    plain = isinstance(X, Sequence | set | frozenset | dict)
    if isinstance(X, Iterable) and not plain:
        return iterate_with(lambda: X)
    return None


def _refuse_other_things(X: Any) -> None:
    """Say what to do with things that are often mistaken for rows."""
    if isinstance(X, str | bytes | PathLike):
        raise DataError(
            f"X={X!r} is a text or a path, not rows of numbers; read a file with "
            "`tercet.read(path)`."
        )
    if X is None:
        raise DataError(
            "X is None: there is nothing to learn from. Give rows of numbers."
        )
    if type(X).__name__ == "LazyFrame":
        raise DataError(
            "X is a lazy frame, whose rows are not there yet; pass `X.collect()`, or its "
            "parts as blocks."
        )
    if isinstance(X, list | tuple) and not X:
        raise DataError(
            "X is empty: there is nothing to learn from. Check the filter by which the "
            "rows or blocks were selected."
        )
    if isinstance(X, list | tuple) and all(isinstance(x, str) for x in X[:10]):
        raise DataError(
            "X is a list of texts, not rows of numbers; count their words first: "
            "`tercet.read(texts)`."
        )
    if type(X).__module__.partition(".")[0] == "dask":
        raise DataError(
            "X is a Dask collection; pass its parts as blocks: `lambda: (part.compute() "
            "for part in X.to_delayed().ravel())`, or `X.compute()` if it fits in memory."
        )


# What else holds of values that satisfy a requirement.
_IMPLIED = {
    Requirement.BINARY: set(Requirement),
    Requirement.BINARY_OR_MISSING: {Requirement.BINARY_OR_MISSING},
    Requirement.INTEGERS: {Requirement.INTEGERS, Requirement.COUNTS, Requirement.REALS},
    Requirement.COUNTS: {Requirement.COUNTS, Requirement.REALS},
    Requirement.REALS: {Requirement.REALS},
}


def _check_promise(source: Source, wanted: Requirement) -> None:
    """Refuse a source that lets values pass which the model cannot take."""
    promised = getattr(source, "requirement", None)
    if isinstance(promised, Requirement) and wanted not in _IMPLIED[promised]:
        raise ParameterError(
            f"The source was opened for requirement={promised.value!r}, but "
            f"{wanted.value!r} is needed ({wanted.describe()}); open it with "
            f"requirement={wanted.value!r}."
        )


def _read_given_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(str(name) for name in names)


def _check_names(names: Sequence[str] | None, n_features: int) -> None:
    if names is not None and len(names) != n_features:
        raise ParameterError(
            f"feature_names has {len(names)} names, but X has {n_features} columns; give "
            "one name for each column, or None."
        )


def _check_block_rows(block_rows: int | None) -> None:
    if block_rows is None:
        return
    whole = isinstance(block_rows, Integral) and not isinstance(block_rows, bool)
    if not whole or block_rows < 1:
        raise ParameterError(
            f"block_rows={block_rows!r} is not a number of rows; give a positive "
            "integer, or None for a size that suits the cache."
        )
