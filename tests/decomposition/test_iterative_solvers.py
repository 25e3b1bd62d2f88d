"""Power iteration, alternating and nonlinear least squares, random projections."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.decompositions import disturb, mismatch, orthonormal, plant, sum_cubes
from tercet.decomposition import diagonalize_by_congruence, power, solve
from tercet.decomposition.alternating import alternate
from tercet.decomposition.congruence import _normalize, _propose
from tercet.decomposition.least_squares import _Model, _scaled_pencil, fit_symmetric
from tercet.decomposition.power import Deflated, iterate_power
from tercet.decomposition.projections import project_tensor
from tercet.decomposition.targets import unwhitened_third
from tercet.exceptions import DataError, ParameterError
from tercet.families import SingleTopic
from tercet.families.population import plant_equations
from tercet.flow import FloatArray, Parameters, Problem, Status
from tercet.whitening import whiten_pair, whiten_third

# Tensor power --------------------------------------------------------------------------


def test_products_of_what_is_left(rng: np.random.Generator) -> None:
    """Deflation inside the product is deflation of the tensor."""
    planted = plant(rng, 4)
    found, values = planted.vectors[:, :2], planted.eigenvalues[:2]
    columns = orthonormal(4, 3, rng)
    left = planted.problem.third - sum_cubes(found, values)
    expected = np.einsum("abc,bs,cs->as", left, columns, columns)
    got = Deflated(planted.problem.third, found, values).apply(columns)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_power_iteration_is_quadratic() -> None:
    """A ratio of lambda v below one is squared at each step."""
    third = np.zeros((2, 2, 2))
    third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    whole = Deflated(third, np.zeros((2, 0)), np.zeros(0))
    start = np.array([[0.8], [0.6]])
    ratio = 2.0 * 0.6 / (3.0 * 0.8)
    for steps in (1, 2, 3):
        column, _, _ = iterate_power(whole, start, steps, 1e-300)
        expected = ratio ** (2**steps) * 3.0 / 2.0
        assert column[1, 0] / column[0, 0] == pytest.approx(expected, rel=1e-10)


def test_starts_lie_on_the_whole_sphere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every orthant gets its share; starts from one of them would be a mistake."""
    seen: list[FloatArray] = []

    def watch(
        tensor: Deflated, columns: FloatArray, budget: int, tolerance: float
    ) -> Any:
        seen.append(columns.copy())
        return iterate_power(tensor, columns, budget, tolerance)

    monkeypatch.setattr(power, "iterate_power", watch)
    problem = plant(np.random.default_rng(1), 3).problem
    solve(problem, "power", n_starts=800)
    starts = np.hstack([each for each in seen if each.shape[1] == 800])
    np.testing.assert_allclose(np.linalg.norm(starts, axis=0), 1.0, atol=1e-12)
    orthants = np.unique(np.sign(starts), axis=1, return_counts=True)[1]
    assert len(orthants) == 8
    assert orthants.min() > 0.8 * starts.shape[1] / 8.0


def test_power_without_rest_says_so(rng: np.random.Generator) -> None:
    problem = disturb(plant(rng, 6).problem, 0.3, rng)
    factors = solve(problem, "power", n_iterations=1, max_refinements=1, n_starts=2)
    assert factors.outcome.status is Status.EXHAUSTED
    assert "still moved" in factors.outcome.message
    assert factors.outcome.residual == factors.notes["moves"].max() > 1e-12


def test_the_generator_draws_the_starts(rng: np.random.Generator) -> None:
    problem = disturb(plant(rng, 5).problem, 1e-3, rng)
    few = {"n_starts": 3, "n_iterations": 5}
    first = solve(problem, "power", rng=np.random.default_rng(1), **few)
    other = solve(problem, "power", rng=np.random.default_rng(2), **few)
    assert not np.array_equal(first.vectors, other.vectors)


