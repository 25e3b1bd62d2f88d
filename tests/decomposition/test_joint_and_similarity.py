"""Joint diagonalisation by rotations and by similarity: sweeps, targets, variants."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.decompositions import disturb, mismatch, orthonormal, plant, with_slices
from references.norm_costs import squared_off_diagonal
from tercet.decomposition import (
    diagonalize_by_congruence,
    diagonalize_by_similarity,
    diagonalize_jointly,
    solve,
)
from tercet.decomposition import joint_diagonalization as module
from tercet.decomposition.joint import choose_targets
from tercet.decomposition.pivots import pivot_order
from tercet.decomposition.targets import compress_targets, slice_targets
from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, Problem, Status
from tercet.kernels.similarity import SHEAR_RULES, sweep_similarity

RULES = ("sh-rt", "just", "jdtm")


def symmetric_stack(
    rng: np.random.Generator, size: int, count: int, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Plant a rotation; noise relative to each target."""
    rotation = orthonormal(size, size, rng)
    stack = np.stack(
        [rotation * rng.standard_normal(size) @ rotation.T for _ in range(count)]
    )
    off = rng.standard_normal(stack.shape)
    off = off + off.transpose(0, 2, 1)
    return rotation, stack + noise * off / np.sqrt(2.0 * size)


