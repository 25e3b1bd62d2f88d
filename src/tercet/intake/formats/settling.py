"""Which columns of a file become which columns of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import IntArray
from tercet.intake.formats.stores import RowStore
from tercet.intake.texts.pipelines import TextPipeline

__all__ = ["Columns", "keep_frequent", "match_model", "start_at_one"]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the rows.

    Parameters
    ----------
    mapping : ndarray of int
        New number of each column of the store, -1 for those that are dropped.
    n_features : int
        Number of columns.
    names : tuple of str or None
        Their names.
    notes : list of str
        What a user should know.
    """

    mapping: IntArray
    n_features: int
    names: tuple[str, ...] | None
    notes: list[str] = field(default_factory=list)


def start_at_one(n_columns: int) -> IntArray:
    """Return a mapping for indices that count from 1.

    Examples
    --------
    >>> from tercet.intake.formats.settling import start_at_one
    >>> start_at_one(4).tolist()
    [-1, 0, 1, 2]
    """
    return np.arange(-1, n_columns - 1, dtype=np.int64)


def keep_frequent(
    store: RowStore,
    names: Sequence[str] | None,
    n_columns: int,
    pipeline: TextPipeline,
    *,
    alphabetical: bool,
) -> Columns:
    """Choose columns by their frequency and put words into alphabetical order.

    Parameters
    ----------
    store : RowStore
        Knows how frequent each column is.
    names : sequence of str or None
        Names of its columns.
    n_columns : int
        Number of its columns; some may be empty.
    pipeline : TextPipeline
        Says what is frequent.
    alphabetical : bool
        Whether columns are sorted by their names; else they keep their order.

    Returns
    -------
    Columns
        What is left.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import TextPipeline
    >>> from tercet.intake.formats.settling import keep_frequent
    >>> from tercet.intake.formats.stores import RowStore
    >>> store = RowStore()
    >>> store.add(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1, 1, 1]))
    >>> keep_frequent(
    ...     store, ["war", "and"], 2, TextPipeline(min_df=2), alphabetical=True
    ... ).names
    ('war',)
    """
    row_counts = np.zeros(n_columns, dtype=np.int64)
    totals = np.zeros(n_columns)
    row_counts[: store.n_columns], totals[: store.n_columns] = (
        store.row_counts,
        store.totals,
    )
    chosen = pipeline.choose(row_counts, totals, store.n_rows)
    if len(chosen) == 0:
        raise DataError(
            f"None of {n_columns} words or items is left: min_df={pipeline.min_df!r}, "
            f"max_df={pipeline.max_df!r}, stop words and the token pattern drop them "
            "all. Loosen one of them."
        )
    if alphabetical and names is not None:
        chosen = np.array(sorted(chosen, key=names.__getitem__), dtype=np.int64)
    mapping = np.full(n_columns, -1, dtype=np.int64)
    mapping[chosen] = np.arange(len(chosen))
    kept = None if names is None else tuple(names[j] for j in chosen)
    return Columns(mapping, len(chosen), kept)


def match_model(
    names: Sequence[str] | None,
    n_columns: int,
    known: Sequence[str] | None,
    n_features: int,
) -> Columns:
    """Bring the columns of a file into the order in which a model knows them.

    Parameters
    ----------
    names : sequence of str or None
        Names of the columns of the file.
    n_columns : int
        Their number.
    known : sequence of str or None
        Names that the model knows.
    n_features : int
        Columns that the model knows.

    Returns
    -------
    Columns
        In the order of the model.

    Examples
    --------
    >>> from tercet.intake.formats.settling import match_model
    >>> match_model(["b", "x", "a"], 3, ["a", "b"], 2).mapping.tolist()
    [1, -1, 0]
    """
    if names is None or known is None:
        if n_columns > n_features:
            raise DataError(
                f"The file has {n_columns} columns, but the model was fitted to "
                f"{n_features}; give the columns of the fit in the same order."
            )
        kept = None if known is None else tuple(known)
        return Columns(np.arange(n_columns), n_features, kept)
    places = {name: place for place, name in enumerate(known)}
    mapping = np.array([places.get(name, -1) for name in names], dtype=np.int64)
    missing = sorted(set(known) - set(names))
    if missing:
        raise DataError(
            f"The file has no column {missing[0]!r}, which the model was fitted to"
            f"{f' (and {len(missing) - 1} more)' if missing[1:] else ''}; give all "
            "columns of the fit."
        )
    dropped = int((mapping < 0).sum())
    notes = [f"{dropped} columns that the model does not know were left out"]
    return Columns(mapping, n_features, tuple(known), notes if dropped else [])
