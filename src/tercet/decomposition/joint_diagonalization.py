"""Orthogonal joint diagonalisation of symmetric matrices.

Jacobi sweeps with closed-form angles (Cardoso and Souloumiac 1996), started at
the identity. For many components all pair angles are taken at once: the Cayley
transform of the half-angle tangents turns every target by two matrix products,
and the turn is kept only when the off-diagonal cost falls.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from tercet.decomposition.pivots import pivot_order
from tercet.decomposition.targets import compress_targets, spread_coefficients
from tercet.decomposition.validation import (
    check_stack,
    require_count,
    require_positive,
)
from tercet.flow import FloatArray, Outcome, Status
from tercet.kernels.jacobi import pair_sums, sweep_rotations

__all__ = ["diagonalize_jointly"]

AT_ONCE_FROM = 24
"""Size from which all angles of a sweep are turned at once."""


def diagonalize_jointly(
    targets: FloatArray, *, max_sweeps: int = 100, tolerance: float = 1e-10
) -> tuple[FloatArray, Outcome]:
    """Find the rotation that makes symmetric matrices as diagonal as possible.

    Minimises the sum of the squared off-diagonal entries of `O' A O` over the
    orthogonal O, from the identity on. It stops when the largest sine that a
    sweep asks for is at most `tolerance`.

    Parameters
    ----------
    targets : ndarray of shape (m, k, k)
        Matrices; their symmetric parts are used.
    max_sweeps : int, default=100
        Budget of sweeps over all pairs.
    tolerance : float, default=1e-10
        Largest sine at which the result counts as converged.

    Returns
    -------
    rotation : ndarray of shape (k, k)
        Orthogonal matrix O.
    outcome : Outcome
        Sweeps made and the largest sine of the last one.

    References
    ----------
    J.-F. Cardoso and A. Souloumiac, Jacobi angles for simultaneous
    diagonalization, SIAM J. Matrix Anal. Appl. 17 (1996) 161-164.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> target = turn @ np.diag([2.0, 1.0]) @ turn.T
    >>> rotation, outcome = diagonalize_jointly(target[None])
    >>> np.allclose(np.abs(rotation), np.abs(turn)), outcome.converged
    (True, True)
    """
    stack = check_stack(targets)
    require_count("max_sweeps", max_sweeps)
    require_positive("tolerance", tolerance)
    size = stack.shape[1]
    if size == 1:
        return np.eye(1), Outcome(Status.EXACT, 0, 0.0, "One component.")
    stack = 0.5 * (stack + stack.transpose(0, 2, 1))
    stack = compress_targets(stack)
    # Below this sum of squares an off-diagonal entry is a rounding error.
    floor = float(np.vdot(stack, stack)) * (4.0 * np.finfo(np.float64).eps) ** 2
    solve = _turn_at_once if size >= AT_ONCE_FROM else _turn_pair_by_pair
    rotation, sweeps, largest = solve(stack, floor, max_sweeps, tolerance)
    return rotation, describe_sweeps(sweeps, largest, tolerance)


def describe_sweeps(sweeps: int, largest: float, tolerance: float) -> Outcome:
    """Say how a series of sweeps ended.

    Parameters
    ----------
    sweeps : int
        Sweeps made.
    largest : float
        Largest sine (or shear) of the last sweep.
    tolerance : float
        Value at which the sweeps may stop.

    Returns
    -------
    Outcome
        Converged, or exhausted.

    Examples
    --------
    >>> describe_sweeps(3, 1e-12, 1e-10).status.value
    'converged'
    """
    if largest <= tolerance:
        text = f"The largest turn fell to {largest:.1e} after {sweeps} sweeps."
        return Outcome(Status.CONVERGED, sweeps, largest, text)
    text = (
        f"The budget of {sweeps} sweeps ended with a largest turn of {largest:.1e}, "
        f"above the tolerance {tolerance:.1e}."
    )
    return Outcome(Status.EXHAUSTED, sweeps, largest, text)


def _turn(targets: FloatArray, rotation: FloatArray) -> FloatArray:
    """Return `O' A O` for every target A."""
    count, size, _ = targets.shape
    right = (targets.reshape(count * size, size) @ rotation).reshape(targets.shape)
    return np.asarray(np.matmul(rotation.T, right))


def _turn_pair_by_pair(
    targets: FloatArray, floor: float, max_sweeps: int, tolerance: float
) -> tuple[FloatArray, int, float]:
    """Plain Jacobi sweeps from the identity."""
    size = targets.shape[1]
    stack = np.ascontiguousarray(targets.transpose(1, 2, 0))
    transposed = np.eye(size)
    pivots = pivot_order(size)
    largest = np.inf
    sweeps = 0
    while sweeps < max_sweeps and largest > tolerance:
        largest = sweep_rotations(stack, transposed, pivots, floor)
        sweeps += 1
    return np.ascontiguousarray(transposed.T), sweeps, largest


def _turn_at_once(
    targets: FloatArray, floor: float, max_sweeps: int, tolerance: float
) -> tuple[FloatArray, int, float]:
    """All angles of a sweep at once; pair by pair where that does not help."""
    rotation, turned, sums = _first_jump(targets)
    largest = np.inf
    sweeps = 0
    while sweeps < max_sweeps:
        sweeps += 1
        angles = _all_angles(sums, floor)
        largest = float(np.abs(np.sin(angles)).max())
        if largest <= tolerance:
            break
        proposal = rotation @ _cayley(angles)
        turned = _turn(targets, proposal)
        changed = pair_sums(turned)
        # Small turns change the cost by less than its rounding error.
        slack = 1e-12 if largest < 1e-5 else 0.0
        if _cost(changed) < _cost(sums) * (1.0 + slack) + slack * floor:
            rotation, sums = proposal, changed
            continue
        rotation, largest = _sweep_once(targets, rotation, floor)
        if largest <= tolerance:
            break
        turned = _turn(targets, rotation)
        sums = pair_sums(turned)
    return _orthonormalize(rotation), sweeps, largest


def _first_jump(
    targets: FloatArray,
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Leave the identity for the eigenvectors of one fixed combination, if better."""
    identity = np.eye(targets.shape[1])
    sums = pair_sums(targets)
    combination = np.tensordot(spread_coefficients(len(targets)), targets, 1)
    jump = np.asarray(np.linalg.eigh(combination)[1])
    turned = _turn(targets, jump)
    changed = pair_sums(turned)
    if _cost(changed) < _cost(sums):
        return jump, turned, changed
    return identity, targets, sums


