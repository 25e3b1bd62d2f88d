"""Documents that a page shows beside the model: titles, excerpts, times, shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import FloatArray

__all__ = ["Documents", "describe_documents", "describe_trend", "infer_shares"]

ReadTexts: TypeAlias = Callable[[Collection[int]], Mapping[int, str]]

_EXCERPT = 240
_MOST_PERIODS = 60


@dataclass(frozen=True, eq=False)
class Documents:
    """Rows with what a reader recognises them by.

    Parameters
    ----------
    rows : array, sparse array, data frame, Source or list of str
        What the model's `transform` takes.
    titles : sequence of str or None
        Names of the rows; None numbers them.
    texts : sequence of str, callable or None
        Texts, of which the beginning is shown; a callable takes row numbers and
        returns a dict of their texts, so that not all need be in memory.
    times : sequence or None
        A number (such as a year) or a date for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.report import Documents
    >>> Documents(np.eye(2), titles=["one", "two"]).titles
    ['one', 'two']
    """

    rows: Any
    titles: Sequence[str] | None = None
    texts: Sequence[str] | ReadTexts | None = None
    times: Sequence[Any] | None = None


def infer_shares(model: Any, documents: Documents) -> FloatArray:
    """Return the share of each component in each document, (n, k).

    Parameters
    ----------
    model : estimator
        Fitted; topic models give proportions, mixtures posterior probabilities.
    documents : Documents
        Rows.

    Returns
    -------
    ndarray of shape (n, k)
        Rows that sum to one.

    Raises
    ------
    DataError
        If titles, texts or times are not as many as the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> from tercet.report import Documents
    >>> from tercet.report.documents import infer_shares
    >>> X = np.random.default_rng(0).poisson([5.0, 1, 3], size=(60, 3))
    >>> model = tercet.SingleTopicModel(1).fit(X)
    >>> infer_shares(model, Documents(X[:2])).tolist()
    [[1.0], [1.0]]
    """
    shares = _infer(model, documents.rows)
    for name in ("titles", "texts", "times"):
        values = getattr(documents, name)
        if values is None or callable(values):
            continue
        if len(values) != shares.shape[0]:
            raise DataError(
                f"{name} has {len(values)} entries for {shares.shape[0]} rows; give one "
                "for each row."
            )
    return shares


def _infer(model: Any, rows: Any) -> FloatArray:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows), dtype=np.float64)
    if not hasattr(model, "predict"):
        return np.asarray(model.transform(rows), dtype=np.float64)
    labels = np.asarray(model.predict(rows))
    return np.asarray(labels[:, None] == np.arange(len(model.components_)), dtype=float)


def describe_documents(
    shares: FloatArray, documents: Documents, n_shown: int = 8
) -> list[list[dict[str, Any]]]:
    """Return the documents in which each component is strongest, best first.

    Parameters
    ----------
    shares : ndarray of shape (n, k)
        Shares of the components.
    documents : Documents
        What they are called.
    n_shown : int
        Documents of each component.

    Returns
    -------
    list of list of dict
        `title`, `share`, `excerpt` (with texts) and `time` (with times).

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.report import Documents
    >>> from tercet.report.documents import describe_documents
    >>> shares = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> [top[0]["title"] for top in describe_documents(shares, Documents(None))]
    ['row 1', 'row 2']
    """
    leading = [
        [int(i) for i in np.argsort(-column, kind="stable")[:n_shown]]
        for column in shares.T
    ]
    texts = _read_texts(documents, {i for rows in leading for i in rows})
    return [
        [_describe_row(i, column[i], documents, texts) for i in rows if column[i] > 0.0]
        for rows, column in zip(leading, shares.T, strict=True)
    ]


def _read_texts(documents: Documents, rows: Collection[int]) -> Mapping[int, str]:
    texts = documents.texts
    if texts is None:
        return {}
    if isinstance(texts, Sequence):
        return {i: texts[i] for i in rows}
    return texts(rows)


def _describe_row(
    index: int, share: float, documents: Documents, texts: Mapping[int, str]
) -> dict[str, Any]:
    facts: dict[str, Any] = {"share": float(share)}
    titles, times = documents.titles, documents.times
    facts["title"] = f"row {index + 1}" if titles is None else str(titles[index])
    if index in texts:
        text = " ".join(str(texts[index])[: 4 * _EXCERPT].split())
        cut = len(text) > _EXCERPT
        facts["excerpt"] = f"{text[:_EXCERPT].rstrip()} …" if cut else text
    if times is not None:
        facts["time"] = _print_time(times[index])
    return facts


def describe_trend(shares: FloatArray, times: Sequence[Any]) -> dict[str, Any]:
    """Return the mean share of each component over time.

    Up to 60 different times stand for themselves; more are gathered in periods of
    equal length.

    Parameters
    ----------
    shares : ndarray of shape (n, k)
        Shares of the components.
    times : sequence of length n
        Numbers, dates, or texts that begin with a year.

    Returns
    -------
    dict
        `periods`, names in order; `sizes`, rows in each; `shares`, a list for each
        component; `dropped`, rows without a time.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.report.documents import describe_trend
    >>> describe_trend(np.array([[1.0], [0.0], [0.5]]), [1990, 1990, 1991])["shares"]
    [[0.5, 0.5]]
    """
    values = np.array([_read_time(time) for time in times])
    known = np.isfinite(values)
    if not known.any():
        raise DataError(
            f"times holds no time that can be read, such as {list(times)[:1]!r}; give "
            "numbers, dates, or texts that begin with a year."
        )
    values, shares = values[known], shares[known]
    distinct, place = np.unique(values, return_inverse=True)
    names = [f"{value:g}" for value in distinct]
    if distinct.size > _MOST_PERIODS:
        edges = np.linspace(distinct[0], distinct[-1], _MOST_PERIODS // 2 + 1)
        place = np.clip(np.searchsorted(edges, values, "right") - 1, 0, edges.size - 2)
        names = [f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges)]
    sizes = np.bincount(place, minlength=len(names))
    sums = np.zeros((len(names), shares.shape[1]))
    np.add.at(sums, place, shares)
    filled = np.flatnonzero(sizes)
    means = sums[filled] / sizes[filled, None]
    return {
        "periods": [names[i] for i in filled],
        "sizes": sizes[filled].tolist(),
        "shares": means.T.round(5).tolist(),
        "dropped": int((~known).sum()),
    }


def _read_time(time: Any) -> float:
    """Return a time as a number; dates and texts count in years."""
    if hasattr(time, "year"):
        return float(time.year)
    if isinstance(time, np.datetime64):
        return float(time.astype("datetime64[Y]").astype(int) + 1970)
    text = str(time).strip()
    for part in (text, text[:4]):
        try:
            return float(part)
        except ValueError:
            continue
    return float("nan")


def _print_time(time: Any) -> str:
    if isinstance(time, float | np.floating) and float(time).is_integer():
        return str(int(time))
    return str(time)
