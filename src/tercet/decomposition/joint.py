"""Joint diagonalisation as a decomposition, with three choices of targets."""

from __future__ import annotations

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.joint_diagonalization import diagonalize_jointly
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import (
    basis_targets,
    off_diagonal_ratio,
    random_directions,
    slice_targets,
)
from tercet.decomposition.validation import require_choice, require_count
from tercet.flow import Factors, FloatArray, Problem

__all__ = ["choose_targets", "solve_joint"]

TARGETS = ("basis", "random", "slices")


def choose_targets(
    problem: Problem,
    targets: str,
    n_targets: int | None,
    rng: np.random.Generator | None,
) -> FloatArray:
    """Return the matrices that shall be diagonalised.

    Parameters
    ----------
    problem : Problem
        The small problem.
    targets : {"basis", "random", "slices"}
        Contractions with the basis, with random directions, or the slices.
    n_targets : int or None
        How many random directions; None takes as many as components.
    rng : numpy.random.Generator or None
        Draws the directions; None takes one fixed draw.

    Returns
    -------
    ndarray of shape (m, k, k)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> problem = Problem(np.ones((2, 2, 2)), np.ones(2), np.ones(2), np.ones((9, 2)))
    >>> choose_targets(problem, "random", 5, None).shape
    (5, 2, 2)
    """
    require_choice("targets", targets, TARGETS)
    if n_targets is not None:
        require_count("n_targets", n_targets)
    if targets == "basis":
        return basis_targets(problem.third)
    if targets == "slices":
        return slice_targets(problem)
    count = n_targets or problem.n_components
    generator = np.random.default_rng(0) if rng is None else rng
    directions = random_directions(problem.n_components, count, generator)
    return np.ascontiguousarray(
        np.tensordot(directions, problem.third, axes=([1], [2]))
    )


def solve_joint(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,
    targets: str = "basis",
    n_targets: int | None = None,
    max_sweeps: int = 100,
    tolerance: float = 1e-10,
) -> Factors:
    """Decompose by orthogonal joint diagonalisation.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the directions of `targets="random"`; None takes one fixed draw.
    targets : {"basis", "random", "slices"}, default="basis"
        What is diagonalised: the third moment contracted with each basis
        vector, with random directions, or the slices of all features.
    n_targets : int or None
        How many random directions; None takes as many as components.
    max_sweeps : int, default=100
        Budget of sweeps.
    tolerance : float, default=1e-10
        Largest sine of a converged sweep.

    Returns
    -------
    Factors
        Orthonormal vectors; `notes["off_diagonal"]` is the off-diagonal share.

    References
    ----------
    J.-F. Cardoso and A. Souloumiac, Jacobi angles for simultaneous
    diagonalization, SIAM J. Matrix Anal. Appl. 17 (1996) 161-164.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> solve_joint(Problem(third, np.ones(2), np.ones(2), np.eye(2))).eigenvalues
    array([3., 2.])
    """
    stack = choose_targets(problem, targets, n_targets, rng)
    rotation, outcome = diagonalize_jointly(
        stack, max_sweeps=max_sweeps, tolerance=tolerance
    )
    turned = np.matmul(rotation.T, stack @ rotation)
    notes = {"off_diagonal": off_diagonal_ratio(turned)}
    return assemble_factors(problem.third, rotation, outcome, notes=notes)


add_decomposition(
    "joint",
    solve_joint,
    reference="Cardoso and Souloumiac 1996; Podosinnikova 2016, algorithms 1 and 4",
    cost="k^4 a sweep (m k^3 for m targets)",
    draws=True,
)
