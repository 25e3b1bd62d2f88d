"""Cumulants of two views: unbiased, exact in the limit, and what they return."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from references.two_views import (
    stacked_cumulants,
    third_cumulant,
    unbiased_cross,
    unbiased_projection,
)
from tercet.decomposition import diagonalize_by_similarity
from tercet.exceptions import DataError
from tercet.families.two_view import ViewEquations, form_cumulants
from tercet.families.two_view_recovery import cumulant_targets, recover_loadings
from tercet.models.view_solving import whiten_equations
from tercet.moments import collect_views

KINDS = [("counts", "counts"), ("reals", "reals"), ("reals", "counts")]


def draw_views(
    rng: np.random.Generator, kinds: tuple[str, str], n: int = 9
) -> list[np.ndarray]:
    shared = rng.gamma(0.5, 3.0, size=(n, 2))
    views = []
    for kind, d in zip(kinds, (4, 3), strict=True):
        means = shared @ rng.uniform(0.0, 1.0, (2, d)) + 0.5
        counts = rng.poisson(means).astype(float)
        views.append(counts if kind == "counts" else rng.normal(means))
    return views


def full_thirds(equations: ViewEquations) -> list[np.ndarray]:
    """T121 and T122 with indices (view 1, view 2, repeated view), bases undone."""
    inverses = [np.linalg.pinv(basis) for basis in equations.bases]
    first = np.einsum(
        "acb,am,cn,bk->mkn", equations.thirds[0], inverses[0], inverses[0], inverses[1]
    )
    second = np.einsum(
        "acb,am,cn,bk->kmn", equations.thirds[1], inverses[1], inverses[1], inverses[0]
    )
    return [first, second]


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("sketch", [False, True])
def test_estimators_are_those_of_the_thesis(
    rng: np.random.Generator, kinds: tuple[str, str], sketch: bool
) -> None:
    X1, X2 = draw_views(rng, kinds)
    strategy = "sketch" if sketch else "exact"
    sums = collect_views(X1, X2, 2, kinds=kinds, strategy=strategy, extra=2)
    found = form_cumulants(sums)
    B1, B2 = found.bases
    S12 = unbiased_cross(X1, X2)
    np.testing.assert_allclose(found.cross, B1.T @ S12 @ B2, atol=1e-10)
    np.testing.assert_allclose(found.lifts[0], S12 @ B2, atol=1e-10)
    np.testing.assert_allclose(found.lifts[1], S12.T @ B1, atol=1e-10)
    np.testing.assert_allclose(found.within[0], B1.T @ np.cov(X1.T) @ B1, atol=1e-10)
    for j, basis in ((1, B1), (2, B2)):
        for c in range(basis.shape[1]):
            wanted = unbiased_projection(
                X1, X2, j, basis[:, c], counts=kinds[j - 1] == "counts"
            )
            mine = found.thirds[j - 1][:, c, :]
            mine = mine if j == 1 else mine.T
            np.testing.assert_allclose(mine, B1.T @ wanted @ B2, atol=1e-9)


@pytest.mark.parametrize("kinds", KINDS)
def test_expectation_over_all_samples_is_the_cumulant(kinds: tuple[str, str]) -> None:
    points = [np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])] * 1
    first, second = points[0], np.array([[1.0], [0.0], [4.0]])
    chances = np.array([0.5, 0.3, 0.2])
    mean_cross, mean_thirds = 0.0, [0.0, 0.0]
    for chosen in itertools.product(range(3), repeat=4):
        index = np.array(chosen)
        if np.unique(index).size == 1:
            continue  # a constant sample is refused; its cumulants are zero
        sums = collect_views(
            first[index], second[index], 1, kinds=kinds, strategy="exact"
        )
        found = form_cumulants(sums)
        weight = chances[index].prod()
        mean_cross = mean_cross + weight * found.cross
        for j, third in enumerate(full_thirds(found)):
            mean_thirds[j] = mean_thirds[j] + weight * third
    centred = [table - chances @ table for table in (first, second)]
    covariance = np.einsum("i,ia,ib->ab", chances, *centred)
    np.testing.assert_allclose(mean_cross, covariance, atol=1e-12)
    for j, table in enumerate((first, second)):
        wanted = third_cumulant(first, chances, second, table)
        if kinds[j] == "counts":
            for a, b in np.ndindex(*covariance.shape):
                wanted[a, b, (a, b)[j]] -= covariance[a, b]
        np.testing.assert_allclose(mean_thirds[j], wanted, atol=1e-12)


def exact_equations(
    rng: np.random.Generator, k: int, kinds: tuple[str, str]
) -> tuple[ViewEquations, list[np.ndarray]]:
    """Population cumulants with more noise sources than features."""
    sizes = (k + 3, k + 1)
    loadings, noise = [], []
    for kind, d in zip(kinds, sizes, strict=True):
        if kind == "counts":
            loadings.append(rng.dirichlet(np.full(d, 0.5), size=k).T)
            noise.append(rng.dirichlet(np.full(d, 0.5), size=d + 2).T)
        else:
            drawn = rng.normal(size=(d, k))
            drawn /= np.linalg.norm(drawn, axis=0)
            heaviest = np.abs(drawn).argmax(axis=0)
            loadings.append(drawn * np.sign(drawn[heaviest, np.arange(k)]))
            noise.append(rng.normal(size=(d, d + 2)))
    total = k + sum(part.shape[1] for part in noise)
    # Strengths that differ, so that the order is the same on both sides.
    variances = np.r_[np.linspace(3.0, 1.0, k), rng.uniform(0.5, 2.0, total - k)]
    covariance, S12, thirds = stacked_cumulants(
        tuple(loadings), tuple(noise), variances, rng.uniform(1.0, 3.0, total), kinds
    )
    d1, d2 = sizes
    equations = ViewEquations(
        kinds=kinds,
        bases=(np.eye(d1), np.eye(d2)),
        cross=S12,
        lifts=(S12, S12.T),
        thirds=(thirds[0].transpose(0, 2, 1), thirds[1].transpose(1, 2, 0)),
        within=(covariance[:d1, :d1], covariance[d1:, d1:]),
        spreads=(1.0, 1.0),
        means=(np.zeros(d1), np.zeros(d2)),
        n_rows=np.inf,
    )
    return equations, loadings


def recover(equations: ViewEquations, k: int, method: str = "sh-rt") -> Any:
    whitening = whiten_equations(equations, k)
    targets = cumulant_targets(equations, whitening)
    vectors, inverse, outcome = diagonalize_by_similarity(targets.stack, method)
    return recover_loadings(vectors, inverse, equations, whitening), outcome


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 13, 20])
def test_exact_cumulants_return_both_loadings(
    rng: np.random.Generator, k: int, kinds: tuple[str, str]
) -> None:
    equations, loadings = exact_equations(rng, k, kinds)
    found, _ = recover(equations, k)
    for mine, true in zip(found.loadings, loadings, strict=True):
        signs = 1.0 if "counts" in kinds else np.sign((mine * true).sum(axis=0))
        np.testing.assert_allclose(mine * signs, true, atol=1e-8)
    np.testing.assert_allclose(found.strengths, np.linspace(3.0, 1.0, k), rtol=1e-8)
    np.testing.assert_allclose(found.weights.sum(), 1.0)


@pytest.mark.parametrize("method", ["sh-rt", "just", "jdtm", "eigen"])
def test_every_variant_solves_the_exact_problem(
    rng: np.random.Generator, method: str
) -> None:
    equations, loadings = exact_equations(rng, 6, ("counts", "counts"))
    found, outcome = recover(equations, 6, method)
    assert outcome.converged
    for mine, true in zip(found.loadings, loadings, strict=True):
        np.testing.assert_allclose(mine, true, atol=1e-8)


@pytest.mark.parametrize("spoil", ["sign", "factor 2", "no correction", "swapped"])
def test_a_wrong_third_cumulant_is_noticed(
    rng: np.random.Generator, spoil: str
) -> None:
    equations, loadings = exact_equations(rng, 4, ("counts", "counts"))
    wrong = list(equations.thirds)
    if spoil == "sign":
        each = np.arange(len(wrong[0]))
        wrong[0] = wrong[0].copy()
        wrong[0][each, each] += 2.0 * equations.cross
    elif spoil == "factor 2":
        each = np.arange(len(wrong[0]))
        wrong[0] = wrong[0].copy()
        wrong[0][each, each] -= equations.cross
    elif spoil == "no correction":
        each = np.arange(len(wrong[1]))
        wrong[1] = wrong[1].copy()
        wrong[1][each, each] += equations.cross.T
    else:
        size = min(wrong[0].shape[1:])
        wrong[0] = wrong[0].copy()
        wrong[0][:, :size, :size] = wrong[0][:, :size, :size].transpose(0, 2, 1)
    spoiled = ViewEquations(**{**vars(equations), "thirds": tuple(wrong)})
    found, _ = recover(spoiled, 4)
    worst = max(
        np.abs(mine - true).max()
        for mine, true in zip(found.loadings, loadings, strict=True)
    )
    assert worst > 1e-4


def test_weights_count_repetitions(rng: np.random.Generator) -> None:
    X1, X2 = draw_views(rng, ("counts", "counts"))
    times = rng.integers(0, 4, size=len(X1)).astype(float)
    weighted = form_cumulants(
        collect_views(X1, X2, 2, sample_weight=times, strategy="sketch", extra=2)
    )
    rows = np.repeat(np.arange(len(X1)), times.astype(int))
    repeated = form_cumulants(
        collect_views(X1[rows], X2[rows], 2, strategy="sketch", extra=2)
    )
    np.testing.assert_allclose(weighted.cross, repeated.cross, atol=1e-10)
    np.testing.assert_allclose(weighted.thirds[0], repeated.thirds[0], atol=1e-9)
    np.testing.assert_allclose(weighted.spreads, repeated.spreads)


def test_digits_survive_an_offset(rng: np.random.Generator) -> None:
    X1, X2 = draw_views(rng, ("reals", "reals"), n=200)
    near = form_cumulants(collect_views(X1, X2, 2, kinds=("reals", "reals")))
    far = form_cumulants(collect_views(X1 + 1e6, X2 - 1e6, 2, kinds=("reals", "reals")))
    np.testing.assert_allclose(near.cross, far.cross, rtol=1e-6)
    np.testing.assert_allclose(near.thirds[0], far.thirds[0], rtol=1e-4, atol=1e-6)


def test_two_rows_are_too_few() -> None:
    sums = collect_views(np.eye(2), np.eye(2), 1)
    with pytest.raises(DataError, match="need more than two"):
        form_cumulants(sums)


@pytest.mark.parametrize("side", [0, 1])
def test_constant_view_is_named(rng: np.random.Generator, side: int) -> None:
    views = draw_views(rng, ("counts", "counts"))
    views[side] = np.tile(views[side][:1] + 1.0, (len(views[side]), 1))
    with pytest.raises(DataError, match=f"X{side + 1} is constant"):
        form_cumulants(collect_views(*views, 2))
