"""Tokens of documents one by one, with random numbers that belong to a row.

The numbers of a document depend on the seed and on the row's index in its
source, so that neither blocks nor threads change what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator, Philox
from scipy import sparse

from tercet.exceptions import DataError
from tercet.flow import FloatArray, IntArray

__all__ = [
    "check_whole",
    "draw_seed",
    "list_tokens",
    "make_row_generator",
    "split_row",
]


def draw_seed(rng: Generator | None) -> int:
    """Return a seed for the rows of a source; zero if there is no generator.

    Parameters
    ----------
    rng : numpy.random.Generator or None
        Source of randomness.

    Returns
    -------
    int
        Between zero and 2^63.
    """
    return 0 if rng is None else int(rng.integers(2**63))


def make_row_generator(seed: int, row: int) -> Generator:
    """Return the generator of a row.

    Parameters
    ----------
    seed : int
        Of all rows.
    row : int
        Index of the row in its source.

    Returns
    -------
    numpy.random.Generator
        Always the same for the same arguments.

    Examples
    --------
    >>> from tercet.likelihood.tokens import make_row_generator
    >>> one, two = make_row_generator(0, 7), make_row_generator(0, 7)
    >>> one.random() == two.random()
    True
    """
    return Generator(Philox(key=np.array([seed, row], dtype=np.uint64)))


def list_tokens(
    rows: sparse.csr_array, known: IntArray, start: int, purpose: str
) -> Iterator[tuple[int, IntArray]]:
    """Yield the place of each document in a block and the features of its tokens.

    Parameters
    ----------
    rows : csr_array of shape (n, d)
        Whole counts.
    known : ndarray of shape (d,)
        One for words that some topic knows, zero for others, which are left out.
    start : int
        Index of the first row, for messages.
    purpose : str
        What needs whole tokens, for messages.
    """
    for i in range(rows.shape[0]):
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        words, counts = rows.indices[entries], rows.data[entries]
        whole = check_whole(words, counts, start + i, purpose)
        yield i, np.repeat(words, whole * known[words]).astype(np.int64)


def check_whole(
    words: IntArray, counts: FloatArray, row: int, purpose: str
) -> IntArray:
    """Return counts as integers, or say which of them is not whole.

    Parameters
    ----------
    words, counts : ndarray of shape (nnz,)
        A document.
    row : int
        Its index.
    purpose : str
        What needs whole counts.

    Returns
    -------
    ndarray of shape (nnz,)
        Integers.
    """
    whole = counts.astype(np.int64)
    if (whole != counts).any():
        worst = int(np.argmax(whole != counts))
        raise DataError(
            f"X: row {row}, column {int(words[worst])} is {counts[worst]:g}; {purpose} "
            "takes tokens one by one and needs whole counts. Round them, or choose "
            "the variational method or the bound."
        )
    return whole


def split_row(counts: IntArray, share: float, seed: int, row: int) -> IntArray:
    """Return how many tokens of each word are held out.

    Parameters
    ----------
    counts : ndarray of shape (nnz,)
        Whole counts of a document of c tokens.
    share : float
        Share of the tokens that is held out, rounded down to whole tokens.
    seed, row : int
        As in `make_row_generator`.

    Returns
    -------
    ndarray of shape (nnz,)
        A uniform draw of `floor(share c)` tokens without replacement.
    """
    n_held = int(share * counts.sum())
    if n_held == 0:
        return np.zeros_like(counts)
    generator = make_row_generator(seed, row)
    drawn = generator.multivariate_hypergeometric(counts, n_held, method="marginals")
    return np.asarray(drawn, dtype=np.int64)
