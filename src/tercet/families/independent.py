"""Independent component analysis of continuous rows through cumulants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tercet.exceptions import DataError, ParameterError
from tercet.families.population import (
    SliceChoice,
    check_components,
    plant_equations,
)
from tercet.families.shifting import shift_moments
from tercet.flow import (
    Equations,
    Factors,
    FloatArray,
    MomentPlan,
    Moments,
    Parameters,
    Whitening,
)
from tercet.recovery import order_by_weight, recover_scales, recover_weights

__all__ = ["IndependentComponents"]


@dataclass(frozen=True)
class IndependentComponents:
    """Rows `x = D a` that mix independent, skewed sources a.

    Cumulants of independent sources are diagonal (thesis 002, section 2.2):
    `cov(x) = sum_j var(a_j) d_j d_j'` and `cum3(x) = sum_j cum3(a_j) d_j^(x)3`.
    Directions d_j have unit length and the sign that makes their source skewed
    to the right; weights are shares of the variance.

    Parameters
    ----------
    unbiased : bool
        Whether cumulants have the factors `n / (n-1)` and `n^2 / ((n-1)(n-2))`
        that make their expectation exact; row weights then count repetitions
        of rows. Otherwise they are the plug-in ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import IndependentComponents
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(
    ...     np.array([[0.6, 1.0], [0.8, 0.0]]),
    ...     np.array([0.8, 0.2]),
    ...     variances=np.array([4.0, 1.0]),
    ...     details={"skewness": np.array([2.0, 1.0])},
    ... )
    >>> family = IndependentComponents()
    >>> family.population(truth).pair
    array([[2.44, 1.92],
           [1.92, 2.56]])
    >>> rows, sources = family.sample(truth, 3, np.random.default_rng(0))
    >>> rows.shape, sources.shape
    ((3, 2), (3, 2))
    """

    unbiased: bool = True

    name: ClassVar[str] = "independent-components"
    requirement: ClassVar[str] = "reals"
    factorial: ClassVar[bool] = False

    @property
    def plan(self) -> MomentPlan:
        """Sums by rows."""
        return MomentPlan("rows")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {"unbiased": self.unbiased}

    def equations(self, moments: Moments) -> Equations:
        """Return mean, covariance and third cumulant."""
        plugged = shift_moments(moments, 1.0, 1.0, 2.0, factorial=False)
        if not self.unbiased:
            return plugged
        n = moments.total_weight
        if n <= 2.0:
            raise DataError(
                f"X has {n:g} rows (sum of the weights), but unbiased cumulants need "
                "more than two; give weights that count rows, or use unbiased=False."
            )
        second, third = n / (n - 1.0), n**2 / ((n - 1.0) * (n - 2.0))
        return replace(
            plugged,
            lift=second * plugged.lift,
            pair=second * plugged.pair,
            third=third * plugged.third,
            slices=None if plugged.slices is None else third * plugged.slices,
        )

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return unit directions, variances of the sources and shares of both.

        The column `E o_j` is `d_j` times the standard deviation of its source,
        the eigenvalue is the skewness.
        """
        scales = recover_scales(factors, whitening, equations)
        # Noise can make a fitted coefficient negative; orthonormal ones are one.
        pair = np.where(scales.pair > 0.0, scales.pair, 1.0)
        columns = scales.columns * np.sqrt(pair)
        variances = (columns**2).sum(axis=0)
        lengths = np.sqrt(np.maximum(variances, np.finfo(np.float64).tiny))
        shown = columns if factors.rows is None else factors.rows
        norms = np.sqrt(np.maximum((shown**2).sum(axis=0), np.finfo(np.float64).tiny))
        details = {
            "skewness": scales.third / pair**1.5,
            "source_means": scales.first / np.sqrt(pair) * lengths,
        }
        return order_by_weight(
            Parameters(
                shown / norms,
                recover_weights(variances),
                variances=variances,
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
        """Return the exact cumulants of given directions and sources.

        Parameters
        ----------
        parameters : Parameters
            Directions as columns, variances, and `details["skewness"]` of the
            sources; `details["source_means"]` are zero when left out. Weights
            follow from them and are not read.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Cumulants that infinitely many rows would give.
        """
        means, variances, skewness = _sources(parameters)
        return plant_equations(
            parameters.centers,
            means,
            variances,
            skewness * variances**1.5,
            basis=basis,
            slices=slices,
        )

    def sample(
        self, parameters: Parameters, n_rows: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw rows and their sources, shifted gamma variables.

        Parameters
        ----------
        parameters : Parameters
            As for `population`.
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        rows : ndarray of shape (n_rows, d)
            Mixed sources.
        sources : ndarray of shape (n_rows, k)
            Sources.
        """
        means, variances, skewness = _sources(parameters)
        shape = 4.0 / skewness**2
        drawn = rng.gamma(shape, size=(n_rows, shape.size)) - shape
        sources = means + drawn * np.sqrt(variances / shape) * np.sign(skewness)
        return sources @ parameters.centers.T, sources


def _sources(parameters: Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means, variances and skewness of the sources."""
    check_components(parameters, signed=True)
    k = parameters.n_components
    variances = parameters.variances
    skewness = np.asarray(parameters.details.get("skewness", ()), dtype=np.float64)
    means = np.asarray(parameters.details.get("source_means", np.zeros(k)), np.float64)
    if variances is None or variances.shape != (k,) or not variances.min() > 0.0:
        raise ParameterError(
            f"parameters.variances={variances!r} must hold a positive number for each "
            "source."
        )
    if skewness.shape != (k,) or not np.all(skewness != 0.0):
        raise ParameterError(
            f"parameters.details['skewness']={skewness!r} must hold a number other "
            "than zero for each source; third cumulants do not see the others."
        )
    if means.shape != (k,):
        raise ParameterError(
            f"parameters.details['source_means']={means!r} must hold a number for "
            "each source."
        )
    return means, variances, skewness
