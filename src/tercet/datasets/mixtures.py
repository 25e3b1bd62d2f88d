"""Rows drawn from mixtures with independent features."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from tercet.datasets.arguments import check_sizes, order_given, tell_settings
from tercet.datasets.samples import Sample
from tercet.datasets.truths import spread_weights
from tercet.exceptions import ParameterError
from tercet.families.draws import (
    draw_bernoulli,
    draw_gaussian,
    draw_labels,
    draw_poisson_counts,
)
from tercet.families.settings import check_positive
from tercet.flow import FloatArray, Parameters
from tercet.recovery import order_by_weight

__all__ = [
    "make_bernoulli_mixture",
    "make_poisson_mixture",
    "make_spherical_gaussians",
]


def make_bernoulli_mixture(
    n_rows: int = 1000,
    *,
    n_features: int = 99,
    n_components: int = 12,
    largest: float = 1.0,
    weights: ArrayLike | None = None,
    parameters: Parameters | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw binary rows from a mixture of independent Bernoulli variables.

    Probabilities and weights are exponential random numbers (thesis 001,
    section 4.4); the probabilities are divided by the largest of them, the
    weights by their sum.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : int
        Number of features d.
    n_components : int
        Number of components k.
    largest : float
        Largest probability; small values give sparse rows.
    weights : array-like of shape (k,) or None
        Weights; None draws them.
    parameters : Parameters or None
        Probabilities and weights; None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Ones, the truth, and the component of each row.

    Examples
    --------
    >>> from tercet.datasets import make_bernoulli_mixture
    >>> sample = make_bernoulli_mixture(40, n_features=6, n_components=2)
    >>> float(sample.parameters.centers.max())
    1.0
    """
    rng = np.random.default_rng(random_state)
    if not 0.0 < largest <= 1.0:
        raise ParameterError(
            f"largest={largest!r} must be a probability above 0, at most 1."
        )
    if parameters is None:
        check_sizes(n_rows, n_features, n_components)
        centers = rng.exponential(size=(n_features, n_components))
        # The product is rounded, so that the largest is cut back to its bound.
        centers = np.minimum(centers * (largest / centers.max()), largest)
        truth = _mixture(centers, weights, rng)
    else:
        truth = order_given(parameters)
    labels = draw_labels(truth.weights, n_rows, rng)
    rows = draw_bernoulli(labels, truth.centers, rng)
    asked = tell_settings(n_rows, truth, random_state, largest=largest)
    return Sample(rows, truth, labels=labels, settings=asked)


def make_poisson_mixture(
    n_rows: int = 1000,
    *,
    n_features: int = 100,
    n_components: int = 5,
    mean: float = 1.0,
    weights: ArrayLike | None = None,
    parameters: Parameters | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw counts from a mixture of independent Poisson variables.

    Means of the counts and weights are exponential random numbers, as for
    `make_bernoulli_mixture`.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : int
        Number of features d.
    n_components : int
        Number of components k.
    mean : float
        Expected count of a feature.
    weights : array-like of shape (k,) or None
        Weights; None draws them.
    parameters : Parameters or None
        Means and weights; None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Counts, the truth, and the component of each row.

    Examples
    --------
    >>> from tercet.datasets import make_poisson_mixture
    >>> sample = make_poisson_mixture(40, n_features=6, n_components=2, mean=4.0)
    >>> sample.rows.shape
    (40, 6)
    """
    rng = np.random.default_rng(random_state)
    check_positive("mean", mean)
    if parameters is None:
        check_sizes(n_rows, n_features, n_components)
        centers = rng.exponential(mean, size=(n_features, n_components))
        truth = _mixture(centers, weights, rng)
    else:
        truth = order_given(parameters)
    labels = draw_labels(truth.weights, n_rows, rng)
    rows = draw_poisson_counts(labels, truth.centers, rng)
    asked = tell_settings(n_rows, truth, random_state, mean=mean)
    return Sample(rows, truth, labels=labels, settings=asked)


def make_spherical_gaussians(
    n_rows: int = 1000,
    *,
    n_features: int = 10,
    n_components: int = 3,
    spread: float = 3.0,
    variances: ArrayLike = 1.0,
    weights: ArrayLike | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw rows from a mixture of spherical Gaussians.

    The coordinates of the centres are normal random numbers.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : int
        Number of features d.
    n_components : int
        Number of components k.
    spread : float
        Standard deviation of the coordinates of the centres.
    variances : float or array-like of shape (k,)
        Variance of every coordinate, for each component.
    weights : array-like of shape (k,) or None
        Weights; None draws exponential ones.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Dense rows, the truth (with `variances`), and the component of each row.

    Examples
    --------
    >>> from tercet.datasets import make_spherical_gaussians
    >>> sample = make_spherical_gaussians(40, variances=[1.0, 2.0, 3.0])
    >>> sorted(sample.parameters.variances.tolist())
    [1.0, 2.0, 3.0]
    """
    rng = np.random.default_rng(random_state)
    check_sizes(n_rows, n_features, n_components)
    check_positive("spread", spread)
    sizes = np.asarray(variances, dtype=np.float64)
    if sizes.shape not in ((), (n_components,)) or not (
        np.isfinite(sizes).all() and sizes.min() >= 0.0
    ):
        raise ParameterError(
            f"variances={sizes} must be one number or {n_components} of them, "
            "finite and not negative."
        )
    centers = rng.normal(0.0, spread, size=(n_features, n_components))
    truth = _mixture(
        centers, weights, rng, np.array(np.broadcast_to(sizes, n_components))
    )
    labels = draw_labels(truth.weights, n_rows, rng)
    rows = draw_gaussian(labels, truth.centers, np.asarray(truth.variances), rng)
    asked = tell_settings(
        n_rows, truth, random_state, spread=spread, variances=variances
    )
    return Sample(rows, truth, labels=labels, settings=asked)


def _mixture(
    centers: FloatArray,
    weights: ArrayLike | None,
    rng: Generator,
    variances: FloatArray | None = None,
) -> Parameters:
    """Put centres and weights together; weights are exponential if not given."""
    n_components = centers.shape[1]
    if weights is None:
        weights = rng.exponential(size=n_components)
    shares = spread_weights(weights, n_components)
    return order_by_weight(Parameters(centers, shares, variances=variances))
