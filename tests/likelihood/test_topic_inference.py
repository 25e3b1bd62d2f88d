"""Proportions of documents under fixed topics, against enumeration and one another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from references.topic_likelihoods import enumerate_proportions, list_words
from tercet.exceptions import DataError, ParameterError
from tercet.intake import open_source
from tercet.likelihood import INFERENCES, infer_topics

TOPICS = np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.3], [0.0, 0.4]])
ALPHA = np.array([0.4, 0.8])
ROWS = np.array([[3, 1, 0, 0], [1, 1, 1, 1], [0, 2, 2, 3], [0, 0, 0, 1], [2, 0, 0, 2]])


def infer(rows, method, **options):
    return infer_topics(open_source(rows), TOPICS, ALPHA, method=method, **options)


def enumerate_rows(rows, topics=TOPICS, alpha=ALPHA):
    return np.array(
        [enumerate_proportions(list_words(row), topics, alpha) for row in rows]
    )


def test_gibbs_is_exact_up_to_its_sampling_error():
    found = infer(ROWS, "gibbs", sweeps=20_000, burn_in=500)
    np.testing.assert_allclose(found, enumerate_rows(ROWS), atol=0.01)


@pytest.mark.parametrize(("method", "near"), [("variational", 0.06), ("map", 0.15)])
def test_approximations_stay_near_the_exact_mean(method, near):
    exact = enumerate_rows(ROWS)
    found = infer(ROWS, method)
    assert np.abs(found - exact).max() < near
    # A guess that ignores the document is much further away.
    assert np.abs(ALPHA / ALPHA.sum() - exact).max() > 3 * 0.06


def test_linear_finds_the_proportions_of_expected_counts():
    shares = np.array([[0.25, 0.75], [0.9, 0.1]])
    counts = 1000.0 * shares @ TOPICS.T
    found = infer_topics(
        open_source(counts, requirement="counts"), TOPICS, ALPHA, method="linear"
    )
    np.testing.assert_allclose(found, shares, atol=1e-12)


def test_methods_agree_on_a_long_document(rng):
    shares = np.array([0.3, 0.7])
    row = rng.multinomial(20_000, TOPICS @ shares)[None, :]
    for method in INFERENCES:
        options = {"sweeps": 30, "burn_in": 10} if method == "gibbs" else {}
        np.testing.assert_allclose(infer(row, method, **options)[0], shares, atol=0.02)


@pytest.mark.parametrize("method", list(INFERENCES))
def test_a_document_without_known_words_gets_the_prior(method):
    topics = np.vstack([TOPICS, np.zeros(2)])
    rows = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 7]])
    found = infer_topics(open_source(rows), topics, ALPHA, method=method)
    np.testing.assert_allclose(found, np.tile(ALPHA / ALPHA.sum(), (2, 1)), atol=1e-12)


@pytest.mark.parametrize("method", list(INFERENCES))
def test_unknown_words_change_nothing(method):
    topics = np.vstack([TOPICS, np.zeros(2)])
    with_unknown = np.column_stack([ROWS, [5, 0, 1, 2, 0]])
    found = infer_topics(open_source(with_unknown), topics, ALPHA, method=method)
    np.testing.assert_allclose(found, infer(ROWS, method), atol=1e-12)


@pytest.mark.parametrize("method", list(INFERENCES))
def test_blocks_and_threads_change_nothing(method, rng):
    rows = rng.poisson(1.0, size=(50, 4))
    whole = infer_topics(open_source(rows), TOPICS, ALPHA, method=method)
    parts = infer_topics(
        open_source(rows, block_rows=7, n_jobs=2), TOPICS, ALPHA, method=method
    )
    np.testing.assert_allclose(parts, whole, atol=1e-12)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    method=st.sampled_from(["variational", "map", "gibbs", "linear"]),
)
def test_rows_sum_to_one_whatever_the_topics(seed, method):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    topics = rng.dirichlet(np.full(d, 0.1), size=k).T
    alpha = 10.0 ** rng.uniform(-3, 2, size=k)
    rows = rng.poisson(10.0 ** rng.uniform(-1, 2), size=(6, d))
    found = infer_topics(open_source(rows), topics, alpha, method=method, sweeps=60)
    assert found.shape == (6, k)
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


def test_gibbs_follows_its_generator():
    first = infer(ROWS, "gibbs", rng=np.random.default_rng(1))
    again = infer(ROWS, "gibbs", rng=np.random.default_rng(1))
    other = infer(ROWS, "gibbs", rng=np.random.default_rng(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_errors_name_what_is_wrong():
    with pytest.raises(ParameterError, match="method='bayes'"):
        infer(ROWS, "bayes")
    with pytest.raises(ParameterError, match="burn_in=60"):
        infer(ROWS, "gibbs", sweeps=60, burn_in=60)
    with pytest.raises(ParameterError, match="max_rounds=0"):
        infer(ROWS, "map", max_rounds=0)
    with pytest.raises(DataError, match="3 features"):
        infer(ROWS[:, :3], "map")
    halves = open_source(ROWS / 2, requirement="counts")
    with pytest.raises(DataError, match=r"row 0, column 0 is 1\.5"):
        infer_topics(halves, TOPICS, ALPHA, method="gibbs")
    assert infer_topics(halves, TOPICS, ALPHA).shape == (5, 2)
