"""What every decomposition must satisfy, as functions that raise when it does not.

The functions know no decomposition: they get a solver, `solver(problem)` returning
factors, and a planted problem. `oracles/decomposition_mutants.py` breaks them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from tercet.flow import Factors, FloatArray, Outcome, Problem

Solver = Callable[[Problem], Factors]

TOLERANCE = 1e-8


@dataclass(frozen=True)
class Planted:
    """A problem with its solution: orthonormal columns and their eigenvalues."""

    problem: Problem
    vectors: FloatArray
    eigenvalues: FloatArray


def orthonormal(rows: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """Draw orthonormal columns."""
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


def sum_cubes(vectors: FloatArray, values: FloatArray) -> FloatArray:
    """Return `sum_j values_j v_j (x) v_j (x) v_j`."""
    return np.einsum(
        "j,aj,bj,cj->abc", values, vectors, vectors, vectors, optimize=True
    )


def plant(rng: np.random.Generator, size: int, n_features: int = 24) -> Planted:
    """Plant factors of a mixture with weights of at least 0.02.

    The eigenvalues are `1 / sqrt(weight)`, those of the pair moment span a
    decade, and slices are left to the solver.
    """
    weights = 0.02 + (1.0 - 0.02 * size) * rng.dirichlet(np.full(size, 2.0))
    values = 1.0 / np.sqrt(weights)
    vectors = orthonormal(size, size, rng)
    pairs = np.sort(rng.uniform(0.1, 1.0, size))[::-1]
    unwhitening = orthonormal(n_features, size, rng) * np.sqrt(pairs)
    third = sum_cubes(vectors, values)
    problem = Problem(third, pairs, vectors @ np.sqrt(weights), unwhitening)
    return Planted(problem, vectors, values)


def with_slices(planted: Planted) -> Planted:
    """Collect the slices of all features, `H_r = sum_a E[r, a] T[:, :, a]`."""
    problem = planted.problem
    slices = np.einsum("ra,aij->rij", problem.unwhitening, problem.third)
    features = np.arange(len(slices))
    filled = replace(problem, slices=slices, slice_features=features)
    return replace(planted, problem=filled)


def turn(problem: Problem, rotation: FloatArray) -> Problem:
    """Express a problem in rotated whitened coordinates, `v -> R' v`."""
    third = np.einsum(
        "abc,ai,bj,cl->ijl", problem.third, rotation, rotation, rotation, optimize=True
    )
    slices = problem.slices
    return replace(
        problem,
        third=third,
        first=rotation.T @ problem.first,
        unwhitening=problem.unwhitening @ rotation,
        slices=None if slices is None else rotation.T @ slices @ rotation,
    )


def disturb(problem: Problem, share: float, rng: np.random.Generator) -> Problem:
    """Add a symmetric tensor of random numbers, of a share of the norm."""
    noise = rng.standard_normal(problem.third.shape)
    noise = sum(noise.transpose(order) for order in itertools.permutations(range(3)))
    noise *= share * np.linalg.norm(problem.third) / np.linalg.norm(noise)
    return replace(problem, third=problem.third + noise)


def mismatch(
    vectors: FloatArray, values: FloatArray, planted: Planted
) -> tuple[float, float]:
    """Return the worst distance of vectors and of eigenvalues, best matched."""
    distances = np.linalg.norm(
        planted.vectors[:, :, None] - vectors[:, None, :], axis=0
    )
    rows, columns = linear_sum_assignment(distances)
    gaps = np.abs(planted.eigenvalues[rows] - values[columns])
    return (
        float(distances[rows, columns].max()),
        float((gaps / planted.eigenvalues[rows]).max()),
    )


def check_form(factors: Factors, size: int) -> None:
    """Columns have length one, eigenvalues a positive sign, and an outcome is there."""
    assert factors.vectors.shape == (size, size)
    assert factors.eigenvalues.shape == (size,)
    assert np.isfinite(factors.vectors).all()
    assert np.isfinite(factors.eigenvalues).all()
    assert (factors.eigenvalues >= 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(factors.vectors, axis=0), 1.0, atol=1e-12)
    if factors.orthogonal:
        gram = factors.vectors.T @ factors.vectors
        np.testing.assert_allclose(gram, np.eye(size), atol=1e-10)
    assert isinstance(factors.outcome, Outcome)
    assert factors.outcome.message
    assert factors.residual >= 0.0


def check_planted(solver: Solver, planted: Planted) -> None:
    """Exact moments give back what was planted, with its sign and its scale."""
    factors = solver(planted.problem)
    check_form(factors, planted.problem.n_components)
    by_vector, by_value = mismatch(factors.vectors, factors.eigenvalues, planted)
    assert by_vector < TOLERANCE
    assert by_value < TOLERANCE
    rebuilt = sum_cubes(factors.vectors, factors.eigenvalues)
    rest = np.linalg.norm(planted.problem.third - rebuilt)
    share = rest / np.linalg.norm(planted.problem.third)
    assert abs(factors.residual - share) < 1e-12
    assert share < TOLERANCE


def check_rotation(solver: Solver, planted: Planted, rotation: FloatArray) -> None:
    """Factors turn with the coordinates, and eigenvalues stay."""
    before = solver(planted.problem)
    after = solver(turn(planted.problem, rotation))
    expected = Planted(planted.problem, rotation.T @ before.vectors, before.eigenvalues)
    by_vector, by_value = mismatch(after.vectors, after.eigenvalues, expected)
    assert by_vector < TOLERANCE
    assert by_value < TOLERANCE


def check_scale(solver: Solver, planted: Planted, scale: float) -> None:
    """A tensor that is c times as large has c times the eigenvalues."""
    problem = planted.problem
    slices = None if problem.slices is None else scale * problem.slices
    grown = replace(problem, third=scale * problem.third, slices=slices)
    before, after = solver(problem), solver(grown)
    expected = Planted(grown, before.vectors, scale * before.eigenvalues)
    by_vector, by_value = mismatch(after.vectors, after.eigenvalues, expected)
    assert by_vector < TOLERANCE
    assert by_value < TOLERANCE


def check_noise(
    solver: Solver, planted: Planted, rng: np.random.Generator, factor: float = 1e3
) -> None:
    """The error is at most a factor times the noise, from little noise on."""
    for share in (1e-7, 1e-5, 1e-4):
        noisy = disturb(planted.problem, share, rng)
        factors = solver(noisy)
        check_form(factors, noisy.n_components)
        by_vector, by_value = mismatch(factors.vectors, factors.eigenvalues, planted)
        assert by_vector < factor * share + 1e-10
        assert by_value < factor * share + 1e-10


def check_anything(solver: Solver, problem: Problem) -> None:
    """Whatever the tensor, the answer has its form and is made of numbers."""
    check_form(solver(problem), problem.n_components)
