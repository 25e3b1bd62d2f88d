"""Documents from whatever a caller has: rows, texts, or an opened corpus."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    columns = reader.columns if reader is not None else {}
    if isinstance(times, str):
        if times not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise ParameterError(
                f"times={times!r} is not a column of the corpus; it has {known}."
            )
        times = columns[times]
    if reader is not None:
        texts = LaterTexts(reader) if reader.layout.kind == "text" else None
        return Documents(corpus, reader.document_ids, texts, times)
    plain = isinstance(corpus, list | tuple) and corpus and isinstance(corpus[0], str)
    return Documents(corpus, None, corpus if plain else None, times)


class LaterTexts(Sequence[str]):
    """Texts of an opened corpus, read again when some of them are shown.

    Parameters
    ----------
    reader : CorpusReader
        Knows the texts.

    Examples
    --------
    >>> import tercet
    >>> from tercet.report.gathering import LaterTexts
    >>> texts = LaterTexts(tercet.read(["one text", "another"]))
    >>> texts.fetch([1])
    >>> texts[1], len(texts)
    ('another', 2)
    """

    def __init__(self, reader: CorpusReader) -> None:
        self._reader = reader
        self._read: dict[int, str] = {}

    def __len__(self) -> int:
        return self._reader.n_rows

    def __getitem__(self, index: Any) -> Any:
        if index not in self._read:
            self.fetch([index])
        return self._read[index]

    def fetch(self, rows: Collection[int]) -> None:
        """Read some texts, in one reading of the file.

        Parameters
        ----------
        rows : collection of int
            Which.
        """
        self._read |= self._reader.read_texts(rows)


def _replace_times(documents: Documents, times: Any) -> Documents:
    if isinstance(times, str):
        raise ParameterError(
            f"times={times!r} names a column, but Documents have none; give a time for "
            "each row."
        )
    return Documents(documents.rows, documents.titles, documents.texts, times)
