"""SVTD: the choice of the feature, rows read from slices, and its perturbation bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.decompositions import disturb, orthonormal, plant, sum_cubes, with_slices
from tercet.decomposition import bound_perturbation, solve, svtd
from tercet.decomposition.svtd import choose_feature, read_rows
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, Problem, Status
from tercet.whitening import whiten_matrix


def problem_of(slices: FloatArray, features: list[int] | None = None) -> Problem:
    size = slices.shape[1]
    return Problem(
        np.zeros((size, size, size)),
        np.ones(size),
        np.ones(size),
        np.zeros((60, size)),
        slices=slices,
        slice_features=None if features is None else np.array(features),
    )


def test_opposite_eigenvalues_are_no_tie_but_as_published() -> None:
    turn = orthonormal(3, 3, np.random.default_rng(0))
    slices = np.stack(
        [turn @ np.diag(row) @ turn.T for row in ([3.0, 0.0, -3.0], [1.0, 2.0, 3.0])]
    )
    problem = problem_of(slices, [40, 7])
    ours, published = choose_feature(problem), choose_feature(problem, "published")
    assert (ours.feature, ours.gap) == (40, pytest.approx(3.0))
    assert (published.feature, published.gap) == (7, pytest.approx(1.0))
    assert ours.relative_gap == pytest.approx(1.0)


def test_a_large_slice_needs_a_larger_gap() -> None:
    """A gap of 3 in a slice of size 100 stands out less than one of 2 in size 4."""
    slices = np.stack([np.diag([100.0, 97.0]), np.diag([4.0, 2.0])])
    problem = problem_of(slices)
    assert choose_feature(problem).feature == 1
    assert choose_feature(problem, "published").feature == 0


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), power=st.integers(-6, 6))
def test_units_do_not_change_the_choice(seed: int, power: int) -> None:
    planted = plant(np.random.default_rng(seed), 4)
    problem = planted.problem
    grown = replace(problem, third=problem.third * 10.0**power)
    for rule in ("eigenvalues", "published"):
        before, after = choose_feature(problem, rule), choose_feature(grown, rule)
        assert before.feature == after.feature
        assert after.gap == pytest.approx(before.gap * 10.0**power)


def test_slices_that_were_collected_and_slices_that_follow_are_the_same(
    rng: np.random.Generator,
) -> None:
    planted = plant(rng, 5)
    before = solve(planted.problem, "svtd")
    after = solve(with_slices(planted).problem, "svtd")
    assert before.notes["feature"] == after.notes["feature"]
    np.testing.assert_allclose(
        np.sort(before.rows, axis=1), np.sort(after.rows, axis=1), atol=1e-10
    )


def test_rows_are_the_diagonals_of_the_turned_slices(rng: np.random.Generator) -> None:
    slices = rng.standard_normal((60, 3, 3))
    slices = slices + slices.transpose(0, 2, 1)
    turn = orthonormal(3, 3, rng)
    rows = read_rows(problem_of(slices, list(range(60))), turn)
    for feature in range(60):
        expected = np.diag(turn.T @ slices[feature] @ turn)
        np.testing.assert_allclose(rows[feature], expected, atol=1e-12)


def test_rows_without_a_slice_come_from_the_tensor(rng: np.random.Generator) -> None:
    planted = with_slices(plant(rng, 4))
    whole = planted.problem
    assert whole.slices is not None
    assert whole.slice_features is not None
    some = replace(
        whole, slices=whole.slices[3:9], slice_features=whole.slice_features[3:9]
    )
    np.testing.assert_allclose(
        read_rows(some, planted.vectors), read_rows(whole, planted.vectors), atol=1e-10
    )


def test_more_features_than_fit_into_a_block(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svtd, "_BLOCK_ENTRIES", 9 * 100)
    planted = plant(rng, 3, n_features=950)
    values = np.linalg.eigvalsh(
        np.einsum("ra,aij->rij", planted.problem.unwhitening, planted.problem.third)
    )
    gaps = np.diff(values, axis=1).min(axis=1)
    best = int(np.argmax(gaps / np.sqrt(np.abs(values).max(axis=1))))
    assert choose_feature(planted.problem).feature == best


def test_no_feature_that_tells_components_apart_falls_back(
    rng: np.random.Generator,
) -> None:
    """Every feature has the same entry in two components; all others differ."""
    vectors = orthonormal(3, 3, rng)
    third = sum_cubes(vectors, np.array([2.0, 2.0, 3.0]))
    centers = np.array([[1.0, 1.0, 0.0], [0.5, 0.5, 2.0], [0.0, 0.0, 1.0]])
    problem = Problem(third, np.ones(3), np.ones(3), centers @ vectors.T, slices=None)
    factors = solve(problem, "svtd")
    assert factors.outcome.status is Status.FELL_BACK
    assert not factors.outcome.converged
    assert "joint" in factors.outcome.message
    assert factors.residual < 1e-10
    overlap = np.abs(vectors.T @ factors.vectors)
    np.testing.assert_allclose(overlap.max(axis=0), 1.0, atol=1e-9)
    np.testing.assert_array_equal(factors.rows, read_rows(problem, factors.vectors))


def test_published_rule_takes_singular_vectors(rng: np.random.Generator) -> None:
    problem = disturb(plant(rng, 5).problem, 0.02, rng)
    factors = solve(problem, "svtd", rule="published")
    left = np.linalg.svd(choose_feature(problem, "published").slice_matrix)[0]
    overlap = np.abs(left.T @ factors.vectors)
    np.testing.assert_allclose(overlap.max(axis=0), 1.0, atol=1e-9)
    assert factors.notes["rule"] == "published"


def test_what_it_refuses(rng: np.random.Generator) -> None:
    problem = plant(rng, 2).problem
    with pytest.raises(ParameterError, match="rule='widest'"):
        solve(problem, "svtd", rule="widest")
    with pytest.raises(ParameterError, match="least_gap"):
        solve(problem, "svtd", least_gap=0.0)


# Theorem 2.2.1 ----------------------------------------------------------------------


def exact_case(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centers with the moments that they have, d = 5 and k = 2."""
    rng = np.random.default_rng(seed)
    centers, weights = rng.dirichlet(np.ones(5), size=2).T, np.array([0.7, 0.3])
    pair = (centers * weights) @ centers.T
    third = np.einsum("j,aj,bj,cj->abc", weights, centers, centers, centers)
    return centers, pair, third


