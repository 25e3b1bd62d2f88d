"""Exact moments of every family give its parameters back, by every decomposition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from laws.decompositions import disturb
from tercet.decomposition import DECOMPOSITIONS, solve
from tercet.families import (
    FAMILIES,
    Bernoulli,
    GammaPoisson,
    IndependentComponents,
    LatentDirichlet,
    Poisson,
    SingleTopic,
    SphericalGaussian,
    ThreeViews,
)
from tercet.flow import FloatArray, Parameters
from tercet.models.decomposing import decompose
from tercet.moments import collect
from tercet.whitening import whiten_pair, whiten_third

LIMIT = 1e-8
METHODS = sorted(DECOMPOSITIONS)
SIZES = (2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Case:
    """A family with parameters, and the fields that must come back."""

    family: Any
    truth: Parameters
    fields: tuple[str, ...]


def draw_weights(size: int, rng: np.random.Generator) -> FloatArray:
    """Draw unequal weights, the lightest of 0.02."""
    share = rng.dirichlet(np.full(size, 1.5))
    weights = 0.02 + (1.0 - 0.02 * size) * (share - share.min())
    weights[share.argmax()] += 1.0 - weights.sum()
    return weights


def draw_topics(size: int, rng: np.random.Generator, d: int) -> FloatArray:
    return rng.dirichlet(np.full(d, 0.3), size=size).T


def single_topic(size: int, rng: np.random.Generator, d: int) -> Case:
    truth = Parameters(draw_topics(size, rng, d), draw_weights(size, rng))
    return Case(SingleTopic(), truth, ("centers", "weights"))


def latent_dirichlet(size: int, rng: np.random.Generator, d: int) -> Case:
    weights = draw_weights(size, rng)
    total = 0.1 * size
    truth = Parameters(
        draw_topics(size, rng, d), weights, concentration=total * weights
    )
    family = LatentDirichlet(concentration=total)
    return Case(family, truth, ("centers", "weights", "concentration"))


def gamma_poisson(size: int, rng: np.random.Generator, d: int) -> Case:
    shape = 3.0 * draw_weights(size, rng)
    rate = rng.uniform(0.02, 0.1, size)
    mass = shape / rate
    truth = Parameters(
        draw_topics(size, rng, d), mass / mass.sum(), concentration=shape, rate=rate
    )
    return Case(GammaPoisson(), truth, ("centers", "weights", "concentration", "rate"))


def poisson(size: int, rng: np.random.Generator, d: int) -> Case:
    truth = Parameters(rng.exponential(2.0, (d, size)), draw_weights(size, rng))
    return Case(Poisson(), truth, ("centers", "weights"))


def bernoulli(size: int, rng: np.random.Generator, d: int) -> Case:
    truth = Parameters(rng.beta(0.5, 1.5, (d, size)), draw_weights(size, rng))
    return Case(Bernoulli(), truth, ("centers", "weights"))


def spherical_gaussian(size: int, rng: np.random.Generator, d: int) -> Case:
    truth = Parameters(
        rng.standard_normal((d, size)),
        draw_weights(size, rng),
        variances=rng.uniform(0.5, 2.0, size),
    )
    return Case(SphericalGaussian(), truth, ("centers", "weights", "variances"))


def independent_components(size: int, rng: np.random.Generator, d: int) -> Case:
    directions = rng.standard_normal((d, size))
    variances = draw_weights(size, rng)
    truth = Parameters(
        directions / np.linalg.norm(directions, axis=0),
        variances / variances.sum(),
        variances=variances,
        details={"skewness": rng.uniform(0.5, 2.0, size)},
    )
    return Case(IndependentComponents(), truth, ("centers", "weights", "variances"))


def three_view(size: int, rng: np.random.Generator, d: int) -> Case:
    truth = Parameters(rng.beta(0.5, 1.5, (d, size)), draw_weights(size, rng))
    return Case(ThreeViews("bernoulli"), truth, ("centers", "weights"))


FAMILY_CASES: dict[str, Callable[[int, np.random.Generator, int], Case]] = {
    "single-topic": single_topic,
    "latent-dirichlet": latent_dirichlet,
    "gamma-poisson": gamma_poisson,
    "poisson": poisson,
    "bernoulli": bernoulli,
    "spherical-gaussian": spherical_gaussian,
    "independent-components": independent_components,
    "three-view": three_view,
}


def recover(case: Case, method: str, slices: Any = None, **options: Any) -> Parameters:
    """Go from the exact moments to parameters by one decomposition."""
    moments = case.family.population(case.truth, slices=slices)
    whitening = whiten_pair(moments, case.truth.n_components)
    factors = solve(whiten_third(moments, whitening), method, **options)
    assert factors.outcome.converged
    return case.family.recover(factors, whitening, moments)


def worst_error(found: Parameters, case: Case) -> float:
    """Largest error of any entry of any field, in units of the field's largest."""
    truth = case.truth
    distances = np.abs(truth.centers[:, :, None] - found.centers[:, None, :]).max(
        axis=0
    )
    order = linear_sum_assignment(distances)[1]
    errors = []
    for name in case.fields:
        wanted = getattr(truth, name)
        got = getattr(found, name)[..., order]
        errors.append(np.abs(got - wanted).max() / np.abs(wanted).max())
    return float(max(errors))


