"""Measures against slow loops, and what they must not mind."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tercet.evaluation import (
    find_worst_component,
    measure_amari_distance,
    measure_component_errors,
    measure_frobenius_error,
    measure_l1_error,
    measure_relative_error,
    measure_weight_error,
)
from tercet.exceptions import ParameterError

MEASURES = [
    measure_l1_error,
    measure_frobenius_error,
    measure_relative_error,
    measure_amari_distance,
]


@pytest.fixture
def pair(rng):
    truth = rng.dirichlet(np.ones(7), size=4)
    estimate = rng.dirichlet(np.ones(7), size=4)
    return truth, 0.7 * truth[[2, 0, 3, 1]] + 0.3 * estimate


@pytest.mark.parametrize("measure", MEASURES)
def test_zero_for_the_truth_in_any_order(measure, pair, rng):
    truth, estimate = pair
    assert measure(truth, truth[rng.permutation(4)]) == pytest.approx(0.0, abs=1e-12)
    assert measure(truth, estimate) > 0.01


@pytest.mark.parametrize("measure", MEASURES)
def test_order_of_neither_side_matters(measure, pair, rng):
    truth, estimate = pair
    shuffled = measure(truth[rng.permutation(4)], estimate[rng.permutation(4)])
    assert shuffled == pytest.approx(measure(truth, estimate))


def test_l1_and_frobenius_are_least_over_permutations(pair):
    truth, estimate = pair
    orders = [list(order) for order in permutations(range(4))]
    least = min(np.abs(truth - estimate[o]).sum() / 8.0 for o in orders)
    assert measure_l1_error(truth, estimate) == pytest.approx(least)
    least = min(np.sqrt(((truth - estimate[o]) ** 2).sum()) for o in orders)
    assert measure_frobenius_error(truth, estimate) == pytest.approx(least)
    share = least / np.sqrt((truth**2).sum())
    assert measure_frobenius_error(truth, estimate, relative=True) == pytest.approx(
        share
    )


def test_l1_is_one_for_topics_that_share_no_word():
    assert measure_l1_error(np.eye(4)[:2], np.eye(4)[2:]) == pytest.approx(1.0)


def test_worst_component_is_the_one_that_was_lost(rng):
    truth = np.eye(5)
    estimate = truth[[4, 2, 0, 1, 3]].copy()
    estimate[1] = 0.2
    worst = find_worst_component(truth, estimate)
    assert (worst.component, worst.partner) == (2, 1)
    assert worst.error == pytest.approx(0.8)
    errors = measure_component_errors(truth, estimate)
    assert errors[2] == pytest.approx(0.8)
    assert errors.sum() == pytest.approx(0.8)


def test_relative_error_is_formula_5_1_of_thesis_003(pair):
    truth, estimate = pair
    columns, found = truth.T, estimate.T
    solution = np.linalg.inv(found.T @ found) @ found.T @ columns
    by_hand = np.sqrt(3.0 * ((columns - found @ solution) ** 2).sum())
    assert measure_relative_error(truth, estimate) == pytest.approx(by_hand)
    scaled = estimate * np.array([[2.0], [0.5], [3.0], [7.0]])
    assert measure_relative_error(truth, scaled) == pytest.approx(by_hand)


def test_amari_is_the_slow_double_sum(pair):
    truth, estimate = pair
    mixed = np.abs(np.linalg.pinv(estimate.T) @ truth.T)
    total = 0.0
    for i in range(4):
        total += sum(mixed[i, j] for j in range(4)) / max(mixed[i]) - 1.0
        total += sum(mixed[j, i] for j in range(4)) / max(mixed[:, i]) - 1.0
    assert measure_amari_distance(truth, estimate) == pytest.approx(total / (2 * 4 * 3))
    scaled = estimate * np.array([[-2.0], [0.5], [3.0], [-7.0]])
    assert measure_amari_distance(truth, scaled) < 1.0
    assert measure_amari_distance(
        truth, truth[[1, 0, 2, 3]] * np.array([[-2.0], [0.5], [3.0], [-7.0]])
    ) == pytest.approx(0.0, abs=1e-12)


def test_amari_of_one_component_and_of_dependent_ones():
    assert measure_amari_distance([[1.0, 2.0]], [[3.0, 1.0]]) == 0.0
    with pytest.raises(ParameterError, match="linearly independent"):
        measure_amari_distance([[1.0, 2.0], [2.0, 4.0]], np.eye(2))


def test_weights_go_with_their_components():
    truth = np.eye(3)
    order = [1, 2, 0]
    weights = np.array([0.5, 0.3, 0.2])
    assert measure_weight_error(truth, truth[order], weights, weights[order]) == 0.0
    moved = weights[order] + [0.05, -0.03, -0.02]
    error = measure_weight_error(truth, truth[order], weights, moved)
    assert error == pytest.approx(0.05)


@pytest.mark.parametrize("measure", MEASURES)
def test_other_numbers_of_components_are_refused(measure):
    with pytest.raises(ParameterError, match="match_components"):
        measure(np.eye(3), np.eye(3)[:2])


def test_relative_to_nothing_is_refused():
    with pytest.raises(ParameterError, match="truth"):
        measure_frobenius_error(np.zeros((2, 3)), np.ones((2, 3)), relative=True)
