"""Counts with Poisson noise: mixtures, and gamma intensities (discrete ICA)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse

from tercet.exceptions import DataError, ParameterError
from tercet.families.draws import draw_labels, draw_poisson_counts
from tercet.families.population import (
    SliceChoice,
    check_components,
    plant_equations,
)
from tercet.families.recovering import recover_mixture, recover_topics
from tercet.families.settings import check_cleaner
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
from tercet.moments.assembly import contract_table
from tercet.recovery import order_by_weight, recover_weights

__all__ = ["GammaPoisson", "Poisson"]


@dataclass(frozen=True)
class Poisson:
    """A mixture of vectors of independent Poisson counts.

    Factorial moments of rows: `M2 = sum_j omega_j mu_j mu_j'` and
    `M3 = sum_j omega_j mu_j^(x)3` (thesis 001, chapter 4; method section 2).

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import Poisson
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([0.8, 0.2]))
    >>> Poisson().population(truth).first
    array([2.6, 0.4])
    >>> rows, label = Poisson().sample(truth, 3, np.random.default_rng(0))
    >>> rows.shape, label.shape
    ((3, 2), (3,))
    """

    name: ClassVar[str] = "poisson"
    requirement: ClassVar[str] = "integers"
    factorial: ClassVar[bool] = True

    @property
    def plan(self) -> MomentPlan:
        """Sums by rows."""
        return MomentPlan("rows")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {}

    def equations(self, moments: Moments) -> Equations:
        """Return factorial moments, not shifted."""
        return shift_moments(moments, 0.0, 0.0, 0.0, factorial=True)

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return means, not negative, and weights."""
        return recover_mixture(factors, whitening, equations, least=0.0)

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the exact moments of given means and weights.

        Parameters
        ----------
        parameters : Parameters
            Means as columns, and weights.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Moments that infinitely many rows would give.
        """
        check_components(parameters)
        w = parameters.weights
        return plant_equations(parameters.centers, w, w, w, basis=basis, slices=slices)

    def sample(
        self, parameters: Parameters, n_rows: int, rng: np.random.Generator
    ) -> tuple[sparse.csr_array, IntArray]:
        """Draw rows and the component of each.

        Parameters
        ----------
        parameters : Parameters
            Means and weights.
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        rows : csr_array of shape (n_rows, d)
            Counts.
        labels : ndarray of shape (n_rows,)
            Component of each row.
        """
        check_components(parameters)
        labels = draw_labels(parameters.weights, n_rows, rng)
        return draw_poisson_counts(labels, parameters.centers, rng), labels


@dataclass(frozen=True)
class GammaPoisson:
    """Discrete ICA: Poisson counts whose means mix independent gamma sources.

    Row x has independent Poisson entries of mean `D a`; source `a_j` is gamma
    with shape c and rate b. Cumulants without the counts' own noise are
    `S = sum_j var(a_j) d_j d_j'` and `T = sum_j cum3(a_j) d_j^(x)3` (thesis 002,
    formulas 3.19, 3.20); for gamma sources the mean is `c / b`, the variance
    `c / b^2`, the third cumulant `2 c / b^3`. Columns of D are reported as
    topics that sum to one, their scales go into the rates.

    Parameters
    ----------
    negative : {"simplex", "truncate"}
        What is done to negative entries of recovered topics: nearest
        distribution, or zero and brought to sum one.
    unbiased : bool
        Whether cumulants have the finite-sample form whose expectation is exact
        (formula C.5); row weights then count repetitions of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import GammaPoisson
    >>> from tercet.flow import Parameters
    >>> topics = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> shape, rate = np.array([0.8, 0.2]), np.array([0.1, 0.1])
    >>> truth = Parameters(topics, shape, concentration=shape, rate=rate)
    >>> GammaPoisson().population(truth).first
    array([7.6, 2.4])
    >>> rows, sources = GammaPoisson().sample(truth, 3, np.random.default_rng(0))
    >>> rows.shape, sources.shape
    ((3, 2), (3, 2))
    """

    negative: str = "simplex"
    unbiased: bool = True

    name: ClassVar[str] = "gamma-poisson"
    requirement: ClassVar[str] = "counts"
    factorial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_cleaner(self.negative)

    @property
    def plan(self) -> MomentPlan:
        """Sums by rows."""
        return MomentPlan("rows")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {"negative": self.negative, "unbiased": self.unbiased}

    def equations(self, moments: Moments) -> Equations:
        """Return cumulants without the noise of the counts."""
        plugged = shift_moments(moments, 1.0, 1.0, 2.0, factorial=True)
        if not self.unbiased:
            return plugged
        return _remove_bias(plugged, moments.total_weight)

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return topics, shapes and rates of the sources, and shares of the counts.

        With c the coefficients of `E O c = M1`, the shape is `c_j^2`; with the
        eigenvalues, `4 / lambda_j^2`. With the column sums s of `E O`, negative
        entries included, the rate is `c_j / s_j`, and again
        `2 / (lambda_j s_j)`. `details` has both of each.
        """
        topics = recover_topics(factors, whitening, equations, self.negative)
        scales = topics.scales
        sums = _keep_from_zero(topics.sums)
        third = _keep_from_zero(scales.third)
        shape = scales.first**2 / scales.pair
        rate = np.abs(scales.first) / (scales.pair * sums)
        details = topics.details | {
            "concentration_by_first": shape,
            "concentration_by_third": 4.0 * scales.pair**3 / third**2,
            "rate_by_first": rate,
            "rate_by_third": 2.0 * scales.pair / (third * sums),
        }
        return order_by_weight(
            Parameters(
                topics.centers,
                recover_weights(scales.first * topics.sums),
                concentration=_keep_from_zero(shape),
                rate=_keep_from_zero(rate),
                details=details,
            )
        )

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the exact cumulants of given topics, shapes and rates.

        Parameters
        ----------
        parameters : Parameters
            Topics as columns, `concentration` (shapes) and `rate`; weights follow
            from them and are not read.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Cumulants that infinitely many rows would give.
        """
        shape, rate = _sources(parameters)
        mean, variance = shape / rate, shape / rate**2
        third = 2.0 * variance / rate
        return plant_equations(
            parameters.centers, mean, variance, third, basis=basis, slices=slices
        )

    def sample(
        self, parameters: Parameters, n_rows: int, rng: np.random.Generator
    ) -> tuple[sparse.csr_array, FloatArray]:
        """Draw rows and the sources of each.

        Parameters
        ----------
        parameters : Parameters
            Topics, shapes (`concentration`) and rates.
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        rows : csr_array of shape (n_rows, d)
            Counts.
        sources : ndarray of shape (n_rows, k)
            Intensity of each topic in each row.
        """
        shape, rate = _sources(parameters)
        sources = rng.gamma(shape, 1.0 / rate, size=(n_rows, shape.size))
        return draw_poisson_counts(sources, parameters.centers, rng), sources


def _keep_from_zero(values: FloatArray) -> FloatArray:
    """Return positive numbers that can be divided by."""
    return np.maximum(values, np.finfo(np.float64).tiny ** 0.25)


def _sources(parameters: Parameters) -> tuple[FloatArray, FloatArray]:
    """Return shapes and rates, or say that they are missing."""
    check_components(parameters)
    found = []
    for name in ("concentration", "rate"):
        values = getattr(parameters, name)
        sound = (
            values is not None
            and values.shape == parameters.weights.shape
            and np.isfinite(values).all()
            and values.min() > 0.0
        )
        if not sound:
            raise ParameterError(
                f"parameters.{name}={values!r} must hold a positive number for each "
                "component."
            )
        found.append(np.asarray(values, dtype=np.float64))
    return found[0], found[1]


def _remove_bias(plugged: Equations, n_rows: float) -> Equations:
    """Bring plug-in cumulants to the form whose expectation is exact.

    With `A = n^2 / ((n-1)(n-2))`, `B = n / (n-1)` and `C` the plug-in covariance
    (its diagonal included), `S = B S_plug + (B-1) diag(M1)` and
    `T = A T_plug + (A-B) d3(C) - 2 (A-1) diag3(M1)`: formula C.5 of thesis 002.
    Slices know C up to what lies outside the basis, where it is taken to be
    the counts' own noise, `diag(M1)`; that changes them by terms of `1 / n`
    times the rest of C.
    """
    if n_rows <= 2.0:
        raise DataError(
            f"X has {n_rows:g} sample(s) (sum of the weights); unbiased cumulants need "
            "more than two; give weights that count rows, or use unbiased=False."
        )
    big = n_rows**2 / ((n_rows - 1.0) * (n_rows - 2.0))
    small = n_rows / (n_rows - 1.0)
    basis = plugged.basis
    noise = plugged.first[:, None] * basis
    lift = small * plugged.lift + (small - 1.0) * noise
    pair = basis.T @ lift
    # A table is summed over three orders of the indices, hence the third.
    table = (big - small) * (plugged.lift + noise) - 2.0 * (big - 1.0) / 3.0 * noise
    return replace(
        plugged,
        lift=lift,
        pair=(pair + pair.T) / 2.0,
        third=big * plugged.third + contract_table(basis, table),
        slices=_remove_slice_bias(plugged, big, small),
    )


def _remove_slice_bias(
    plugged: Equations, big: float, small: float
) -> FloatArray | None:
    """Do the same to slices `B' T[:, :, r] B`."""
    if plugged.slices is None or plugged.slice_features is None:
        return None
    basis, features = plugged.basis, plugged.slice_features
    width = plugged.width
    rows, first = basis[features], plugged.first[features]
    covariance = plugged.lift[features] + first[:, None] * rows
    outer = rows[:, :, None] * covariance[:, None, :]
    # B' diag(C[:, r]) B with C[:, r] = (lift of the basis) + M1_r e_r.
    inside = linalg.solve(basis.T @ basis, rows.T, assume_a="pos").T
    products = np.empty((width, width, width))
    for a in range(width):
        products[a] = plugged.lift.T @ (basis * basis[:, [a]])
    spread = np.einsum("mc,acb->mab", inside, products, optimize=True)
    own = first[:, None, None] * rows[:, :, None] * rows[:, None, :]
    slices = big * plugged.slices
    slices += (big - small) * (outer + outer.transpose(0, 2, 1) + spread + own)
    return np.asarray(slices - 2.0 * (big - 1.0) * own)
