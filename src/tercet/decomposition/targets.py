"""Matrices to diagonalise: contractions of the third moment, or its slices."""

from __future__ import annotations

import numpy as np

from tercet.flow import FloatArray, Problem

__all__ = [
    "basis_targets",
    "compress_targets",
    "contract_all",
    "feature_direction",
    "off_diagonal_ratio",
    "random_directions",
    "singular_directions",
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
    slices depends on their Gram matrix alone. Slices that were not collected
    are read from the third moment in the basis, whitened in two modes and left
    as it is in the third, so that the part outside the components counts as
    well; or else from the whitened third moment, `H_r = sum_a E[r, a] third[:,
    :, a]`, which is worth k matrices weighted by a square root of `E' E`.
    Nothing of the size of the features is formed.

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
    size = problem.n_components
    if problem.slices is not None:
        slices = 0.5 * (problem.slices + problem.slices.transpose(0, 2, 1))
        return compress_targets(np.asarray(slices))
    if problem.basis_third is not None and problem.coordinates is not None:
        width = len(problem.basis_third)
        if width > size:
            whitener = problem.coordinates
            right = np.matmul(problem.basis_third, whitener)
            stack = np.matmul(whitener.T, right)
            return compress_targets(0.5 * (stack + stack.transpose(0, 2, 1)))
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


def unwhitened_third(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return the third moment in orthonormal, not whitened, coordinates.

    Parameters
    ----------
    problem : Problem
        Holds the whitened third moment and E.

    Returns
    -------
    third : ndarray of shape (k, k, k)
        Third moment in an orthonormal basis Q of the columns of E.
    scale : ndarray of shape (k, k)
        R of `E = Q R`: a whitened vector v stands for `R v` here.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> problem = Problem(
    ...     np.ones((1, 1, 1)), np.array([4.0]), np.ones(1), 2 * np.eye(1)
    ... )
    >>> abs(float(unwhitened_third(problem)[0][0, 0, 0]))
    8.0
    """
    scale: FloatArray = np.asarray(np.linalg.qr(problem.unwhitening, mode="r"))
    return contract_all(problem.third, scale.T), scale


def singular_directions(third: FloatArray) -> FloatArray:
    """Return the left singular vectors of an unfolded symmetric tensor.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor.

    Returns
    -------
    ndarray of shape (k, k)
        Orthonormal columns, by falling singular value; they turn with the tensor.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 2.0, 3.0
    >>> np.abs(singular_directions(third)).round(12)
    array([[0., 1.],
           [1., 0.]])
    """
    size = len(third)
    # The k x k^2 unfolding first loses its length, which is most of the work.
    unfolded = third.reshape(size * size, size)
    root: FloatArray = np.asarray(np.linalg.qr(unfolded, mode="r"))
    return np.asarray(np.linalg.svd(root.T)[0])


def contract_all(third: FloatArray, matrix: FloatArray) -> FloatArray:
    """Multiply every mode of a symmetric tensor by the transpose of a matrix.

    Parameters
    ----------
    third : ndarray of shape (p, p, p)
        Symmetric tensor.
    matrix : ndarray of shape (p, k)
        The matrix A.

    Returns
    -------
    ndarray of shape (k, k, k)
        `third(A, A, A)`.

    Examples
    --------
    >>> import numpy as np
    >>> contract_all(np.ones((2, 2, 2)), np.ones((2, 1)))
    array([[[8.]]])
    """
    p, k = matrix.shape
    last = (third.reshape(p * p, p) @ matrix).reshape(p, p * k)
    both = (matrix.T @ last).reshape(k, p, k)
    return np.asarray(np.matmul(matrix.T, both))


def feature_direction(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Draw the contraction that combines all slices with random coefficients.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (k,)
        `E' a` for coefficients a drawn from the whole sphere, at unit length.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> problem = Problem(np.ones((1, 1, 1)), np.ones(1), np.ones(1), np.ones((3, 1)))
    >>> abs(feature_direction(problem, np.random.default_rng(0)))
    array([1.])
    """
    coefficients = rng.standard_normal(len(problem.unwhitening))
    direction = problem.unwhitening.T @ coefficients
    length = float(np.linalg.norm(direction))
    if length > 0.0:
        return np.asarray(direction / length)
    return np.asarray(random_directions(problem.n_components, 1, rng)[0])


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