# Alternating least squares ----------------------------------------------------------


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 6))
def test_sweeps_do_not_raise_the_misfit(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    third = disturb(plant(rng, size).problem, 0.2, rng).third
    start = orthonormal(size, size, rng)
    misfits = [alternate(third, start, count, 1e-300).misfit for count in (1, 2, 4, 8)]
    assert (np.diff(misfits) <= 1e-9).all()


def test_random_starts_and_the_outcome(rng: np.random.Generator) -> None:
    planted = plant(rng, 3)
    factors = solve(planted.problem, "als", start="random", n_starts=20)
    assert factors.outcome.converged
    assert factors.notes["misfit"] < 1e-6
    assert mismatch(factors.vectors, factors.eigenvalues, planted)[0] < 1e-5
    noisy = disturb(planted.problem, 0.2, rng)
    short = solve(noisy, "als", start="random", n_starts=1, max_sweeps=1)
    assert short.outcome.status is Status.EXHAUSTED
    assert short.outcome.iterations == 1


def test_misfit_of_the_space_that_was_asked_for(rng: np.random.Generator) -> None:
    """Each space is fitted best by the run that looked at it."""
    problem = disturb(plant(rng, 4).problem, 0.1, rng)
    third, scale = unwhitened_third(problem)
    found = {
        space: solve(problem, "als", space=space)
        for space in ("whitened", "unwhitened")
    }

    def misfit(space: str, whitened: bool) -> float:
        factors = found[space]
        if whitened:
            return factors.residual
        columns = scale @ factors.vectors
        unit = columns / np.linalg.norm(columns, axis=0)
        gram = (unit.T @ unit) ** 3
        cubes = np.einsum("abc,aj,bj,cj->j", third, unit, unit, unit)
        rest = third - sum_cubes(unit, np.linalg.solve(gram, cubes))
        return float(np.linalg.norm(rest) / np.linalg.norm(third))

    assert misfit("whitened", True) < misfit("unwhitened", True)
    assert misfit("unwhitened", False) < misfit("whitened", False)


def test_full_means_the_whole_tensor_for_few_features(
    rng: np.random.Generator,
) -> None:
    """Noise outside the span is part of its misfit, and of no other."""
    centers = rng.dirichlet(np.ones(6), size=2).T
    weights = np.array([0.6, 0.4])
    moments = plant_equations(centers, weights, weights, weights)
    noise = rng.standard_normal((6, 6, 6))
    noise = sum(noise.transpose(order) for order in permutations(range(3)))
    noise *= 0.02 * np.linalg.norm(moments.third) / np.linalg.norm(noise)
    moments = replace(moments, third=moments.third + noise)
    problem = whiten_third(moments, whiten_pair(moments, 2))
    full = solve(problem, "als", space="full")
    inside = solve(problem, "als", space="unwhitened")
    # Twelve of the 56 entries that differ can be fitted.
    assert full.notes["misfit"] == pytest.approx(0.02 * np.sqrt(44 / 56), rel=0.3)
    assert inside.notes["misfit"] < 0.5 * full.notes["misfit"]
    again = solve(problem, "als", space="full", start="random", n_starts=20)
    assert again.notes["misfit"] == pytest.approx(full.notes["misfit"], rel=1e-3)


# Nonlinear least squares ------------------------------------------------------------


def half_misfit(third: FloatArray, columns: FloatArray) -> float:
    rest = sum_cubes(columns, np.ones(columns.shape[1])) - third
    return 0.5 * float((rest**2).sum())


def test_cost_gradient_and_gauss_newton_matrix(rng: np.random.Generator) -> None:
    """Against the misfit of the full tensor, by differences and by its Jacobian."""
    basis = orthonormal(6, 3, rng)
    third = plant(rng, 3).problem.third
    whole = np.einsum("abc,ia,jb,lc->ijl", third, basis, basis, basis)
    columns, step = rng.random((6, 2)), rng.standard_normal((6, 2))
    model = _Model(third, basis)
    cost, gradient = model.evaluate(columns)
    assert cost == pytest.approx(half_misfit(whole, columns), rel=1e-12)
    h = 1e-6
    ahead = half_misfit(whole, columns + h * step)
    back = half_misfit(whole, columns - h * step)
    slope = (ahead - back) / (2 * h)
    assert float(np.vdot(gradient, step)) == pytest.approx(slope, rel=1e-6)
    # J step is the derivative of the reconstruction along the step.
    one = np.ones(2)
    moved = (
        sum_cubes(columns + h * step, one) - sum_cubes(columns - h * step, one)
    ) / (2 * h)
    image = model.apply(columns, step)
    assert float(np.vdot(step, image)) == pytest.approx(
        float((moved**2).sum()), rel=1e-6
    )


def test_nls_reaches_a_stationary_point_below_its_start(
    rng: np.random.Generator,
) -> None:
    problem = disturb(plant(rng, 5).problem, 0.1, rng)
    factors = solve(problem, "nls")
    assert factors.outcome.status is Status.CONVERGED
    assert factors.notes["gradient"] < 1e-8
    from tercet.decomposition.targets import unwhitened_third

    third, _ = unwhitened_third(problem)
    start = half_misfit(third, _scaled_pencil(third, None))
    reached = 0.5 * (factors.notes["misfit"] * np.linalg.norm(third)) ** 2
    assert reached <= start
    early = solve(problem, "nls", max_iterations=1)
    assert early.outcome.status is Status.EXHAUSTED


def noisy_topics(seed: int, share: float) -> tuple[Any, Any, Problem, Parameters]:
    rng = np.random.default_rng(seed)
    truth = Parameters(rng.dirichlet(np.full(30, 0.2), size=4).T, np.full(4, 0.25))
    moments = SingleTopic().population(truth)
    whitening = whiten_pair(moments, 4)
    problem = disturb(whiten_third(moments, whitening), share, rng)
    return moments, whitening, problem, truth


def test_components_without_negative_entries() -> None:
    """The bound holds exactly, and many entries that are zero come out as zero."""
    problem = noisy_topics(0, 0.05)[2]
    third, scale = unwhitened_third(problem)
    basis = np.linalg.lstsq(scale.T, problem.unwhitening.T)[0].T
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-10)
    free = solve(problem, "nls")
    start = np.maximum(basis @ (scale @ free.vectors * np.cbrt(free.eigenvalues)), 0.0)
    fit = fit_symmetric(third, start, basis=basis, tolerance=1e-10)
    assert (fit.components >= 0.0).all()
    assert 0.1 < (fit.components == 0.0).mean() < 0.9
    # No feasible move from there lowers the misfit.
    whole = np.einsum("abc,ia,jb,lc->ijl", third, basis, basis, basis)
    reached = half_misfit(whole, fit.components)
    rng = np.random.default_rng(1)
    for _ in range(20):
        near = np.maximum(
            fit.components + 1e-4 * rng.standard_normal(fit.components.shape), 0.0
        )
        assert half_misfit(whole, near) >= reached


