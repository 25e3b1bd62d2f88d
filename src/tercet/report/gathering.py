"""Documents from whatever a caller has: rows, texts, or an opened corpus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tercet.exceptions import ParameterError
from tercet.intake import CorpusReader
from tercet.report.documents import Documents

__all__ = ["gather_documents"]


def gather_documents(corpus: Any, times: Any = None) -> Documents | None:
    """Return documents to show, or None if there are none.

    Parameters
    ----------
    corpus : Documents, CorpusReader, rows, list of str or None
        An opened corpus brings titles, texts and columns of its own.
    times : sequence, str or None
        A time for each row, or the name of a column of an opened corpus.

    Returns
    -------
    Documents or None
        Ready for a page.

    Raises
    ------
    ParameterError
        If `times` names a column that the corpus does not have.

    Examples
    --------
    >>> from tercet.report.gathering import gather_documents
    >>> gather_documents(["one text", "another"], [1990, 1991]).texts
    ['one text', 'another']
    """
    if corpus is None:
        return None
    if isinstance(corpus, Documents):
        return corpus if times is None else _replace_times(corpus, times)
    reader = corpus if isinstance(corpus, CorpusReader) else None
    if isinstance(times, str):
        columns = {} if reader is None else reader.columns
        if times not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise ParameterError(
                f"times={times!r} is not a column that was kept of the corpus; it has "
                f"{known}. Name it in tercet.read(..., columns=[{times!r}])."
            )
        times = columns[times]
    if reader is not None:
        return Documents(reader, reader.document_ids, reader.read_texts, times)
    raw = isinstance(corpus, list | tuple) and corpus and isinstance(corpus[0], str)
    return Documents(corpus, None, corpus if raw else None, times)


def _replace_times(documents: Documents, times: Any) -> Documents:
    if isinstance(times, str):
        raise ParameterError(
            f"times={times!r} names a column, but Documents have none; give a time for "
            "each row."
        )
    return replace(documents, times=times)
