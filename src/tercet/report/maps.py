"""Where components stand to one another: distances laid out in the plane."""

from __future__ import annotations

import numpy as np

from tercet.flow import FloatArray

__all__ = ["lay_out", "measure_divergence"]


def measure_divergence(distributions: FloatArray) -> FloatArray:
    """Return the Jensen-Shannon distances between probability vectors.

    Parameters
    ----------
    distributions : ndarray of shape (k, d)
        Non-negative rows; each is divided by its sum.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric distances from 0 to 1 (base-2 logarithms, square root).

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.report.maps import measure_divergence
    >>> measure_divergence(np.eye(2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    totals = distributions.sum(axis=1, keepdims=True)
    shares = distributions / np.where(totals > 0.0, totals, 1.0)
    k = shares.shape[0]
    entropies = np.array([_entropy(row) for row in shares])
    distances = np.zeros((k, k))
    for i in range(k):
        for j in range(i + 1, k):
            mixed = _entropy((shares[i] + shares[j]) / 2.0)
            gap = max(mixed - (entropies[i] + entropies[j]) / 2.0, 0.0)
            distances[i, j] = distances[j, i] = np.sqrt(gap)
    return distances


def _entropy(shares: FloatArray) -> float:
    there = shares[shares > 0.0]
    return float(-(there * np.log2(there)).sum())


def lay_out(distances: FloatArray) -> FloatArray:
    """Return points in the plane whose distances are near those given.

    Classical scaling: the two largest eigenvectors of the doubly centred squares,
    with signs fixed so that the same distances always give the same map.

    Parameters
    ----------
    distances : ndarray of shape (k, k)
        Symmetric.

    Returns
    -------
    ndarray of shape (k, 2)
        Coordinates within [-1, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.report.maps import lay_out
    >>> points = lay_out(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> np.abs(points[:, 0]).round(6).tolist()
    [1.0, 1.0]
    """
    k = distances.shape[0]
    centering = np.eye(k) - 1.0 / k
    values, vectors = np.linalg.eigh(-0.5 * centering @ distances**2 @ centering)
    points = np.zeros((k, 2))
    for axis in range(min(2, k)):
        column = vectors[:, -1 - axis] * np.sqrt(max(values[-1 - axis], 0.0))
        largest = int(np.argmax(np.abs(column)))
        points[:, axis] = column * (1.0 if column[largest] >= 0.0 else -1.0)
    reach = float(np.abs(points).max())
    return points / reach if reach > 0.0 else points