def test_the_bound_helps_topics_with_noise() -> None:
    """Mean error over seeds; single seeds may go either way."""
    errors: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(5):
        moments, whitening, problem, truth = noisy_topics(seed, 0.05)
        for bounded, found in errors.items():
            factors = solve(problem, "nls", nonnegative=bounded)
            recovered = SingleTopic().recover(factors, whitening, moments)
            distances = np.abs(
                truth.centers[:, :, None] - recovered.centers[:, None, :]
            ).sum(axis=0)
            found.append(float(distances.min(axis=1).mean()))
    assert np.mean(errors[True]) < np.mean(errors[False])


# Random projections ---------------------------------------------------------------


def test_contractions(rng: np.random.Generator) -> None:
    third = plant(rng, 4).problem.third
    rows = rng.standard_normal((6, 4))
    np.testing.assert_allclose(
        project_tensor(third, rows), np.einsum("abc,pc->pab", third, rows), atol=1e-12
    )


def test_whitening_plays_no_part_but_for_the_span(rng: np.random.Generator) -> None:
    """Another pair moment of the same span and the same M3 gives the same centers."""
    centers = rng.dirichlet(np.full(12, 0.5), size=3).T
    third = np.array([0.5, 0.3, 0.2])

    def columns(pairs: FloatArray) -> FloatArray:
        moments = plant_equations(centers, third, pairs, third)
        whitening = whiten_pair(moments, 3)
        factors = solve(whiten_third(moments, whitening), "random-projections")
        found = whitening.unwhitening @ factors.vectors
        found = found / found.sum(axis=0)
        return found[:, np.argsort(found[0])]

    np.testing.assert_allclose(
        columns(third), columns(np.array([0.1, 0.6, 0.4])), atol=1e-9
    )


