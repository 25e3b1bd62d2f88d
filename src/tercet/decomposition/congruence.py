"""Non-orthogonal joint diagonalisation by congruence.

For symmetric matrices `A_p = U diag(a_p) U'` with any invertible U. Every step
solves, for all pairs of indices at once, the 2 x 2 least-squares problem that
remains when the targets are nearly diagonal.
"""

from __future__ import annotations

import numpy as np

from tercet.decomposition.targets import off_diagonal_ratio, spread_coefficients
from tercet.decomposition.validation import (
    check_stack,
    require_count,
    require_positive,
)
from tercet.exceptions import DataError
from tercet.flow import FloatArray, Outcome, Status

__all__ = ["diagonalize_by_congruence"]

# A long step that does not lower the off-diagonal share is halved this often.
_HALVINGS = 12
# Shorter steps are taken as they are: they contract to the point at which the
# least-squares problems of all pairs have nothing left to solve.
_LONG_STEP = 0.1


def diagonalize_by_congruence(
    targets: FloatArray,
    *,
    start: FloatArray | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-10,
) -> tuple[FloatArray, Outcome]:
    """Find U so that `U^-1 A U^-T` is as diagonal as possible for every target A.

    Parameters
    ----------
    targets : ndarray of shape (m, k, k)
        Matrices; their symmetric parts are used.
    start : ndarray of shape (k, k) or None
        U to start from. None takes the eigenvectors of one fixed combination,
        scaled by the roots of their eigenvalues.
    max_iterations : int, default=200
        Budget of steps.
    tolerance : float, default=1e-10
        Largest entry of a step at which the result counts as converged.

    Returns
    -------
    U : ndarray of shape (k, k)
        Columns of unit length.
    outcome : Outcome
        Steps and the largest entry of the last one.

    References
    ----------
    P. Tichavsky and A. Yeredor, Fast approximate joint diagonalization
    incorporating weight matrices, IEEE Trans. Signal Process. 57 (2009) 878-891.

    Examples
    --------
    >>> import numpy as np
    >>> U = np.array([[1.0, 0.6], [0.0, 0.8]])
    >>> stack = np.stack([U @ np.diag(a) @ U.T for a in ([1.0, 2.0], [3.0, 1.0])])
    >>> found, outcome = diagonalize_by_congruence(stack)
    >>> order = np.argsort(np.abs(found[1]))
    >>> np.allclose(np.abs(found[:, order]), U), outcome.converged
    (True, True)
    """
    stack = check_stack(targets)
    require_count("max_iterations", max_iterations)
    require_positive("tolerance", tolerance)
    size = stack.shape[1]
    stack = 0.5 * (stack + stack.transpose(0, 2, 1))
    if size == 1:
        return np.eye(1), Outcome(Status.EXACT, 0, 0.0, "One component.")
    demixing, turned = _normalize(_first_demixing(stack, start), stack)
    share = off_diagonal_ratio(turned)
    largest = np.inf
    count = 0
    resting = False
    while count < max_iterations and not resting:
        count += 1
        step = _propose(turned)
        largest = float(np.abs(step).max())
        taken = _take_step(step, demixing, stack, share)
        if taken is None:
            break
        demixing, turned, share = taken
        resting = largest <= tolerance
    mixing = np.asarray(np.linalg.pinv(demixing))
    mixing = mixing / np.linalg.norm(mixing, axis=0)
    return mixing, _describe(resting, count, max_iterations, largest)


def _first_demixing(stack: FloatArray, start: FloatArray | None) -> FloatArray:
    """Return the inverse of the first U."""
    size = stack.shape[1]
    if start is not None:
        matrix = np.array(start, dtype=np.float64)
        if matrix.shape != (size, size) or not np.isfinite(matrix).all():
            raise DataError(
                f"start has the shape {matrix.shape}; it must be a finite {size} x "
                f"{size} matrix, like the targets."
            )
        return np.asarray(np.linalg.pinv(matrix))
    combination = np.tensordot(spread_coefficients(len(stack)), stack, 1)
    values, vectors = np.linalg.eigh(combination)
    sizes = np.abs(values)
    floor = 1e-6 * float(sizes.max()) or 1.0
    return np.asarray((vectors / np.sqrt(np.maximum(sizes, floor))).T)


def _normalize(
    demixing: FloatArray, stack: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Turn the targets and give each index a diagonal of norm one."""
    count, size, _ = stack.shape
    right = (stack.reshape(count * size, size) @ demixing.T).reshape(stack.shape)
    turned: FloatArray = np.matmul(demixing, right)
    energies = np.sqrt((np.diagonal(turned, axis1=1, axis2=2) ** 2).sum(axis=0))
    lengths = np.linalg.norm(demixing, axis=1)
    # An index without a diagonal keeps rows of unit length.
    scale = np.where(energies > 0.0, np.sqrt(energies), lengths)
    turned /= scale[:, None] * scale[None, :]
    return demixing / scale[:, None], turned


def _propose(turned: FloatArray) -> FloatArray:
    """Off-diagonal part of the mixing that is left, by least squares pair by pair.

    For `A ~ (I + X) diag(a) (I + X)'` the entry (i, j) is `X_ij a_j + X_ji a_i`.
    """
    diagonals = np.diagonal(turned, axis1=1, axis2=2)
    gram = diagonals.T @ diagonals
    # cross[i, j] = sum_p a_pj A_p,ij
    cross = np.einsum("pij,pj->ij", turned, diagonals)
    own = np.diag(gram)
    determinant = np.outer(own, own) - gram**2
    numerator = own[:, None] * cross - gram * cross.T
    # Two indices with proportional diagonals cannot be told apart by the pair
    # alone; the least step in norm is taken there.
    small = determinant <= 1e-14 * np.outer(own, own)
    step = np.divide(numerator, determinant, out=np.zeros_like(gram), where=~small)
    total = own[:, None] + own[None, :]
    both = np.divide(cross, total, out=np.zeros_like(gram), where=total > 0.0)
    step = np.where(small, both, step)
    np.fill_diagonal(step, 0.0)
    return np.asarray(step)


def _take_step(
    step: FloatArray, demixing: FloatArray, stack: FloatArray, share: float
) -> tuple[FloatArray, FloatArray, float] | None:
    """Apply as much of a step as lowers the off-diagonal share; None if nothing does."""
    identity = np.eye(len(step))
    largest = float(np.abs(step).max())
    # Far away the linearisation does not hold; an entry of one is a long step.
    scale = 1.0 / max(1.0, float(np.linalg.norm(step, 2)) / 0.9)
    for _ in range(_HALVINGS):
        proposal = np.asarray(np.linalg.solve(identity + scale * step, demixing))
        following, turned = _normalize(proposal, stack)
        reached = off_diagonal_ratio(turned)
        if reached <= share or largest <= _LONG_STEP:
            return following, turned, reached
        scale *= 0.5
    return None


def _describe(
    resting: bool, count: int, max_iterations: int, largest: float
) -> Outcome:
    if resting:
        text = f"The steps fell to {largest:.1e} after {count} iterations."
        return Outcome(Status.CONVERGED, count, largest, text)
    if count < max_iterations:
        text = f"No step lowered the off-diagonal share any more after {count} steps."
        return Outcome(Status.EXHAUSTED, count, largest, text)
    text = f"The budget of {count} iterations ended with a step of {largest:.1e}."
    return Outcome(Status.EXHAUSTED, count, largest, text)