def run_svtd(pair: FloatArray, third: FloatArray) -> tuple[Problem, FloatArray]:
    """Return the small problem of full moments, with the rows that SVTD reads."""
    whitening = whiten_matrix(pair, 2)
    W = whitening.coordinates
    small = np.einsum("abc,ai,bj,cl->ijl", third, W, W, W)
    slices = np.einsum("abr,ai,bj->rij", third, W, W)
    problem = Problem(
        small,
        whitening.eigenvalues,
        np.zeros(2),
        whitening.unwhitening,
        slices=slices,
        slice_features=np.arange(5),
    )
    rows = solve(problem, "svtd").rows
    assert rows is not None
    return problem, rows


@pytest.mark.parametrize("case", range(4))
def test_the_bound_is_kept(case: int) -> None:
    centers, pair, third = exact_case(case)
    exact, rows = run_svtd(pair, third)
    np.testing.assert_allclose(np.sort(rows), np.sort(centers), atol=1e-10)
    noise = 0.3 * bound_perturbation(exact, 1e-12).threshold
    bound = bound_perturbation(exact, noise)
    assert bound.holds
    rng = np.random.default_rng(case)
    for _ in range(20):
        off = rng.standard_normal((5, 5))
        cube = rng.standard_normal((5, 5, 5))
        off = off + off.T
        cube = sum(
            cube.transpose(order)
            for order in [
                (0, 1, 2),
                (0, 2, 1),
                (1, 0, 2),
                (1, 2, 0),
                (2, 0, 1),
                (2, 1, 0),
            ]
        )
        _, moved = run_svtd(
            pair + 0.99 * noise * off / np.linalg.norm(off),
            third + 0.99 * noise * cube / np.linalg.norm(cube),
        )
        errors = [
            np.linalg.norm(moved[:, list(order)] - rows, axis=1)
            for order in ((0, 1), (1, 0))
        ]
        nearest = min(errors, key=lambda each: float(each.max()))
        assert (nearest <= bound.rows).all()


def test_the_bound_grows_with_the_noise_and_ends() -> None:
    problem = run_svtd(*exact_case(0)[1:])[0]
    limit = bound_perturbation(problem, 1e-12).threshold
    small, large = (bound_perturbation(problem, share * limit) for share in (0.1, 0.2))
    assert (small.rows < large.rows).all()
    assert small.rotation < large.rotation
    beyond = bound_perturbation(problem, 1.01 * limit)
    assert not beyond.holds
    assert np.isinf(beyond.rows).all()


def test_the_bound_rests_on_both_gaps() -> None:
    """Nearer centers (alpha_r) and nearer eigenvalues (alpha_M2) loosen it."""

    def problem_with(values: list[float], pairs: list[float]) -> Problem:
        third = sum_cubes(np.eye(2), np.array(values))
        roots = np.sqrt(pairs)
        return Problem(third, np.array(pairs), np.ones(2), np.diag(roots) + 0.1)

    far = bound_perturbation(problem_with([3.0, 1.0], [2.0, 1.0]), 1e-9)
    near = bound_perturbation(problem_with([2.0, 2.0], [2.0, 1.0]), 1e-9)
    even = bound_perturbation(problem_with([3.0, 1.0], [1.001, 1.0]), 1e-9)
    assert near.feature_gap < far.feature_gap
    assert near.threshold < far.threshold
    assert far.pair_gap == pytest.approx(1.0)
    assert even.pair_gap == pytest.approx(1.001**2 - 1.0)
    assert even.threshold < 0.01 * far.threshold
    assert even.rows.max() > 100.0 * far.rows.max()
    tied = bound_perturbation(problem_with([3.0, 1.0], [1.0, 1.0]), 1e-9)
    assert not tied.holds
    with pytest.raises(ParameterError, match="noise"):
        bound_perturbation(problem_with([3.0, 1.0], [2.0, 1.0]), 0.0)