def test_the_second_round_helps(rng: np.random.Generator) -> None:
    errors: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(6):
        planted = plant(rng, 6)
        problem = disturb(planted.problem, 1e-3, rng)
        for plug_in, found in errors.items():
            factors = solve(problem, "random-projections", plug_in=plug_in)
            found.append(mismatch(factors.vectors, factors.eigenvalues, planted)[0])
    assert np.mean(errors[True]) < np.mean(errors[False])


# Congruence -------------------------------------------------------------------------


def mixed(rng: np.random.Generator, size: int, count: int) -> tuple[Any, Any]:
    U = rng.standard_normal((size, size)) + 2.0 * np.eye(size)
    stack = np.stack(
        [U @ np.diag(rng.standard_normal(size)) @ U.T for _ in range(count)]
    )
    return U / np.linalg.norm(U, axis=0), stack


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 8))
def test_congruence_finds_what_was_mixed_from_nearby(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    U, stack = mixed(rng, size, size + 3)
    start = U + 0.02 * rng.standard_normal(U.shape)
    found, outcome = diagonalize_by_congruence(stack, start=start)
    assert outcome.status is Status.CONVERGED
    np.testing.assert_allclose(np.abs((found * U).sum(axis=0)), 1.0, atol=1e-8)


@pytest.mark.parametrize("size", [2, 5, 12])
def test_congruence_from_nothing(size: int, seed: int) -> None:
    for trial in range(5):
        U, stack = mixed(np.random.default_rng([seed, size, trial]), size, 3 * size)
        found, outcome = diagonalize_by_congruence(stack)
        assert outcome.converged
        gain = np.abs(np.linalg.solve(U, found))
        # One source each: a permutation up to scale.
        gain /= gain.max(axis=0)
        np.testing.assert_allclose(np.sort(gain, axis=0)[:-1], 0.0, atol=1e-7)


def test_a_step_at_rest_is_a_solution_of_all_pairs(rng: np.random.Generator) -> None:
    _, stack = mixed(rng, 4, 9)
    stack = stack + 0.05 * rng.standard_normal(stack.shape)
    stack = stack + stack.transpose(0, 2, 1)
    found, outcome = diagonalize_by_congruence(stack)
    assert outcome.status is Status.CONVERGED
    step = _propose(_normalize(np.linalg.inv(found), stack)[1])
    assert np.abs(step).max() < 1e-8


def test_congruence_says_when_its_budget_ends(rng: np.random.Generator) -> None:
    outcome = diagonalize_by_congruence(mixed(rng, 6, 8)[1], max_iterations=1)[1]
    assert outcome.status is Status.EXHAUSTED
    assert outcome.iterations == 1


def test_what_congruence_refuses() -> None:
    with pytest.raises(DataError, match="start has the shape"):
        diagonalize_by_congruence(np.ones((2, 3, 3)), start=np.eye(2))
    with pytest.raises(ParameterError, match="max_iterations"):
        diagonalize_by_congruence(np.ones((2, 3, 3)), max_iterations=0)


WRONG = [
    ("power", {"n_starts": 0}),
    ("power", {"n_iterations": 2.5}),
    ("power", {"tolerance": -1.0}),
    ("als", {"space": "wide"}),
    ("als", {"start": "hosvd"}),
    ("als", {"n_starts": 0}),
    ("nls", {"max_iterations": 0}),
    ("random-projections", {"n_projections": 0}),
]


@pytest.mark.parametrize(("method", "options"), WRONG, ids=str)
def test_wrong_parameters_are_named(method: str, options: dict[str, Any]) -> None:
    problem = plant(np.random.default_rng(0), 3).problem
    with pytest.raises(ParameterError, match=next(iter(options))):
        solve(problem, method, **options)
