"""Generalised eigenvalue decomposition of two contractions."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from tercet.decomposition.assembly import assemble_factors, measure_cubes
from tercet.decomposition.combination import real_columns
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import (
    random_directions,
    singular_directions,
    spread_coefficients,
    unwhitened_third,
)
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status

__all__ = ["solve_gevd", "solve_pencil"]


def solve_pencil(
    third: FloatArray, rng: np.random.Generator | None = None
) -> tuple[FloatArray, int]:
    """Find the components of a symmetric tensor from one pencil of contractions.

    For `T = sum_j a_j (x) a_j (x) a_j` every contraction is `A D A'`. The
    generalised eigenvectors of two of them are the columns of `A^-T`.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor; its components need not be orthogonal.
    rng : numpy.random.Generator or None
        Draws two directions. None combines the singular directions of the
        unfolded tensor, once all with a positive sign, which keeps the
        denominator well conditioned, once with evenly spread coefficients.

    Returns
    -------
    components : ndarray of shape (k, k)
        Directions of the `a_j` in its columns.
    pairs : int
        Pairs of complex eigenvectors that had to be replaced.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[1.0, 0.6], [0.0, 0.8]])
    >>> columns, pairs = solve_pencil(np.einsum("ij,kj,lj->ikl", a, a, a))
    >>> columns = columns / columns.sum(axis=0)
    >>> np.sort(columns[0]).round(9), pairs
    (array([0.42857143, 1.        ]), 0)
    """
    size = len(third)
    if rng is None:
        left = singular_directions(third)
        left = left * np.where(measure_cubes(third, left) < 0.0, -1.0, 1.0)
        under, over = left.sum(axis=1), left @ spread_coefficients(size)
    else:
        under, over = random_directions(size, 2, rng)
    values, dual = sla.eig(third @ over, third @ under)
    columns, pairs = real_columns(values, dual)
    norms = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(norms > 0.0, norms, 1.0)
    return np.asarray(np.linalg.pinv(columns).T), pairs


def solve_gevd(problem: Problem, *, rng: np.random.Generator | None = None) -> Factors:
    """Decompose by the generalised eigenvectors of two contractions.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the contractions; None takes a fixed choice that turns with the
        problem.

    Returns
    -------
    Factors
        Vectors that need not be orthonormal; `notes["complex_pairs"]` counts
        complex pairs.

    References
    ----------
    S. E. Leurgans, R. T. Ross and R. B. Abel, A decomposition for three-way
    arrays, SIAM J. Matrix Anal. Appl. 14 (1993) 1064-1083.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.ones(2), np.ones(2), np.eye(2))
    >>> np.sort(solve_gevd(problem).eigenvalues).round(12)
    array([2., 3.])
    """
    third, scale = unwhitened_third(problem)
    components, pairs = solve_pencil(third, rng)
    vectors = np.asarray(np.linalg.lstsq(scale, components, rcond=None)[0])
    outcome = Outcome(
        Status.EXACT, 0, 0.0, "Generalised eigenvectors of two contractions."
    )
    return assemble_factors(
        problem.third,
        vectors,
        outcome,
        orthogonal=False,
        notes={"complex_pairs": pairs},
    )


add_decomposition(
    "gevd",
    solve_gevd,
    reference="Leurgans, Ross and Abel 1993; Takemura 2018, section 3.3.2",
    cost="k^3",
    takes="unwhitened",
    orthogonal=False,
    draws=True,
)
