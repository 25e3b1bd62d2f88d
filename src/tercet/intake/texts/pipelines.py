"""How texts become counts: settings that a model keeps, and the choice of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, IntArray
from tercet.intake.texts.counting import WordNumbers, count_words
from tercet.intake.texts.stopping import list_stop_words
from tercet.intake.texts.tokenizing import DEFAULT_PATTERN, Tokenizer

__all__ = ["TextPipeline", "choose_columns"]

_KEPT = (
    "lowercase",
    "strip_accents",
    "token_pattern",
    "stop_words",
    "stemming",
    "ngram_range",
    "binary",
)


@dataclass(frozen=True)
class TextPipeline:
    """How texts are cut into words, and which words are kept.

    Words are cut as scikit-learn's `CountVectorizer` cuts them, in the same order
    of steps: lower case, accents, pattern, stop words, stems, n-grams.

    Parameters
    ----------
    lowercase : bool
        Fold to lower case.
    strip_accents : {"unicode", "ascii"} or None
        Take accents off.
    token_pattern : str
        Regular expression of a word; with one group, that is the word.
    stop_words : str, sequence of str or None
        Language with a list ("english", "french", "german", "italian", "spanish"),
        or the words themselves.
    stemming : str or None
        Language of a Snowball stemmer.
    ngram_range : (int, int)
        Shortest and longest n-grams.
    min_df, max_df : int or float
        Documents that a word must be in at least and at most: a number, or a float
        for a share.
    keep_share : float or None
        Keep the most frequent words that make up this share of all occurrences
        ("the 70 % most frequent words" of paper 000).
    max_features : int or None
        Keep this many most frequent words.
    binary : bool
        Count a word once in each document.

    Examples
    --------
    >>> from tercet.intake import TextPipeline
    >>> TextPipeline(stop_words="english", stemming="english").list_words(
    ...     "The nations of the world"
    ... )
    ['nation', 'world']
    """

    lowercase: bool = True
    strip_accents: str | None = None
    token_pattern: str = DEFAULT_PATTERN
    stop_words: str | Sequence[str] | None = None
    stemming: str | None = None
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float = 1
    max_df: int | float = 1.0
    keep_share: float | None = None
    max_features: int | None = None
    binary: bool = False

    def __post_init__(self) -> None:
        _check_pattern(self.token_pattern)
        _check_range(self.ngram_range)
        _check_limits(self)
        if self.strip_accents not in (None, "unicode", "ascii"):
            raise ParameterError(
                f"strip_accents={self.strip_accents!r} is not known; choose 'unicode', "
                "'ascii' or None."
            )
        if isinstance(self.stop_words, str):
            list_stop_words(self.stop_words)
        _check_stemming(self.stemming)

    @classmethod
    def from_vectorizer(cls, vectorizer: Any) -> Self:
        """Take over the settings of a vectorizer of scikit-learn.

        Parameters
        ----------
        vectorizer : CountVectorizer
            Fitted or not; functions of one's own cannot be kept in a file and are
            refused.

        Returns
        -------
        TextPipeline
            That cuts texts alike.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from tercet.intake import TextPipeline
        >>> TextPipeline.from_vectorizer(CountVectorizer(min_df=2)).min_df
        2
        """
        given = vectorizer.get_params(deep=False)
        for name in ("preprocessor", "tokenizer"):
            if given.get(name) is not None:
                raise ParameterError(
                    f"{name}={given[name]!r} is a function, which no file keeps; express "
                    "it by token_pattern, or count the words yourself."
                )
        if given.get("analyzer") != "word" or callable(given.get("strip_accents")):
            raise ParameterError(
                "Only vectorizers with analyzer='word' and a named strip_accents can be "
                "kept in a file; count the words yourself and pass the counts."
            )
        names = {f.name for f in fields(cls)} - {"stop_words"}
        settings = {name: given[name] for name in names if name in given}
        stop = vectorizer.get_stop_words()
        return cls(**settings, stop_words=None if stop is None else sorted(stop))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Build the pipeline that `settings` described.

        Parameters
        ----------
        settings : mapping
            From `settings`, perhaps through a file.

        Returns
        -------
        TextPipeline
            Without the choice of words, which has been made.
        """
        known = {name: settings[name] for name in _KEPT if name in settings}
        if "ngram_range" in known:
            known["ngram_range"] = tuple(known["ngram_range"])
        return cls(**known)

    def settings(self) -> dict[str, Any]:
        """Return what a model keeps, as plain values.

        Returns
        -------
        dict
            Numbers, strings and lists; the stop words one by one, so that later
            lists change nothing.
        """
        kept = {name: value for name, value in asdict(self).items() if name in _KEPT}
        kept["stop_words"] = self._list_stop_words()
        kept["ngram_range"] = [int(size) for size in self.ngram_range]
        return kept

    @property
    def chooses(self) -> bool:
        """Whether words are dropped for being rare or frequent."""
        limits = (self.min_df, self.max_df, self.keep_share, self.max_features)
        # The integer 1 is one document, the float 1.0 is all of them.
        kinds = isinstance(self.min_df, int), isinstance(self.max_df, float)
        return limits != (1, 1.0, None, None) or kinds != (True, True)

    def _list_stop_words(self) -> list[str] | None:
        if self.stop_words is None:
            return None
        if not isinstance(self.stop_words, str):
            return [str(word) for word in self.stop_words]
        words = list_stop_words(self.stop_words)
        if self.strip_accents is not None:
            # The words meet tokens without accents.
            bare = TextPipeline(
                strip_accents=self.strip_accents, token_pattern=r"(?u)\w+"
            )
            words = words | {part for word in words for part in bare.list_words(word)}
        return sorted(words)

    def list_words(self, text: str) -> list[str]:
        """Return the words of a text as they are counted.

        Parameters
        ----------
        text : str
            One document.

        Returns
        -------
        list of str
            Its words or n-grams.
        """
        return Tokenizer(self.settings()).list_words(text)

    def count(self, texts: Iterable[str], vocabulary: Sequence[str]) -> Any:
        """Count the words of a vocabulary in texts.

        Parameters
        ----------
        texts : iterable of str
            Documents.
        vocabulary : sequence of str
            Words of the columns; others are passed over.

        Returns
        -------
        csr_array of shape (n_texts, n_words)
            Counts.

        Examples
        --------
        >>> from tercet.intake import TextPipeline
        >>> TextPipeline().count(["war and war"], ["peace", "war"]).toarray()
        array([[0., 2.]])
        """
        documents = list(texts)
        for row, text in enumerate(documents):
            if not isinstance(text, str):
                raise DataError(
                    f"Document {row} is of type {type(text).__name__}, not a text; drop "
                    "it or fill it in."
                )
        words = [str(word) for word in vocabulary]
        settings = self.settings() | {"vocabulary": words}
        [(_, counted)] = count_words([(None, documents)], settings, WordNumbers(words))
        values = counted.counts.astype(np.float64)
        if self.binary:
            values[:] = 1.0
        rows = sparse.csr_array(
            (values, counted.indices, counted.indptr),
            shape=(len(documents), len(words)),
        )
        rows.sort_indices()
        return rows

    def choose(self, row_counts: IntArray, totals: FloatArray, n_rows: int) -> IntArray:
        """Return which words are kept.

        Parameters
        ----------
        row_counts : ndarray of shape (n_words,)
            Documents that hold each word.
        totals : ndarray of shape (n_words,)
            Occurrences of each word.
        n_rows : int
            Number of documents.

        Returns
        -------
        ndarray of int
            Their numbers, rising.
        """
        return choose_columns(
            row_counts,
            totals,
            n_rows,
            min_df=self.min_df,
            max_df=self.max_df,
            keep_share=self.keep_share,
            max_features=self.max_features,
        )


