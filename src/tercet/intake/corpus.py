"""Files and texts as rows of counts that any model can be fitted to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block
from tercet.intake.execution import count_threads
from tercet.intake.formats.layouts import (
    Layout,
    describe_file,
    find_format,
    find_layout,
)
from tercet.intake.formats.loading import Loaded, Plan, iterate_texts, load_rows
from tercet.intake.formats.opening import metering
from tercet.intake.formats.problems import Problems
from tercet.intake.formats.records import RecordFile
from tercet.intake.texts.pipelines import TextPipeline

__all__ = ["CorpusReader", "KnownColumns", "read"]

_DENSE_SHARE = 0.3
_FEW_ENTRIES = 1 << 23  # are 96 MB in a sparse array


def read(
    source: str | PathLike[str] | Sequence[str],
    *,
    format: str | None = None,  # noqa: A002 - what everyone calls it
    text: str | None = None,
    ids: str | None = None,
    item: str | None = None,
    count: str | None = None,
    columns: Sequence[str] = (),
    names: str | PathLike[str] | Sequence[str] | None = None,
    first_index: int | None = None,
    encoding: str | None = None,
    max_bad_lines: int | None = None,
    like: Any = None,
    pipeline: TextPipeline | None = None,
    n_jobs: int | None = -1,
    **words: Any,
) -> CorpusReader:
    """Open a folder, a file or a list of texts as rows of counts.

    Nothing is read but a header until the rows, their number or the names of their
    columns are asked for. Then the file is read once, in bounded memory; counts that
    do not fit go to a temporary file.

    Parameters
    ----------
    source : path or sequence of str
        Folder of texts; file of JSON lines, CSV, TSV, Parquet, plain lines, UCI
        bag-of-words, Matrix Market, SVMlight or SciPy's npz, each zipped with gzip or
        not; or texts themselves.
    format : str or None, default=None
        One of `tercet.intake.FORMATS`; None goes by the name and then the content.
    text : str or None, default=None
        Column of texts; None takes "text", if there is one.
    ids : str or None, default=None
        Column of identifiers; None takes "id", if there is one, or numbers the rows.
    item, count : str or None, default=None
        Columns of a table with a line for each entry (`ids`, `item`, `count`); None
        takes "item" and "count", if there are columns of these names.
    columns : sequence of str, default=()
        Further columns to keep, a time or a label; they are no items.
    names : path, sequence of str or None, default=None
        Names of the columns of a file of numbers; None looks for a file of names
        beside it ("vocab.x.txt" beside "docword.x.txt", "x.vocab.txt" beside
        "x.mtx").
    first_index : {0, 1} or None, default=None
        Index of the first column of an SVMlight file; None takes 1 if index 0 does
        not occur, and notes that.
    encoding : str or None, default=None
        Encoding of a file of texts. None is UTF-8, or what a byte order mark says;
        it is never guessed: lines that do not fit are bad lines.
    max_bad_lines : int or None, default=None
        Bad lines that are left out and counted before it becomes an error; None is
        any number.
    like : fitted model or None, default=None
        Count by the words and settings of this model.
    pipeline : TextPipeline or None, default=None
        How texts are cut and which words are kept.
    n_jobs : int or None, default=-1
        Processes that cut texts into words; -1 is one for each core.
    **words
        Settings of a `TextPipeline`, instead of `pipeline`: stop_words, stemming,
        min_df, max_df, keep_share, max_features, ngram_range, lowercase,
        strip_accents, token_pattern, binary.

    Returns
    -------
    CorpusReader
        Rows that `fit` and `transform` take, any number of times.

    Examples
    --------
    >>> import tercet
    >>> reader = tercet.read(["War and peace", "Peace, war and war"])
    >>> reader.feature_names
    ('and', 'peace', 'war')
    >>> next(iter(reader)).rows.toarray()
    array([[1., 1., 1.],
           [1., 1., 2.]])
    """
    if pipeline is not None and words:
        raise ParameterError(
            f"pipeline and {next(iter(words))} were both given; put the setting into the "
            "pipeline."
        )
    if like is not None and (words or pipeline is not None):
        raise ParameterError(
            "like=model brings its own words; leave the settings of texts out."
        )
    unknown = set(words) - set(TextPipeline.__dataclass_fields__)
    if unknown:
        raise ParameterError(
            f"{min(unknown)} is not an argument of read; settings of texts are "
            f"{', '.join(TextPipeline.__dataclass_fields__)}."
        )
    _check_bad_lines(max_bad_lines)
    wanted = {"text": text, "ids": ids, "item": item, "count": count}
    return CorpusReader(
        source,
        format=format,
        encoding=encoding,
        wanted=wanted,
        columns=columns,
        names=names,
        first_index=first_index,
        max_bad_lines=max_bad_lines,
        like=like,
        pipeline=pipeline or TextPipeline(**words),
        n_jobs=n_jobs,
    )


def _check_bad_lines(limit: Any) -> None:
    if limit is None:
        return
    whole = isinstance(limit, int | np.integer) and not isinstance(limit, bool)
    if not whole or limit < 0:
        raise ParameterError(
            f"max_bad_lines={limit!r} is not a number of lines; give 0 or more, or None."
        )


class CorpusReader:
    """Rows of a file, with identifiers, names and what else is worth knowing.

    Made by `tercet.read`. Iteration gives `tercet.flow.Block`s, each time anew, so
    that `fit`, `transform` and `tercet.intake.open_source` take a reader as it is.

    Parameters
    ----------
    source : path or sequence of str
        What is read.
    format, encoding : str or None
        As in `tercet.read`.
    wanted : mapping
        Columns "text", "ids", "item" and "count".
    columns : sequence of str
        Further columns.
    names : path, sequence of str or None
        Names of columns.
    first_index : {0, 1} or None
        Of an SVMlight file.
    max_bad_lines : int or None
        Limit of bad lines.
    like : model or None
        Whose words are counted.
    pipeline : TextPipeline
        How texts are cut.
    n_jobs : int or None
        Processes.

    Attributes
    ----------
    layout : Layout
        What the columns of the file mean.
    text_pipeline : TextPipeline or None
        How texts are cut; None where there are no texts.

    Examples
    --------
    >>> import tercet
    >>> reader = tercet.read(["so it goes", "it is"], min_df=2)
    >>> reader.n_rows, reader.feature_names, reader.document_ids
    (2, ('it',), ['1', '2'])
    """

    def __init__(
        self,
        source: str | PathLike[str] | Sequence[str],
        *,
        format: str | None,  # noqa: A002 - what everyone calls it
        encoding: str | None,
        wanted: Mapping[str, str | None],
        columns: Sequence[str],
        names: str | PathLike[str] | Sequence[str] | None,
        first_index: int | None,
        max_bad_lines: int | None,
        like: Any,
        pipeline: TextPipeline,
        n_jobs: int | None,
    ) -> None:
        n_workers = count_threads(n_jobs)
        if first_index not in (None, 0, 1):
            raise ParameterError(
                f"first_index={first_index!r} is not an index; give 0, 1 or None."
            )
        file, texts, self._format_reason = None, [], "given"
        if isinstance(source, str | PathLike):
            path = Path(source)
            form, self._format_reason = find_format(path, format)
            file = RecordFile(path, form, encoding)
            self.layout = find_layout(file, columns=columns, **wanted)
        else:
            texts = _check_texts(source)
            self.layout = Layout("text")
        known = _read_known_names(like)
        if self.layout.kind == "text" and like is not None:
            pipeline = _read_pipeline(like)
        self._plan = Plan(
            file,
            texts,
            self.layout,
            pipeline,
            known,
            None if like is None else int(like.n_features_in_),
            names,
            first_index,
            max_bad_lines,
            n_workers,
        )
        self.text_pipeline = pipeline if self.layout.kind == "text" else None
        self._loaded: Loaded | None = None
        self._rows: sparse.csr_array | None = None

    @property
    def path(self) -> Path | None:
        """Where the rows come from; None for texts in memory."""
        return None if self._plan.file is None else self._plan.file.path

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._load().store.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._load().columns.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Words or names of items; None where there are none."""
        return self._load().columns.names

    @property
    def document_ids(self) -> list[str]:
        """Identifier of each row."""
        loaded = self._load()
        if loaded.records.ids:
            return loaded.records.ids
        return [str(row + 1) for row in range(loaded.store.n_rows)]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Further columns that were asked for, by name."""
        return self._load().records.columns

    @property
    def problems(self) -> Problems:
        """Lines that were left out, with their numbers."""
        return self._load().problems

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows block by block, from the first one."""
        loaded = self._load()
        store, dense = loaded.store, self._reads_dense()
        start = 0
        for rows in store.blocks(n_columns=loaded.columns.n_features):
            if self._plan.pipeline.binary:
                rows.data[rows.data > 0] = 1.0
            yield Block(rows.toarray() if dense else rows, start)
            start += rows.shape[0]

    def to_sparse(self) -> sparse.csr_array:
        r"""Return all rows at once, for those that fit in memory.

        Returns
        -------
        csr_array of shape (n_rows, n_features)
            The counts.

        Examples
        --------
        >>> import tercet
        >>> tercet.read(["a b", "bb bb"], token_pattern=r"\w+").to_sparse().shape
        (2, 3)
        """
        blocks = [sparse.csr_array(block.rows) for block in self]
        rows = sparse.vstack(blocks, format="csr")
        return sparse.csr_array(rows)

    def keep_rows(self) -> sparse.csr_array | None:
        """Return all rows, the same object each time, or None if dense or many.

        Examples
        --------
        >>> import tercet
        >>> tercet.read(["so it goes", "it is"]).keep_rows().shape
        (2, 4)
        """
        store = self._load().store
        few = store.n_rows > 0 and store.n_entries <= _FEW_ENTRIES
        if self._rows is None and few and not self._reads_dense():
            self._rows = self.to_sparse()
        return self._rows

    def _reads_dense(self) -> bool:
        wide = self.layout.kind in ("wide", "matrix")
        return wide and self._load().store.dense_share > _DENSE_SHARE

    def load(self, progress: Callable[[int], None] | None = None) -> CorpusReader:
        """Read and count now.

        Parameters
        ----------
        progress : callable or None
            Told how many more bytes of the file have been read.

        Returns
        -------
        CorpusReader
            This reader.

        Examples
        --------
        >>> import tercet
        >>> tercet.read(["so it goes"]).load().n_features
        3
        """
        if progress is None:
            self._load()
        else:
            with metering(progress):
                self._load()
        return self

    def read_texts(self, rows: Collection[int]) -> dict[int, str]:
        """Return the texts of some rows, read from the file again.

        Parameters
        ----------
        rows : collection of int
            Which rows, from 0.

        Returns
        -------
        dict of int to str
            Empty where the file holds no texts.

        Examples
        --------
        >>> import tercet
        >>> tercet.read(["so it goes", "it is"]).read_texts([1])
        {1: 'it is'}
        """
        wanted, found, start = set(rows), {}, 0
        if self.layout.kind != "text" or not wanted:
            return {}
        for _, texts in iterate_texts(self._plan, Problems()):
            for row in range(start, start + len(texts)):
                if row in wanted:
                    found[row] = texts[row - start]
            start += len(texts)
            if start > max(wanted):
                break
        return found

    def describe(self) -> dict[str, Any]:
        """Return facts about what was read, as plain values.

        Returns
        -------
        dict
            Format, encoding, rows, columns and bad lines.

        Examples
        --------
        >>> import tercet
        >>> tercet.read(["so it goes"]).describe()["n_rows"]
        1
        """
        facts: dict[str, Any] = {"path": None, "format": "texts", "layout": "text"}
        file, loaded = self._plan.file, self._load()
        if file is not None:
            facts |= describe_file(file, self.layout)
            facts["path"] = str(file.path)
            facts["format_known_by"] = self._format_reason
        return facts | {
            "n_rows": loaded.store.n_rows,
            "n_features": loaded.columns.n_features,
            "n_entries": loaded.store.n_entries,
            "has_names": loaded.columns.names is not None,
            "columns": sorted(loaded.records.columns),
            "notes": list(loaded.notes),
            "n_bad_lines": loaded.problems.n_bad,
            "first_bad_lines": [
                {"line": bad.line, "reason": bad.reason}
                for bad in loaded.problems.first
            ],
        }

    def _load(self) -> Loaded:
        """Read the file if that has not been done."""
        if self._loaded is None:
            self._loaded = load_rows(self._plan)
        return self._loaded