def _cost(sums: tuple[FloatArray, FloatArray, FloatArray]) -> float:
    """Off-diagonal cost, up to a factor of two, from the sums over pairs."""
    return float(sums[1].sum())


def _all_angles(
    sums: tuple[FloatArray, FloatArray, FloatArray], floor: float
) -> FloatArray:
    """Closed-form angle of every pair i < j, antisymmetric."""
    difference, coupling, cross = sums
    angles = 0.25 * np.arctan2(2.0 * cross, difference - coupling)
    angles[coupling <= floor] = 0.0
    return np.asarray(angles - angles.T)


def _cayley(angles: FloatArray) -> FloatArray:
    """Rotation that turns every pair by its angle, exact for disjoint pairs."""
    tangents = np.tan(0.5 * angles)
    identity = np.eye(len(angles))
    return np.asarray(sla.solve(identity + tangents, identity - tangents))


def _sweep_once(
    targets: FloatArray, rotation: FloatArray, floor: float
) -> tuple[FloatArray, float]:
    """One compiled sweep pair by pair, from a given rotation."""
    stack = np.ascontiguousarray(_turn(targets, rotation).transpose(1, 2, 0))
    transposed = np.ascontiguousarray(rotation.T)
    largest = sweep_rotations(stack, transposed, pivot_order(len(rotation)), floor)
    return np.ascontiguousarray(transposed.T), largest


def _orthonormalize(rotation: FloatArray) -> FloatArray:
    """Remove the rounding drift of a product of rotations."""
    left, _, right = np.linalg.svd(rotation)
    return np.asarray(left @ right)
