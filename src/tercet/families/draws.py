"""Drawing rows from models whose parameters are known.

Counts are drawn token by token but never row by feature: the tokens of a
component are one multinomial draw over the features, shuffled over the rows, so
that memory follows the number of tokens (or of ones), not `n * d`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.families.settings import (
    check_distributions,
    check_labels,
    check_lengths,
    check_matrix,
    check_same_components,
    check_same_rows,
)
from tercet.flow import FloatArray, IntArray

__all__ = [
    "draw_bernoulli",
    "draw_gaussian",
    "draw_labels",
    "draw_poisson_counts",
    "draw_topic_counts",
    "draw_words",
]

TOKENS_AT_ONCE = 1 << 22
"""Tokens that are drawn and sorted together; bounds the working memory."""


def draw_labels(weights: ArrayLike, n_rows: int, rng: Generator) -> IntArray:
    """Draw the component of every row.

    Parameters
    ----------
    weights : array-like of shape (k,)
        Non-negative weights of the components; they need not sum to one.
    n_rows : int
        Number of rows.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_rows,)
        Index of a component for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.draws import draw_labels
    >>> draw_labels([0.0, 1.0], 3, np.random.default_rng(0))
    array([1, 1, 1])
    """
    shares = check_distributions("weights", np.atleast_2d(np.asarray(weights, float)))[
        0
    ]
    labels = rng.choice(shares.size, size=n_rows, p=shares / shares.sum())
    return np.asarray(labels, dtype=np.int64)


def draw_topic_counts(
    topics: ArrayLike, centers: ArrayLike, lengths: ArrayLike, rng: Generator
) -> sparse.csr_array:
    """Draw documents of given lengths from a topic model.

    Parameters
    ----------
    topics : array-like of shape (n,) or (n, k)
        The topic of each document (integers), or its topic proportions.
    centers : array-like of shape (d, k)
        Topics as columns; each is normalised to sum to one.
    lengths : array-like of shape (n,)
        Number of tokens of each document.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    csr_array of shape (n, d)
        Counts (int32) with sorted, unique indices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.draws import draw_topic_counts
    >>> topics = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]])
    >>> rng = np.random.default_rng(0)
    >>> counts = draw_topic_counts([0, 1], topics, [4, 3], rng)
    >>> counts.sum(axis=1)
    array([4, 3])
    >>> int(counts[1, 2])
    3
    """
    matrix = check_distributions("centers", check_matrix("centers", centers).T).T
    tokens = check_lengths(lengths)
    assigned = np.asarray(topics)
    check_same_rows("topics", assigned, "lengths", tokens)
    if assigned.ndim == 1:
        labels = check_labels(assigned, matrix.shape[1])
        return _stack(
            (
                _draw_block(_by_label(labels[rows], tokens[rows]), matrix, rng)
                for rows in _blocks(tokens)
            ),
            matrix.shape[0],
        )
    shares = check_distributions("topics", check_matrix("topics", assigned))
    check_same_components("topics", shares, matrix)
    shares = shares / shares.sum(axis=1, keepdims=True)
    return _stack(
        (
            _draw_block(
                _by_column(rng.multinomial(tokens[rows], shares[rows])), matrix, rng
            )
            for rows in _blocks(tokens)
        ),
        matrix.shape[0],
    )


def draw_words(
    topic_counts: ArrayLike, centers: ArrayLike, rng: Generator
) -> sparse.csr_array:
    """Draw words when it is known how many tokens each topic gave each row.

    Parameters
    ----------
    topic_counts : array-like of shape (n, k)
        Number of tokens of each topic in each row.
    centers : array-like of shape (d, k)
        Topics as columns; each is normalised to sum to one.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    csr_array of shape (n, d)
        Counts (int32) with sorted, unique indices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.draws import draw_words
    >>> topics = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> rng = np.random.default_rng(0)
    >>> draw_words([[2, 1], [0, 5]], topics, rng).toarray()
    array([[2, 1],
           [0, 5]], dtype=int32)
    """
    matrix = check_distributions("centers", check_matrix("centers", centers).T).T
    counts = np.asarray(topic_counts)
    if counts.ndim != 2 or not np.issubdtype(counts.dtype, np.integer):
        raise ParameterError(
            "topic_counts must be an (n, k) array of integers, "
            f"not {counts.dtype} of shape {counts.shape}."
        )
    if counts.size and counts.min() < 0:
        raise ParameterError(
            f"topic_counts has the negative entry {counts.min()}; give counts."
        )
    check_same_components("topic_counts", counts, matrix)
    return _stack(
        (
            _draw_block(_by_column(counts[rows]), matrix, rng)
            for rows in _blocks(counts.sum(axis=1))
        ),
        matrix.shape[0],
    )


def draw_poisson_counts(
    intensities: ArrayLike, centers: ArrayLike, rng: Generator
) -> sparse.csr_array:
    """Draw independent Poisson counts with means `centers @ intensities[i]`.

    A vector of independent Poisson counts is a Poisson total spread by a
    multinomial, and sums over components stay Poisson, so that only the totals
    of each component are drawn as Poisson numbers.

    Parameters
    ----------
    intensities : array-like of shape (n,) or (n, k)
        The component of each row (integers; intensity one), or non-negative
        intensities of all components.
    centers : array-like of shape (d, k)
        Non-negative columns, not normalised.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    csr_array of shape (n, d)
        Counts (int32) with sorted, unique indices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.draws import draw_poisson_counts
    >>> centers = np.array([[0.0, 3.0], [2.0, 0.0]])
    >>> rng = np.random.default_rng(0)
    >>> counts = draw_poisson_counts(np.ones((1000, 2)), centers, rng)
    >>> counts.mean(axis=0).round(1)
    array([3., 2.])
    """
    matrix = check_matrix("centers", centers)
    totals = matrix.sum(axis=0)
    # A column without mass gives no tokens; any distribution serves for it.
    spread = np.where(totals > 0, matrix, 1.0)
    assigned = np.asarray(intensities)
    if assigned.ndim == 1:
        labels = check_labels(assigned, matrix.shape[1])
        return draw_topic_counts(labels, spread, rng.poisson(totals[labels]), rng)
    factors = check_matrix("intensities", assigned)
    check_same_components("intensities", factors, matrix)
    # Blocks are laid out by expected tokens; their true number is close to it.
    expected = np.ceil(factors @ totals).astype(np.int64)
    return _stack(
        (
            _draw_block(_by_column(rng.poisson(factors[rows] * totals)), spread, rng)
            for rows in _blocks(expected)
        ),
        matrix.shape[0],
    )


def draw_bernoulli(
    labels: ArrayLike, centers: ArrayLike, rng: Generator
) -> sparse.csr_array:
    """Draw binary rows with independent features given the component.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The component of each row.
    centers : array-like of shape (d, k)
        Probabilities of a one.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    csr_array of shape (n, d)
        Ones (int32) with sorted, unique indices.

    Notes
    -----
    Within a component, features are banded by powers of two of their
    probability. In a band with largest probability p the candidate cells are
    reached by geometric jumps of parameter p, and each is kept with its own
    probability over p, at least one half: the work follows the number of ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.draws import draw_bernoulli
    >>> centers = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> draw_bernoulli([0, 1], centers, np.random.default_rng(0)).toarray()
    array([[1, 0, 1],
           [0, 1, 1]], dtype=int32)
    """
    matrix = check_matrix("centers", centers)
    if matrix.size and matrix.max() > 1:
        raise ParameterError(
            f"centers has the entry {matrix.max()}; probabilities end at 1."
        )
    assigned = check_labels(np.asarray(labels), matrix.shape[1])
    rows: list[IntArray] = [np.empty(0, np.int64)]
    columns: list[IntArray] = [np.empty(0, np.int64)]
    for component in range(matrix.shape[1]):
        members = np.flatnonzero(assigned == component)
        for features in _bands(matrix[:, component]):
            chances = matrix[features, component]
            position, feature = _ones(chances, members.size, rng)
            rows.append(members[position])
            columns.append(features[feature])
    row, column = np.concatenate(rows), np.concatenate(columns)
    ones = np.ones(row.size, dtype=np.int32)
    return _to_csr(ones, row, column, (assigned.size, matrix.shape[0]))


def draw_gaussian(
    labels: ArrayLike, centers: ArrayLike, variances: ArrayLike, rng: Generator
) -> FloatArray:
    """Draw rows from spherical Gaussians.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The component of each row.
    centers : array-like of shape (d, k)
        Centres as columns.
    variances : float or array-like of shape (k,)
        Variance of every coordinate, for each component.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n, d)
        Dense rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.draws import draw_gaussian
    >>> centers = np.array([[0.0, 9.0], [0.0, 9.0]])
    >>> draw_gaussian([0, 1], centers, 0.0, np.random.default_rng(0))
    array([[0., 0.],
           [9., 9.]])
    """
    matrix = check_matrix("centers", centers, signed=True)
    assigned = check_labels(np.asarray(labels), matrix.shape[1])
    spread = np.asarray(variances, dtype=float)
    if spread.shape not in ((), (matrix.shape[1],)):
        raise ParameterError(
            f"variances has shape {spread.shape}; "
            f"give one number or {matrix.shape[1]} of them."
        )
    if not (np.isfinite(spread).all() and (spread >= 0).all()):
        raise ParameterError(
            f"variances={variances!r} must be finite and not negative."
        )
    deviations = np.sqrt(np.broadcast_to(spread, matrix.shape[1]))
    rows: FloatArray = rng.standard_normal((assigned.size, matrix.shape[0]))
    rows *= deviations[assigned, None]
    rows += matrix.T[assigned]
    return rows


# Tokens ----------------------------------------------------------------------


def _blocks(tokens: IntArray) -> Iterator[slice]:
    """Yield runs of rows that hold about `TOKENS_AT_ONCE` tokens each."""
    ends = np.cumsum(tokens)
    start = 0
    while start < tokens.size:
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + TOKENS_AT_ONCE, side="right"))
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop


def _by_label(
    labels: IntArray, tokens: IntArray
) -> tuple[int, list[NDArray[np.int32]]]:
    """Rows of each label, each row repeated once for each of its tokens."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    last = int(labels.max(initial=-1)) + 1
    cuts = np.searchsorted(labels[order], np.arange(1, last))
    return labels.size, [
        np.repeat(rows, tokens[rows]) for rows in np.split(order, cuts)
    ]