@dataclass(frozen=True)
class KnownColumns:
    """What `tercet.read(like=...)` needs to know of a model, or of one of its views.

    Parameters
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : sequence of str or None
        Their names.
    text_pipeline_ : mapping or None
        How texts were cut.

    Examples
    --------
    >>> import tercet
    >>> from tercet.intake import KnownColumns
    >>> known = KnownColumns(2, ["peace", "war"], tercet.TextPipeline().settings())
    >>> tercet.read(["war and war"], like=known).to_sparse().toarray()
    array([[0., 2.]])
    """

    n_features_in_: int
    feature_names_in_: Sequence[str] | None = None
    text_pipeline_: Mapping[str, Any] | None = None


def _check_texts(texts: Any) -> list[str]:
    """Refuse what is neither a path nor texts."""
    if isinstance(texts, bytes) or not hasattr(texts, "__iter__"):
        raise ParameterError(
            "source is neither a path nor texts; give the path of a file or a list of "
            "str."
        )
    rows: list[str] = list(texts)
    for row, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"source[{row}] is of type {type(text).__name__}, not a text; rows of "
                "numbers go to fit as they are."
            )
    if not rows:
        raise DataError("source is an empty list; there is nothing to count.")
    return rows


def _read_pipeline(model: Any) -> TextPipeline:
    """Return how the texts were cut that a model was fitted to."""
    settings = getattr(model, "text_pipeline_", None)
    names = getattr(model, "feature_names_in_", None)
    if settings is None or names is None:
        raise ParameterError(
            f"like={type(model).__name__} was fitted to counts, not to texts, so it does "
            "not know how words are cut; count them as at its fit."
        )
    return TextPipeline.from_settings(settings)


def _read_known_names(like: Any) -> tuple[str, ...] | None:
    if like is None:
        return None
    if not hasattr(like, "n_features_in_"):
        raise ParameterError(
            f"like={type(like).__name__} is not a fitted model; fit it, or load one with "
            "tercet.load(path)."
        )
    names = getattr(like, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))
