"""SIDIWO: simultaneous diagonalisation of the slices by a sum of norms."""

from __future__ import annotations

import math

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.joint_diagonalization import (
    describe_sweeps,
    diagonalize_jointly,
)
from tercet.decomposition.pivots import pivot_order
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import (
    compress_targets,
    off_diagonal_ratio,
    slice_targets,
)
from tercet.decomposition.validation import (
    check_stack,
    require_count,
    require_positive,
)
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status
from tercet.kernels.norms import sum_norms, sum_pair, sweep_norms

__all__ = ["diagonalize_by_norms", "measure_norms", "solve_sidiwo"]

_CLOSED_FORM = Outcome(Status.EXACT, 0, 0.0, "Closed form for two components.")
# Sums of squares outside of these have lost digits.
_SMALLEST, _LARGEST = 1e-280, 1e300


def diagonalize_by_norms(
    targets: FloatArray, *, max_sweeps: int = 100, tolerance: float = 1e-10
) -> tuple[FloatArray, Outcome]:
    """Find the rotation of the least sum of norms of off-diagonal entries.

    Minimises `sum_{i != j} ( sum_r (O' H_r O)_ij^2 )^(1/2)` (paper 004, problems
    4 and 5). Two components have a closed form. More are rotated pair by pair,
    each to its best angle, from the rotation of the least sum of squares on.

    Parameters
    ----------
    targets : ndarray of shape (m, l, l)
        Slices; their symmetric parts are used.
    max_sweeps : int, default=100
        Budget of sweeps over all pairs.
    tolerance : float, default=1e-10
        Largest sine at which the result counts as converged.

    Returns
    -------
    rotation : ndarray of shape (l, l)
        Orthogonal matrix O.
    outcome : Outcome
        Exact for one and two components, else sweeps and their largest sine.

    References
    ----------
    M. Ruffini, G. Rabusseau and B. Balle, Hierarchical methods of moments, NIPS
    2017.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> target = turn @ np.diag([2.0, 1.0]) @ turn.T
    >>> rotation, outcome = diagonalize_by_norms(target[None])
    >>> np.allclose(np.abs(rotation), np.abs(turn)), outcome.status.value
    (True, 'exact')
    """
    require_count("max_sweeps", max_sweeps)
    require_positive("tolerance", tolerance)
    if np.shape(targets)[1:] == (2, 2):
        return _turn_two(targets), _CLOSED_FORM
    stack = check_stack(targets)
    size = stack.shape[1]
    if size == 1:
        return np.eye(1), Outcome(Status.EXACT, 0, 0.0, "One component.")
    stack = 0.5 * (stack + stack.transpose(0, 2, 1))
    stack = compress_targets(stack)
    start = diagonalize_jointly(stack, max_sweeps=max_sweeps, tolerance=tolerance)[0]
    turned = np.matmul(start.T, stack @ start)
    # Below this sum of squares off-diagonal entries are rounding errors.
    floor = float(np.vdot(stack, stack)) * (4.0 * np.finfo(np.float64).eps) ** 2
    working = np.ascontiguousarray(turned.transpose(1, 2, 0))
    transposed = np.ascontiguousarray(start.T)
    pivots = pivot_order(size)
    largest = np.inf
    sweeps = 0
    while sweeps < max_sweeps and largest > tolerance:
        largest = sweep_norms(working, transposed, pivots, floor)
        sweeps += 1
    rotation = np.ascontiguousarray(transposed.T)
    return rotation, describe_sweeps(sweeps, largest, tolerance)


def _turn_two(targets: FloatArray) -> FloatArray:
    """Make `h cos 2t + g sin 2t` as short as it can be, in closed form.

    The minimiser (cos 2t, sin 2t) is the eigenvector of the least eigenvalue of
    `[[h.h, h.g], [h.g, g.g]]`, `g = f / 2`, here by its angle.
    """
    stack = np.ascontiguousarray(targets, dtype=np.float64)
    own, gaps, cross = sum_pair(stack)
    total = own + gaps
    if not _SMALLEST < total < _LARGEST:
        # Squares that vanished or overflowed, or entries that are no numbers.
        stack = check_stack(stack)
        size = float(np.abs(stack).max())
        own, gaps, cross = sum_pair(stack / size if size > 0.0 else stack)
    angle = 0.25 * math.atan2(-2.0 * cross, gaps - own)
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([[cosine, sine], [-sine, cosine]])


def measure_norms(targets: FloatArray) -> float:
    """Sum over i != j of the norms of the entries (i, j) over all targets.

    Parameters
    ----------
    targets : ndarray of shape (m, l, l)
        Symmetric matrices.

    Returns
    -------
    float
        The cost of SIDIWO at the identity.

    Examples
    --------
    >>> import numpy as np
    >>> measure_norms(np.ones((4, 2, 2)))
    4.0
    """
    return 2.0 * float(sum_norms(np.ascontiguousarray(targets.transpose(1, 2, 0))))


def solve_sidiwo(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,  # noqa: ARG001
    max_sweeps: int = 100,
    tolerance: float = 1e-10,
) -> Factors:
    """Decompose by the rotation of the least sum of norms over the slices.

    With as many components as the model has, exact moments give the exact
    factors. With fewer, `l < k`, the whitening keeps the l leading directions
    and the result are pseudo-centers, each of which gathers some of the
    centers (paper 004, theorems 3.1 and 3.2).

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Not used; nothing is drawn.
    max_sweeps : int, default=100
        Budget of sweeps.
    tolerance : float, default=1e-10
        Largest sine of a converged sweep.

    Returns
    -------
    Factors
        Orthonormal vectors; `notes["cost"]` is the sum of norms and
        `notes["off_diagonal"]` the off-diagonal share.

    References
    ----------
    M. Ruffini, G. Rabusseau and B. Balle, Hierarchical methods of moments, NIPS
    2017.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> solve_sidiwo(Problem(third, np.ones(2), np.ones(2), np.eye(2))).eigenvalues
    array([3., 2.])
    """
    stack = slice_targets(problem)
    rotation, outcome = diagonalize_by_norms(
        stack, max_sweeps=max_sweeps, tolerance=tolerance
    )
    turned = np.matmul(rotation.T, stack @ rotation)
    notes = {
        "cost": measure_norms(turned),
        "off_diagonal": off_diagonal_ratio(turned),
    }
    return assemble_factors(problem.third, rotation, outcome, notes=notes)


add_decomposition(
    "sidiwo",
    solve_sidiwo,
    reference="Ruffini, Rabusseau and Balle 2017; paper 004, algorithm 1",
    cost="d l^4 once for d slices (l^4 from a tensor), then l^3 m a sweep, m <= l(l+1)/2",
    takes="slices",
)