def _by_column(counts: IntArray) -> tuple[int, list[NDArray[np.int32]]]:
    """Rows of each column, each repeated as often as its count says."""
    rows = np.arange(counts.shape[0], dtype=np.int32)
    return rows.size, [np.repeat(rows, column) for column in counts.T]


def _draw_block(
    assigned: tuple[int, list[NDArray[np.int32]]], centers: FloatArray, rng: Generator
) -> sparse.csr_array:
    """Draw a word for every token; `assigned` lists the rows of the tokens."""
    n_rows, rows = assigned
    row = np.concatenate(rows)
    words = np.empty(row.size, dtype=np.int32)
    vocabulary = np.arange(centers.shape[0], dtype=np.int32)
    start = 0
    for component, tokens in enumerate(rows):
        stop = start + tokens.size
        if stop > start:
            shares = centers[:, component] / centers[:, component].sum()
            drawn = np.repeat(vocabulary, rng.multinomial(tokens.size, shares))
            rng.shuffle(drawn)
            words[start:stop] = drawn
        start = stop
    ones = np.ones(row.size, dtype=np.int32)
    return _to_csr(ones, row, words, (n_rows, centers.shape[0]))


def _to_csr(
    values: NDArray[np.int32],
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    shape: tuple[int, int],
) -> sparse.csr_array:
    """Add up values at equal places, with sorted indices."""
    counts = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


