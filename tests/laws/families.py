"""Every family of the package, with truths to try it on.

A new family is one entry in `FAMILY_CASES`; the laws then run on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from references import family_outcomes as outcomes
from tercet.families import (
    Bernoulli,
    GammaPoisson,
    IndependentComponents,
    LatentDirichlet,
    Poisson,
    SingleTopic,
    SphericalGaussian,
    ThreeViews,
)
from tercet.flow import Parameters

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class FamilyCase:
    """A family and what the laws need to know of it.

    Parameters
    ----------
    family : Family
        The family; cumulants are plug-in ones, whose expectation under weights
        that are probabilities is exact.
    draw : callable
        `draw(rng, d, k)` gives parameters.
    enumerate : callable
        Gives all rows of small parameters with their probabilities.
    size : tuple of int
        d and k of those small parameters.
    coefficients : callable
        Coefficients (u, v, t) of `sum u mu`, `sum v mu mu'`, `sum t mu^(x)3`.
    basis : callable or None
        `basis(parameters, rng)` gives a basis if not every one will do.
    options : dict
        Arguments of `sample`.
    recovered : tuple of str
        Attributes of parameters that come back.
    consistent : bool
        Whether its moments tend to those of the population.
    loud : callable
        Makes a truth that few rows tell of enough to be learned.
    few : int
        Rows from which the error falls as it should.
    learned : tuple of int
        d and k of parameters that are learned from rows.
    """

    family: Any
    draw: Callable[[np.random.Generator, int, int], Parameters]
    enumerate: Callable[[Parameters], Rows]
    coefficients: Callable[[Parameters], tuple[Any, Any, Any]]
    size: tuple[int, int] = (4, 2)
    basis: Callable[[Parameters, np.random.Generator], np.ndarray] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    recovered: tuple[str, ...] = ("weights",)
    consistent: bool = True
    loud: Callable[[Parameters], Parameters] = lambda truth: truth
    few: int = 2_000
    learned: tuple[int, int] = (12, 3)


# Truths ---------------------------------------------------------------------------


def draw_weights(rng: np.random.Generator, k: int) -> np.ndarray:
    """Draw unequal weights, falling, the least of them 0.02 or more."""
    weights = np.sort(rng.uniform(1.0, 8.0, size=k))[::-1]
    return np.maximum(weights / weights.sum(), 0.02) if k > 1 else np.ones(1)


def draw_mixture(scale: float, offset: float = 0.0) -> Any:
    def draw(rng: np.random.Generator, d: int, k: int) -> Parameters:
        weights = draw_weights(rng, k)
        centers = scale * rng.random((d, k)) + offset
        return Parameters(centers, weights / weights.sum())

    return draw


def draw_topics(rng: np.random.Generator, d: int, k: int) -> Parameters:
    weights = draw_weights(rng, k)
    return Parameters(rng.dirichlet(np.full(d, 0.5), size=k).T, weights / weights.sum())


def draw_dirichlet(rng: np.random.Generator, d: int, k: int) -> Parameters:
    given = draw_topics(rng, d, k)
    return Parameters(
        given.centers, given.weights, concentration=ALPHA0 * given.weights
    )


def draw_gamma(rng: np.random.Generator, d: int, k: int) -> Parameters:
    topics = draw_topics(rng, d, k).centers + 1e-3
    shape, rate = rng.uniform(0.5, 2.0, size=k), rng.uniform(2.0, 4.0, size=k)
    order = np.argsort(-shape / rate)
    mean = (shape / rate)[order]
    return Parameters(
        topics / topics.sum(axis=0),
        mean / mean.sum(),
        concentration=shape[order],
        rate=rate[order],
    )


def draw_gaussians(shared: bool) -> Any:
    def draw(rng: np.random.Generator, d: int, k: int) -> Parameters:
        weights = draw_weights(rng, k)
        variances = np.full(k, 0.7) if shared else rng.uniform(0.2, 1.5, size=k)
        centers = 2.0 * rng.standard_normal((d, k))
        return Parameters(centers, weights / weights.sum(), variances=variances)

    return draw


def draw_sources(rng: np.random.Generator, d: int, k: int) -> Parameters:
    centers = rng.standard_normal((d, k))
    variances = np.sort(rng.uniform(0.5, 4.0, size=k))[::-1]
    details = {
        "skewness": rng.uniform(0.5, 2.0, size=k),
        "source_means": rng.standard_normal(k),
    }
    return Parameters(
        centers / np.linalg.norm(centers, axis=0),
        variances / variances.sum(),
        variances=variances,
        details=details,
    )


# Coefficients and bases -----------------------------------------------------------


def by_weights(truth: Parameters) -> tuple[Any, Any, Any]:
    return truth.weights, truth.weights, truth.weights


def by_dirichlet(truth: Parameters) -> tuple[Any, Any, Any]:
    """Paper 000, theorem 3: alpha over alpha0, (alpha0 + 1) and (alpha0 + 2)."""
    alpha, total = truth.concentration, truth.concentration.sum()
    pair = alpha / (total * (total + 1.0))
    return alpha / total, pair, 2.0 * pair / (total + 2.0)


def by_gamma(truth: Parameters) -> tuple[Any, Any, Any]:
    """Thesis 002, section 3.3: cumulants of a gamma variable."""
    c, b = truth.concentration, truth.rate
    return c / b, c / b**2, 2.0 * c / b**3


def by_sources(truth: Parameters) -> tuple[Any, Any, Any]:
    spread = truth.details["skewness"] * truth.variances**1.5
    return truth.details["source_means"], truth.variances, spread


def around_centers(truth: Parameters, rng: np.random.Generator) -> np.ndarray:
    """An orthonormal basis of the centers and one direction more."""
    more = rng.standard_normal((truth.n_features, 1))
    return np.ascontiguousarray(np.linalg.qr(np.hstack([truth.centers, more]))[0])


def one_view_each(truth: Parameters, rng: np.random.Generator) -> np.ndarray:
    return np.eye(truth.n_features)


ALPHA0 = 0.9
MIXED, TRIPLES = {2: 0.3, 3: 0.5, 4: 0.2}, {3: 1.0}


def of_topics(lengths: dict[int, float]) -> Any:
    return lambda truth: outcomes.single_topic(truth.centers, truth.weights, lengths)


def of_dirichlet(truth: Parameters) -> Rows:
    return outcomes.latent_dirichlet(truth.centers, truth.concentration, MIXED)


def of_ones(truth: Parameters) -> Rows:
    return outcomes.bernoulli_mixture(truth.centers, truth.weights)


def of_counts(truth: Parameters) -> Rows:
    return outcomes.poisson_mixture(truth.centers, truth.weights)


def topic_case(family: Any, lengths: dict[int, float]) -> FamilyCase:
    return FamilyCase(
        family, draw_topics, of_topics(lengths), by_weights, options={"lengths": 25}
    )


def dirichlet_case(weighting: Any) -> FamilyCase:
    return FamilyCase(
        LatentDirichlet(ALPHA0, weighting),
        draw_dirichlet,
        of_dirichlet,
        by_dirichlet,
        size=(3, 2),
        options={"lengths": 25},
        recovered=("weights", "concentration"),
    )


def bernoulli_case(moments: str) -> FamilyCase:
    return FamilyCase(
        Bernoulli(moments),
        draw_mixture(0.8, 0.1),
        of_ones,
        by_weights,
        size=(6, 2),
        consistent=moments == "completed",
        few=8_000,
    )


def three_view_case(mixture: str) -> FamilyCase:
    # Whatever the features are, only their means are looked at.
    return FamilyCase(
        ThreeViews(mixture),
        draw_mixture(0.8, 0.1),
        of_ones,
        by_weights,
        size=(7, 2),
        basis=one_view_each,
        learned=(36, 2),
    )


def gaussian_case(shared: bool) -> FamilyCase:
    return FamilyCase(
        SphericalGaussian(shared_variance=shared),
        draw_gaussians(shared),
        lambda truth: outcomes.gaussian_mixture(
            truth.centers, truth.weights, truth.variances
        ),
        by_weights,
        size=(5, 2),
        basis=around_centers,
        recovered=("weights", "variances"),
    )


FAMILY_CASES: dict[str, FamilyCase] = {
    "single-topic, length": topic_case(SingleTopic("length"), MIXED),
    "single-topic, document": topic_case(SingleTopic("document"), MIXED),
    "single-topic, three-words": topic_case(SingleTopic("three-words"), TRIPLES),
    "latent-dirichlet, length": dirichlet_case("length"),
    "latent-dirichlet, document": dirichlet_case("document"),
    "gamma-poisson": FamilyCase(
        GammaPoisson(unbiased=False),
        draw_gamma,
        lambda truth: outcomes.gamma_poisson(
            truth.centers, truth.concentration, truth.rate
        ),
        by_gamma,
        size=(2, 2),
        recovered=("weights", "concentration", "rate"),
        loud=lambda truth: replace(truth, rate=truth.rate / 20.0),
    ),
    "poisson": FamilyCase(
        Poisson(), draw_mixture(1.0), of_counts, by_weights, size=(3, 2)
    ),
    "bernoulli, completed": bernoulli_case("completed"),
    "bernoulli, factorial": bernoulli_case("factorial"),
    "bernoulli, raw": bernoulli_case("raw"),
    "three-view, bernoulli": three_view_case("bernoulli"),
    "three-view, poisson": three_view_case("poisson"),
    "spherical-gaussian": gaussian_case(shared=False),
    "spherical-gaussian, shared": gaussian_case(shared=True),
    "independent-components": FamilyCase(
        IndependentComponents(unbiased=False),
        draw_sources,
        lambda truth: outcomes.independent_components(
            truth.centers,
            truth.details["source_means"],
            truth.variances,
            truth.details["skewness"],
        ),
        by_sources,
        size=(4, 3),
        recovered=("weights", "variances"),
        few=8_000,
    ),
}
