"""How far noise in the moments can move what SVTD returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tercet.decomposition.svtd import choose_feature
from tercet.decomposition.validation import require_positive
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, Problem

__all__ = ["PerturbationBound", "bound_perturbation"]


@dataclass(frozen=True, eq=False)
class PerturbationBound:
    """Bound on the errors of SVTD for a given noise (001, theorem 2.2.1).

    Parameters
    ----------
    rows : ndarray of shape (d,)
        Bound on the distance of each row of the centers, infinite where the
        theorem does not apply.
    rotation : float
        Bound on the Frobenius norm of the error of O.
    threshold : float
        Largest noise to which the theorem applies (gamma of the theorem).
    holds : bool
        Whether the noise is below it.
    feature_gap : float
        `alpha_r`, the least distance of two entries of the chosen row.
    pair_gap : float
        `alpha_M2`, the least distance of two squared eigenvalues of M2.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.decomposition import bound_perturbation
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.array([2.0, 1.0]), np.ones(2), np.eye(2))
    >>> bound = bound_perturbation(problem, 1e-6)
    >>> bound.feature_gap, bound.pair_gap
    (3.0, 1.0)
    """

    rows: FloatArray
    rotation: float
    threshold: float
    holds: bool
    feature_gap: float
    pair_gap: float


def bound_perturbation(
    problem: Problem,
    noise: float,
    *,
    rule: str = "eigenvalues",
    next_eigenvalue: float = 0.0,
) -> PerturbationBound:
    """Bound the errors of SVTD when M2 and M3 are off by a given noise.

    The theorem speaks of the exact moments; the given ones stand in for them.
    Its polynomials are written out by the triangle inequality,
    `|O~'H~O~ - O'HO| <= g (|H| + |H~|) + |H~ - H|`. It is a worst case and far
    from sharp: its use is in what it is proportional to, `1 / alpha_r` and
    `1 / alpha_M2`.

    Parameters
    ----------
    problem : Problem
        The small problem.
    noise : float
        Frobenius norm by which M2 and M3 may be off.
    rule : {"eigenvalues", "published"}, default="eigenvalues"
        How SVTD chooses its feature.
    next_eigenvalue : float, default=0.0
        Eigenvalue of M2 that follows the k-th.

    Returns
    -------
    PerturbationBound
        Bounds, and the noise up to which they hold.

    References
    ----------
    M. Ruffini, PhD thesis (001), theorem 2.2.1 with its proof, and corollary
    2.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.array([2.0, 1.0]), np.ones(2), np.eye(2))
    >>> bound = bound_perturbation(problem, 1e-6)
    >>> bound.holds, bool(0.0 < bound.rows.max() < 1e-2)
    (True, True)
    """
    require_positive("noise", noise)
    if not next_eigenvalue >= 0.0:
        raise ParameterError(
            f"next_eigenvalue={next_eigenvalue!r} must be zero or above."
        )
    choice = choose_feature(problem, rule)
    sizes = _Sizes(problem, next_eigenvalue)
    whitened = float(np.linalg.norm(choice.slice_matrix))
    outer = np.sqrt(problem.eigenvalues)
    slice_norm = float(
        np.linalg.norm(outer[:, None] * choice.slice_matrix * outer[None, :])
    )
    limit = _largest_change(choice.gap, whitened, problem.n_components)
    threshold = _bisect(lambda size: sizes.change(size, slice_norm) - limit)
    moved = sizes.change(noise, slice_norm)
    holds = bool(moved <= limit)
    rotation = 2.0 * np.sqrt(2.0) * moved / choice.gap if choice.gap else np.inf
    whitened_norms, norms = _slice_norms(problem)
    changes = sizes.change(noise, norms)
    rows = rotation * (2.0 * whitened_norms + changes) + changes
    return PerturbationBound(
        rows=np.asarray(rows if holds else np.full_like(norms, np.inf)),
        rotation=float(rotation) if holds else float("inf"),
        threshold=threshold,
        holds=holds,
        feature_gap=choice.gap,
        pair_gap=sizes.pair_gap,
    )


class _Sizes:
    """Norms of the whitening that the bound is made of."""

    def __init__(self, problem: Problem, next_eigenvalue: float) -> None:
        values = np.sort(problem.eigenvalues)[::-1]
        d, k = problem.unwhitening.shape
        squares = np.append(values, next_eigenvalue) ** 2
        self.pair_gap = float(np.min(squares[:-1] - squares[1:]))
        self.pair = float(np.sqrt(squares.sum()))
        self.root = float(np.sqrt(values.sum()))
        self.least = float(values[-1])
        self.inverse = float(np.sqrt((1.0 / values).sum()))
        # tau(E) = |E^+|^2 + |(E'E)^-1| |I - E E^+|
        rest = np.sqrt((1.0 / values**2).sum()) * np.sqrt(d - k)
        self.tau = self.inverse**2 + float(rest)
        self.components = k

    def change(self, noise: float, slice_norm: FloatArray | float) -> FloatArray:
        """Bound the change h of a whitened slice of a given norm."""
        spread = np.inf
        if self.pair_gap > 0.0:
            spread = np.sqrt(8.0 * self.components) * noise
            spread *= (2.0 * self.pair + noise) / self.pair_gap
        stretch = noise / (2.0 * np.sqrt(self.least))
        # |E~ - E| <= |dU| |S^(1/2)| + |U| |dS^(1/2)| + |dU| |dS^(1/2)|
        outer = spread * self.root + np.sqrt(self.components) * stretch
        inner = (outer + spread * stretch) * self.tau
        norm = np.asarray(slice_norm, dtype=np.float64)
        return np.asarray(
            2.0 * inner * self.inverse * (norm + noise)
            + self.inverse**2 * noise
            + inner**2 * (norm + noise)
        )


def _largest_change(gap: float, norm: float, size: int) -> float:
    """Return the change of a slice up to which corollary 2.2.1 holds."""
    twice = 2.0 * norm * (1.0 + np.sqrt(1.0 - 1.0 / size))
    if gap <= 0.0:
        return 0.0
    return float(gap**2 / (np.sqrt(2.0) * (twice + np.sqrt(gap**2 + twice**2))))


def _bisect(excess: Callable[[float], FloatArray]) -> float:
    """Return the largest noise at which an increasing function is not above zero."""
    low, high = -60.0, 20.0
    if not excess(2.0**low) <= 0.0:
        return 0.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(2.0**middle) <= 0.0 else (low, middle)
    return float(2.0**low)


def _slice_norms(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return the norms of all slices, whitened and not.

    `|H_r|^2 = E_r G E_r'` with G the inner products of the slices of the whitened
    third moment; nothing larger than E is formed.
    """
    size = problem.n_components
    outer = np.sqrt(problem.eigenvalues)
    scales = np.outer(outer, outer)[:, :, None]
    norms = []
    for third in (problem.third, problem.third * scales):
        flat = third.reshape(size * size, size)
        root: FloatArray = np.asarray(np.linalg.qr(flat, mode="r"))
        norms.append(np.asarray(np.linalg.norm(problem.unwhitening @ root.T, axis=1)))
    return norms[0], norms[1]
