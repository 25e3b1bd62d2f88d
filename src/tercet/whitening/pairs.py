"""Whitening of the pair moment inside a basis."""

from __future__ import annotations

import numpy as np

from tercet.flow import Equations, FloatArray, Whitening
from tercet.whitening.verdicts import NOISE, check_rank, judge_spectrum

__all__ = ["whiten_pair"]


def whiten_pair(equations: Equations, n_components: int) -> Whitening:
    """Whiten the pair moment by its leading eigenpairs, by algebraic value.

    Inside an orthonormal basis these are the eigenpairs of `B' M2 B`. Against a
    sketch, `M2` is replaced by its Nystrom form `L P^+ L'`, `L = M2 B` and
    `P = B' M2 B`; directions of P that lie in the noise are left out of `P^+`.

    Parameters
    ----------
    equations : Equations
        Moments of a model inside a basis.
    n_components : int
        Number of components k.

    Returns
    -------
    Whitening
        `W' M2 W = I` and `E = M2 W`, with the verdict on the rank.

    Raises
    ------
    RankError
        If fewer than k eigenvalues are above zero.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Equations
    >>> from tercet.whitening import whiten_pair
    >>> pair = np.diag([4.0, 1.0, 0.0])
    >>> eye = np.eye(3)
    >>> moments = Equations(np.ones(3), pair @ eye, pair, np.zeros((3, 3, 3)), eye)
    >>> whiten_pair(moments, 2).eigenvalues
    array([4., 1.])
    """
    if equations.orthonormal:
        spectrum, vectors = _descending(equations.pair)
        check_rank(spectrum, n_components)
        eigenvalues = spectrum[:n_components]
        coordinates = vectors[:, :n_components] / np.sqrt(eigenvalues)
    else:
        spectrum, coordinates = _whiten_sketch(equations, n_components)
        eigenvalues = spectrum[:n_components]
    coordinates = _fix_signs(coordinates, equations.first, equations.basis)
    return Whitening(
        coordinates=coordinates,
        unwhitening=equations.lift @ coordinates,
        eigenvalues=eigenvalues,
        spectrum=spectrum,
        verdict=judge_spectrum(spectrum, n_components),
    )


def _whiten_sketch(
    equations: Equations, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return the spectrum and the whitener of the Nystrom form."""
    inner, directions = _descending(equations.pair)
    check_rank(inner, n_components)
    noise = max(NOISE * inner[0], -inner[-1])
    kept = max(n_components, int(np.count_nonzero(inner > noise)))
    directions = directions[:, :kept] / np.sqrt(inner[:kept])
    # M2 ~ F F' with F = L V D^(-1/2); its eigenpairs are those of the small F'F.
    spectrum, turn = _descending(_gram(equations.lift @ directions))
    check_rank(spectrum, n_components)
    # W = B V D^(-1/2) turn has W' M2 W = I and M2 W = F turn, of norms sqrt(S).
    return spectrum, directions @ turn[:, :n_components]


def _gram(columns: FloatArray) -> FloatArray:
    return np.asarray(columns.T @ columns)


def _descending(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues in falling order with their vectors."""
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])


def _fix_signs(
    coordinates: FloatArray, first: FloatArray, basis: FloatArray
) -> FloatArray:
    """Turn each column so that the first moment lies on its positive side.

    LAPACK leaves signs open; with them fixed, equal sums give equal whiteners on
    every machine and whatever the number of threads.
    """
    side = coordinates.T @ (basis.T @ first)
    return np.asarray(coordinates * np.where(side < 0.0, -1.0, 1.0))
