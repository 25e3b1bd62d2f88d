"""What the papers leave open, each point a test (method section 11)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet.decomposition import solve
from tercet.exceptions import DataError, ParameterError
from tercet.families import (
    GammaPoisson,
    LatentDirichlet,
    Poisson,
    SingleTopic,
    SphericalGaussian,
)
from tercet.flow import Factors, Parameters
from tercet.models.decomposing import solve_equations
from tercet.recovery import (
    CLEANERS,
    clean_columns,
    order_by_weight,
    project_simplex,
    recover_scales,
    recover_signs,
    recover_weights,
    truncate_negative,
)
from tercet.whitening import whiten_pair, whiten_third

TOPICS = np.array([[0.7, 0.1], [0.2, 0.1], [0.1, 0.8]])
UNEQUAL = Parameters(TOPICS, np.array([0.8, 0.2]))


# The simplex ------------------------------------------------------------------------


def nearest_by_bisection(column: np.ndarray) -> np.ndarray:
    """Duchi et al. (2008): lower all entries alike until the rest sums to one."""
    low, high = column.min() - 2.0, column.max()
    for _ in range(200):
        middle = (low + high) / 2.0
        if np.maximum(column - middle, 0.0).sum() > 1.0:
            low = middle
        else:
            high = middle
    return np.maximum(column - high, 0.0)


@given(
    columns=st.lists(
        st.lists(st.floats(-5.0, 5.0), min_size=4, max_size=4), min_size=1, max_size=4
    )
)
def test_projection_is_the_nearest_distribution(columns: list[list[float]]) -> None:
    given_columns = np.array(columns).T
    found = project_simplex(given_columns)
    wanted = np.stack([nearest_by_bisection(c) for c in given_columns.T], axis=1)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("cleaner", list(CLEANERS))
@given(seed=st.integers(0, 2**32 - 1))
def test_cleaners_return_distributions_and_keep_those(cleaner: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    messy = rng.normal(0.2, 1.0, size=(6, 3))
    cleaned = CLEANERS[cleaner](messy)
    assert cleaned.min() >= 0.0
    np.testing.assert_allclose(cleaned.sum(axis=0), 1.0)
    proper = rng.dirichlet(np.ones(6), size=3).T
    np.testing.assert_allclose(CLEANERS[cleaner](proper), proper, atol=1e-12)


def test_truncation_keeps_ratios_and_projection_keeps_differences() -> None:
    column = np.array([[0.9], [0.3], [-0.2]])
    kept = truncate_negative(column)
    assert kept[0, 0] / kept[1, 0] == pytest.approx(3.0)
    near = project_simplex(column)
    assert near[0, 0] - near[1, 0] == pytest.approx(0.6)
    assert not truncate_negative(-column[:1]).ravel()[0] < 1.0


def test_mass_removed_is_reported_for_each_component() -> None:
    cleaned = clean_columns(np.array([[4.0, 5.0, 1.0], [4.0, -1.0, 0.0]]))
    assert cleaned.removed == pytest.approx([0.0, 0.25, 0.0])
    with pytest.raises(ParameterError, match="truncate"):
        clean_columns(np.ones((2, 1)), "cut")


@pytest.mark.parametrize("scale", [1e15, 1e17, 1e300])
def test_projection_of_very_large_entries(scale: float) -> None:
    found = project_simplex(np.array([[scale], [scale / 4.0], [-scale]]))
    np.testing.assert_allclose(found, [[1.0], [0.0], [0.0]])


@pytest.mark.parametrize("clean", [*CLEANERS, "removed"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((0, 2)), r"shape \(0, 2\)"),
        (np.array([[np.nan], [1.0]]), "NaN or infinite"),
        (np.array([[np.inf], [1.0]]), "NaN or infinite"),
    ],
)
def test_columns_that_are_none(clean: str, columns: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        clean_columns(columns) if clean == "removed" else CLEANERS[clean](columns)


# Signs, weights, order --------------------------------------------------------------


def test_signs_agree_or_are_reported() -> None:
    columns = np.array([[3.0, -2.0, 1.0, 3.0], [-0.1, 0.0, -0.9, 0.0], [0, 0, -0.9, 0]])
    signs = recover_signs(columns, np.array([1.0, 1.0, 1.0, -1.0]))
    assert signs.by_mass.tolist() == [1.0, -1.0, -1.0, 1.0]
    # One by mass, sum and eigenvalue; one turned; one turned; one of the eigenvalue.
    assert signs.disagree.tolist() == [False, True, True, True]


@pytest.mark.parametrize("family", [SingleTopic(), Poisson()])
def test_unequal_weights_come_back_as_such(family) -> None:
    """(0.80, 0.20): neither roots projected on the simplex nor squares."""
    found = solve_equations(family.population(UNEQUAL), family, 2).parameters
    assert found.weights == pytest.approx([0.8, 0.2], abs=1e-10)
    for formula in ("weights_by_first", "weights_by_third"):
        assert found.details[formula] == pytest.approx([0.8, 0.2], abs=1e-10)


def test_both_weight_formulas_move_apart_with_noise(rng) -> None:
    family = SingleTopic()
    exact = family.population(UNEQUAL)
    third = exact.third * 1.1
    noisy = solve_equations(replace(exact, third=third), family, 2).parameters
    assert noisy.details["weights_by_first"] == pytest.approx([0.8, 0.2])
    shrunk = np.array([0.8, 0.2]) / 1.1**2
    assert noisy.details["weights_by_third"] == pytest.approx(shrunk)


@pytest.mark.parametrize("estimates", [[np.nan, 0.4], [-0.2, 0.9], [0.0, 0.0]])
def test_weights_are_never_zero_nor_nan(estimates: list[float]) -> None:
    weights = recover_weights(np.array(estimates))
    assert weights.min() > 0.0
    assert weights.sum() == pytest.approx(1.0)


def test_weights_of_nothing_are_refused() -> None:
    with pytest.raises(DataError, match="one number for each"):
        recover_weights(np.array([]))


def test_order_takes_everything_along() -> None:
    given_parameters = Parameters(
        np.array([[1.0, 2.0, 3.0]]),
        np.array([0.2, 0.5, 0.3]),
        concentration=np.array([2.0, 5.0, 3.0]),
        rate=np.array([20.0, 50.0, 30.0]),
        variances=np.array([0.2, 0.5, 0.3]),
        details={"negative_mass": np.array([2, 5, 3]), "residual": 0.1},
    )
    found = order_by_weight(given_parameters)
    assert found.weights.tolist() == [0.5, 0.3, 0.2]
    assert found.centers.tolist() == [[2.0, 3.0, 1.0]]
    assert found.concentration.tolist() == [5.0, 3.0, 2.0]
    assert found.rate.tolist() == [50.0, 30.0, 20.0]
    assert found.variances.tolist() == [0.5, 0.3, 0.2]
    assert found.details["negative_mass"].tolist() == [5, 3, 2]
    assert found.details["residual"] == 0.1


# Scales -----------------------------------------------------------------------------


def whitened(family, truth):
    moments = family.population(truth)
    whitening = whiten_pair(moments, truth.n_components)
    return moments, whitening, whiten_third(moments, whitening)


def test_unwhitening_keeps_the_root_of_the_weight() -> None:
    moments, whitening, problem = whitened(Poisson(), UNEQUAL)
    scales = recover_scales(solve(problem, "joint"), whitening, moments)
    order = np.argsort(-(scales.first**2))
    columns = scales.columns[:, order]
    np.testing.assert_allclose(columns, TOPICS * np.sqrt([0.8, 0.2]), atol=1e-10)
    np.testing.assert_allclose(scales.third[order], 1.0 / np.sqrt([0.8, 0.2]))


def test_vectors_that_are_not_orthonormal_have_their_lengths_fitted() -> None:
    """A diagonalisation by congruence may return other lengths than one."""
    moments, whitening, problem = whitened(Poisson(), UNEQUAL)
    factors = solve(problem, "joint")
    oblique = Factors(
        factors.vectors,
        factors.eigenvalues,
        factors.outcome,
        factors.residual,
        orthogonal=False,
    )
    scales = recover_scales(oblique, whitening, moments)
    np.testing.assert_allclose(scales.pair, 1.0, atol=1e-10)
    found = Poisson().recover(oblique, whitening, moments)
    assert found.weights == pytest.approx([0.8, 0.2])


# Families ---------------------------------------------------------------------------


def test_alpha_by_three_formulas() -> None:
    alpha = np.array([0.5, 0.3, 0.1])
    topics = np.random.default_rng(0).dirichlet(np.ones(8), size=3).T
    truth = Parameters(topics, alpha / 0.9, concentration=alpha)
    family = LatentDirichlet(0.9)
    found = solve_equations(family.population(truth), family, 3).parameters
    assert found.concentration == pytest.approx(alpha, abs=1e-9)
    for formula in ("first", "sums", "third"):
        by = found.details[f"concentration_by_{formula}"]
        assert by == pytest.approx(alpha, abs=1e-9)


def test_shape_and_rate_by_the_formulas_of_the_method() -> None:
    """`c = 4 <D, v>^2 / a(v)^2` and `a(v) = 2 <d, v> / b`, whatever v."""
    shape, rate = np.array([2.0, 0.5]), np.array([0.5, 0.2])
    mean = shape / rate
    truth = Parameters(TOPICS, mean / mean.sum(), concentration=shape, rate=rate)
    family = GammaPoisson()
    moments, whitening, problem = whitened(family, truth)
    factors = solve(problem, "joint")
    found = family.recover(factors, whitening, moments)
    columns = whitening.unwhitening @ factors.vectors
    for v in np.random.default_rng(0).random((3, 3)):
        inside = np.einsum("rab,r->ab", slices_of(truth, family, whitening), v)
        a = np.diag(factors.vectors.T @ inside @ factors.vectors)
        # A column of S^(1/2) is sqrt(c) / b times the topic.
        shapes = 4.0 * (columns.T @ v) ** 2 / a**2
        rates = 2.0 * ((columns / columns.sum(axis=0)).T @ v) / a
        order = np.argsort(-shapes / rates)
        assert found.concentration == pytest.approx(shapes[order])
        assert found.rate == pytest.approx(rates[order])
    assert found.concentration == pytest.approx(shape)
    assert found.rate == pytest.approx(rate)


def slices_of(truth, family, whitening):
    """Whitened slices of the exact third cumulant."""
    moments = family.population(truth, slices="all")
    return np.einsum(
        "rab,ai,bj->rij", moments.slices, whitening.coordinates, whitening.coordinates
    )


def test_rates_are_taken_before_negative_entries_are_removed() -> None:
    shape, rate = np.array([2.0, 0.5]), np.array([0.5, 0.2])
    mean = shape / rate
    truth = Parameters(TOPICS, mean / mean.sum(), concentration=shape, rate=rate)
    found = {}
    for negative in ("truncate", "simplex"):
        family = GammaPoisson(negative)
        exact = family.population(truth)
        bent = exact.lift - 0.4 * exact.lift.mean(axis=0)  # pushes entries below zero
        found[negative] = solve_equations(
            replace(exact, lift=bent), family, 2
        ).parameters
    assert found["simplex"].details["negative_mass"].max() > 0.0
    np.testing.assert_allclose(found["simplex"].rate, found["truncate"].rate)
    assert not np.allclose(found["simplex"].centers, found["truncate"].centers)


def test_variances_of_each_component_come_back() -> None:
    truth = Parameters(
        np.array([[3.0, 0.0], [0.0, -2.0], [1.0, 1.0]]),
        np.array([0.6, 0.4]),
        variances=np.array([0.3, 2.0]),
    )
    family = SphericalGaussian()
    found = solve_equations(family.population(truth), family, 2).parameters
    np.testing.assert_allclose(found.variances, [0.3, 2.0], atol=1e-9)
    np.testing.assert_allclose(found.centers, truth.centers, atol=1e-9)