def _stack(blocks: Iterator[sparse.csr_array], n_features: int) -> sparse.csr_array:
    """Put blocks of rows below one another."""
    parts = list(blocks)
    if not parts:
        return sparse.csr_array((0, n_features), dtype=np.int32)
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")


# Ones ------------------------------------------------------------------------


def _bands(chances: FloatArray) -> Iterator[IntArray]:
    """Group features whose chances differ by less than a factor of two."""
    possible = np.flatnonzero(chances > 0)
    # Below 2^-40 a one is so rare that the band need not be narrow.
    octave = np.maximum(np.frexp(chances[possible])[1], -40)
    for level in np.unique(octave):
        yield possible[octave == level]


def _ones(
    chances: FloatArray, n_rows: int, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Draw the places of ones among `n_rows` rows of a band of features."""
    largest = float(chances.max())
    cells = _jump(n_rows * chances.size, largest, rng)
    feature, row = np.divmod(cells, max(n_rows, 1))
    kept = rng.random(cells.size) * largest < chances[feature]
    return row[kept], feature[kept]


def _jump(n_cells: int, chance: float, rng: Generator) -> IntArray:
    """Draw which of `n_cells` cells are hit, each with the same chance."""
    hits: list[IntArray] = [np.empty(0, np.int64)]
    last = -1
    while last < n_cells - 1:
        mean = (n_cells - 1 - last) * chance
        size = int(mean + 5 * np.sqrt(mean)) + 8
        # Jumps past the end are cut there, so that their sum cannot overflow.
        jumps = np.minimum(rng.geometric(chance, size), n_cells + 1)
        places = last + np.cumsum(jumps)
        hits.append(places)
        last = int(places[-1])
    found = np.concatenate(hits)
    return found[found < n_cells]
