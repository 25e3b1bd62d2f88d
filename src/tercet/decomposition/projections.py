"""Random projections: joint diagonalisation by congruence, without whitening."""

from __future__ import annotations

import numpy as np

from tercet.decomposition.assembly import assemble_factors, measure_cubes
from tercet.decomposition.congruence import diagonalize_by_congruence
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import (
    off_diagonal_ratio,
    random_directions,
    singular_directions,
    unwhitened_third,
)
from tercet.decomposition.validation import require_count
from tercet.flow import Factors, FloatArray, Problem

__all__ = ["project_tensor", "solve_random_projections"]


def project_tensor(third: FloatArray, directions: FloatArray) -> FloatArray:
    """Contract a symmetric tensor with every row of a matrix.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor.
    directions : ndarray of shape (m, k)
        Rows.

    Returns
    -------
    ndarray of shape (m, k, k)
        `T(., ., v)` for every row v.

    Examples
    --------
    >>> import numpy as np
    >>> project_tensor(np.ones((2, 2, 2)), np.ones((1, 2)))
    array([[[2., 2.],
            [2., 2.]]])
    """
    size = len(third)
    flat = directions @ third.reshape(size, size * size)
    return np.asarray(flat.reshape(-1, size, size))


def solve_random_projections(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,
    n_projections: int | None = None,
    plug_in: bool = True,
    max_iterations: int = 200,
    tolerance: float = 1e-10,
) -> Factors:
    """Decompose random contractions by congruence, without whitening.

    `T(., ., v) = sum_j t_j <a_j, v> a_j a_j'` for every direction v: random
    directions give matrices that one congruence makes diagonal together. A
    second round contracts with the rows of the inverse that was found, which
    single the components out.

    Parameters
    ----------
    problem : Problem
        The small problem. The third moment is taken in orthonormal coordinates
        of the span, with its own scales: the pair moment says which span that
        is and nothing else.
    rng : numpy.random.Generator or None
        Draws the directions; None takes one fixed draw.
    n_projections : int or None
        How many random directions; None takes twice as many as components.
    plug_in : bool, default=True
        Whether the second round is made.
    max_iterations : int, default=200
        Budget of steps of each round.
    tolerance : float, default=1e-10
        Largest entry of a step at which a round counts as converged.

    Returns
    -------
    Factors
        Vectors that need not be orthonormal; `notes["off_diagonal"]` is the
        off-diagonal share that is left.

    References
    ----------
    V. Kuleshov, A. T. Chaganty and P. Liang, Tensor factorization via matrix
    factorization, AISTATS 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.ones(2), np.ones(2), np.eye(2))
    >>> np.sort(solve_random_projections(problem).eigenvalues).round(12)
    array([2., 3.])
    """
    if n_projections is not None:
        require_count("n_projections", n_projections)
    generator = np.random.default_rng(0) if rng is None else rng
    third, scale = unwhitened_third(problem)
    size = len(third)
    count = n_projections or 2 * size
    directions = random_directions(size, count, generator)
    stack = project_tensor(third, directions)
    mixing, outcome = diagonalize_by_congruence(
        stack,
        start=_first_mixing(third),
        max_iterations=max_iterations,
        tolerance=tolerance,
    )
    if plug_in and size > 1:
        dual = np.linalg.pinv(mixing)
        directions = np.asarray(dual / np.linalg.norm(dual, axis=1, keepdims=True))
        stack = project_tensor(third, directions)
        mixing, outcome = diagonalize_by_congruence(
            stack, start=mixing, max_iterations=max_iterations, tolerance=tolerance
        )
    inverse = np.linalg.pinv(mixing)
    notes = {"off_diagonal": off_diagonal_ratio(inverse @ stack @ inverse.T)}
    vectors = np.asarray(np.linalg.lstsq(scale, mixing, rcond=None)[0])
    return assemble_factors(
        problem.third, vectors, outcome, orthogonal=False, notes=notes
    )


def _first_mixing(third: FloatArray) -> FloatArray:
    """Return a square root of a contraction that is positive where any is.

    Singular directions of the unfolded tensor are turned to the side where
    their cubes are positive and added up.
    """
    left = singular_directions(third)
    left = left * np.where(measure_cubes(third, left) < 0.0, -1.0, 1.0)
    values, vectors = np.linalg.eigh(third @ left.sum(axis=1))
    sizes = np.abs(values)
    floor = 1e-12 * float(sizes.max()) or 1.0
    return np.asarray(vectors * np.sqrt(np.maximum(sizes, floor)))


add_decomposition(
    "random-projections",
    solve_random_projections,
    reference="Kuleshov, Chaganty and Liang 2015",
    cost="m k^3 a step for m projections",
    takes="unwhitened",
    orthogonal=False,
    draws=True,
)
