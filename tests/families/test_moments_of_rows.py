"""Moments of a family from rows equal slow formulas that cite their equation."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from references import moments_tensors as slow
from tercet.exceptions import DataError
from tercet.families import (
    Bernoulli,
    GammaPoisson,
    IndependentComponents,
    LatentDirichlet,
    Poisson,
    SingleTopic,
    SphericalGaussian,
)
from tercet.flow import Equations
from tercet.intake import open_source
from tercet.moments import collect_against

TOLERANCE = 1e-10


def draw_counts(rng: np.random.Generator, d: int, n: int = 12) -> np.ndarray:
    rates = rng.choice([0.2, 1.0, 4.0], size=(n, 1))
    rows = rng.poisson(rates, size=(n, d)).astype(float)
    rows[0, : min(3, d)] += 2.0
    return rows


def read(rows: Any, family: Any, basis: np.ndarray, weights: Any = None) -> Equations:
    return collect_against(
        open_source(rows, sample_weight=weights, requirement=family.requirement),
        family,
        basis,
        orthonormal=bool(np.allclose(basis.T @ basis, np.eye(basis.shape[1]))),
        features=np.arange(basis.shape[0]),
    ).equations()


def same(found: Any, wanted: Any) -> None:
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found / scale, wanted / scale, rtol=0.0, atol=TOLERANCE)


def same_moments(found: Equations, first: Any, pair: Any, third: Any) -> None:
    """Compare with full tensors, in the basis of the equations."""
    basis = found.basis
    same(found.first, first)
    same(found.lift, pair @ basis)
    same(found.pair, basis.T @ pair @ basis)
    same(found.third, slow.contract_third(third, basis))
    for feature in range(len(first)):
        same(found.slices[feature], slow.contract_slice(third, basis, feature))


def shifted(rows: Any, weights: Any, weighting: str, factorial: bool, a, b, c) -> Any:
    first = slow.first_moment(rows, weights, weighting)
    pair = slow.pair_moment(rows, weights, weighting, factorial)
    third = slow.third_moment(rows, weights, weighting, factorial)
    return (
        first,
        slow.shifted_pair(pair, first, a),
        slow.shifted_third(third, pair, first, b, c),
    )


# Families whose moments are one line of the table in method section 2.
def dirichlet_coefficients(total: float) -> tuple[float, float, float]:
    return (
        total / (total + 1.0),
        total / (total + 2.0),
        2.0 * total**2 / ((total + 1.0) * (total + 2.0)),
    )


TABLE = {
    "single topic, length": (SingleTopic(), "length", True, (0.0, 0.0, 0.0)),
    "single topic, document": (SingleTopic("document"), "document", True, (0, 0, 0)),
    "lda, length": (LatentDirichlet(0.7), "length", True, dirichlet_coefficients(0.7)),
    "lda, document": (
        LatentDirichlet(3.0, "document"),
        "document",
        True,
        dirichlet_coefficients(3.0),
    ),
    "lda, near gamma-poisson": (
        LatentDirichlet(1e12),
        "length",
        True,
        (1.0, 1.0, 2.0),
    ),
    "gamma-poisson, plug-in": (
        GammaPoisson(unbiased=False),
        "rows",
        True,
        (1.0, 1.0, 2.0),
    ),
    "poisson": (Poisson(), "rows", True, (0.0, 0.0, 0.0)),
    "ica, plug-in": (
        IndependentComponents(unbiased=False),
        "rows",
        False,
        (1.0, 1.0, 2.0),
    ),
}


@pytest.mark.parametrize("name", TABLE)
@settings(max_examples=25)
@given(d=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_table_of_models(name: str, d: int, seed: int) -> None:
    family, weighting, factorial, coefficients = TABLE[name]
    rng = np.random.default_rng(seed)
    rows, basis = draw_counts(rng, d), rng.standard_normal((d, 3))
    weights = rng.choice([0.5, 1.0, 2.0], size=len(rows))
    wanted = shifted(rows, weights, weighting, factorial, *coefficients)
    same_moments(read(rows, family, basis, weights), *wanted)


@pytest.mark.parametrize("moments", ["raw", "factorial"])
@settings(max_examples=25)
@given(d=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_binary_rows(moments: str, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = (rng.random((14, d)) < 0.4).astype(float)
    basis, ones = rng.standard_normal((d, 3)), np.ones(14)
    wanted = shifted(rows, ones, "rows", moments == "factorial", 0.0, 0.0, 0.0)
    found = read(rows, Bernoulli(moments), basis)
    same_moments(found, *wanted)
    assert found.hollow == (moments == "factorial")


@settings(max_examples=25)
@given(d=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_unbiased_gamma_poisson(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = draw_counts(rng, d)
    # A complete basis; slices know all of the covariance then.
    basis = rng.standard_normal((d, d))
    found = read(rows, GammaPoisson(), basis)
    pair, third = slow.discrete_ica_pair(rows), slow.discrete_ica_third(rows)
    same_moments(found, slow.first_moment(rows, np.ones(12), "rows"), pair, third)


@settings(max_examples=25)
@given(d=st.integers(2, 8), k=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_unbiased_gamma_poisson_is_formula_c5(d: int, k: int, seed: int) -> None:
    """The compact form of (C.5) as printed has two signs and a factor N less.

    They are taken from the expression above it, of which it is a rewriting.
    """
    rng = np.random.default_rng(seed)
    rows, whitener = draw_counts(rng, d), rng.standard_normal((d, min(k, d)))
    found = read(rows, GammaPoisson(), whitener)
    for column in range(whitener.shape[1]):
        wanted = slow.discrete_ica_projected(rows, whitener, whitener[:, column])
        same(found.third[:, :, column], wanted)


@settings(max_examples=25)
@given(d=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_unbiased_ica(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, basis = rng.gamma(1.0, size=(11, d)), rng.standard_normal((d, 3))
    mean = rows.mean(axis=0)
    wanted = slow.unbiased_covariance(rows), slow.unbiased_cumulant(rows)
    same_moments(read(rows, IndependentComponents(), basis), mean, *wanted)


def test_integer_weights_are_repeated_rows(rng: np.random.Generator) -> None:
    rows, basis = draw_counts(rng, 5), rng.standard_normal((5, 3))
    times = rng.integers(1, 4, size=len(rows))
    for family in (GammaPoisson(), IndependentComponents(), Poisson(), SingleTopic()):
        weighted = read(rows, family, basis, times.astype(float))
        repeated = read(np.repeat(rows, times, axis=0), family, basis)
        same(weighted.pair, repeated.pair)
        same(weighted.third, repeated.third)


@pytest.mark.parametrize("family", [GammaPoisson(), IndependentComponents()])
def test_unbiased_cumulants_have_the_right_expectation(family: Any) -> None:
    """Average over all samples of four rows of a small distribution."""
    outcomes = np.array([[0.0, 1.0], [3.0, 0.0], [1.0, 2.0]])
    chances = np.array([0.5, 0.2, 0.3])
    pair, third, basis = np.zeros((2, 2)), np.zeros((2, 2, 2)), np.eye(2)
    for chosen in product(range(3), repeat=4):
        found = read(outcomes[list(chosen)], family, basis)
        chance = chances[list(chosen)].prod()
        pair += chance * found.pair
        third += chance * found.third
    plain = type(family)(unbiased=False)
    exact = read(outcomes, plain, basis, chances)
    same(pair, exact.pair)
    same(third, exact.third)


def test_unbiased_cumulants_of_two_rows_are_refused() -> None:
    for family in (GammaPoisson(), IndependentComponents()):
        with pytest.raises(DataError, match="more than two"):
            read(np.ones((2, 3)), family, np.eye(3))


@pytest.mark.parametrize("shared", [False, True])
@settings(max_examples=25)
@given(d=st.integers(3, 8), seed=st.integers(0, 2**32 - 1))
def test_spherical_gaussian(shared: bool, d: int, seed: int) -> None:
    """Hsu and Kakade (2013), theorem 1, with a full eigendecomposition."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((12, d)) + rng.standard_normal((12, 1))
    n, mean = len(rows), rows.mean(axis=0)
    covariance = rows.T @ rows / n - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(covariance)
    noise, v = values[0], vectors[:, 0]
    energy = noise * mean
    if not shared:
        energy = sum(x * (v @ (x - mean)) ** 2 for x in rows) / n
    pair = rows.T @ rows / n - noise * np.eye(d)
    third = slow.third_moment(rows, np.ones(n), "rows", False)
    for i in range(d):
        for h in range(d):
            third[h, i, i] -= energy[h]
            third[i, h, i] -= energy[h]
            third[i, i, h] -= energy[h]
    found = read(rows, SphericalGaussian(shared_variance=shared), np.eye(d))
    same_moments(found, mean, pair, third)
    same(found.energy, energy)
