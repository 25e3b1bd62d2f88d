"""The condition number against the full Terracini matrix and what it promises."""

from __future__ import annotations

import numpy as np
import pytest

from references.terracini import condition_number, cube_sum
from tercet.evaluation import measure_condition_number
from tercet.exceptions import ParameterError


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
    # Formula 3.31 of thesis 003, for small changes of the components.
    rows = rng.random((4, 6))
    number = measure_condition_number(rows)
    for _ in range(200):
        moved = rows + 1e-6 * rng.normal(size=rows.shape)
        forward = np.sqrt(
            sum(
                np.sum((cube_sum([a]) - cube_sum([b])) ** 2)
                for a, b in zip(rows, moved, strict=True)
            )
        )
        backward = np.linalg.norm(cube_sum(rows) - cube_sum(moved))
        assert forward <= number * backward * (1 + 1e-4)


def test_many_components_over_many_features(rng):
    assert 1.0 < measure_condition_number(rng.dirichlet(np.full(2000, 0.1), 60)) < 2.0


def test_a_row_of_zeros_is_refused():
    with pytest.raises(ParameterError, match="zeros"):
        measure_condition_number([[1.0, 0.0], [0.0, 0.0]])
