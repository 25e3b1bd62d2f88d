"""Mixtures of spherical Gaussians."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from tercet.exceptions import DataError, ParameterError
from tercet.families.draws import draw_gaussian, draw_labels
from tercet.families.population import (
    SliceChoice,
    check_components,
    plant_equations,
)
from tercet.families.recovering import recover_mixture
from tercet.families.shifting import shift_moments
from tercet.flow import (
    Equations,
    Factors,
    FloatArray,
    IntArray,
    MomentPlan,
    Moments,
    Parameters,
    Whitening,
)
from tercet.moments.assembly import spread_pair

__all__ = ["SphericalGaussian"]


@dataclass(frozen=True)
class SphericalGaussian:
    """A mixture of Gaussians, each with one variance for all coordinates.

    Hsu and Kakade (2013), theorem 1: let `s` be the smallest eigenvalue of the
    covariance and v a unit eigenvector of it; with
    `m = E[x (v.(x - E x))^2] = sum_j omega_j sigma_j^2 mu_j`,

        M2 = E[x x'] - s I,
        M3 = E[x^(x)3] - sum_i s3 of (m, e_i, e_i).

    Where a basis has fewer columns than there are features, s and m are
    averaged over all directions outside the basis, which hold nothing but
    noise. Inside a sketch (or a complete basis) they are averaged over the
    lower half of the spectrum (taken from its last direction).

    Parameters
    ----------
    shared_variance : bool
        Whether all components have the same variance, `m = s E x`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import SphericalGaussian
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(
    ...     np.array([[3.0, -1.0], [0.0, 2.0]]),
    ...     np.array([0.75, 0.25]),
    ...     variances=np.array([1.0, 0.5]),
    ... )
    >>> SphericalGaussian().population(truth).first
    array([2. , 0.5])
    >>> rows, label = SphericalGaussian().sample(truth, 3, np.random.default_rng(0))
    >>> rows.shape, label.shape
    ((3, 2), (3,))
    """

    shared_variance: bool = False

    name: ClassVar[str] = "spherical-gaussian"
    requirement: ClassVar[str] = "reals"
    factorial: ClassVar[bool] = False

    @property
    def plan(self) -> MomentPlan:
        """Sums by rows, with the energy outside the basis."""
        return MomentPlan("rows", energy=True)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {"shared_variance": self.shared_variance}

    def equations(self, moments: Moments) -> Equations:
        """Return raw moments without what the noise adds to them."""
        raw = shift_moments(moments, 0.0, 0.0, 0.0, factorial=False)
        outside = moments.orthonormal and moments.width < moments.n_features
        noise, energy = (_measure_outside if outside else _measure_inside)(moments, raw)
        if self.shared_variance:
            energy = noise * raw.first
        return _remove_noise(raw, noise, energy)

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return centers, weights and variances."""
        return recover_mixture(factors, whitening, equations)

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the exact moments of given centers, variances and weights.

        Parameters
        ----------
        parameters : Parameters
            Centers as columns, weights and variances.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Moments that infinitely many rows would give.
        """
        variances = self._check(parameters)
        w = parameters.weights
        planted = plant_equations(
            parameters.centers, w, w, w, basis=basis, slices=slices
        )
        inside = planted.basis.T @ parameters.centers
        return replace(planted, energy=inside @ (w * variances))

    def sample(
        self, parameters: Parameters, n_rows: int, rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Draw rows and the component of each.

        Parameters
        ----------
        parameters : Parameters
            Centers, weights and variances.
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        rows : ndarray of shape (n_rows, d)
            Points.
        labels : ndarray of shape (n_rows,)
            Component of each row.
        """
        variances = self._check(parameters)
        labels = draw_labels(parameters.weights, n_rows, rng)
        return draw_gaussian(labels, parameters.centers, variances, rng), labels

    def _check(self, parameters: Parameters) -> FloatArray:
        """Return the variances."""
        check_components(parameters, signed=True)
        variances = parameters.variances
        if variances is None or variances.shape != parameters.weights.shape:
            raise ParameterError(
                f"parameters.variances={variances!r} must hold a number for each "
                "component."
            )
        if not np.isfinite(variances).all() or variances.min() < 0.0:
            raise ParameterError(
                f"parameters.variances={variances!r} must be finite and not negative."
            )
        if self.shared_variance and not np.allclose(variances, variances[0]):
            raise ParameterError(
                f"parameters.variances={variances!r} differ; use "
                "SphericalGaussian(shared_variance=False)."
            )
        return variances


def _measure_outside(moments: Moments, raw: Equations) -> tuple[float, FloatArray]:
    """Return the noise s and the vector m from what lies outside the basis."""
    if moments.energy is None:
        raise DataError(
            "moments hold no energy outside the basis; collect them for the family "
            "'spherical-gaussian'."
        )
    directions = moments.n_features - moments.width
    mass = moments.masses[1]
    # The mean outside the basis is noise as well, but does not vary.
    mean = raw.first - raw.basis @ (raw.basis.T @ raw.first)
    power = moments.power / mass - float(np.trace(raw.pair)) - float(mean @ mean)
    return max(power, 0.0) / directions, moments.energy / mass / directions


def _measure_inside(moments: Moments, raw: Equations) -> tuple[float, FloatArray]:
    """Return the same from the last directions of the covariance in the basis.

    The second is a vector with the right products with the basis, which is
    all that is asked of it.
    """
    count = 1 if moments.orthonormal else max(1, moments.width // 2)
    gram = raw.basis.T @ raw.basis
    mean = raw.basis.T @ raw.first
    values, vectors = linalg.eigh(
        raw.pair - np.outer(mean, mean), gram, subset_by_index=[0, count - 1]
    )
    noise = max(float(values.mean()), 0.0)
    # E[z (v.(x - E x))^2], averaged over the directions B v.
    centered = mean @ vectors
    spread = vectors @ vectors.T / count
    inside = np.einsum("abc,bc->a", raw.third, spread)
    inside -= 2.0 * raw.pair @ (vectors @ centered) / count
    inside += float(centered @ centered) / count * mean
    return noise, raw.basis @ linalg.solve(gram, inside, assume_a="pos")


def _remove_noise(raw: Equations, noise: float, energy: FloatArray) -> Equations:
    """Return `M2 = F2 - s I` and `M3 = F3 - s3(I, m)` in the basis."""
    basis = raw.basis
    gram = basis.T @ basis
    inside = basis.T @ energy
    lift = raw.lift - noise * basis
    pair = raw.pair - noise * gram
    slices = raw.slices
    if slices is not None and raw.slice_features is not None:
        rows = basis[raw.slice_features]
        outer = rows[:, :, None] * inside
        slices = slices - outer - outer.transpose(0, 2, 1)
        slices -= energy[raw.slice_features, None, None] * gram
    return replace(
        raw,
        lift=lift,
        pair=pair,
        third=raw.third - spread_pair(gram, inside),
        slices=slices,
        energy=inside,
    )
