"""Matrices to diagonalise: contractions of the third moment, or its slices."""

from __future__ import annotations

import numpy as np

from tercet.flow import FloatArray, Problem

__all__ = [
    "basis_targets",
    "compress_targets",
    "off_diagonal_ratio",
    "random_directions",
    "slice_targets",
    "spread_coefficients",
    "unwhitened_third",
]

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def spread_coefficients(count: int) -> FloatArray:
    """Return fixed, evenly spread, all different numbers.

    A deterministic stand-in for a random combination: fractional parts of the
    multiples of the golden ratio, brought to the interval from -1 to 1.

    Parameters
    ----------
    count : int
        How many numbers.

    Returns
    -------
    ndarray of shape (count,)
        The numbers, scaled to unit norm.

    Examples
    --------
    >>> spread_coefficients(3).round(2).tolist()
    [0.26, -0.58, 0.77]
    """
    values = 2.0 * np.mod(np.arange(1, count + 1) * GOLDEN, 1.0) - 1.0
    return np.asarray(values / np.linalg.norm(values))


def random_directions(size: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw directions uniformly from the whole unit sphere.

    Parameters
    ----------
    size : int
        Dimension of the space.
    count : int
        How many directions.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (count, size)
        Unit rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = random_directions(3, 2, np.random.default_rng(0))
    >>> np.linalg.norm(rows, axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    rows = rng.standard_normal((count, size))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def basis_targets(third: FloatArray) -> FloatArray:
    """Return the contractions of a symmetric tensor with the basis vectors.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor.

    Returns
    -------
    ndarray of shape (k, k, k)
        Target p is `third(., ., e_p)`.

    Examples
    --------
    >>> import numpy as np
    >>> basis_targets(np.ones((2, 2, 2))).shape
    (2, 2, 2)
    """
    return np.ascontiguousarray(third.transpose(2, 0, 1))


def slice_targets(problem: Problem) -> FloatArray:
    """Return matrices equivalent to all whitened slices.

    Any cost that is a function of the inner products of entries over the
    slices depends on their Gram matrix alone. Slices projected from the third
    moment, `H_r = sum_a E[r, a] third[:, :, a]`, are therefore worth k
    matrices, weighted by a square root of `E' E`; nothing of the size of the
    features is formed.

    Parameters
    ----------
    problem : Problem
        With slices collected from data, or without.

    Returns
    -------
    ndarray of shape (m, k, k)
        At most `k (k + 1) / 2` matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> problem = Problem(np.ones((2, 2, 2)), np.ones(2), np.ones(2), np.ones((9, 2)))
    >>> slice_targets(problem).shape
    (2, 2, 2)
    """
    if problem.slices is not None:
        slices = 0.5 * (problem.slices + problem.slices.transpose(0, 2, 1))
        return compress_targets(np.asarray(slices))
    root = np.linalg.qr(problem.unwhitening, mode="r")
    return np.asarray(np.einsum("ra,ija->rij", root, problem.third))


def compress_targets(targets: FloatArray) -> FloatArray:
    """Replace a long stack by at most `k (k + 1) / 2` equivalent matrices.

    Parameters
    ----------
    targets : ndarray of shape (m, k, k)
        Symmetric matrices.

    Returns
    -------
    ndarray of shape (min(m, k (k + 1) / 2), k, k)
        Matrices whose entries have the same inner products over the stack.

    Examples
    --------
    >>> import numpy as np
    >>> compress_targets(np.ones((50, 2, 2))).shape
    (3, 2, 2)
    """
    size = targets.shape[1]
    rows, columns = np.triu_indices(size)
    if len(targets) <= len(rows):
        return targets
    packed = np.linalg.qr(targets[:, rows, columns], mode="r")
    stack = np.empty((len(packed), size, size))
    stack[:, rows, columns] = packed
    stack[:, columns, rows] = packed
    return stack


def unwhitened_third(problem: Problem) -> FloatArray:
    """Return the third moment in orthonormal, not whitened, coordinates.

    Parameters
    ----------
    problem : Problem
        Holds the whitened third moment and the eigenvalues of the pair moment.

    Returns
    -------
    ndarray of shape (k, k, k)
        `third` with every mode multiplied by the square roots.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> problem = Problem(
    ...     np.ones((1, 1, 1)), np.array([4.0]), np.ones(1), np.ones((2, 1))
    ... )
    >>> float(unwhitened_third(problem)[0, 0, 0])
    8.0
    """
    roots = np.sqrt(problem.eigenvalues)
    scales = roots[:, None, None] * roots[None, :, None] * roots[None, None, :]
    return np.asarray(problem.third * scales)


def off_diagonal_ratio(targets: FloatArray) -> float:
    """Off-diagonal norm of a stack of matrices over its whole norm.

    Parameters
    ----------
    targets : ndarray of shape (m, k, k)
        The matrices.

    Returns
    -------
    float
        Between 0 (all diagonal) and 1; 0 for a stack of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> off_diagonal_ratio(np.ones((1, 2, 2))) ** 2
    0.5000000000000001
    """
    whole = float(np.vdot(targets, targets))
    off = targets * (1.0 - np.eye(targets.shape[1]))
    return float(np.sqrt(np.vdot(off, off) / whole)) if whole else 0.0
