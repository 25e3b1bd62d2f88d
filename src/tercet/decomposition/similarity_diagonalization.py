"""Non-orthogonal joint diagonalisation by similarity.

For matrices `A_p = Q diag(a_p) Q^-1` that need not be symmetric (paper 002,
section 2.3.2 and algorithm 3). A shear brings the targets of a pair of indices
nearer to normal matrices, a rotation then brings them nearer to diagonal ones.
"""

from __future__ import annotations

import numpy as np

from tercet.decomposition.combination import real_columns
from tercet.decomposition.joint_diagonalization import describe_sweeps
from tercet.decomposition.pivots import pivot_order
from tercet.decomposition.targets import spread_coefficients
from tercet.decomposition.validation import (
    check_stack,
    require_choice,
    require_count,
    require_positive,
)
from tercet.exceptions import DataError
from tercet.flow import FloatArray, Outcome, Status
from tercet.kernels.similarity import SHEAR_RULES, sweep_similarity

__all__ = ["SIMILARITY_METHODS", "diagonalize_by_similarity", "diagonalize_pencil"]

SIMILARITY_METHODS = (*SHEAR_RULES, "eigen")


def diagonalize_by_similarity(
    stack: FloatArray,
    method: str = "sh-rt",
    *,
    max_sweeps: int = 200,
    tolerance: float = 1e-10,
    start: FloatArray | None = None,
    rng: np.random.Generator | None = None,
) -> tuple[FloatArray, FloatArray, Outcome]:
    """Find Q so that `Q^-1 A Q` is as diagonal as possible for every target A.

    Q and its inverse are updated together, so that no matrix is inverted on the
    way. A shear is taken only if it lowers the measure of its rule.

    Parameters
    ----------
    stack : ndarray of shape (m, k, k)
        Targets, not symmetric in general.
    method : {"sh-rt", "just", "jdtm", "eigen"}, default="sh-rt"
        The rule for shears: the published approximation of the least norm
        (sh-rt), the least off-diagonal norm (JUST), the least entries of the
        pair itself (JDTM). Or "eigen", the eigenvectors of one combination of the
        targets, without sweeps.
    max_sweeps : int, default=200
        Budget of sweeps over all pairs.
    tolerance : float, default=1e-10
        Largest sine, or hyperbolic sine, of a converged sweep.
    start : ndarray of shape (k, k) or None
        Q to start from; None starts at the identity.
    rng : numpy.random.Generator or None
        Draws the combination of "eigen"; None takes one fixed combination.

    Returns
    -------
    Q : ndarray of shape (k, k)
        Columns of unit length.
    Q_inverse : ndarray of shape (k, k)
        Its inverse.
    outcome : Outcome
        Sweeps and their largest turn. For "eigen": exact, or fallen back when
        complex pairs were replaced by their real and imaginary parts.

    References
    ----------
    T. Fu and X. Gao, Simultaneous diagonalization with similarity
    transformation for non-defective matrices, ICASSP 2006 (sh-rt). R.
    Iferroudjene, K. Abed-Meraim and A. Belouchrani, A new Jacobi-like method for
    joint diagonalization of arbitrary non-defective matrices, Appl. Math. Comput.
    211 (2009) (JDTM). X. Luciani and L. Albera, Joint eigenvalue decomposition
    using polar matrix factorization, LVA/ICA 2010 (JUST).

    Examples
    --------
    >>> import numpy as np
    >>> Q = np.array([[1.0, 0.6], [0.0, 0.8]])
    >>> stack = np.stack(
    ...     [Q @ np.diag(a) @ np.linalg.inv(Q) for a in ([1.0, 2.0], [3.0, 1.0])]
    ... )
    >>> found, inverse, outcome = diagonalize_by_similarity(stack)
    >>> np.allclose(np.abs(found), Q), np.allclose(inverse @ found, np.eye(2))
    (True, True)
    >>> outcome.converged
    True
    """
    targets = check_stack(stack)
    require_choice("method", method, SIMILARITY_METHODS)
    require_count("max_sweeps", max_sweeps)
    require_positive("tolerance", tolerance)
    size = targets.shape[1]
    if size == 1:
        one = np.eye(1)
        return one, one.copy(), Outcome(Status.EXACT, 0, 0.0, "One component.")
    if method == "eigen":
        columns, inverse, pairs = diagonalize_pencil(targets, rng)
        return columns, inverse, _describe_pencil(pairs)
    matrix, inverse = _start_from(start, size)
    turned = np.matmul(inverse, targets @ matrix)
    # Below this sum of squares an off-diagonal entry is a rounding error.
    floor = float(np.vdot(turned, turned)) * (4.0 * np.finfo(np.float64).eps) ** 2
    working = np.ascontiguousarray(turned.transpose(1, 2, 0))
    transposed = np.ascontiguousarray(matrix.T)
    pivots = pivot_order(size)
    largest = np.inf
    sweeps = 0
    while sweeps < max_sweeps and largest > tolerance:
        largest = sweep_similarity(
            working, transposed, inverse, pivots, SHEAR_RULES[method], floor
        )
        sweeps += 1
    lengths = np.linalg.norm(transposed, axis=1)
    columns = np.ascontiguousarray(transposed.T / lengths)
    outcome = describe_sweeps(sweeps, largest, tolerance)
    return columns, inverse * lengths[:, None], outcome


def _start_from(start: FloatArray | None, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the first Q with its inverse."""
    if start is None:
        return np.eye(size), np.eye(size)
    matrix = np.array(start, dtype=np.float64)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise DataError(
            f"start has the shape {matrix.shape}; it must be a finite {size} x {size} "
            "matrix, like the targets."
        )
    try:
        inverse = np.ascontiguousarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        raise DataError("start is singular; pass a matrix with an inverse.") from None
    return matrix, inverse


def _describe_pencil(pairs: int) -> Outcome:
    """Say whether eigenvectors came out real."""
    if pairs == 0:
        text = "Eigenvectors of one combination of the targets."
        return Outcome(Status.EXACT, 0, 0.0, text)
    text = (
        f"{pairs} complex pair{'s' if pairs > 1 else ''} of eigenvectors, replaced by "
        "real and imaginary parts."
    )
    return Outcome(Status.FELL_BACK, 0, float(pairs), text)


def diagonalize_pencil(
    targets: FloatArray, rng: np.random.Generator | None = None
) -> tuple[FloatArray, FloatArray, int]:
    """Return the eigenvectors of one combination of square matrices.

    Parameters
    ----------
    targets : ndarray of shape (m, k, k)
        Matrices that share their eigenvectors, nearly.
    rng : numpy.random.Generator or None
        Draws the coefficients; None takes evenly spread ones.

    Returns
    -------
    columns, inverse : ndarray of shape (k, k)
        Unit eigenvectors, and the (pseudo-)inverse.
    pairs : int
        Complex pairs that were replaced by real and imaginary parts.

    Examples
    --------
    >>> import numpy as np
    >>> columns, inverse, pairs = diagonalize_pencil(np.diag([2.0, 1.0])[None])
    >>> columns, pairs
    (array([[1., 0.],
           [0., 1.]]), 0)
    """
    count = len(targets)
    coefficients = (
        spread_coefficients(count) if rng is None else rng.standard_normal(count)
    )
    combination = np.tensordot(coefficients, targets, 1)
    columns, pairs = real_columns(*np.linalg.eig(combination))
    columns = columns / np.linalg.norm(columns, axis=0)
    return columns, np.asarray(np.linalg.pinv(columns)), pairs
