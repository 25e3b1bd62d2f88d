"""Topics from expected counts, with a few pseudo-tokens shared out like the corpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tercet.flow import FloatArray

__all__ = ["follow_shares", "smooth_topics"]

_LEAST_SHARE = 1e-2
_TINY = float(np.finfo(np.float64).tiny)


def smooth_topics(
    expected: FloatArray,
    pseudo_tokens: float,
    topics: NDArray[np.floating],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Turn expected counts into topics, in place.

    To the counts of every topic pseudo-tokens are added, shared out like the words
    of the corpus: the maximum under a Dirichlet prior, without which words that a
    topic happened not to emit would be impossible in new documents.

    Parameters
    ----------
    expected : ndarray of shape (d, k)
        Expected number of times that a topic emitted a word; becomes the topics.
    pseudo_tokens : float
        Pseudo-tokens of a topic.
    topics : ndarray of shape (d, k) or wider
        What a topic without any token keeps.

    Returns
    -------
    topics : ndarray of shape (d, k)
        Columns that sum to one.
    mass : ndarray of shape (k,)
        Tokens of the topics, pseudo-tokens left out.
    prior : ndarray of shape (d,)
        Pseudo-tokens of the words.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood.smoothing import smooth_topics
    >>> expected = np.array([[3.0, 0.0], [0.0, 1.0]])
    >>> smooth_topics(expected, 4.0, np.eye(2))[0].round(3)
    array([[0.857, 0.6  ],
           [0.143, 0.4  ]])
    """
    k = expected.shape[1]
    mass = expected.sum(axis=0)
    total = float(mass.sum())
    words = expected.sum(axis=1)
    prior = words * (pseudo_tokens / total) if total > 0.0 else 0.0 * words
    expected += prior[:, None]
    smoothed = mass + (pseudo_tokens if total > 0.0 else 0.0)
    silent = smoothed < _TINY
    expected /= np.where(silent, 1.0, smoothed)
    expected[:, silent] = topics[:, :k][:, silent]
    return expected, mass, prior


def follow_shares(alpha: FloatArray, shares: FloatArray) -> FloatArray:
    """Return Dirichlet parameters with the same sum, in proportion to shares.

    Parameters
    ----------
    alpha : ndarray of shape (k,)
        Dirichlet parameters.
    shares : ndarray of shape (k,)
        Shares of the tokens.

    Returns
    -------
    ndarray of shape (k,)
        A topic that emits nothing keeps a little, and can come back.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood.smoothing import follow_shares
    >>> follow_shares(np.array([1.0, 1.0]), np.array([0.75, 0.25]))
    array([1.5, 0.5])
    """
    kept = np.maximum(shares, _LEAST_SHARE / shares.size)
    return np.asarray(alpha.sum() * kept / kept.sum())
