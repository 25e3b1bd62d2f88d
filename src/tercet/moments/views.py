"""Sums over pairs of rows: what two aligned views say together.

Everything that a two-view model needs of the rows (002, sections 4.4 and C.2) is
a sum over pairs `(x1, x2)`, taken against a basis for each view and kept without
any normaliser, so that the sums of two sets of rows add up with `+`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray

__all__ = ["TiltedSums", "TwoViewMoments", "add_tilts", "merge_tilts"]

Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class TiltedSums:
    """Sums under the weights `exp(t'x)`, relative to a reference for each point.

    What is kept is the logarithm of the largest weight seen and the sums of the
    weights divided by it: no weight overflows, however large the counts are.

    Parameters
    ----------
    points : pair of ndarray, (P1, d1) and (P2, d2)
        Processing points t: those of one view are zero in the other.
    references : ndarray of shape (P1 + P2,)
        Largest `t'x` of a row that counts; zero when there is none.
    masses : ndarray of shape (P1 + P2,)
        `sum_i w_i exp(t'x_i - reference)`.
    spreads : ndarray of shape (P1 + P2,)
        The same with the exponential squared, for the effective number of rows.
    firsts : pair of ndarray, (P1 + P2, p1) and (P1 + P2, p2)
        Weighted sums of the projected views; a view of counts that is tilted
        itself is first multiplied by `exp(-t)` (002, footnote 6).
    crosses : ndarray of shape (P1 + P2, p1, p2)
        Weighted sums of the products of both.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_pair
    >>> from tercet.moments import collect_tilts, collect_views
    >>> pair = open_pair(np.diag([1.0, 1e9, 2.0]), np.eye(3))
    >>> points = np.array([[0.0, 1.0, 0.0]]), np.zeros((0, 3))
    >>> collect_tilts(pair, collect_views(pair, None, 1), points).tilts.effective_rows
    array([1.])
    """

    points: Pair
    references: FloatArray
    masses: FloatArray
    spreads: FloatArray
    firsts: Pair
    crosses: FloatArray

    @property
    def effective_rows(self) -> FloatArray:
        """Rows that would carry as much if all weights were equal."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.masses**2 / self.spreads)


def add_tilts(target: TiltedSums, other: TiltedSums) -> None:
    """Add tilted sums to others at the same points, in place (log-sum-exp).

    Parameters
    ----------
    target : TiltedSums
        Changed; relative to the larger reference of each point afterwards.
    other : TiltedSums
        Not changed.
    """
    # Sums without rows have no reference of their own.
    ours = np.where(target.masses != 0.0, target.references, -np.inf)
    theirs = np.where(other.masses != 0.0, other.references, -np.inf)
    references = np.maximum(ours, theirs)
    references[np.isneginf(references)] = 0.0
    a = np.exp(ours - references)
    b = np.exp(theirs - references)

    def put(mine: FloatArray, yours: FloatArray, power: int = 1) -> None:
        shape = (-1,) + (1,) * (mine.ndim - 1)
        mine *= a.reshape(shape) ** power
        mine += b.reshape(shape) ** power * yours

    put(target.masses, other.masses)
    put(target.spreads, other.spreads, 2)
    put(target.crosses, other.crosses)
    for j in (0, 1):
        put(target.firsts[j], other.firsts[j])
    target.references[:] = references


def merge_tilts(left: TiltedSums, right: TiltedSums) -> TiltedSums:
    """Return the tilted sums of both sets of rows.

    Parameters
    ----------
    left, right : TiltedSums
        At the same points.

    Returns
    -------
    TiltedSums
        Relative to the larger reference of each point.
    """
    merged = TiltedSums(
        points=left.points,
        references=left.references.copy(),
        masses=left.masses.copy(),
        spreads=left.spreads.copy(),
        firsts=(left.firsts[0].copy(), left.firsts[1].copy()),
        crosses=left.crosses.copy(),
    )
    add_tilts(merged, right)
    return merged