def test_every_family_takes_part() -> None:
    one_view = {name for name in FAMILIES if hasattr(FAMILIES[name](), "population")}
    assert one_view <= set(FAMILY_CASES)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILY_CASES)
def test_parameters_come_back(family: str, method: str, seed: int) -> None:
    for size in SIZES:
        case = FAMILY_CASES[family](size, np.random.default_rng([seed, size]), 60)
        found = recover(case, method)
        error = worst_error(found, case)
        assert error < LIMIT, (size, error)
        assert (np.diff(found.weights) <= 0.0).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILY_CASES)
def test_parameters_come_back_inside_a_basis_and_with_slices(
    family: str, method: str, seed: int
) -> None:
    case = FAMILY_CASES[family](4, np.random.default_rng(seed), 120)
    assert worst_error(recover(case, method), case) < LIMIT
    assert worst_error(recover(case, method, slices="all"), case) < LIMIT
    assert worst_error(recover(case, method, slices=np.arange(7, 90)), case) < LIMIT


OPTIONS = {
    "joint": [{"targets": name} for name in ("basis", "random", "slices")],
    "similarity": [
        {"variant": variant} for variant in ("sh-rt", "just", "jdtm", "eigen")
    ],
    "svtd": [{"rule": "eigenvalues"}, {"rule": "published"}],
    "power": [
        {"n_starts": 25, "n_iterations": 20},
        {"n_starts": 10, "n_iterations": 100},
    ],
    "als": [{"space": name} for name in ("whitened", "unwhitened", "full")],
    "nls": [{"nonnegative": False}, {"nonnegative": True}],
    "random-projections": [{"plug_in": False}, {"n_projections": 30}],
}


@pytest.mark.parametrize("size", [2, 8, 20])
@pytest.mark.parametrize(
    ("method", "options"),
    [(method, option) for method, each in OPTIONS.items() for option in each],
    ids=str,
)
def test_every_variant_is_exact(
    method: str, options: dict[str, Any], size: int, seed: int
) -> None:
    for family in ("single-topic", "poisson"):
        case = FAMILY_CASES[family](size, np.random.default_rng([seed, size, 1]), 60)
        assert worst_error(recover(case, method, **options), case) < LIMIT


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", ["single-topic", "poisson", "bernoulli"])
def test_weights_of_four_fifths_and_one_fifth(family: str, method: str) -> None:
    """Not (0.89, 0.11), their squares, nor (2/3, 1/3), their roots."""
    case = FAMILY_CASES[family](2, np.random.default_rng(5), 40)
    truth = Parameters(case.truth.centers, np.array([0.80, 0.20]))
    found = recover(Case(case.family, truth, case.fields), method)
    np.testing.assert_allclose(found.weights, [0.80, 0.20], atol=1e-10)
    for name in ("weights_by_first", "weights_by_third"):
        np.testing.assert_allclose(found.details[name], [0.80, 0.20], atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILY_CASES)
def test_noise_gives_numbers(family: str, method: str, seed: int) -> None:
    """No warning and nothing but finite parameters, however noisy the tensor."""
    for share in (0.1, 0.5, 2.0):
        rng = np.random.default_rng([seed, int(10 * share)])
        case = FAMILY_CASES[family](4, rng, 40)
        moments = case.family.population(case.truth)
        whitening = whiten_pair(moments, 4)
        problem = disturb(whiten_third(moments, whitening), share, rng)
        found = case.family.recover(solve(problem, method), whitening, moments)
        for name in case.fields:
            assert np.isfinite(getattr(found, name)).all(), name


@pytest.mark.parametrize("slices", [None, "all"])
def test_sampled_rows_give_every_method_nearly_the_truth(slices: Any) -> None:
    """From rows to parameters by each name, with slices that data were asked for."""
    rng = np.random.default_rng(0)
    weights = np.array([0.40, 0.25, 0.20, 0.10, 0.05])
    truth = Parameters(rng.dirichlet(np.full(80, 0.2), size=5).T, weights)
    rows, _ = SingleTopic().sample(truth, 4000, rng, lengths=60)
    moments = collect(rows, "single-topic", n_components=5, slices=slices)
    for method in METHODS:
        found = decompose(moments, 5, method=method)
        distances = np.abs(truth.centers[:, :, None] - found.centers[:, None, :]).sum(
            axis=0
        )
        order = linear_sum_assignment(distances)
        assert distances[order].max() / 2.0 < 0.1, method
        np.testing.assert_allclose(found.weights, weights, atol=0.02)
        assert found.details["outcome"].converged
