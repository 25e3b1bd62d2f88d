"""Collapsed steps against slow references, and what they leave invariant."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from tercet.datasets import make_lda
from tercet.intake import open_source
from tercet.kernels.collapsed import blend_topics, measure_climb, pad_width
from tercet.likelihood import refine_topics
from tercet.likelihood.collapsed import (
    EXCLUDED,
    FIRST_ROUNDS,
    ROUNDS,
    CollapsedPass,
)
from tercet.likelihood.documents import RowValues


def pad(topics):
    table = np.zeros((topics.shape[0], pad_width(topics.shape[1])), dtype=np.float32)
    table[:, : topics.shape[1]] = topics
    return table


def look_at(row, topics, own, alpha, counts):
    """Return the shares of the topics of every word, and their sums before scaling."""
    total = alpha.sum() + row.sum()
    shares, sums = np.zeros(topics.shape), np.zeros(len(row))
    for word in np.flatnonzero(row):
        weights = alpha + counts
        trace = topics[word] * weights / (topics[word] @ weights)
        of_topic = topics[word] * (
            1 - row[word] * own * weights / (topics[word] @ weights)
        )
        of_topic = np.maximum(of_topic, (1 - EXCLUDED) * topics[word])
        of_document = np.maximum(weights - min(row[word], 1.0) * trace, alpha)
        parts = of_topic * of_document
        shares[word] = parts / parts.sum()
        sums[word] = parts.sum() / max(total - 1.0, alpha.sum())
    return shares, sums


def climb(shares, row, alpha):
    """Expectation of psi(alpha + n) - psi(alpha), as the kernel's docstring has it."""
    values = np.zeros(alpha.size)
    for j in range(alpha.size):
        n = row @ shares[:, j]
        sure = (row @ shares[:, j] ** 2) / n
        present = min(1 - (1 - min(sure, 1 - 1e-9)) ** (n / sure), n)
        values[j] = present * (digamma(alpha[j] + n / present) - digamma(alpha[j]))
    return values


@pytest.mark.parametrize("begins", [True, False])
def test_the_pass_is_that_of_the_formulas(rng, begins):
    topics = rng.dirichlet(np.full(6, 0.7), size=3).T
    alpha, own = np.array([0.3, 1.0, 0.1]), np.array([0.01, 0.02, 0.005])
    rows = rng.poisson(1.5, size=(5, 6)) + np.eye(5, 6, dtype=int)
    weights = rng.uniform(0.5, 2.0, size=5)
    # Unknown documents begin with equal shares, take more rounds and go no further.
    begun = np.full((5, 3), 1 / 3) if begins else rng.dirichlet(np.ones(3), size=5)
    rounds = FIRST_ROUNDS if begins else ROUNDS
    source = open_source(rows, sample_weight=weights)
    known = RowValues() if begins else RowValues({0: begun.astype(np.float32)})
    state = source.run(CollapsedPass(pad(topics), alpha, own, known))
    expected, climbs, totals = np.zeros((6, 3)), np.zeros(3), np.zeros(4)
    for i, row in enumerate(rows):
        counts = row.sum() * begun[i]
        for _ in range(rounds):
            shares, sums = look_at(row, topics, own, alpha, counts)
            counts = row @ shares
        expected += weights[i] * row[:, None] * shares
        climbs += weights[i] * climb(shares, row, alpha)
        logs = row[row > 0] @ np.log(sums[row > 0])
        spread = digamma(alpha.sum() + row.sum()) - digamma(alpha.sum())
        totals += weights[i] * np.array([logs, row.sum(), spread, 1.0])
        # The shares go on as far again, but not below a fifth.
        reached = counts / row.sum()
        stride = 0.0 if begins else 1.0
        further = np.maximum(reached + stride * (reached - begun[i]), 0.2 * reached)
        np.testing.assert_allclose(
            state.shares.join()[i], further / further.sum(), rtol=1e-4
        )
    np.testing.assert_allclose(state.expected, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state.climbs, climbs, rtol=5e-3)
    np.testing.assert_allclose(state.totals, totals, rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.02, 0.3, 4.0])
def test_series_of_the_climb_meet_the_formula(alpha):
    terms = polygamma(0, alpha), polygamma(1, alpha + 1), polygamma(2, alpha + 1) / 2
    for count in (0.05, 0.2, 0.4, 0.499, 0.6, 3.0, 50.0):
        for certainty in (0.01, 0.1, 0.4):
            sure = min(certainty, count)
            present = min(1 - (1 - sure) ** (count / sure), count)
            expected = present * (digamma(alpha + count / present) - digamma(alpha))
            found = measure_climb(count, sure, alpha, *terms)
            assert found == pytest.approx(expected, rel=5e-3)


