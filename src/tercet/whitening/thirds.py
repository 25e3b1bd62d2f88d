"""The third moment in whitened coordinates: the small problem."""

from __future__ import annotations

import numpy as np

from tercet.flow import Equations, FloatArray, Problem, Whitening

__all__ = ["contract_modes", "whiten_third"]


def contract_modes(tensor: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return `tensor(A, A, A)` for a symmetric tensor, by matrix products.

    Parameters
    ----------
    tensor : ndarray of shape (p, p, p)
        Symmetric tensor.
    matrix : ndarray of shape (p, k)
        The matrix A.

    Returns
    -------
    ndarray of shape (k, k, k)
        Every mode multiplied by `A'`, exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.whitening.thirds import contract_modes
    >>> contract_modes(np.ones((2, 2, 2)), np.array([[1.0], [2.0]]))
    array([[[27.]]])
    """
    p, k = matrix.shape
    last = (tensor.reshape(p * p, p) @ matrix).reshape(p, p * k)
    both = (matrix.T @ last).reshape(k, p, k)
    full = np.matmul(matrix.T, both)
    # Rounding leaves the orders of the indices slightly different.
    mean = full + full.transpose(0, 2, 1)
    return np.asarray((mean + mean.transpose(1, 0, 2) + mean.transpose(2, 1, 0)) / 6.0)


def whiten_third(equations: Equations, whitening: Whitening) -> Problem:
    """Bring the third moment, and slices if there are any, to whitened coordinates.

    Parameters
    ----------
    equations : Equations
        Moments of a model inside a basis.
    whitening : Whitening
        Of the same equations.

    Returns
    -------
    Problem
        What a decomposition solves.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Equations
    >>> from tercet.whitening import whiten_pair, whiten_third
    >>> eye = np.eye(2)
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 0.5, 0.5
    >>> moments = Equations(np.full(2, 0.5), eye / 2, eye / 2, third, eye)
    >>> problem = whiten_third(moments, whiten_pair(moments, 2))
    >>> np.round(np.sort(problem.third.ravel())[-2:], 6)
    array([1.414214, 1.414214])
    """
    coordinates = whitening.coordinates
    slices = None
    if equations.slices is not None:
        right = np.matmul(equations.slices, coordinates)
        slices = np.matmul(coordinates.T, right)
    return Problem(
        third=contract_modes(equations.third, coordinates),
        eigenvalues=whitening.eigenvalues,
        first=coordinates.T @ (equations.basis.T @ equations.first),
        unwhitening=whitening.unwhitening,
        slices=slices,
        slice_features=equations.slice_features,
        basis_third=equations.third,
        coordinates=coordinates,
    )
