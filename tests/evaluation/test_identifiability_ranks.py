"""Kruskal ranks and identifiability against definitions and known cases."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from tercet.evaluation import (
    count_identifiable_components,
    find_kruskal_rank,
    is_generically_identifiable,
    is_uniquely_decomposable,
)
from tercet.exceptions import ParameterError


def slow_kruskal_rank(rows):
    rank = 0
    for size in range(1, rows.shape[0] + 1):
        for some in combinations(range(rows.shape[0]), size):
            if np.linalg.matrix_rank(rows[list(some)]) < size:
                return rank
        rank = size
    return rank


CASES = [
    np.eye(4),
    np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]]),
    np.array([[1.0, 0, 0], [2, 0, 0], [0, 1, 0]]),
    np.array([[1.0, 0, 0], [0, 0, 0], [0, 1, 0]]),
    np.vstack([np.eye(3), np.ones((1, 3))]),
    np.vstack([np.eye(3), [[1.0, 1.0, 0.0]]]),
    np.array([[1.0], [2.0]]),
    np.array([[1.0, 1.0]]),
    np.vander([1.0, 2.0, 3.0, 4.0, 5.0], 3),
]


@pytest.mark.parametrize("rows", CASES, ids=range(len(CASES)))
def test_kruskal_rank_is_the_definition(rows):
    found = find_kruskal_rank(rows)
    assert found.exact
    assert found.rank == slow_kruskal_rank(rows)


def test_kruskal_rank_does_not_mind_scale_or_rotation(rng):
    rows = np.vstack([np.eye(3), [[1.0, 1.0, 0.0]]])
    turned = rows @ np.linalg.qr(rng.normal(size=(8, 3)))[0].T
    scaled = turned * 10.0 ** np.array([[0.0], [-6.0], [5.0], [3.0]])
    assert find_kruskal_rank(scaled).rank == 2


def test_many_independent_components_need_no_search(rng):
    assert find_kruskal_rank(rng.normal(size=(80, 200)), most_sets=1).rank == 80


def test_search_that_is_given_up_is_a_lower_bound(rng):
    found = find_kruskal_rank(rng.normal(size=(30, 6)), most_sets=1000)
    assert (found.rank, found.exact) == (2, False)
    assert find_kruskal_rank(rng.normal(size=(9, 6))).rank == 6


def test_kruskal_condition_on_both_sides(rng):
    assert is_uniquely_decomposable(rng.normal(size=(4, 4)))
    # Rank 3 of 4 components: 9 < 10.
    assert not is_uniquely_decomposable(np.vstack([np.eye(3), np.ones((1, 3))]))
    # Rank 4 of 5 components: 12 >= 12.
    assert is_uniquely_decomposable(np.vstack([np.eye(4), np.ones((1, 4))]))
    assert is_uniquely_decomposable([[1.0, 0.0]])
    assert not is_uniquely_decomposable([[1.0, 0.0], [2.0, 0.0]])


@pytest.mark.parametrize("d", range(2, 30))
def test_generic_identifiability_is_the_formula_with_its_exception(d):
    for k in range(1, 3 * d + d * d):
        wanted = k < comb(d + 2, 3) / d and (d, k) != (6, 9)
        assert is_generically_identifiable(d, k) == wanted
    most = count_identifiable_components(d)
    assert is_generically_identifiable(d, most)
    if d != 6:
        assert not is_generically_identifiable(d, most + 1)


def test_sizes_below_one_are_refused():
    with pytest.raises(ParameterError, match="n_features"):
        is_generically_identifiable(0, 1)
