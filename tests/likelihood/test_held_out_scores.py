"""Held-out scores against enumeration, and against one another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from references.topic_likelihoods import (
    enumerate_probability,
    enumerate_proportions,
    list_words,
)
from tercet.exceptions import DataError, ParameterError
from tercet.intake import open_source
from tercet.likelihood import SCORES, HeldOutScore, score_topics
from tercet.likelihood.tokens import make_row_generator, split_row

TOPICS = np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.3], [0.0, 0.4]])
ALPHA = np.array([0.4, 0.8])
ROWS = np.array([[3, 1, 0, 0], [1, 1, 1, 1], [0, 2, 2, 3], [0, 0, 1, 1], [2, 0, 0, 2]])


def score(rows, method, **options):
    return score_topics(open_source(rows), TOPICS, ALPHA, method=method, **options)


def enumerate_log(row):
    return math.log(enumerate_probability(list_words(row), TOPICS, ALPHA))


@pytest.mark.parametrize(("sweeps", "near"), [(1, 0.01), (10, 1.5e-3)])
def test_left_to_right_tends_to_the_exact_value(sweeps, near):
    exact = sum(enumerate_log(row) for row in ROWS) / ROWS.sum()
    found = score(ROWS, "left-to-right", particles=4000, sweeps=sweeps)
    assert found.per_token == pytest.approx(exact, abs=near)
    assert found.n_tokens == ROWS.sum()


def test_left_to_right_has_no_bias_with_one_particle():
    # The exponential of the score has the probability as its mean.
    row = np.array([[2, 0, 1, 1]])
    values = [
        math.exp(4 * score(row, "left-to-right", particles=1, rng=generator).per_token)
        for generator in map(np.random.default_rng, range(1500))
    ]
    exact = enumerate_probability(list_words(row[0]), TOPICS, ALPHA)
    error = np.std(values) / math.sqrt(len(values))
    assert abs(np.mean(values) - exact) < 4 * error
    assert error < 0.02 * exact


def test_the_bound_lies_below_the_exact_value_and_near_it():
    for row in ROWS:
        exact = enumerate_log(row) / row.sum()
        bound = score(row[None, :], "bound").per_token
        assert bound < exact
        assert exact - bound < 0.15


@pytest.mark.parametrize(
    ("inference", "near"), [("gibbs", 0.01), ("variational", 0.03)]
)
def test_completion_predicts_with_the_exact_posterior_mean(inference, near):
    # Completion shows which tokens it held out by the seed of each row.
    found = score(ROWS, "completion", inference=inference)
    total, tokens = 0.0, 0
    for i, row in enumerate(ROWS):
        held = np.zeros(4, dtype=int)
        words = np.flatnonzero(row)
        held[words] = split_row(row[words], 0.5, 0, i)
        assert held.sum() == row.sum() // 2
        shares = enumerate_proportions(list_words(row - held), TOPICS, ALPHA)
        total += float(held @ np.log(np.maximum(TOPICS @ shares, 1e-300)))
        tokens += held.sum()
    assert found.n_tokens == tokens
    assert found.per_token == pytest.approx(total / tokens, abs=near)


def test_completion_and_left_to_right_agree_on_one_token():
    # By the chain rule, the last token's probability is the ratio of two documents'.
    row = np.array([2, 1, 1, 2])
    rows = np.tile(row, (60, 1))
    completed = score(rows, "completion", held_share=0.17, inference="gibbs")
    assert completed.n_tokens == 60
    options = {"method": "left-to-right", "particles": 4000, "sweeps": 10}
    whole = 6 * score(row[None, :], **options).per_token
    parts = [
        5 * score((row - one)[None, :], **options).per_token
        for one in np.eye(4, dtype=int)
    ]
    held = [int(np.argmax(split_row(row, 0.17, 0, i))) for i in range(60)]
    expected = np.mean([whole - parts[word] for word in held])
    assert completed.per_token == pytest.approx(expected, abs=0.01)


def test_true_topics_score_better_than_wrong_ones(rng):
    topics = rng.dirichlet(np.full(30, 0.2), size=3).T
    alpha = np.full(3, 0.3)
    shares = rng.dirichlet(alpha, size=80)
    rows = open_source(rng.multinomial(40, shares @ topics.T))
    wrong = np.roll(topics, 3, axis=0)
    for method in SCORES:
        right = score_topics(rows, topics, alpha, method=method)
        worse = score_topics(rows, wrong * 0.9 + 0.1 / 30, alpha, method=method)
        assert right.per_token > worse.per_token + 3 * right.standard_error


def test_scores_do_not_depend_on_blocks_or_threads(rng):
    rows = rng.poisson(1.0, size=(40, 4))
    for method in SCORES:
        whole = score_topics(open_source(rows), TOPICS, ALPHA, method=method)
        parts = score_topics(
            open_source(rows, block_rows=7, n_jobs=2), TOPICS, ALPHA, method=method
        )
        assert parts.per_token == pytest.approx(whole.per_token, abs=1e-12)
        assert parts.standard_error == pytest.approx(whole.standard_error)


def test_unknown_words_are_left_out_and_counted():
    topics = np.vstack([TOPICS, np.zeros(2)])
    rows = np.column_stack([ROWS, [5, 0, 1, 2, 0]])
    for method in ("bound", "left-to-right"):
        found = score_topics(open_source(rows), topics, ALPHA, method=method)
        assert found.n_unknown == 8
        assert found.n_tokens == ROWS.sum()
    bound = score_topics(open_source(rows), topics, ALPHA)
    assert bound.per_token == pytest.approx(score(ROWS, "bound").per_token)


def test_weights_count_as_copies():
    weights = np.array([2.0, 0.0, 1.0, 3.0, 1.0])
    copies = np.repeat(ROWS, weights.astype(int), axis=0)
    weighted = score_topics(open_source(ROWS, sample_weight=weights), TOPICS, ALPHA)
    assert weighted.per_token == pytest.approx(score(copies, "bound").per_token)


def test_the_standard_error_is_that_of_repeated_samples(rng):
    topics = rng.dirichlet(np.full(20, 0.3), size=2).T
    alpha = np.array([0.5, 0.5])
    found = []
    for _ in range(60):
        shares = rng.dirichlet(alpha, size=50)
        lengths = rng.poisson(30, size=50)
        rows = np.array(
            [
                rng.multinomial(n, p)
                for n, p in zip(lengths, shares @ topics.T, strict=True)
            ]
        )
        found.append(score_topics(open_source(sparse.csr_array(rows)), topics, alpha))
    told = np.mean([one.standard_error for one in found])
    seen = np.std([one.per_token for one in found])
    assert 0.7 < told / seen < 1.4


def test_perplexity_is_the_exponential():
    assert HeldOutScore(-math.log(7.0), 10.0, 0.1).perplexity == pytest.approx(7.0)


def test_errors_name_what_is_wrong():
    with pytest.raises(ParameterError, match="method='luck'"):
        score(ROWS, "luck")
    with pytest.raises(ParameterError, match="held_share=1"):
        score(ROWS, "completion", held_share=1.0)
    with pytest.raises(ParameterError, match="particles=0"):
        score(ROWS, "left-to-right", particles=0)
    with pytest.raises(DataError, match="None of the tokens"):
        score(np.array([[1, 0, 0, 0]]), "completion")
    halves = open_source(ROWS / 2, requirement="counts")
    for method in ("completion", "left-to-right"):
        with pytest.raises(DataError, match="whole counts"):
            score_topics(halves, TOPICS, ALPHA, method=method)


def test_rows_have_random_numbers_of_their_own():
    draws = [make_row_generator(3, row).random() for row in range(50)]
    assert len(set(draws)) == 50
    assert make_row_generator(4, 0).random() not in draws
