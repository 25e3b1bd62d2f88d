"""Row scales and normalisers of the published weightings (method section 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tercet.flow import FloatArray, Weighting

__all__ = ["RowScales", "measure_lengths", "scale_rows"]


# Rows with less than this have no tokens: a reciprocal would overflow.
_LEAST = 1e-150


@dataclass(frozen=True, eq=False)
class RowScales:
    """Scales of the rows of a block in the first, pair and third moments.

    Parameters
    ----------
    first, pair, third : ndarray of shape (n,)
        Scales; the same object where two of them agree.
    masses : ndarray of shape (3,)
        What the block adds to the normalisers.
    """

    first: FloatArray
    pair: FloatArray
    third: FloatArray
    masses: FloatArray


def scale_rows(
    lengths: FloatArray, weights: FloatArray | None, weighting: Weighting
) -> RowScales:
    """Return the scales of rows with the given numbers of tokens.

    Rows with too few tokens for pairs or triples add nothing there, nor to the
    normaliser, so nothing is ever divided by zero. Products of lengths are formed
    in float64, where they cannot overflow.

    Parameters
    ----------
    lengths : ndarray of shape (n,)
        Tokens of each row (float64).
    weights : ndarray of shape (n,) or None
        Row weights.
    weighting : {"length", "document", "three-words", "rows"}
        "length" as in paper 000, theorem 1; "document" as in paper 000,
        remark 3 (Zou et al. 2013); "three-words" is "document" after three
        tokens were drawn from each row; "rows" looks at no lengths.

    Returns
    -------
    RowScales
        Scales and normalisers.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments.weighting import scale_rows
    >>> scale_rows(np.array([1.0, 4.0]), None, "document").pair
    array([0.        , 0.08333333])
    """
    ones = np.ones_like(lengths) if weights is None else weights
    if weighting == "rows":
        return RowScales(ones, ones, ones, np.full(3, ones.sum()))
    pairs = lengths * np.maximum(lengths - 1.0, 0.0)
    triples = pairs * np.maximum(lengths - 2.0, 0.0)
    tuples = (lengths, pairs, triples)
    if weighting == "length":
        # Of whole counts, pairs of one token cancel; of fractions they would not.
        fraction = (lengths < 2.0) & (lengths != np.floor(lengths))
        several = np.where(fraction, 0.0, ones) if fraction.any() else ones
        counted = (ones @ lengths, several @ pairs, several @ triples)
        return RowScales(ones, several, several, np.array(counted))
    enough = (lengths > _LEAST, lengths >= 2.0, lengths >= 3.0)
    scales = [
        np.divide(ones, count, out=np.zeros_like(ones), where=there)
        for count, there in zip(tuples, enough, strict=True)
    ]
    masses = [float(ones[there].sum()) for there in enough]
    return RowScales(scales[0], scales[1], scales[2], np.array(masses))


def measure_lengths(lengths: FloatArray) -> tuple[FloatArray, float, np.ndarray]:
    """Return sums of token pairs and triples, the longest row, the short rows.

    Parameters
    ----------
    lengths : ndarray of shape (n,)
        Tokens of each row.

    Returns
    -------
    sums : ndarray of shape (5,)
        Sums of `t`, `t(t-1)`, `t(t-1)(t-2)` and of the squares of the last two.
    longest : float
        Largest length (zero without rows).
    short : ndarray of shape (3,)
        Rows with no token, fewer than two, fewer than three.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments.weighting import measure_lengths
    >>> measure_lengths(np.array([0.0, 2.0, 4.0]))[2]
    array([1, 1, 2])
    """
    pairs = lengths * np.maximum(lengths - 1.0, 0.0)
    triples = pairs * np.maximum(lengths - 2.0, 0.0)
    sums = np.array(
        [lengths.sum(), pairs.sum(), triples.sum(), pairs @ pairs, triples @ triples]
    )
    longest = float(lengths.max()) if lengths.size else 0.0
    short = np.array([np.count_nonzero(lengths < bound) for bound in (1, 2, 3)])
    return sums, longest, short
