"""The two leading eigenpairs of a symmetric matrix."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from tercet.flow import FloatArray

__all__ = ["find_leading_pair"]

# Up to this order LAPACK is the quickest.
_SMALL = 128

_BLOCK = 4

# Steps after which the pair is looked at.
_CHECKS = (7, 9, 12)

# Residual of an eigenpair, as a share of the first eigenvalue, that will do.
_TOLERANCE = 1e-8


def find_leading_pair(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the two largest eigenvalues, by algebraic value, and their vectors.

    A block Krylov space of a fixed start is tried first; where it does not
    hold the pair to eight digits, LAPACK has the last word.

    Parameters
    ----------
    matrix : ndarray of shape (p, p)
        Symmetric, p at least two.

    Returns
    -------
    values : ndarray of shape (2,)
        Largest eigenvalue first.
    vectors : ndarray of shape (p, 2)
        Orthonormal columns; the largest entry of each is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.pairs import find_leading_pair
    >>> find_leading_pair(np.diag([1.0, 3.0, -9.0]))[0]
    array([3., 1.])
    """
    found = None if matrix.shape[0] <= _SMALL else _search_krylov(matrix)
    if found is None:
        last = matrix.shape[0] - 1
        values, vectors = linalg.eigh(matrix, subset_by_index=[last - 1, last])
        found = values[::-1], vectors[:, ::-1]
    values, vectors = found
    largest = np.argmax(np.abs(vectors), axis=0)
    signs = np.where(vectors[largest, [0, 1]] < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(values), np.ascontiguousarray(vectors * signs)


def _search_krylov(matrix: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the pair from a block Krylov space, or None if it is not there yet."""
    size = matrix.shape[0]
    n_steps = min(_CHECKS[-1], size // (2 * _BLOCK))
    basis = np.empty((size, n_steps * _BLOCK), order="F")
    images = np.empty_like(basis)
    # A fixed start that favours no feature but the frequent ones.
    spread = np.arange(1.0, size * _BLOCK + 1.0)
    block = np.cos(spread * spread * 1.9416).reshape(size, _BLOCK)
    block[:, 0] = matrix.diagonal()
    for step in range(n_steps):
        stop = step * _BLOCK
        known = basis[:, :stop]
        # Twice is enough to be orthogonal to all that is known.
        for _ in range(2):
            block = block - known @ (known.T @ block)
            factor, failed = lapack.dpotrf(block.T @ block)
            if failed:
                return None
            block = block @ lapack.dtrtri(factor)[0]
        basis[:, stop : stop + _BLOCK] = block
        block = matrix @ block
        images[:, stop : stop + _BLOCK] = block
        if step + 1 in _CHECKS or step + 1 == n_steps:
            found = _read_pair(basis[:, : stop + _BLOCK], images[:, : stop + _BLOCK])
            if found is not None:
                return found
    return None


def _read_pair(
    basis: FloatArray, images: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return the pair that a basis holds, if the residual is small."""
    values, vectors, failed = lapack.dsyevd(basis.T @ images)
    if failed:
        return None
    values, vectors = values[:-3:-1], vectors[:, :-3:-1]
    ritz = basis @ vectors
    residual = images @ vectors - ritz * values
    if np.abs(residual).max() > _TOLERANCE * abs(values[0]):
        return None
    return values, ritz