@dataclass(frozen=True, eq=False)
class TwoViewMoments:
    """Sums over pairs of rows against a basis for each view.

    With `y_j = B_j' x_j - shift_j`. Two sets of sums with the same bases, shifts
    and points add up with `+`, in any order.

    Parameters
    ----------
    kinds : pair of {"counts", "reals"}
        Whether a view carries Poisson noise that has to be taken out.
    bases : pair of ndarray, (d1, p1) and (d2, p2)
        Directions for each view.
    shifts : pair of ndarray, (p1,) and (p2,)
        Taken from projected rows before products are formed, which keeps the
        digits of data far from zero. It changes no cumulant.
    orthonormal : bool
        Whether the bases are orthonormal, or random sketches.
    n_rows : int
        Pairs of rows seen.
    total_weight : float
        Sum of their weights.
    magnitudes : ndarray of shape (2,)
        `sum_i w_i |x_ji|_1`, for the scale of processing points.
    totals : pair of ndarray, (d1,) and (d2,)
        `sum_i w_i x_ji`.
    squares : pair of ndarray, (d1,) and (d2,)
        `sum_i w_i x_ji^2`.
    centers : pair of ndarray, (p1,) and (p2,)
        `sum_i w_i y_ji`.
    lifts : pair of ndarray, (d1, p2) and (d2, p1)
        `sum_i w_i x_1i y_2i'` and `sum_i w_i x_2i y_1i'`.
    within : pair of ndarray, (p1, p1) and (p2, p2)
        `sum_i w_i y_ji y_ji'`.
    cross : ndarray of shape (p1, p2)
        `sum_i w_i y_1i y_2i'`.
    thirds : pair of ndarray, (p1 (p1 + 1) / 2, p2) and (p2 (p2 + 1) / 2, p1)
        `sum_i w_i y_1a y_1c y_2b` for a <= c, and the same with the views
        exchanged.
    tilts : TiltedSums or None
        Sums for generalised covariances, if they were collected.
    feature_names, second_names : tuple of str or None
        Names of the features of each view.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments import collect_views
    >>> counts = np.random.default_rng(0).poisson(2.0, (60, 4))
    >>> first = collect_views(counts[:30], counts[:30, :3], 2)
    >>> both = first + collect_views(counts[30:], counts[30:, :3], like=first)
    >>> both.n_rows, both.shape
    (60, (4, 3))
    """

    kinds: tuple[str, str]
    bases: Pair
    shifts: Pair
    orthonormal: bool
    n_rows: int
    total_weight: float
    magnitudes: FloatArray
    totals: Pair
    squares: Pair
    centers: Pair
    lifts: Pair
    within: Pair
    cross: FloatArray
    thirds: Pair
    tilts: TiltedSums | None = None
    feature_names: tuple[str, ...] | None = None
    second_names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features of the two views."""
        return int(self.bases[0].shape[0]), int(self.bases[1].shape[0])

    @property
    def widths(self) -> tuple[int, int]:
        """Numbers of basis columns of the two views."""
        return int(self.bases[0].shape[1]), int(self.bases[1].shape[1])

    def __add__(self, other: TwoViewMoments) -> TwoViewMoments:
        """Return the sums of both sets of rows together."""
        self._check_mergeable(other)

        def both(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, tuple):
                return (mine[0] + theirs[0], mine[1] + theirs[1])
            return mine + theirs

        tilts = (
            None
            if self.tilts is None or other.tilts is None
            else merge_tilts(self.tilts, other.tilts)
        )
        return replace(self, tilts=tilts, **{name: both(name) for name in _ADDED})

    def _check_mergeable(self, other: TwoViewMoments) -> None:
        """Refuse sums that do not belong together."""
        if not isinstance(other, TwoViewMoments):
            raise ParameterError(
                f"other={other!r} is not a TwoViewMoments; only sums add up."
            )
        if self.kinds != other.kinds or self.shape != other.shape:
            raise ParameterError(
                f"Sums of {self.kinds} views with {self.shape} features and of "
                f"{other.kinds} views with {other.shape} cannot be merged."
            )
        names = (self.feature_names, self.second_names)
        if names != (other.feature_names, other.second_names):
            raise ParameterError(
                "The two sums name their features differently and cannot be merged; "
                "bring the columns into one order first."
            )
        frames = [(self.bases, other.bases), (self.shifts, other.shifts)]
        if (self.tilts is None) != (other.tilts is None):
            raise ParameterError(
                "One of the two sums holds tilted sums and the other does not; collect "
                "both with like=first."
            )
        if self.tilts is not None and other.tilts is not None:
            frames.append((self.tilts.points, other.tilts.points))
        for mine, theirs in frames:
            if not all(map(np.array_equal, mine, theirs)):
                raise ParameterError(
                    "The two sums were collected against different bases or points; "
                    "collect the second with like=first."
                )


_ADDED = (
    "n_rows",
    "total_weight",
    "magnitudes",
    "totals",
    "squares",
    "centers",
    "lifts",
    "within",
    "cross",
    "thirds",
)
