"""Splits are those of slow loops and a search over angles."""

import numpy as np
import pytest
from scipy import sparse

from oracles.split_mutants import DATA_MUTANTS, MODEL_MUTANTS
from references.bisections import find_pseudo_centers, split_by_data
from tercet.hierarchy.coordinates import (
    FeatureCoordinates,
    SubspaceCoordinates,
    choose_coordinates,
)
from tercet.hierarchy.pairs import find_leading_pair
from tercet.hierarchy.rows import gather_rows
from tercet.hierarchy.splitting import (
    DataSplitter,
    ModelSplitter,
    NodeRows,
    Refusal,
    sum_sides,
)
from tercet.intake import open_source
from tercet.likelihood import Bernoulli, Multinomial, Poisson

WIDTH = 6


def draw_table(rng, n=40):
    rates = np.where(rng.random((n, 1)) < 0.4, 1.0, 3.0) * rng.random(WIDTH)
    rates[: n // 2, : WIDTH // 2] *= 4.0
    rows = rng.poisson(rates).astype(float)
    rows[:, 0] += 1.0
    return rows


def as_node(rows, weights=None, members=None, form=np.asarray):
    source = open_source(form(rows), requirement="reals", sample_weight=weights)
    table = gather_rows(source)
    members = np.arange(table.n_rows) if members is None else members
    chosen = table.weights[members]
    return table, NodeRows(members, chosen, chosen @ rows[members])


def check_data_split(kind, rng, form=np.asarray):
    """Assert that a splitter does what thesis 001, algorithm 5, says."""
    rows = draw_table(rng)
    weights = rng.integers(1, 4, size=len(rows)).astype(float)
    members = np.flatnonzero(rng.random(len(rows)) < 0.8)
    table, node = as_node(rows, weights, members, form)
    split = kind(table, FeatureCoordinates(table)).split(node)
    labels, discriminators = split_by_data(rows[members], weights[members])
    # Sides have no order in the reference, discriminators no sign.
    means = weights[members] @ rows[members] @ discriminators
    order = np.argsort(-np.abs(means))
    expected = (discriminators * np.sign(means))[:, order]
    assert np.allclose(split.discriminators, expected, atol=2e-3)
    sizes = np.sort(np.abs(rows[members] @ expected), axis=1)
    clear = sizes[:, 1] - sizes[:, 0] > 1e-2
    assert clear.sum() > 5
    sides = np.argsort(order)[labels]
    assert np.array_equal(split.second[clear], sides[clear] == 1)


def check_pseudo_centers(kind, rng, density, by_tokens, binary):
    """Assert that a splitter does what paper 004, algorithm 1, says."""
    rows = draw_table(rng, 60)
    if binary:
        chances = np.where(np.arange(60)[:, None] < 35, [0.8] * 3 + [0.2] * 3, 0.5)
        chances[35:, :3] = 0.1
        rows = (rng.random((60, WIDTH)) < chances).astype(float)
    weights = rng.integers(1, 3, size=len(rows)).astype(float)
    table, node = as_node(rows, weights)
    splitter = kind(table, FeatureCoordinates(table), density, by_tokens=by_tokens)
    centers, shares = splitter._find_centers(node)
    expected, expected_shares, _ = find_pseudo_centers(
        rows, weights, by_tokens=by_tokens
    )
    order = np.argsort(-expected_shares)
    expected = splitter._project(expected[:, order])
    assert np.allclose(shares, expected_shares[order], atol=2e-3)
    assert np.allclose(centers, expected, atol=5e-3 * max(1.0, expected.max()))


MODELS = [
    (Multinomial(), True, False),
    (Poisson(), False, False),
    (Bernoulli(), False, True),
]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_data_split_is_the_one_of_the_grid(rng, form):
    check_data_split(DataSplitter, rng, form)


@pytest.mark.parametrize(("density", "by_tokens", "binary"), MODELS)
def test_pseudo_centers_are_those_of_the_grid(rng, density, by_tokens, binary):
    check_pseudo_centers(ModelSplitter, rng, density, by_tokens, binary)


@pytest.mark.parametrize("mutant", DATA_MUTANTS)
def test_wrong_data_splits_are_noticed(mutant, rng):
    with pytest.raises(AssertionError):
        check_data_split(mutant, rng)


@pytest.mark.parametrize("mutant", MODEL_MUTANTS)
def test_wrong_pseudo_centers_are_noticed(mutant, rng):
    with pytest.raises(AssertionError):
        check_pseudo_centers(mutant, rng, *MODELS[0])


def test_exact_moments_of_two_topics_give_the_topics():
    # Long documents of two topics in the very proportions of the topics.
    topics = np.array([[5, 3, 1, 1], [1, 1, 4, 4]])
    rows = np.repeat(topics * 400, [6, 4], axis=0).astype(float)
    table, node = as_node(rows)
    splitter = ModelSplitter(
        table, FeatureCoordinates(table), Multinomial(), by_tokens=True
    )
    centers, shares = splitter._find_centers(node)
    assert np.allclose(centers, topics.T / 10.0, atol=2e-3)
    assert np.allclose(shares, [0.6, 0.4], atol=2e-3)


@pytest.mark.parametrize("kind", ["data", "topics"])
def test_subspace_of_all_directions_is_as_good_as_the_features(rng, kind):
    rows = draw_table(rng, 80)
    table, node = as_node(rows)
    basis = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))[0]
    splits = []
    for coordinates in (FeatureCoordinates(table), SubspaceCoordinates(table, basis)):
        splitter = (
            DataSplitter(table, coordinates)
            if kind == "data"
            else ModelSplitter(table, coordinates, Multinomial(), by_tokens=True)
        )
        splits.append(splitter.split(node))
    assert np.allclose(splits[0].discriminators, splits[1].discriminators, atol=1e-7)
    assert np.array_equal(splits[0].second, splits[1].second)
    assert splits[0].separation == pytest.approx(splits[1].separation)


