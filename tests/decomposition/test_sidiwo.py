"""SIDIWO: closed form, sweeps, and what it gives when too few components are asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.decompositions import orthonormal
from references.norm_costs import (
    best_angle_by_grid,
    cost_of_norms,
    cost_of_supports,
)
from tercet.decomposition import diagonalize_by_norms, diagonalize_jointly, solve
from tercet.decomposition.sidiwo import measure_norms
from tercet.exceptions import DataError, ParameterError
from tercet.families.population import plant_equations
from tercet.flow import Factors, FloatArray, Problem, Status
from tercet.whitening import whiten_pair, whiten_third

# Appendix A of paper 004: three centers, all of weight one.
CENTERS = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
WEIGHTS = np.ones(3)


def rank_two(
    centers: FloatArray, weights: FloatArray, n_components: int = 2
) -> tuple[Problem, FloatArray]:
    """Whiten exact moments with fewer components than there are; return E as well."""
    equations = plant_equations(centers, weights, weights, weights)
    whitening = whiten_pair(equations, n_components)
    return whiten_third(equations, whitening), whitening.unwhitening


def demixing(factors: Factors, unwhitening: FloatArray) -> FloatArray:
    """Return D of paper 004, `D = (E_l O)^+`."""
    return np.linalg.pinv(unwhitening @ factors.vectors)


def random_centers(seed: int, d: int = 7, k: int = 5) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(d, 0.4), size=k).T, rng.dirichlet(np.full(k, 2.0))


def feasible_turns(size: int) -> Iterator[FloatArray]:
    """Rotations that stand for all of the feasible set."""
    if size == 2:
        for angle in np.linspace(0.0, np.pi, 181):
            c, s = np.cos(angle), np.sin(angle)
            yield np.array([[c, -s], [s, c]])
        return
    rng = np.random.default_rng(0)
    for _ in range(200):
        yield orthonormal(size, size, rng)


# The counter-example ----------------------------------------------------------------


def test_whitened_tensor_is_that_of_the_appendix() -> None:
    """Its entries up to the signs of the singular vectors, and no orthogonal CP.

    Lemma A.1 turns into T111 = T221 here, which does not hold.
    """
    third = rank_two(CENTERS, WEIGHTS)[0].third
    root = np.sqrt(9.0 + 5.0 * np.sqrt(3.0))
    first = (1.0 + np.sqrt(3.0)) / (2.0 * root)
    largest = 2.0 * first**3 + ((2.0 + np.sqrt(3.0)) / root) ** 3
    assert abs(third[0, 0, 0]) == pytest.approx(largest, abs=1e-12)
    assert abs(third[0, 1, 1]) == pytest.approx(first, abs=1e-12)
    assert third[0, 0, 1] == pytest.approx(0.0, abs=1e-12)
    assert third[1, 1, 1] == pytest.approx(0.0, abs=1e-12)
    assert abs(third[0, 0, 0] - third[1, 1, 0]) > 0.1
    left = third[0, 0, 0] * third[1, 1, 0] + third[1, 0, 0] * third[1, 1, 1]
    assert abs(left - third[1, 0, 0] ** 2 - third[1, 1, 0] ** 2) > 0.05


def assert_theorem(centers: FloatArray, weights: FloatArray, size: int) -> None:
    """Statements 1 to 3 of theorem 3.1, for what SIDIWO returns."""
    problem, unwhitening = rank_two(centers, weights, size)
    factors = solve(problem, "sidiwo")
    D = demixing(factors, unwhitening)
    pseudo = unwhitening @ factors.vectors
    scaled = centers * np.sqrt(weights)
    # 1: every row meets at least one center; D M Omega^(1/2) even has rank l.
    assert (np.abs(D @ centers).max(axis=1) > 1e-8).all()
    assert np.linalg.matrix_rank(D @ scaled, tol=1e-8) == size
    # 2: pseudo-centers combine centers, inside the best-fit subspace of l dimensions.
    inside = centers @ np.linalg.lstsq(centers, pseudo, rcond=None)[0]
    np.testing.assert_allclose(inside, pseudo, atol=1e-10)
    best = np.linalg.svd(scaled)[0][:, :size]
    np.testing.assert_allclose(best @ (best.T @ pseudo), pseudo, atol=1e-10)
    # 3: they are no sub-block of the centers, nor D one of their pseudo-inverse.
    inverse = np.linalg.pinv(scaled)
    for chosen in itertools.combinations(range(len(weights)), size):
        block = scaled[:, chosen]
        assert np.linalg.norm(block - best @ (best.T @ block)) > 1e-6
        rows = inverse[list(chosen)]
        # D in D_l means D E_l is orthogonal and D lies in the span.
        turn = rows @ unwhitening
        distance = np.linalg.norm(turn @ turn.T - np.eye(size))
        distance += np.linalg.norm(rows - rows @ best @ best.T)
        assert distance > 1e-6


def test_theorem_on_the_counter_example() -> None:
    assert_theorem(CENTERS, WEIGHTS, 2)
    assert_theorem(CENTERS, WEIGHTS / 3.0, 2)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_theorem_on_other_centers(size: int, seed: int) -> None:
    assert_theorem(*random_centers(seed), size)


def test_both_costs_are_one() -> None:
    """Theorem 3.2: problems (5) and (6) are equivalent, at every feasible D."""
    for centers, weights in [(CENTERS, WEIGHTS), random_centers(1)]:
        _, unwhitening = rank_two(centers, weights)
        slices = np.einsum("h,ah,bh,rh->rab", weights, centers, centers, centers)
        for turn in itertools.islice(feasible_turns(2), 0, None, 30):
            D = np.linalg.pinv(unwhitening @ turn)
            assert cost_of_norms(D, slices) == pytest.approx(
                cost_of_supports(D, centers, weights), rel=1e-10
            )


@pytest.mark.parametrize("size", [2, 3])
def test_the_optimum_is_the_least_of_the_feasible_set(size: int, seed: int) -> None:
    """No D of the feasible set has a lower cost over the slices of all features."""
    cases = [random_centers(seed), random_centers(seed + 1)]
    if size == 2:
        cases.append((CENTERS, WEIGHTS))
    for centers, weights in cases:
        problem, unwhitening = rank_two(centers, weights, size)
        slices = np.einsum("h,ah,bh,rh->rab", weights, centers, centers, centers)
        factors = solve(problem, "sidiwo")
        reached = cost_of_norms(demixing(factors, unwhitening), slices)
        for turn in feasible_turns(size):
            D = np.linalg.pinv(unwhitening @ turn)
            assert reached <= cost_of_norms(D, slices) + 1e-9
        assert factors.notes["cost"] == pytest.approx(reached, rel=1e-8)


def test_orthogonal_centers_give_the_heaviest() -> None:
    """Orthogonal centers: the l heaviest come back (after theorem 3.1)."""
    rng = np.random.default_rng(2)
    centers = orthonormal(6, 4, rng)
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    problem, unwhitening = rank_two(centers, weights, 2)
    pseudo = unwhitening @ solve(problem, "sidiwo").vectors
    expected = centers[:, :2] * np.sqrt(weights[:2])
    overlap = np.abs(pseudo.T @ expected)
    np.testing.assert_allclose(np.sort(overlap.max(axis=0)), [0.3, 0.4], atol=1e-10)


# The solver --------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 12),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_closed_form_is_the_least_of_a_grid(
    seed: int, count: int, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    stack = scale * rng.standard_normal((count, 2, 2))
    stack = stack + stack.transpose(0, 2, 1)
    rotation, outcome = diagonalize_by_norms(stack)
    assert outcome.status is Status.EXACT
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(2), atol=1e-14)
    reached = cost_of_norms(rotation.T, stack)
    least = best_angle_by_grid(stack, 2001)
    assert reached <= least + 1e-12 * scale
    # The grid is fine enough to come near.
    assert least <= reached + 1e-2 * np.linalg.norm(stack)


@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1e150, 1e200])
def test_closed_form_at_the_ends_of_the_numbers(
    scale: float, rng: np.random.Generator
) -> None:
    stack = rng.standard_normal((7, 2, 2))
    expected = diagonalize_by_norms(stack)[0]
    np.testing.assert_allclose(
        diagonalize_by_norms(scale * stack)[0], expected, atol=1e-12
    )
    np.testing.assert_array_equal(
        diagonalize_by_norms(np.zeros((3, 2, 2)))[0], np.eye(2)
    )
    for wrong in (np.nan, np.inf):
        spoiled = stack.copy()
        spoiled[3, 0, 1] = wrong
        with pytest.raises(DataError, match="NaN or infinite"):
            diagonalize_by_norms(spoiled)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(3, 6), count=st.integers(1, 30))
def test_sweeps_do_not_lose_against_the_sum_of_squares(
    seed: int, size: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    stack = rng.standard_normal((count, size, size))
    stack = stack + stack.transpose(0, 2, 1)
    rotation, outcome = diagonalize_by_norms(stack)
    assert outcome.status in (Status.CONVERGED, Status.EXHAUSTED)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(size), atol=1e-12)
    jointly = diagonalize_jointly(stack)[0]
    reached = cost_of_norms(rotation.T, stack)
    assert reached <= cost_of_norms(jointly.T, stack) * (1.0 + 1e-12)
    assert measure_norms(rotation.T @ stack @ rotation) == pytest.approx(reached)


def test_a_rotation_of_one_pair_cannot_lower_the_sum(rng: np.random.Generator) -> None:
    stack = rng.standard_normal((9, 4, 4))
    stack = stack + stack.transpose(0, 2, 1)
    rotation, outcome = diagonalize_by_norms(stack)
    assert outcome.status is Status.CONVERGED
    reached = cost_of_norms(rotation.T, stack)
    for p, q in itertools.combinations(range(4), 2):
        for angle in np.linspace(-0.7, 0.7, 57):
            turn = np.eye(4)
            c, s = np.cos(angle), np.sin(angle)
            turn[[p, p, q, q], [p, q, p, q]] = c, -s, s, c
            assert cost_of_norms((rotation @ turn).T, stack) >= reached - 1e-9


def test_one_sweep_is_reported_as_too_few(rng: np.random.Generator) -> None:
    stack = rng.standard_normal((9, 5, 5))
    outcome = diagonalize_by_norms(stack, max_sweeps=1)[1]
    assert outcome.status is Status.EXHAUSTED
    assert outcome.iterations == 1


def test_what_it_refuses() -> None:
    with pytest.raises(DataError, match="at least one"):
        diagonalize_by_norms(np.zeros((0, 2, 2)))
    with pytest.raises(DataError, match="shape"):
        diagonalize_by_norms(np.ones((2, 3)))
    with pytest.raises(DataError, match="NaN"):
        diagonalize_by_norms(np.full((1, 2, 2), np.nan))
    with pytest.raises(ParameterError, match="max_sweeps=0"):
        diagonalize_by_norms(np.ones((1, 2, 2)), max_sweeps=0)
    with pytest.raises(ParameterError, match="tolerance"):
        diagonalize_by_norms(np.ones((1, 2, 2)), tolerance=0.0)
