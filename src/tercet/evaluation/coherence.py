"""Whether the foremost words of a topic occur in the same documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, IntArray, Registry
from tercet.intake import Requirement, open_source

__all__ = ["measure_coherence"]

_KINDS = Registry[Any]("kind")


def measure_coherence(
    topics: ArrayLike,
    X: Any,
    *,
    kind: str = "umass",
    n_top: int = 20,
    pseudo_count: float = 1.0,
) -> FloatArray:
    """Return the coherence of each topic's foremost words in a corpus.

    `w_1 ... w_L` are the words of a topic by falling probability, `D(w)` is the
    number of documents with a word and `D(w, v)` of those with both.

    - `"umass"` (Mimno et al. 2011; paper 000, section 4.3.1):
      `sum_{j=2}^L sum_{i<j} log((D(w_i, w_j) + 1) / D(w_i))`;
    - `"npmi"` (Bouma 2009): mean over all pairs of
      `log(p_ij / (p_i p_j)) / -log p_ij` with `p = D / n`, which is -1 for words
      that never meet, 0 for independent ones and 1 for inseparable ones.

    Parameters
    ----------
    topics : array-like of shape (k, d)
        One topic a row, such as `components_` of any estimator.
    X : array, sparse array, data frame, blocks, callable, iterator or Source
        Documents; they may be others than those the topics were learned from.
    kind : {"umass", "npmi"}
        Which measure.
    n_top : int
        Number of words L.
    pseudo_count : float
        What UMass adds to `D(w_i, w_j)`.

    Returns
    -------
    ndarray of shape (k,)
        Larger is better. UMass skips words that no document has; a topic with
        fewer than two others is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.evaluation import measure_coherence
    >>> X = np.array([[2, 1, 0, 0], [1, 1, 0, 1], [0, 0, 3, 1], [0, 1, 2, 0]])
    >>> topics = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5]])
    >>> measure_coherence(topics, X, n_top=2).round(3)
    array([ 0.405, -0.405])
    >>> measure_coherence(topics, X, kind="npmi", n_top=2).round(3)
    array([ 0.415, -0.292])
    """
    table = np.asarray(topics, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise ParameterError(
            f"topics has shape {table.shape}; give one finite row for each topic, one "
            "column for each word."
        )
    if isinstance(n_top, bool) or int(n_top) != n_top or n_top < 2:
        raise ParameterError(f"n_top={n_top!r} must be an integer of at least 2.")
    measure = _KINDS[kind]
    source = open_source(X, requirement=Requirement.COUNTS)
    if source.n_features != table.shape[1]:
        raise DataError(
            f"X has {source.n_features} features, but topics has {table.shape[1]} "
            "columns; count the same words, in the same order."
        )
    foremost = np.argsort(-table, axis=1, kind="stable")[:, : int(n_top)]
    words, places = np.unique(foremost, return_inverse=True)
    places = places.reshape(foremost.shape)
    state = source.run(MeetingPass(words, source.n_features))
    return np.array(
        [measure(state.meetings[np.ix_(p, p)], state.n, pseudo_count) for p in places]
    )


@dataclass(eq=False)
class Meetings:
    """How many documents have two words.

    Parameters
    ----------
    meetings : ndarray of shape (m, m)
        Documents with both words; with the word itself on the diagonal.
    n : int
        Documents.
    """

    meetings: FloatArray
    n: int = 0


@dataclass(frozen=True, eq=False)
class MeetingPass:
    """Count the documents in which words meet.

    Parameters
    ----------
    words : ndarray of shape (m,)
        Features that are looked at.
    n_features : int
        Number of features d.
    """

    words: IntArray
    n_features: int

    def initial(self) -> Meetings:
        """Return no documents."""
        return Meetings(np.zeros((self.words.size, self.words.size)))

    def update(self, state: Meetings, block: Block) -> Meetings:
        """Count the documents of a block."""
        rows = sparse.csr_array(block.rows)
        chooser = sparse.csr_array(
            (
                np.ones(self.words.size),
                (self.words, np.arange(self.words.size)),
            ),
            shape=(self.n_features, self.words.size),
        )
        present = sparse.csr_array(
            ((rows.data > 0.0).astype(np.float64), rows.indices, rows.indptr),
            shape=rows.shape,
        )
        found = sparse.csr_array(present @ chooser)
        met = sparse.coo_array(found.T @ found)
        state.meetings[met.row, met.col] += met.data
        state.n += block.n_rows
        return state

    def merge(self, left: Meetings, right: Meetings) -> Meetings:
        """Add the counts of both."""
        left.meetings += right.meetings
        left.n += right.n
        return left


def _umass(meetings: FloatArray, n: int, pseudo_count: float) -> float:  # noqa: ARG001
    """Return the UMass coherence of words by falling probability."""
    counts = np.diag(meetings)
    seen = np.flatnonzero(counts > 0.0)
    if seen.size < 2:
        return float("nan")
    counts, met = counts[seen], meetings[np.ix_(seen, seen)]
    former, latter = np.triu_indices(seen.size, 1)
    with np.errstate(divide="ignore"):
        logs = np.log(met[former, latter] + pseudo_count) - np.log(counts[former])
    return float(logs.sum())


def _npmi(meetings: FloatArray, n: int, pseudo_count: float) -> float:  # noqa: ARG001
    """Return the mean normalised pointwise mutual information of all pairs."""
    counts = np.diag(meetings)
    seen = np.flatnonzero(counts > 0.0)
    if seen.size < 2:
        return float("nan")
    shares, met = counts[seen] / n, meetings[np.ix_(seen, seen)] / n
    former, latter = np.triu_indices(seen.size, 1)
    joint = met[former, latter]
    values = np.full(joint.size, -1.0)
    together = joint > 0.0
    # Two words that every document has say nothing of one another: zero.
    everywhere = joint >= 1.0
    values[everywhere] = 0.0
    usual = together & ~everywhere
    ratio = joint[usual] / (shares[former] * shares[latter])[usual]
    values[usual] = np.log(ratio) / -np.log(joint[usual])
    return float(values.mean())


_KINDS.add("umass", _umass)
_KINDS.add("npmi", _npmi)
