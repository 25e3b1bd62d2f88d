"""Components are paired in the cheapest way, whatever their order."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet.evaluation import match_components
from tercet.evaluation.matching import COSTS
from tercet.exceptions import ParameterError
from tercet.flow import Parameters


def slow_cost(cost, a, b):
    if cost == "l1":
        return sum(abs(x - y) for x, y in zip(a, b, strict=True))
    if cost == "squared":
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
    if cost == "cubes":
        cubes = [np.einsum("i,j,k->ijk", x, x, x) for x in (a, b)]
        return np.sum((cubes[0] - cubes[1]) ** 2)
    return 1 - abs(np.dot(a, b)) / np.sqrt(np.dot(a, a) * np.dot(b, b))


@pytest.mark.parametrize("cost", list(COSTS))
@given(seed=st.integers(0, 10_000), k=st.integers(1, 5), d=st.integers(1, 6))
def test_no_permutation_is_cheaper(cost, seed, k, d):
    rng = np.random.default_rng(seed)
    truth, estimate = rng.normal(size=(2, k, d))
    matching = match_components(truth, estimate, cost)
    table = [[slow_cost(cost, a, b) for b in estimate] for a in truth]
    least = min(
        sum(table[j][p] for j, p in enumerate(order))
        for order in permutations(range(k))
    )
    assert matching.costs.sum() == pytest.approx(least, abs=1e-9)
    paired = [table[j][p] for j, p in enumerate(matching.order)]
    assert matching.costs == pytest.approx(paired, abs=1e-9)


@pytest.mark.parametrize("cost", list(COSTS))
def test_permutation_is_found_and_undone(cost, rng):
    truth = rng.random((6, 9))
    order = rng.permutation(6)
    matching = match_components(truth, truth[order], cost)
    assert np.array_equal(order[matching.order], np.arange(6))
    assert np.array_equal(matching.apply(truth[order]), truth)


def test_greedy_pairing_would_cost_more():
    # The cheapest single pair (0, 0) leaves a bad second pair.
    truth, estimate = np.array([[0.0], [1.1]]), np.array([[0.5], [-2.0]])
    matching = match_components(truth, estimate)
    assert matching.order.tolist() == [1, 0]
    assert matching.costs.sum() == pytest.approx(2.6)


def test_more_and_fewer_components():
    truth = np.eye(3)
    more = match_components(truth, np.vstack([np.full((1, 3), 9.0), np.eye(3)]))
    assert more.order.tolist() == [1, 2, 3]
    assert more.left.tolist() == [0]
    fewer = match_components(truth, np.eye(3)[:2])
    assert fewer.order.tolist() == [0, 1, -1]
    assert np.isnan(fewer.costs[2])
    assert np.isnan(fewer.apply(np.eye(3)[:2])[2]).all()


def test_angle_minds_neither_scale_nor_sign(rng):
    truth = rng.normal(size=(3, 5))
    estimate = truth[[2, 0, 1]] * np.array([[-3.0], [2.0], [-0.1]])
    matching = match_components(truth, estimate, "angle")
    assert matching.costs == pytest.approx(0.0, abs=1e-12)
    assert matching.signs.tolist() == [1.0, -1.0, -1.0]
    turned = matching.apply(estimate)
    assert np.all((turned * truth).sum(axis=1) > 0.0)


def test_wide_components_are_compared_in_parts(rng, monkeypatch):
    truth, estimate = rng.random((2, 4, 1000))
    whole = match_components(truth, estimate).costs
    monkeypatch.setattr("tercet.evaluation.matching._ENTRIES_AT_ONCE", 100)
    assert match_components(truth, estimate).costs == pytest.approx(whole, rel=1e-13)


def test_parameters_are_turned(rng):
    centers = rng.random((7, 3))
    truth = Parameters(centers, np.full(3, 1 / 3))
    assert match_components(truth, centers.T).costs == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("truth", "estimate", "cost", "named"),
    [
        (np.eye(2), np.eye(3), "l1", "features"),
        (np.ones(3), np.eye(3), "l1", "truth"),
        (np.eye(3), np.full((3, 3), np.nan), "l1", "estimate"),
        (np.eye(3), np.eye(3), "l7", "l1"),
    ],
)
def test_bad_arguments_are_named(truth, estimate, cost, named):
    with pytest.raises(ParameterError, match=named):
        match_components(truth, estimate, cost)
