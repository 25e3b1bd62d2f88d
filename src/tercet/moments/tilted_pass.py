"""The pass for generalised covariances: sums of pairs under exponential weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tercet.flow import Block, FloatArray
from tercet.moments.view_passes import project_block, split_views
from tercet.moments.views import Pair, TiltedSums, add_tilts

__all__ = ["TiltedPass"]


@dataclass(frozen=True, eq=False)
class TiltedPass:
    """Sums for generalised covariances at given points (002, formula 4.37).

    Parameters
    ----------
    points : pair of ndarray, (P1, d1) and (P2, d2)
        Processing points of each view; the other view's part is zero.
    bases : pair of ndarray, (d1, p1) and (d2, p2)
        C-ordered directions.
    shifts : pair of ndarray, (p1,) and (p2,)
        Taken from projected rows of real numbers.
    kinds : pair of {"counts", "reals"}
        Views of counts are multiplied by `exp(-t)` at their own points.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_pair
    >>> from tercet.moments import TiltedPass
    >>> points = np.array([[800.0, 0.0]]), np.zeros((0, 2))
    >>> bases, shifts = (np.eye(2), np.eye(2)), (np.zeros(2), np.zeros(2))
    >>> pair = open_pair(np.array([[3.0, 1.0], [3.0, 0.0]]), np.eye(2))
    >>> sums = pair.run(TiltedPass(points, bases, shifts, ("reals", "reals")))
    >>> sums.references, sums.masses
    (array([2400.]), array([2.]))
    """

    points: Pair
    bases: Pair
    shifts: Pair
    kinds: tuple[str, str]

    def initial(self) -> TiltedSums:
        """Return zero sums."""
        count = self.points[0].shape[0] + self.points[1].shape[0]
        p1, p2 = self.bases[0].shape[1], self.bases[1].shape[1]
        return TiltedSums(
            points=self.points,
            references=np.zeros(count),
            masses=np.zeros(count),
            spreads=np.zeros(count),
            firsts=(np.zeros((count, p1)), np.zeros((count, p2))),
            crosses=np.zeros((count, p1, p2)),
        )

    def update(self, state: TiltedSums, block: Block) -> TiltedSums:
        """Take in one block of pairs."""
        scale = np.ones(block.n_rows) if block.weights is None else block.weights
        heavy = scale > 0.0
        if not heavy.any():
            return state
        views = split_views(block)
        own = self.initial()
        exponents = np.hstack(
            [
                project_block(view, np.ascontiguousarray(points.T))
                for view, points in zip(views, self.points, strict=True)
            ]
        )
        own.references[:] = exponents[heavy].max(axis=0)
        # A row of no weight may have the largest exponent of all.
        exponents[~heavy] = -np.inf
        tilts = np.exp(exponents - own.references)
        weights = tilts * scale[:, None]
        own.masses[:] = weights.sum(axis=0)
        own.spreads[:] = np.einsum("ip,ip->p", tilts, weights)
        plain = [
            project_block(view, basis) - shift
            for view, basis, shift in zip(views, self.bases, self.shifts, strict=True)
        ]
        for p in range(weights.shape[1]):
            first, second = self._project_at(p, views, plain)
            weighted = first * weights[:, p, None]
            own.firsts[0][p] = weighted.sum(axis=0)
            own.firsts[1][p] = weights[:, p] @ second
            own.crosses[p] = weighted.T @ second
        add_tilts(state, own)
        return state

    def merge(self, left: TiltedSums, right: TiltedSums) -> TiltedSums:
        """Add the right sums to the left."""
        add_tilts(left, right)
        return left

    def _project_at(
        self, p: int, views: tuple[Block, Block], plain: list[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rows of both views at point p, counts freed of their tilt."""
        count = self.points[0].shape[0]
        j, place = (0, p) if p < count else (1, p - count)
        if self.kinds[j] != "counts":
            return plain[0], plain[1]
        factors = np.exp(-self.points[j][place])
        mine = project_block(views[j], self.bases[j] * factors[:, None])
        return (mine, plain[1]) if j == 0 else (plain[0], mine)