def choose_columns(
    row_counts: IntArray,
    totals: FloatArray,
    n_rows: int,
    *,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    keep_share: float | None = None,
    max_features: int | None = None,
) -> IntArray:
    """Return the columns that are frequent enough and not too frequent.

    Parameters
    ----------
    row_counts : ndarray of shape (n_columns,)
        Rows with an entry.
    totals : ndarray of shape (n_columns,)
        Sum of each column.
    n_rows : int
        Number of rows.
    min_df, max_df : int or float
        Fewest and most rows; a float is a share of them.
    keep_share : float or None
        Keep the largest columns that hold this share of what is left.
    max_features : int or None
        Keep at most so many, the largest.

    Returns
    -------
    ndarray of int
        Numbers of columns, rising.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.texts.pipelines import choose_columns
    >>> choose_columns(
    ...     np.array([3, 1, 2]), np.array([6.0, 1.0, 3.0]), 3, keep_share=0.7
    ... ).tolist()
    [0, 2]
    """
    least = min_df if isinstance(min_df, int) else min_df * n_rows
    most = max_df if isinstance(max_df, int) else max_df * n_rows
    if most < least:
        raise ParameterError(
            f"max_df={max_df!r} and min_df={min_df!r} leave no words of {n_rows} "
            "documents; lower min_df or raise max_df."
        )
    columns = np.flatnonzero((row_counts >= least) & (row_counts <= most))
    # The largest first; among equals the order stays.
    order = columns[np.argsort(-totals[columns], kind="stable")]
    if keep_share is not None and len(order):
        reached = np.cumsum(totals[order])
        # A hair less, so that rounding does not ask for one word more.
        enough = np.searchsorted(reached, keep_share * reached[-1] * (1 - 1e-12))
        order = order[: int(enough) + 1]
    if max_features is not None:
        order = order[:max_features]
    return np.sort(order)