def test_momentum_goes_on_and_stays_a_distribution(rng):
    now, before = (rng.dirichlet(np.ones(7), size=3).T for _ in range(2))
    table = pad(np.zeros((7, 3)))
    blend_topics(now, before.astype(np.float32), 0.5, table)
    wanted = np.maximum(now + 0.5 * (now - before), 0.2 * now)
    np.testing.assert_allclose(table[:, :3], wanted / wanted.sum(axis=0), rtol=1e-5)
    assert not table[:, 3:].any()


def test_no_table_has_columns_that_are_no_topics(rng):
    for k in (1, 2, 7, 8, 9, 17):
        rows = rng.poisson(1.0, size=(20, 12)) + 1
        topics = rng.dirichlet(np.ones(12), size=k).T
        found = refine_topics(open_source(rows), topics, np.full(k, 0.3), steps=3)
        np.testing.assert_allclose(found.centers.sum(axis=0), 1.0)
        assert found.shares.sum() == pytest.approx(1.0)


def test_order_of_topics_features_and_rows_does_not_matter(rng, seed):
    sample = make_lda(300, n_features=40, n_components=4, random_state=seed)
    rows = sample.rows.toarray()
    start = rng.dirichlet(np.ones(40), size=4).T
    alpha = np.array([0.1, 0.2, 0.3, 0.4])
    one = refine_topics(open_source(rows), start, alpha, steps=5)
    topics, words, documents = (rng.permutation(size) for size in (4, 40, 300))
    two = refine_topics(
        open_source(rows[documents][:, words]),
        start[words][:, topics],
        alpha[topics],
        steps=5,
    )
    np.testing.assert_allclose(
        two.centers, one.centers[words][:, topics], rtol=1e-3, atol=1e-6
    )
    np.testing.assert_allclose(two.concentration, one.concentration[topics], rtol=1e-3)


def test_the_scale_of_counts_is_no_obstacle(rng):
    rows = rng.poisson(2.0, size=(30, 8)) + np.eye(30, 8, dtype=int)
    topics = rng.dirichlet(np.ones(8), size=3).T
    for scale in (1, 10**6, 10**12):
        found = refine_topics(open_source(rows * scale), topics, np.ones(3), steps=4)
        assert np.isfinite(found.centers).all()
        assert np.isfinite(found.history).all()


def test_a_repeated_word_is_left_out_as_a_whole(rng):
    # One document has a word four times over; the topic that learned it from there
    # must not take it for evidence.
    topics = np.array([[0.5, 0.1], [0.5, 0.9]])
    rows = np.array([[4, 4]])
    own = np.array([EXCLUDED / 8, EXCLUDED / 1e6])
    with_own = open_source(rows).run(CollapsedPass(pad(topics), np.ones(2), own))
    without = open_source(rows).run(CollapsedPass(pad(topics), np.ones(2), 0 * own))
    assert with_own.expected[0, 0] < without.expected[0, 0] - 0.3


def test_concentration_is_found_where_topics_are_known():
    truth = np.array([0.2, 0.4, 0.8])
    sample = make_lda(
        3000, n_features=300, n_components=3, mean_length=80, concentration=truth
    )
    source, centers = open_source(sample.rows), sample.parameters.centers
    found = refine_topics(source, centers, np.full(3, 0.3), steps=25)
    ratio = found.concentration / sample.parameters.concentration
    # Expected counts lean towards too large a value, within a third here.
    assert (ratio > 0.9).all()
    assert (ratio < 1.33).all()


def test_held_topics_leave_the_concentration_alone(rng):
    rows = rng.poisson(1.0, size=(50, 10)) + 1
    topics = rng.dirichlet(np.ones(10), size=3).T
    alpha = np.array([0.1, 0.5, 2.0])
    held = refine_topics(
        open_source(rows), topics, alpha, steps=6, update_concentration=False
    )
    np.testing.assert_array_equal(held.concentration, alpha)


def test_bits_do_not_depend_on_where_memory_is_free(rng):
    rows = rng.poisson(0.4, size=(40, 300))
    topics = rng.dirichlet(np.ones(300), size=12).T
    source = open_source(rows)
    kept, found = [], set()
    for _ in range(100):
        kept += [np.zeros(size, np.float32) for size in rng.integers(1, 4000, size=9)]
        state = source.run(CollapsedPass(pad(topics), np.full(12, 0.1), np.zeros(12)))
        found.add(state.expected.tobytes())
    assert len(found) == 1
