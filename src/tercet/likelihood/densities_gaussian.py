"""Densities of Gaussian mixture components with one variance for all directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse

from tercet.flow import FloatArray, IntArray
from tercet.likelihood.densities import (
    LinearScores,
    MixtureSums,
    has_mass,
    log_weights,
    sum_entries,
)

__all__ = ["SphericalGaussian"]


@dataclass(frozen=True)
class SphericalGaussian:
    """Gaussians with the same variance in all directions.

    The exposure of a row is its squared length, which makes the score linear.
    Dense rows are first shifted by the mean of the centers, so that data far
    from the origin lose no digits.

    Parameters
    ----------
    shared : bool
        Whether all components have one variance.
    floor : float
        Least variance.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood import SphericalGaussian
    >>> SphericalGaussian().expose(np.array([[3.0, 4.0]]), slice(0, 1))
    array([25.])
    """

    shared: bool = False
    floor: float = 1e-9

    has_variances: ClassVar[bool] = True
    has_exposure: ClassVar[bool] = True

    def shift(self, centers: FloatArray) -> FloatArray | None:
        """Return the mean of the centers."""
        return np.asarray(centers.mean(axis=1))

    def expose(self, rows: Any, where: slice | IntArray) -> FloatArray:  # noqa: ARG002
        """Return the squared lengths of the rows."""
        if sparse.issparse(rows):
            return sum_entries(rows, np.square)
        return np.asarray(np.einsum("ij,ij->i", rows, rows))

    def base(self, rows: Any, exposure: FloatArray) -> FloatArray | float:  # noqa: ARG002
        """Return the logarithm of the constant factor."""
        return float(-0.5 * rows.shape[1] * np.log(2.0 * np.pi))

    def admit(self, centers: FloatArray) -> FloatArray:
        """Return the centers: any will do."""
        return centers

    def begin(self, centers: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the centers: no point is ruled out."""
        return centers

    def express(
        self, centers: FloatArray, weights: FloatArray, variances: FloatArray | None
    ) -> LinearScores:
        """Return `log omega_j - d/2 log s_j - |x - mu_j|^2 / (2 s_j)`."""
        spread = np.maximum(cast(FloatArray, variances), self.floor)
        squares = np.einsum("rj,rj->j", centers, centers)
        return LinearScores(
            centers / spread,
            log_weights(weights)
            - 0.5 * centers.shape[0] * np.log(spread)
            - 0.5 * squares / spread,
            -0.5 / spread,
        )

    def maximize(
        self, sums: MixtureSums, centers: FloatArray, variances: FloatArray | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return means and mean squared distances from them."""
        heavy = has_mass(sums.mass)
        known = np.broadcast_to(heavy, centers.shape)
        means = np.divide(sums.sums, sums.mass, out=centers.copy(), where=known)
        # sum r |x - m|^2 = sum r |x|^2 - mass |m|^2 at the mean m.
        squares = sums.exposed - sums.mass * np.einsum("rj,rj->j", means, means)
        d = centers.shape[0]
        if self.shared:
            total = np.where(heavy, squares, 0.0).sum() / (d * sums.mass[heavy].sum())
            spread = np.full(sums.mass.size, total)
        else:
            spread = np.divide(
                squares,
                d * sums.mass,
                out=cast(FloatArray, variances).copy(),
                where=heavy,
            )
        return means, np.maximum(spread, self.floor)