def _check_pattern(pattern: str) -> None:
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError) as error:
        raise ParameterError(
            f"token_pattern={pattern!r} is not a regular expression ({error})."
        ) from None
    if groups > 1:
        raise ParameterError(
            f"token_pattern={pattern!r} has {groups} groups; leave one, or write "
            "'(?:...)' for the others."
        )


def _check_range(sizes: Any) -> None:
    whole = isinstance(sizes, tuple | list) and len(sizes) == 2
    if not whole or not all(
        isinstance(s, int | np.integer) and not isinstance(s, bool) for s in sizes
    ):
        raise ParameterError(
            f"ngram_range={sizes!r} is not a pair of integers such as (1, 2)."
        )
    if not 1 <= sizes[0] <= sizes[1]:
        raise ParameterError(
            f"ngram_range={sizes!r} must rise from at least 1, as (1, 2) does."
        )


def _check_limits(pipeline: TextPipeline) -> None:
    for name in ("min_df", "max_df"):
        value = getattr(pipeline, name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or value < 0 or (isinstance(value, float) and value > 1):
            raise ParameterError(
                f"{name}={value!r} is neither a number of documents (an integer) nor a "
                "share of them (a float from 0 to 1)."
            )
    share = pipeline.keep_share
    if share is not None and not 0 < share <= 1:
        raise ParameterError(
            f"keep_share={share!r} is not a share; give a number above 0 and up to 1."
        )
    most: Any = pipeline.max_features
    if most is not None and (not isinstance(most, int) or most < 1):
        raise ParameterError(
            f"max_features={most!r} is not a number of words; give a positive integer."
        )


def _check_stemming(language: str | None) -> None:
    if language is None:
        return
    import snowballstemmer

    known = snowballstemmer.algorithms()
    if language not in known:
        raise ParameterError(
            f"stemming={language!r} is not a language with a stemmer; choose one of "
            f"{', '.join(known)}."
        )
