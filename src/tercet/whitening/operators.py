"""Whitening of a pair moment that is given as a matrix or as an operator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, Whitening
from tercet.moments.subspace import iterate_subspace
from tercet.whitening.verdicts import check_rank, judge_spectrum, require_components

__all__ = ["whiten_matrix", "whiten_operator"]


def whiten_matrix(matrix: FloatArray, n_components: int) -> Whitening:
    """Whiten a symmetric matrix by LAPACK on the top of its spectrum.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        Pair moment of few features.
    n_components : int
        Number of components k.

    Returns
    -------
    Whitening
        With the identity as basis: `coordinates` is W itself.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.whitening import whiten_matrix
    >>> matrix = np.diag([4.0, 1.0, -9.0])
    >>> whiten_matrix(matrix, 2).unwhitening.round(6) + 0.0
    array([[2., 0.],
           [0., 1.],
           [0., 0.]])
    """
    square = np.asarray(matrix, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1] or square.size == 0:
        raise DataError(f"matrix has the shape {square.shape}; it must be square.")
    if not np.isfinite(square).all():
        raise DataError("matrix holds NaN or infinite entries; remove them first.")
    values, vectors = linalg.eigh((square + square.T) / 2.0, check_finite=False)
    return _whiten(values[::-1], vectors[:, ::-1], n_components)


def whiten_operator(
    apply: Callable[[FloatArray], FloatArray],
    n_features: int,
    n_components: int,
    rng: np.random.Generator,
    *,
    extra: int = 8,
    n_iterations: int = 3,
) -> Whitening:
    """Whiten a symmetric operator by randomised block iteration.

    Nothing of size d x d is formed: the operator is applied `n_iterations + 2`
    times to a block of `n_components + extra` vectors.

    Parameters
    ----------
    apply : callable
        Maps a block (d, p) to the pair moment times the block.
    n_features : int
        Number of features d.
    n_components : int
        Number of components k.
    rng : numpy.random.Generator
        Draws the starting block.
    extra : int
        Vectors beyond k.
    n_iterations : int
        Products beyond the first one.

    Returns
    -------
    Whitening
        With the identity as basis: `coordinates` is W itself, d x k.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.whitening import whiten_operator
    >>> matrix = np.diag(np.r_[4.0, 1.0, np.zeros(98)])
    >>> rng = np.random.default_rng(0)
    >>> whiten_operator(lambda V: matrix @ V, 100, 2, rng).eigenvalues.round(6)
    array([4., 1.])
    """
    require_components(n_components)
    if n_components > n_features:
        raise ParameterError(
            f"n_components={n_components} is more than the {n_features} features; ask for "
            "fewer components."
        )
    if min(extra, n_iterations) < 0:
        raise ParameterError(
            f"extra={extra} and n_iterations={n_iterations} must not be negative."
        )
    width = min(n_components + extra, n_features)
    start = rng.standard_normal((n_features, width))
    basis = iterate_subspace(
        lambda block: _check_product(apply(block)), start, n_iterations
    )
    inner = basis.T @ _check_product(apply(basis))
    values, vectors = linalg.eigh((inner + inner.T) / 2.0)
    return _whiten(values[::-1], basis @ vectors[:, ::-1], n_components)


def _check_product(product: FloatArray) -> FloatArray:
    if not np.isfinite(product).all():
        raise DataError("apply gave NaN or infinite entries; look at the pair moment.")
    return product


def _whiten(spectrum: FloatArray, vectors: FloatArray, n_components: int) -> Whitening:
    check_rank(spectrum, n_components)
    eigenvalues = spectrum[:n_components].copy()
    leading = vectors[:, :n_components]
    heaviest = np.abs(leading).argmax(axis=0)
    leading = leading * np.sign(leading[heaviest, np.arange(n_components)])
    roots = np.sqrt(eigenvalues)
    return Whitening(
        coordinates=leading / roots,
        unwhitening=leading * roots,
        eigenvalues=eigenvalues,
        spectrum=spectrum.copy(),
        verdict=judge_spectrum(spectrum, n_components),
    )
