"""Whitening: by algebraic eigenvalue, with a verdict, exact and randomised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet.exceptions import DataError, ParameterError, RankError
from tercet.flow import Equations
from tercet.whitening import (
    judge_spectrum,
    whiten_matrix,
    whiten_operator,
    whiten_pair,
    whiten_third,
)


def plant(
    rng: np.random.Generator, d: int, k: int, *, noise: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a pair moment of rank k, its centers and weights."""
    centers = rng.uniform(0.0, 1.0, size=(d, k))
    weights = rng.dirichlet(np.full(k, 5.0))
    disturbance = rng.standard_normal((d, d))
    matrix = (centers * weights) @ centers.T + noise * (disturbance + disturbance.T)
    return matrix, centers, weights


def inside(matrix: np.ndarray, basis: np.ndarray, *, orthonormal: bool) -> Equations:
    p = basis.shape[1]
    return Equations(
        first=matrix.sum(axis=0),
        lift=matrix @ basis,
        pair=basis.T @ matrix @ basis,
        third=np.zeros((p, p, p)),
        basis=basis,
        orthonormal=orthonormal,
    )


@given(d=st.integers(4, 12), k=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_whiteners_whiten_and_bring_back(d: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, *_ = plant(rng, d, k)
    sketch = rng.standard_normal((d, k + 2))
    values = np.linalg.eigvalsh(matrix)[::-1][:k]
    found = [
        (whiten_matrix(matrix, k), np.eye(d)),
        (whiten_operator(lambda V: matrix @ V, d, k, rng), np.eye(d)),
        (whiten_pair(inside(matrix, np.eye(d), orthonormal=True), k), np.eye(d)),
        (whiten_pair(inside(matrix, sketch, orthonormal=False), k), sketch),
    ]
    # A planted matrix may be close to rank k - 1 by chance.
    limit = 1e-8 * values[0] / values[-1]
    for whitening, basis in found:
        W = basis @ whitening.coordinates
        np.testing.assert_allclose(W.T @ matrix @ W, np.eye(k), atol=limit)
        np.testing.assert_allclose(whitening.unwhitening, matrix @ W, atol=limit)
        np.testing.assert_allclose(whitening.eigenvalues, values, atol=limit)
        np.testing.assert_allclose(
            whitening.unwhitening @ whitening.unwhitening.T, matrix, atol=limit
        )


def test_a_large_negative_eigenvalue_is_no_component() -> None:
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    matrix = rotation @ np.diag([4.0, 1.0, 0.0, 0.0, -9.0]) @ rotation.T
    rng = np.random.default_rng(1)
    for whitening in (
        whiten_matrix(matrix, 2),
        whiten_operator(lambda V: matrix @ V, 5, 2, rng),
        whiten_pair(inside(matrix, np.eye(5), orthonormal=True), 2),
    ):
        np.testing.assert_allclose(whitening.eigenvalues, [4.0, 1.0], atol=1e-10)
        assert whitening.verdict.negative_part == pytest.approx(9.0 / 5.0)
        # Nothing is above the size of the negative part: the verdict says so.
        assert whitening.verdict.supported == 0


@pytest.mark.parametrize("orthonormal", [True, False])
def test_too_many_components_are_refused(orthonormal: bool) -> None:
    rng = np.random.default_rng(0)
    matrix, *_ = plant(rng, 8, 3)
    basis = np.eye(8) if orthonormal else rng.standard_normal((8, 6))
    with pytest.raises(RankError, match="only 3 eigenvalues") as caught:
        whiten_pair(inside(matrix, basis, orthonormal=orthonormal), 4)
    assert caught.value.supported == 3
    with pytest.raises(ParameterError, match="n_components=0"):
        whiten_pair(inside(matrix, basis, orthonormal=orthonormal), 0)


def test_operators_and_matrices_are_checked() -> None:
    with pytest.raises(DataError, match="must be square"):
        whiten_matrix(np.ones((2, 3)), 1)
    with pytest.raises(DataError, match="NaN"):
        whiten_matrix(np.full((2, 2), np.nan), 1)
    with pytest.raises(ParameterError, match="more than the 3 features"):
        whiten_operator(lambda V: V, 3, 4, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": None}, "n_components=None must be"),
        ({"n_components": 2.5}, r"n_components=2\.5 must be"),
        ({"extra": -3}, "extra=-3"),
        ({"n_iterations": -1}, "n_iterations=-1"),
    ],
)
def test_bad_arguments_of_operators_are_named(change: dict, message: str) -> None:
    arguments = {"n_components": 2} | change
    with pytest.raises(ParameterError, match=message):
        whiten_operator(
            lambda V: V, n_features=9, rng=np.random.default_rng(0), **arguments
        )


def test_operators_that_give_nan_are_refused() -> None:
    with pytest.raises(DataError, match="apply gave NaN"):
        whiten_operator(lambda V: V * np.nan, 9, 2, np.random.default_rng(0))


@pytest.mark.parametrize("k", [0, 3, 1.0])
def test_verdicts_on_eigenvalues_that_are_not_there(k: int) -> None:
    with pytest.raises(ParameterError, match=f"n_components={k}"):
        judge_spectrum(np.array([1.0, 0.5]), k)


def test_randomised_block_agrees_with_lapack_under_noise() -> None:
    rng = np.random.default_rng(2)
    matrix, *_ = plant(rng, 300, 6, noise=1e-4)
    exact = whiten_matrix(matrix, 6)
    block = whiten_operator(lambda V: matrix @ V, 300, 6, rng, n_iterations=6)
    np.testing.assert_allclose(block.eigenvalues, exact.eigenvalues, rtol=1e-3)
    assert block.spectrum.size == 14
    overlap = np.linalg.svd(
        np.linalg.qr(exact.unwhitening)[0].T @ np.linalg.qr(block.unwhitening)[0]
    )[1]
    assert overlap.min() > 0.999


@given(scale=st.floats(1e-6, 1e6))
def test_scale_of_the_moment_does_not_matter(scale: float) -> None:
    matrix, *_ = plant(np.random.default_rng(4), 6, 2)
    plain, scaled = whiten_matrix(matrix, 2), whiten_matrix(scale * matrix, 2)
    np.testing.assert_allclose(
        scaled.unwhitening, np.sqrt(scale) * plain.unwhitening, rtol=1e-8, atol=1e-12
    )
    assert scaled.verdict.supported == plain.verdict.supported
    assert scaled.verdict.gap == pytest.approx(plain.verdict.gap, rel=1e-8)


def test_verdict_tells_gap_and_next_eigenvalue() -> None:
    verdict = judge_spectrum(np.array([5.0, 4.0, 1.0, -0.1]), 2)
    assert verdict.next_eigenvalue == 1.0
    assert verdict.gap == pytest.approx(0.75)
    assert verdict.supported == 3
    assert verdict.condition == pytest.approx(1.25)
    assert np.isnan(judge_spectrum(np.array([5.0]), 1).next_eigenvalue)


@given(k=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_whitened_third_moment_is_orthogonal(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 6
    matrix, centers, weights = plant(rng, d, k)
    basis = np.eye(d)
    third = np.einsum("j,aj,bj,cj->abc", weights, centers, centers, centers)
    slices = np.einsum("j,rj,aj,bj->rab", weights, centers, centers, centers)
    moments = Equations(
        centers @ weights,
        matrix,
        matrix,
        third,
        basis,
        slices=slices,
        slice_features=np.arange(d),
    )
    whitening = whiten_pair(moments, k)
    problem = whiten_third(moments, whitening)
    vectors = whitening.coordinates.T @ centers * np.sqrt(weights)
    limit = 1e-7 * whitening.verdict.condition
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=limit)
    wanted = np.einsum("j,aj,bj,cj->abc", weights**-0.5, vectors, vectors, vectors)
    np.testing.assert_allclose(problem.third, wanted, atol=limit)
    assert problem.slices is not None
    for feature in range(d):
        wanted = (vectors * centers[feature]) @ vectors.T
        np.testing.assert_allclose(problem.slices[feature], wanted, atol=limit)
