"""From a plan of reading to rows in a store, with all that is to be known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from tercet.exceptions import DataError
from tercet.intake.formats.layouts import Layout, find_names_file, read_names_file
from tercet.intake.formats.matrices import (
    read_matrix_market,
    read_npz,
    read_svmlight,
    read_uci,
)
from tercet.intake.formats.problems import Problems
from tercet.intake.formats.records import RecordFile, Records, iterate_records
from tercet.intake.formats.settling import (
    Columns,
    keep_frequent,
    match_model,
    start_at_one,
)
from tercet.intake.formats.stores import RowStore
from tercet.intake.formats.tables import read_long, read_wide
from tercet.intake.texts.counting import WordNumbers, count_words
from tercet.intake.texts.pipelines import TextPipeline

__all__ = ["Loaded", "Plan", "iterate_texts", "load_rows"]


@dataclass(frozen=True)
class Plan:
    """What is to be read, and how.

    Parameters
    ----------
    file : RecordFile or None
        None for texts in memory.
    texts : list of str
        Those texts.
    layout : Layout
        What the columns mean.
    pipeline : TextPipeline
        How texts are cut and what is kept.
    known : tuple of str or None
        Columns that a model knows by name.
    n_known : int or None
        Columns that a model knows; None without a model.
    names : path, sequence of str or None
        Names of the columns of a file of numbers.
    first_index : {0, 1} or None
        Of an SVMlight file.
    limit : int or None
        Of bad lines.
    n_workers : int
        Processes that cut texts.
    """

    file: RecordFile | None
    texts: list[str]
    layout: Layout
    pipeline: TextPipeline
    known: tuple[str, ...] | None = None
    n_known: int | None = None
    names: str | PathLike[str] | Sequence[str] | None = None
    first_index: int | None = None
    limit: int | None = None
    n_workers: int = 1

    @property
    def place(self) -> str:
        """What messages call the source."""
        return "X" if self.file is None else str(self.file.path)


@dataclass
class Loaded:
    """Rows, and all that is to be known of them.

    Parameters
    ----------
    store : RowStore
        The rows, settled.
    columns : Columns
        Number and names of their columns.
    records : Records
        Identifiers and further columns.
    problems : Problems
        Lines that were left out.
    notes : list of str
        What a user should know.
    """

    store: RowStore
    columns: Columns
    records: Records
    problems: Problems
    notes: list[str] = field(default_factory=list)


def load_rows(plan: Plan) -> Loaded:
    """Read all rows into a store and settle their columns.

    Parameters
    ----------
    plan : Plan
        What and how.

    Returns
    -------
    Loaded
        The rows.
    """
    return _Loading(plan).run()


def iterate_texts(
    plan: Plan, problems: Problems
) -> Iterator[tuple[Records, list[str]]]:
    """Yield the texts of a plan, block by block.

    Parameters
    ----------
    plan : Plan
        Whose layout is "text".
    problems : Problems
        Takes up lines that are left out.

    Yields
    ------
    records, texts
        Texts in memory have empty records.
    """
    if plan.file is None:
        for start in range(0, len(plan.texts), 1024):
            yield Records(), plan.texts[start : start + 1024]
        return
    assert plan.layout.text is not None
    yield from iterate_records(plan.file, plan.layout.text, problems)


class _Loading:
    """One reading of a file."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._store = RowStore()
        self._problems = Problems(plan.limit)
        self._records = Records()
        self._notes: list[str] = []
        self._n_file_columns = 0
        self._from_one = False

    def run(self) -> Loaded:
        """Read, then settle."""
        kind = self._plan.layout.kind
        names: list[str] | None
        if kind == "text":
            names = self._count_texts()
        elif kind == "matrix":
            names = self._read_matrix()
        else:
            names = self._read_table()
        if self._store.n_rows == 0:
            self._complain("no usable rows", "Check its format and columns.")
        columns = (
            self._settle_words(names or [])
            if kind in ("text", "long")
            else self._settle_table(names)
        )
        if columns.n_features == 0:
            self._complain("no columns", "Check its format and columns.")
        self._store.settle(columns.mapping)
        return Loaded(
            self._store,
            columns,
            self._records,
            self._problems,
            self._notes + columns.notes,
        )

    def _complain(self, what: str, remedy: str) -> None:
        bad = self._problems
        lines = "1 line was" if bad.n_bad == 1 else f"{bad.n_bad} lines were"
        why = f" {lines} left out: {bad.describe()}." if bad.n_bad else ""
        raise DataError(f"{self._plan.place} has {what}.{why} {remedy}")

    def _count_texts(self) -> list[str]:
        plan = self._plan
        settings = plan.pipeline.settings()
        if plan.known is not None:
            settings["vocabulary"] = list(plan.known)
        numbers = WordNumbers(plan.known or ())
        blocks = iterate_texts(plan, self._problems)
        for records, counted in count_words(blocks, settings, numbers, plan.n_workers):
            values = counted.counts
            if plan.pipeline.binary:
                values = np.ones_like(values)
            self._store.add(counted.indptr, counted.indices, values)
            self._records.ids += records.ids
            for name, column in records.columns.items():
                self._records.columns.setdefault(name, []).extend(column)
        return numbers.words

    def _read_table(self) -> list[str]:
        plan = self._plan
        assert plan.file is not None
        layout = plan.layout
        if layout.long is not None:
            self._records, names = read_long(
                plan.file, layout.long, self._store, self._problems, plan.known
            )
        else:
            self._records, names = read_wide(
                plan.file, layout.ids, layout.columns, self._store, self._problems
            )
        return names

    def _read_matrix(self) -> list[str] | None:
        plan = self._plan
        assert plan.file is not None
        path, problems = plan.file.path, self._problems
        if plan.file.format == "uci":
            self._n_file_columns = read_uci(path, self._store, problems)
        elif plan.file.format == "mtx":
            self._n_file_columns = read_matrix_market(path, self._store, problems)
        elif plan.file.format == "npz":
            self._n_file_columns = read_npz(path, self._store)
        else:
            self._read_svmlight(path)
        if plan.names is not None and not isinstance(plan.names, str | PathLike):
            return [str(name) for name in plan.names]
        beside = find_names_file(path) if plan.names is None else Path(plan.names)
        if beside is None:
            return None
        self._notes.append(f"names of the columns are from {beside.name}")
        return read_names_file(beside, plan.file.encoding)

    def _read_svmlight(self, path: Path) -> None:
        labels, self._n_file_columns, no_zero = read_svmlight(
            path, self._store, self._problems
        )
        first = self._plan.first_index
        if first == 1 and not no_zero:
            raise DataError(
                f"{path} has index 0, though first_index=1; give first_index=0."
            )
        self._from_one = no_zero if first is None else first == 1
        self._records.columns["label"] = list(labels)

    def _settle_words(self, names: list[str]) -> Columns:
        known = self._plan.known
        if known is not None:
            return Columns(np.arange(len(known)), len(known), tuple(known))
        if not names:
            self._complain("no words", "Check the column of texts and the pattern.")
        return keep_frequent(
            self._store, names, len(names), self._plan.pipeline, alphabetical=True
        )

    def _settle_table(self, names: list[str] | None) -> Columns:
        plan = self._plan
        n_columns = max(self._store.n_columns, self._n_file_columns)
        shift = self._from_one and n_columns > 0
        if shift:
            self._notes.append("indices of the file start at 1")
        n_named = n_columns - shift
        if names is not None:
            self._check_names(names, n_named)
            n_named = len(names)
        if plan.n_known is not None:
            columns = match_model(names, n_named, plan.known, plan.n_known)
        elif plan.pipeline.chooses:
            every = None if names is None else [""] * shift + names
            return keep_frequent(
                self._store, every, n_named + shift, plan.pipeline, alphabetical=False
            )
        else:
            kept = None if names is None else tuple(names)
            columns = Columns(np.arange(n_named), n_named, kept)
        if not shift:
            return columns
        mapping = start_at_one(n_columns)
        shifted = np.where(mapping < 0, -1, columns.mapping[mapping])
        return Columns(shifted, columns.n_features, columns.names, columns.notes)

    def _check_names(self, names: list[str], n_columns: int) -> None:
        assert self._plan.file is not None
        may_be_more = self._plan.file.format == "svmlight"
        if len(names) < n_columns or (len(names) > n_columns and not may_be_more):
            raise DataError(
                f"There are {len(names)} names for the {n_columns} columns of "
                f"{self._plan.place}; give one for each."
            )
        if len(set(names)) != len(names):
            raise DataError("names has the same name twice; names must differ.")
