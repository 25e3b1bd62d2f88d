"""The condition number against the full Terracini matrix and what it promises."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from references.terracini import condition_number, cube_sum
from tercet.evaluation import (
    measure_backward_error,
    measure_condition_number,
    measure_forward_error,
)
from tercet.exceptions import ParameterError
from tercet.flow import Parameters


@pytest.mark.parametrize(
    ("k", "d"), [(1, 1), (1, 4), (2, 2), (2, 5), (3, 3), (4, 8), (5, 3), (6, 4), (3, 8)]
)
def test_equals_the_full_terracini_matrix(k, d, rng):
    rows = rng.normal(size=(k, d)) + 0.5
    wanted = condition_number(rows)
    assert measure_condition_number(rows) == pytest.approx(wanted, rel=1e-6)


def test_iterative_and_dense_ways_agree(rng, monkeypatch):
    rows = rng.random((12, 30))
    dense = measure_condition_number(rows)
    monkeypatch.setattr("tercet.evaluation.conditioning._DENSE_LIMIT", 1)
    assert measure_condition_number(rows) == pytest.approx(dense, rel=1e-5)


def test_directions_outside_the_span_count(rng):
    # Equal angles: outside the span the Gram matrix has least 1 - c^2, and in
    # the plane of the two components alone the number is another one.
    rows = np.array([[1.0, 0.0], [0.9, 0.435889894354067]])
    padded = np.hstack([rows, np.zeros((2, 4))])
    assert measure_condition_number(padded) == pytest.approx(condition_number(padded))
    assert measure_condition_number(padded) >= measure_condition_number(rows)


def test_orthogonal_components_have_one_and_scale_does_not_matter(rng):
    rotation = np.linalg.qr(rng.normal(size=(9, 9)))[0][:5]
    lengths = np.array([[0.1], [3.0], [1.0], [20.0], [0.5]])
    assert measure_condition_number(rotation * lengths) == pytest.approx(1.0)


def test_undetermined_components_are_infinite():
    assert measure_condition_number([[1.0, 2.0], [1.0, 2.0]]) == np.inf
    # Three cubes in the plane have more unknowns than the tensor has entries.
    assert measure_condition_number([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) == np.inf


def test_forward_error_is_bounded_by_backward_error(rng):
    """Formula 3.31 of thesis 003, for small changes of the components."""
    rows = rng.random((4, 6))
    number = measure_condition_number(rows)
    for _ in range(200):
        moved = rows + 1e-6 * rng.normal(size=rows.shape)
        forward = measure_forward_error(rows, moved)
        backward = measure_backward_error(rows, moved)
        assert forward <= number * backward * (1 + 1e-4)


@pytest.mark.parametrize(("k", "other", "d"), [(2, 2, 3), (3, 1, 8), (4, 4, 40)])
def test_errors_equal_full_tensors(k, other, d, rng):
    first, second = rng.normal(size=(k, d)), rng.normal(size=(other, d))
    u, v = rng.random(k), rng.random(other)
    terms = [w * cube_sum([row]) for w, row in zip(u, first, strict=True)]
    guesses = [w * cube_sum([row]) for w, row in zip(v, second, strict=True)]
    backward = np.linalg.norm(sum(terms) - sum(guesses))
    weights = {"true_weights": u, "weights": v}
    found = measure_backward_error(first, second, **weights)
    assert found == pytest.approx(backward)
    share = measure_backward_error(first, second, relative=True, **weights)
    assert share == pytest.approx(backward / np.linalg.norm(sum(terms)))
    if k == other:
        least = min(
            sum(
                np.sum((t - guesses[p]) ** 2) for t, p in zip(terms, order, strict=True)
            )
            for order in permutations(range(k))
        )
        forward = measure_forward_error(first, second, **weights)
        assert forward == pytest.approx(np.sqrt(least))


def test_weights_come_from_parameters_and_small_errors_keep_their_digits(rng):
    centers, weights = rng.random((9, 3)), np.array([0.5, 0.3, 0.2])
    truth = Parameters(centers, weights)
    turned = Parameters(centers[:, [2, 0, 1]], weights[[2, 0, 1]])
    assert measure_backward_error(truth, turned) < 1e-15
    assert measure_forward_error(truth, turned) < 1e-13
    moved = Parameters(centers, weights + np.array([1e-9, 0.0, 0.0]))
    wanted = 1e-9 * (centers[:, 0] @ centers[:, 0]) ** 1.5
    assert measure_backward_error(truth, moved) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"estimate": np.eye(4)}, "features"),
        ({"weights": [1.0]}, "weights"),
        ({"truth": np.zeros((3, 3)), "relative": True}, "truth"),
    ],
)
def test_wrong_arguments_of_errors_are_named(options, named):
    given = {"truth": np.eye(3), "estimate": np.eye(3)} | options
    with pytest.raises(ParameterError, match=named):
        measure_backward_error(**given)


def test_many_components_over_many_features(rng):
    assert 1.0 < measure_condition_number(rng.dirichlet(np.full(2000, 0.1), 60)) < 2.0


def test_a_row_of_zeros_is_refused():
    with pytest.raises(ParameterError, match="zeros"):
        measure_condition_number([[1.0, 0.0], [0.0, 0.0]])
