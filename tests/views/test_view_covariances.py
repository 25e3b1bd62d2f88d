"""Generalised covariances of two views: formulas, exact limits, no overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from references.two_views import tilted_cross
from tercet import DiscreteCCA, NonGaussianCCA
from tercet.decomposition import diagonalize_by_similarity
from tercet.families.two_view import ViewEquations, form_cumulants, form_tilted
from tercet.families.two_view_recovery import (
    choose_points,
    recover_loadings,
    tilted_targets,
)
from tercet.intake import open_pair
from tercet.models.view_solving import whiten_equations
from tercet.moments import collect_tilts, collect_views

COUNTS = ("counts", "counts")
REALS = ("reals", "reals")


@pytest.mark.parametrize("kinds", [COUNTS, REALS, ("reals", "counts")])
def test_tilted_covariances_are_those_of_the_thesis(
    rng: np.random.Generator, kinds: tuple[str, str]
) -> None:
    X1 = rng.poisson(2.0, (12, 4)).astype(float)
    X2 = rng.poisson(2.0, (12, 3)).astype(float)
    t1, t2 = rng.normal(scale=0.2, size=(2, 4)), rng.normal(scale=0.2, size=(3, 3))
    pair = open_pair(sparse.csr_array(X1), X2, requirements=kinds, block_rows=5)
    sums = collect_views(pair, None, 1, kinds=kinds, strategy="sketch", extra=1)
    found = form_tilted(collect_tilts(pair, sums, (t1, t2)))
    B1, B2 = sums.bases
    for place, t in enumerate(t1):
        wanted = tilted_cross(X1, X2, t, np.zeros(3))
        if kinds[0] == "counts":
            wanted = np.exp(-t)[:, None] * wanted
        np.testing.assert_allclose(found[place], B1.T @ wanted @ B2, atol=1e-10)
    for place, t in enumerate(t2):
        wanted = tilted_cross(X1, X2, np.zeros(4), t)
        if kinds[1] == "counts":
            wanted = wanted * np.exp(-t)
        np.testing.assert_allclose(found[2 + place], B1.T @ wanted @ B2, atol=1e-10)


def test_points_follow_the_scale_rule(rng: np.random.Generator) -> None:
    X1 = rng.gamma(0.5, 400.0, size=(300, 4))
    X2 = X1[:, :3] + rng.gamma(0.5, 400.0, size=(300, 3))
    sums = collect_views(X1, X2, 2, kinds=("reals", "counts"))
    equations = form_cumulants(sums)
    whitening = whiten_equations(equations, 2)

    def choose(delta: float) -> list[np.ndarray]:
        points = choose_points(sums, equations, whitening, delta)
        # A view of real numbers has each point with its opposite.
        np.testing.assert_array_equal(points[0][:2], -points[0][2:])
        return [points[0][:2], points[1]]

    for j, X in enumerate((X1, X2)):
        # Equation 4.47 with unit directions W_j' e_p.
        delta = 2.0 * X.size / np.abs(X).sum()
        directions = (equations.bases[j] @ whitening.coordinates[j]).T
        np.testing.assert_allclose(choose(2.0)[j], delta * directions, rtol=1e-10)
        for extreme, spread in ((1e9, 0.1), (1e-9, 1e-3)):
            exponents = X @ choose(extreme)[j].T
            np.testing.assert_allclose(exponents.std(axis=0, ddof=1), spread, rtol=1e-8)


def exact_tilted(
    rng: np.random.Generator, k: int, kinds: tuple[str, str]
) -> tuple[ViewEquations, np.ndarray, Any, Any]:
    """Population S12 and S12(t) of gamma sources, noise sources in both views.

    The cumulant generating function is a sum over sources; in the mixed derivative
    by t1 and t2 only shared ones are left, each with `c / (b - h)^2` (4.38 - 4.40).
    """
    d1, d2 = k + 3, k + 1
    draw = [
        rng.dirichlet(np.full(d, 0.5), size=k).T
        if kind == "counts"
        else np.abs(rng.normal(size=(d, k)))
        for kind, d in zip(kinds, (d1, d2), strict=True)
    ]
    loadings = [
        part if kind == "counts" else part / np.linalg.norm(part, axis=0)
        for kind, part in zip(kinds, draw, strict=True)
    ]
    shape, rate = np.linspace(3.0, 1.0, k), 1.0
    S12 = loadings[0] @ np.diag(shape / rate**2) @ loadings[1].T
    points, tilted = [], []
    for j, d in enumerate((d1, d2)):
        t = rng.normal(scale=0.2 / np.sqrt(k), size=(k, d))
        if kinds[j] == "reals":
            t = np.concatenate([t, -t])
        for row in t:
            seen = np.expm1(row) if kinds[j] == "counts" else row
            h = loadings[j].T @ seen
            assert np.all(h < rate)
            # Rows of counts are freed of exp(t) again (footnote 6).
            tilted.append(
                loadings[0] @ np.diag(shape / (rate - h) ** 2) @ loadings[1].T
            )
        points.append(t)
    noise = [rng.normal(size=(d, d + 4)) for d in (d1, d2)]
    equations = ViewEquations(
        kinds=kinds,
        bases=(np.eye(d1), np.eye(d2)),
        cross=S12,
        lifts=(S12, S12.T),
        thirds=(np.zeros((d1, d1, d2)), np.zeros((d2, d2, d1))),
        within=(noise[0] @ noise[0].T, noise[1] @ noise[1].T),
        spreads=(1.0, 1.0),
        means=(np.zeros(d1), np.zeros(d2)),
        n_rows=np.inf,
    )
    return equations, np.array(tilted), (points[0], points[1]), loadings


@pytest.mark.parametrize("kinds", [COUNTS, REALS, ("reals", "counts")])
@pytest.mark.parametrize("k", [1, 2, 4, 9, 20])
def test_exact_covariances_return_both_loadings(
    rng: np.random.Generator, k: int, kinds: tuple[str, str]
) -> None:
    equations, tilted, points, loadings = exact_tilted(rng, k, kinds)
    whitening = whiten_equations(equations, k)
    n_rows = np.full(len(tilted), np.inf)
    targets = tilted_targets(tilted, points, n_rows, equations, whitening)
    vectors, inverse, _ = diagonalize_by_similarity(targets.stack)
    found = recover_loadings(vectors, inverse, equations, whitening)
    for mine, true in zip(found.loadings, loadings, strict=True):
        np.testing.assert_allclose(mine, true, atol=1e-8)


def list_outcomes(k: int, values: list[float]) -> np.ndarray:
    grids = np.meshgrid(*[values] * k, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)


def test_every_outcome_of_a_finite_model_returns_both_loadings(
    rng: np.random.Generator,
) -> None:
    # Two shared sources and two noise sources a view, three symmetric values each:
    # third cumulants vanish, generalised covariances do not.
    outcomes = list_outcomes(6, [-1.0, 0.0, 1.0])
    chance = np.where(outcomes == 0.0, 0.8, 0.1).prod(axis=1)
    D = [
        np.array([[0.9, 0.2], [0.1, -0.6], [0.3, 0.5]]),
        np.array([[0.8, -0.3], [0.4, 0.7]]),
    ]
    F = [rng.normal(size=(3, 2)), rng.normal(size=(2, 2))]
    shared, noise = outcomes[:, :2], (outcomes[:, 2:4], outcomes[:, 4:])
    X1, X2 = (shared @ D[j].T + noise[j] @ F[j].T for j in (0, 1))
    # So many repetitions that unbiased and exact cumulants agree.
    model = NonGaussianCCA(2).fit(X1, X2, sample_weight=1e13 * chance)
    match = np.abs(model.components_[0] @ (D[0] / np.linalg.norm(D[0], axis=0))).argmax(
        axis=1
    )
    for table, true in zip(model.components_, D, strict=True):
        unit = (true / np.linalg.norm(true, axis=0))[:, match]
        signs = np.sign((table * unit.T).sum(axis=1))
        np.testing.assert_allclose(table * signs[:, None], unit.T, atol=1e-7)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e15])
@pytest.mark.parametrize("delta", [1e-300, 0.1, 1e300])
def test_no_count_overflows(
    rng: np.random.Generator, scale: float, delta: float
) -> None:
    shared = rng.gamma(0.3, 20.0, size=(400, 1))
    X1 = np.floor(rng.poisson(shared * [0.2, 0.8]) * scale)
    X2 = np.floor(rng.poisson(shared * [0.5, 0.3, 0.2]) * scale)
    model = DiscreteCCA(1, targets="covariances", delta=delta).fit(X1, X2)
    tilts = model.moments_.tilts
    for value in (tilts.masses, tilts.crosses, *tilts.firsts, *model.components_):
        assert np.isfinite(value).all()
    assert np.all(tilts.effective_rows >= 1.0 - 1e-12)
    assert np.all(tilts.effective_rows <= 400.0 + 1e-9)


def test_huge_exponents_are_exact_in_the_limit() -> None:
    # One row carries all the weight: its covariance with itself is zero.
    X1 = np.array([[0.0, 1.0], [3.0, 2.0], [1e6, 5.0]])
    pair = open_pair(X1, np.eye(3))
    sums = collect_views(pair, None, 1)
    points = np.array([[25.0, 0.0], [-25.0, 0.0]]), np.zeros((0, 3))
    tilts = collect_tilts(pair, sums, points).tilts
    assert tilts.references[0] == 25e6
    np.testing.assert_allclose(tilts.masses, 1.0)
    np.testing.assert_allclose(tilts.effective_rows, 1.0)
    wanted = np.eye(3)[[2, 0]] @ sums.bases[1]
    np.testing.assert_allclose(tilts.firsts[1], wanted, atol=1e-12)
