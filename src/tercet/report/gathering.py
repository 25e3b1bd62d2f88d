"""Documents from whatever a caller has: rows, texts, or an opened corpus."""

from __future__ import annotations

from typing import Any

from tercet.exceptions import ParameterError
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
    columns = getattr(corpus, "columns_", None) or {}
    if isinstance(times, str):
        if times not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise ParameterError(
                f"times={times!r} is not a column of the corpus; it has {known}."
            )
        times = columns[times]
    texts = (
        corpus
        if isinstance(corpus, list | tuple) and corpus and isinstance(corpus[0], str)
        else getattr(corpus, "excerpts_", None)
    )
    return Documents(corpus, getattr(corpus, "ids_", None), texts, times)


def _replace_times(documents: Documents, times: Any) -> Documents:
    if isinstance(times, str):
        raise ParameterError(
            f"times={times!r} names a column, but Documents have none; give a time for "
            "each row."
        )
    return Documents(documents.rows, documents.titles, documents.texts, times)