def test_wide_rows_are_split_in_a_subspace_and_well(rng):
    topics = rng.dirichlet(np.full(700, 0.3), size=4)
    labels = rng.integers(0, 4, size=300)
    rows = np.stack([rng.multinomial(150, topics[label]) for label in labels])
    table, node = as_node(rows.astype(float))
    coordinates = choose_coordinates(table, 4, factorial=True)
    assert isinstance(coordinates, SubspaceCoordinates)
    assert np.allclose(coordinates.basis.T @ coordinates.basis, np.eye(8), atol=1e-10)
    split = ModelSplitter(table, coordinates, Multinomial(), by_tokens=True).split(node)
    for label in range(4):
        share = split.second[labels == label].mean()
        assert min(share, 1.0 - share) < 0.05


def test_leading_pair_is_that_of_lapack(rng):
    for size in (2, 5, 60, 150, 300):
        spread = rng.standard_normal((size, size))
        matrix = spread + spread.T
        values, vectors = find_leading_pair(matrix)
        expected = np.linalg.eigvalsh(matrix)[::-1][:2]
        assert np.allclose(values, expected, atol=1e-7 * abs(expected[0]))
        assert np.allclose(matrix @ vectors, vectors * values, atol=1e-5 * size)


def test_leading_pair_of_a_repeated_eigenvalue(rng):
    # A search along single vectors would see one of the two directions only.
    q = np.linalg.qr(rng.standard_normal((190, 190)))[0]
    values = np.r_[3.0, 3.0, np.linspace(1.0, -2.0, 188)]
    found, vectors = find_leading_pair((q * values) @ q.T)
    assert np.allclose(found, 3.0)
    assert np.linalg.norm(q[:, :2].T @ vectors) == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_sides_add_up(rng, share):
    rows = rng.standard_normal((30, 5))
    table, node = as_node(rows, rng.random(30) + 0.5)
    second = rng.random(30) < share
    sums = sum_sides(table, node, second)
    weighted = rows * table.weights[:, None]
    assert np.allclose(sums[0], weighted[~second].sum(axis=0))
    assert np.allclose(sums[1], weighted[second].sum(axis=0))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.tile([[1.0, 2.0, 0.0]], (5, 1)), "one direction"),
        (np.zeros((4, 3)), "one direction"),
        (np.arange(1.0, 5.0)[:, None], "one feature"),
    ],
)
def test_rows_without_two_directions_are_refused(rows, words):
    table, node = as_node(rows)
    refusal = DataSplitter(table, FeatureCoordinates(table)).split(node)
    assert isinstance(refusal, Refusal)
    assert words in refusal.reason


def test_short_documents_are_refused():
    table, node = as_node(np.eye(3))
    splitter = ModelSplitter(
        table, FeatureCoordinates(table), Multinomial(), by_tokens=True
    )
    assert "too short" in splitter.split(node).reason