def similar_stack(
    rng: np.random.Generator, size: int, count: int, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Plant a matrix of moderate condition."""
    Q = orthonormal(size, size, rng) * rng.uniform(0.5, 2.0, size)
    Q = Q @ orthonormal(size, size, rng)
    inverse = np.linalg.inv(Q)
    stack = np.stack([Q * rng.standard_normal(size) @ inverse for _ in range(count)])
    return Q / np.linalg.norm(Q, axis=0), stack + noise * rng.standard_normal(
        stack.shape
    )


def leak(found: FloatArray, planted: FloatArray) -> float:
    """Largest share of another source in any column; 0 for a scaled permutation."""
    gain = np.abs(np.linalg.solve(planted, found))
    gain = gain / gain.max(axis=0)
    assert len(set(gain.argmax(axis=0))) == len(gain)
    return float(np.sort(gain, axis=0)[:-1].max())


# By rotations --------------------------------------------------------------------------


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 7), count=st.integers(1, 60))
def test_no_rotation_of_a_pair_lowers_the_squares(
    seed: int, size: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    stack = rng.standard_normal((count, size, size))
    stack = stack + stack.transpose(0, 2, 1)
    rotation, outcome = diagonalize_jointly(stack)
    assert outcome.status is Status.CONVERGED
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(size), atol=1e-12)
    reached = squared_off_diagonal(rotation, stack)
    assert reached <= squared_off_diagonal(np.eye(size), stack) + 1e-9
    for p, q in itertools.combinations(range(size), 2):
        for angle in (-0.4, -0.01, 0.01, 0.4):
            turn = np.eye(size)
            c, s = np.cos(angle), np.sin(angle)
            turn[[p, p, q, q], [p, q, p, q]] = c, -s, s, c
            assert squared_off_diagonal(rotation @ turn, stack) >= reached - 1e-8


@pytest.mark.parametrize("size", [24, 30, 41])
def test_all_angles_at_once_end_where_pairs_do(
    size: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, stack = symmetric_stack(np.random.default_rng(seed), size, size, 0.02)
    at_once, outcome = diagonalize_jointly(stack)
    assert outcome.status is Status.CONVERGED
    monkeypatch.setattr(module, "AT_ONCE_FROM", 1000)
    in_pairs = diagonalize_jointly(stack)[0]
    overlap = np.abs(at_once.T @ in_pairs)
    np.testing.assert_allclose(overlap.max(axis=0), 1.0, atol=1e-8)
    np.testing.assert_allclose(at_once.T @ at_once, np.eye(size), atol=1e-12)


@pytest.mark.parametrize("size", [24, 36])
def test_all_angles_at_once_stand_what_is_no_joint_problem(
    size: int, rng: np.random.Generator
) -> None:
    stack = rng.standard_normal((6, size, size))
    stack = stack + stack.transpose(0, 2, 1)
    rotation, _ = diagonalize_jointly(stack)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(size), atol=1e-12)
    assert squared_off_diagonal(rotation, stack) < squared_off_diagonal(
        np.eye(size), stack
    )


def test_it_starts_at_the_identity() -> None:
    """Diagonal targets are left alone, equal diagonals too."""
    for stack in (
        np.stack([np.diag([1.0, 2.0, 3.0]), np.diag([3.0, 3.0, 3.0])]),
        np.stack([np.eye(4), 2.0 * np.eye(4)]),
    ):
        rotation, outcome = diagonalize_jointly(stack)
        np.testing.assert_array_equal(rotation, np.eye(stack.shape[1]))
        assert outcome.status is Status.CONVERGED


def test_the_cap_is_reported_when_it_is_hit(rng: np.random.Generator) -> None:
    for size in (6, 30):
        stack = symmetric_stack(rng, size, size, 0.1)[1]
        outcome = diagonalize_jointly(stack, max_sweeps=1)[1]
        assert outcome.status is Status.EXHAUSTED
        assert outcome.iterations == 1
        assert outcome.residual > 1e-10


@pytest.mark.parametrize("size", [1, 2, 5, 8, 9])
def test_every_pair_has_its_turn_once(size: int) -> None:
    pairs = [tuple(pair) for pair in pivot_order(size)]
    assert sorted(pairs) == sorted(itertools.combinations(range(size), 2))
    # Round-robin: no index twice in a round.
    for start in range(0, len(pairs), size // 2 or 1):
        playing = [index for pair in pairs[start : start + size // 2] for index in pair]
        assert len(playing) == len(set(playing))


def test_compressed_targets_have_the_same_inner_products(
    rng: np.random.Generator,
) -> None:
    stack = rng.standard_normal((50, 4, 4))
    stack = stack + stack.transpose(0, 2, 1)
    short = compress_targets(stack)
    assert len(short) == 10
    np.testing.assert_allclose(
        np.einsum("rij,rkl->ijkl", short, short),
        np.einsum("rij,rkl->ijkl", stack, stack),
        atol=1e-10,
    )


def test_three_choices_of_targets(rng: np.random.Generator) -> None:
    problem = with_slices(plant(rng, 4)).problem
    basis = choose_targets(problem, "basis", None, None)
    np.testing.assert_array_equal(basis[2], problem.third[:, :, 2])
    drawn = choose_targets(problem, "random", 7, np.random.default_rng(3))
    assert drawn.shape == (7, 4, 4)
    directions = np.random.default_rng(3).standard_normal((7, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    np.testing.assert_allclose(
        drawn, np.einsum("abc,pc->pab", problem.third, directions), atol=1e-12
    )
    assert choose_targets(problem, "random", None, None).shape == (4, 4, 4)
    slices = choose_targets(problem, "slices", None, None)
    assert problem.slices is not None
    np.testing.assert_allclose(
        np.einsum("rij,rkl->ijkl", slices, slices),
        np.einsum("rij,rkl->ijkl", problem.slices, problem.slices),
        atol=1e-9,
    )


def test_slices_follow_from_the_tensor_or_from_a_wider_basis(
    rng: np.random.Generator,
) -> None:
    """With and without collected slices the cost is that of all d slices."""
    planted = plant(rng, 3)
    problem = planted.problem
    full = np.einsum("ra,aij->rij", problem.unwhitening, problem.third)
    gram = np.einsum("rij,rkl->ijkl", full, full)
    for each in (problem, with_slices(planted).problem):
        short = slice_targets(each)
        np.testing.assert_allclose(
            np.einsum("rij,rkl->ijkl", short, short), gram, atol=1e-9
        )
    wide = rng.standard_normal((6, 6, 6))
    wide = sum(wide.transpose(order) for order in itertools.permutations(range(3)))
    coordinates = rng.standard_normal((6, 3))
    inside = Problem(
        np.einsum("abc,ai,bj,cl->ijl", wide, coordinates, coordinates, coordinates),
        problem.eigenvalues,
        problem.first,
        problem.unwhitening,
        basis_third=wide,
        coordinates=coordinates,
    )
    open_mode = np.einsum("abr,ai,bj->rij", wide, coordinates, coordinates)
    short = slice_targets(inside)
    np.testing.assert_allclose(
        np.einsum("rij,rkl->ijkl", short, short),
        np.einsum("rij,rkl->ijkl", open_mode, open_mode),
        atol=1e-8,
    )


def test_what_joint_refuses(rng: np.random.Generator) -> None:
    problem = plant(rng, 2).problem
    with pytest.raises(ParameterError, match="targets='rows'"):
        solve(problem, "joint", targets="rows")
    with pytest.raises(ParameterError, match="n_targets=0"):
        solve(problem, "joint", targets="random", n_targets=0)
    with pytest.raises(DataError, match="at least one square matrix"):
        diagonalize_jointly(np.zeros((0, 2, 2)))


# By similarity -------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 9))
def test_similarity_finds_what_was_planted(rule: str, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    Q, stack = similar_stack(rng, size, 2 * size, 0.0)
    found, inverse, outcome = diagonalize_by_similarity(stack, rule)
    assert outcome.status is Status.CONVERGED
    np.testing.assert_allclose(inverse @ found, np.eye(size), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), 1.0, atol=1e-12)
    assert leak(found, Q) < 1e-8


@pytest.mark.parametrize("rule", RULES)
def test_similarity_with_noise(rule: str, rng: np.random.Generator) -> None:
    Q, stack = similar_stack(rng, 6, 20, 0.01)
    found, inverse, outcome = diagonalize_by_similarity(stack, rule)
    assert outcome.status is Status.CONVERGED
    assert leak(found, Q) < 0.1
    turned = inverse @ stack @ found
    off = turned * (1.0 - np.eye(6))
    assert np.linalg.norm(off) < 0.1 * np.linalg.norm(turned)


@pytest.mark.parametrize("rule", RULES)
def test_similarity_is_equivariant(rule: str, rng: np.random.Generator) -> None:
    """A rotation of the targets turns Q, on exact targets."""
    Q, stack = similar_stack(rng, 5, 9, 0.0)
    turn = orthonormal(5, 5, rng)
    found = diagonalize_by_similarity(turn.T @ stack @ turn, rule)[0]
    assert leak(turn @ found, Q) < 1e-8


def test_a_start_saves_sweeps(rng: np.random.Generator) -> None:
    Q, stack = similar_stack(rng, 8, 20, 0.0)
    cold = diagonalize_by_similarity(stack)[2]
    warm = diagonalize_by_similarity(stack, start=Q)[2]
    assert warm.iterations < cold.iterations
    with pytest.raises(DataError, match="start has the shape"):
        diagonalize_by_similarity(stack, start=np.eye(3))
    with pytest.raises(DataError, match="singular"):
        diagonalize_by_similarity(stack, start=np.zeros((8, 8)))


@pytest.mark.parametrize("rule", RULES)
def test_nothing_divides_by_zero(rule: str) -> None:
    """Zeros, equal eigenvalues and defective targets give numbers."""
    jordan = np.array([[1.0, 1.0], [0.0, 1.0]])
    for stack in (
        np.zeros((3, 4, 4)),
        np.stack([np.eye(3), np.eye(3)]),
        jordan[None],
        np.array([[[0.0, -1.0], [1.0, 0.0]]]),
    ):
        found, inverse, _ = diagonalize_by_similarity(stack, rule, max_sweeps=30)
        assert np.isfinite(found).all()
        assert np.isfinite(inverse).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_sweep_never_raises_its_measure(rule: str, rng: np.random.Generator) -> None:
    """The whole norm for sh-rt, its off-diagonal part for JUST and JDTM."""
    _, stack = similar_stack(rng, 5, 8, 0.2)
    working = np.ascontiguousarray(stack.transpose(1, 2, 0))
    transposed, inverse = np.eye(5), np.eye(5)
    off = 1.0 - np.eye(5)[:, :, None]

    def measure() -> float:
        return float(((working if rule == "sh-rt" else working * off) ** 2).sum())

    measures = [measure()]
    for _ in range(6):
        sweep_similarity(
            working, transposed, inverse, pivot_order(5), SHEAR_RULES[rule], 0.0
        )
        measures.append(measure())
        # Q and its inverse go along with the targets.
        np.testing.assert_allclose(inverse @ transposed.T, np.eye(5), atol=1e-10)
        turned = inverse @ stack @ transposed.T
        np.testing.assert_allclose(turned.transpose(1, 2, 0), working, atol=1e-9)
    assert (np.diff(measures) <= 1e-9 * measures[0]).all()
    assert measures[-1] < 0.97 * measures[0]


def test_complex_pairs_are_reported() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    stack = np.stack([turn, turn + 0.1 * np.eye(2)])
    found, inverse, outcome = diagonalize_by_similarity(stack, "eigen")
    assert outcome.status is Status.FELL_BACK
    assert outcome.residual == 1.0
    assert "1 complex pair" in outcome.message
    assert np.isfinite(found).all()
    assert np.isfinite(inverse).all()


def test_eigen_variant_is_exact_where_nothing_is_complex(
    rng: np.random.Generator,
) -> None:
    Q, stack = similar_stack(rng, 7, 5, 0.0)
    for generator in (None, rng):
        found, inverse, outcome = diagonalize_by_similarity(
            stack, "eigen", rng=generator
        )
        assert outcome.status is Status.EXACT
        np.testing.assert_allclose(inverse @ found, np.eye(7), atol=1e-8)
        assert leak(found, Q) < 1e-8


def test_what_similarity_refuses() -> None:
    with pytest.raises(ParameterError, match="method='shear'"):
        diagonalize_by_similarity(np.ones((1, 2, 2)), "shear")
    with pytest.raises(ParameterError, match="max_sweeps"):
        diagonalize_by_similarity(np.ones((1, 2, 2)), max_sweeps=0)


# Beside others ----------------------------------------------------------------------


def pyriemann_ajd() -> Any:
    """Return pyRiemann's module, which moved from one version to the next."""
    pytest.importorskip("pyriemann")
    try:
        from pyriemann.geometry import ajd
    except ImportError:
        from pyriemann.utils import ajd
    return ajd


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("size", [5, 12, 30])
def test_accuracy_is_that_of_pyriemann(size: int, seed: int) -> None:
    ajd = pyriemann_ajd()
    rng = np.random.default_rng(seed)
    planted, stack = symmetric_stack(rng, size, size, 0.01)
    ours = diagonalize_jointly(stack)[0]
    theirs = ajd.rjd(stack, eps=1e-12)[0]
    ours_cost = squared_off_diagonal(ours, stack)
    assert ours_cost <= squared_off_diagonal(theirs, stack) * (1.0 + 1e-6)
    assert leak(ours, planted) <= leak(theirs, planted) * (1.0 + 1e-3)
    wedge = np.linalg.inv(ajd.uwedge(stack)[0])
    congruent = diagonalize_by_congruence(stack)[0]
    assert leak(congruent, planted) <= leak(wedge, planted) * 1.05 + 1e-4


def test_joint_beats_one_combination_when_there_is_noise() -> None:
    """What joint diagonalisation is for: the median error is several times less."""
    errors: dict[str, list[float]] = {"joint": [], "svd": [], "eigen": []}
    for seed in range(9):
        rng = np.random.default_rng(seed)
        planted = plant(rng, 6)
        noisy = disturb(planted.problem, 0.01, rng)
        for method, found in errors.items():
            factors = solve(noisy, method)
            found.append(mismatch(factors.vectors, factors.eigenvalues, planted)[0])
    middle = {method: np.median(found) for method, found in errors.items()}
    assert middle["joint"] < 0.5 * middle["svd"]
    assert middle["joint"] < 0.5 * middle["eigen"]
