"""Likelihood steps: what they climb, when they end, and what they cannot break."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, gammaln

from tercet.datasets import make_lda
from tercet.evaluation import measure_l1_error
from tercet.exceptions import ParameterError
from tercet.flow import Status
from tercet.intake import open_source
from tercet.likelihood import STEPS, fit_concentration, refine_topics
from tercet.likelihood.dirichlet import VariationalPass


@pytest.fixture
def sample(seed):
    return make_lda(
        600, n_features=60, n_components=4, mean_length=60, random_state=seed
    )


def blur(sample, rng, share=0.4):
    """Return the true topics, mixed with noise."""
    truth = sample.parameters.centers
    noise = rng.dirichlet(np.ones(truth.shape[0]), size=truth.shape[1]).T
    return (1 - share) * truth + share * noise


def bound_of(row, topics, alpha, gamma):
    """Evidence lower bound of a document (Blei, Ng and Jordan 2003, equation 15)."""
    logs = digamma(gamma) - digamma(gamma.sum())
    value = gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ logs
    value -= gammaln(gamma.sum()) - gammaln(gamma).sum() + (gamma - 1) @ logs
    for word in np.flatnonzero(row):
        phi = topics[word] * np.exp(logs)
        phi /= phi.sum()
        kept = phi > 0
        inner = logs[kept] + np.log(topics[word][kept]) - np.log(phi[kept])
        value += row[word] * float(phi[kept] @ inner)
    return value


def test_the_pass_sums_the_bound_of_the_references(rng):
    topics = rng.dirichlet(np.full(6, 0.5), size=3).T
    alpha = np.array([0.3, 1.0, 0.1])
    rows = rng.poisson(1.0, size=(5, 6)) + np.eye(5, 6, dtype=int)
    state = open_source(rows).run(VariationalPass(topics, alpha, first_rounds=4))
    total = 0.0
    for row in rows:
        counts = np.full(3, row.sum() / 3)
        for _ in range(4):
            gamma = alpha + counts
            phi = topics * np.exp(digamma(gamma))
            phi /= phi.sum(axis=1, keepdims=True)
            counts = row @ phi
        total += bound_of(row, topics, alpha, gamma)
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    assert state.totals[0] + 5 * constant == pytest.approx(total, rel=1e-9)
    assert state.totals[1] == pytest.approx(rows.sum())


@pytest.mark.parametrize("smoothing", [0.0, 0.05])
@pytest.mark.parametrize("update", [True, False])
def test_the_bound_rises_at_every_variational_step(sample, rng, smoothing, update):
    found = refine_topics(
        open_source(sample.rows),
        blur(sample, rng),
        np.full(4, 0.2),
        kind="variational",
        steps=25,
        smoothing=smoothing,
        update_concentration=update,
    )
    # While topic shares lead the concentration, it does not climb.
    settled = found.history[3:] if update else found.history
    assert (np.diff(settled) > -1e-9).all()


@pytest.mark.parametrize("kind", STEPS)
def test_steps_bring_topics_nearer_to_the_truth(sample, rng, kind):
    start = blur(sample, rng)
    found = refine_topics(open_source(sample.rows), start, np.full(4, 0.2), kind=kind)
    truth = sample.parameters.centers.T
    before, after = (measure_l1_error(truth, t.T) for t in (start, found.centers))
    assert after < 0.5 * before
    assert found.outcome.status is Status.CONVERGED
    assert found.outcome.residual <= (1e-3 if kind == "collapsed" else 2e-3)
    np.testing.assert_allclose(found.centers.sum(axis=0), 1.0)
    assert found.shares.sum() == pytest.approx(1.0)


def test_the_end_is_told_honestly(sample, rng):
    source, start = open_source(sample.rows), blur(sample, rng)
    none = refine_topics(source, start, np.full(4, 0.2), steps=0)
    assert none.outcome.status is Status.EXACT
    np.testing.assert_array_equal(none.centers, start)
    few = refine_topics(source, start, np.full(4, 0.2), max_steps=4)
    assert few.outcome.status is Status.EXHAUSTED
    assert few.outcome.iterations == 4
    changes = np.abs(np.diff(few.history))
    assert few.outcome.residual == pytest.approx(changes[-2:].max())
    assert few.outcome.residual > 1e-3


def test_long_documents_are_worth_more_steps(rng):
    sample = make_lda(200, n_features=60, n_components=4, mean_length=3000)
    found = refine_topics(open_source(sample.rows), blur(sample, rng), np.full(4, 0.2))
    assert found.outcome.converged
    assert found.outcome.residual <= 1e-3 * 150 / 2900
    short = refine_topics(
        open_source(sample.rows), blur(sample, rng), np.full(4, 0.2), tolerance=0.02
    )
    assert short.outcome.iterations < found.outcome.iterations


def test_shares_keep_the_sum_of_the_concentration(sample, rng):
    found = refine_topics(
        open_source(sample.rows),
        blur(sample, rng),
        [0.1, 0.1, 0.1, 1.7],
        update_concentration="shares",
    )
    assert found.concentration.sum() == pytest.approx(2.0)
    np.testing.assert_allclose(found.concentration / 2.0, found.shares, rtol=1e-6)


# Collapsed rounds have single precision; the sums over documents do not.
@pytest.mark.parametrize(("kind", "rtol"), [("collapsed", 1e-4), ("variational", 1e-9)])
def test_threads_and_blocks_change_rounding_only(sample, rng, kind, rtol):
    start = blur(sample, rng)

    def refine(**options):
        source = open_source(sample.rows, **options)
        return refine_topics(source, start, np.full(4, 0.2), kind=kind, steps=4).centers

    one = refine()
    two = refine(n_jobs=2, block_rows=37)
    np.testing.assert_allclose(two, one, rtol=rtol, atol=1e-2 * rtol)
    np.testing.assert_array_equal(refine(), one)


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_is_a_table_a_thread_and_one_count_a_document(n_jobs, kind):
    sample = make_lda(4000, n_features=60_000, n_components=10, mean_length=20)
    start, k, d = sample.parameters.centers, 10, 60_000
    source = open_source(sample.rows.astype(float), n_jobs=n_jobs)
    refine_topics(source, start, np.full(k, 0.1), kind=kind, steps=1)  # compiles
    tracemalloc.start()
    refine_topics(source, start, np.full(k, 0.1), kind=kind, steps=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The topics (collapsed: now, to sixteen columns, and before, in single precision),
    # a table of sums for each thread, the documents' counts; blocks, their counts on
    # the way, and rows of logarithms in the rest.
    topics = d * k if kind == "variational" else d * (16 + k) / 2
    assert peak < 8 * (topics + n_jobs * d * k + 4000 * k) + (2 << 20)


def test_smoothing_spreads_like_the_corpus():
    rows = np.array([[6, 2, 0, 0], [5, 3, 0, 0], [0, 0, 7, 1], [0, 0, 6, 2]])
    start = np.array([[0.7, 0.3, 0.0, 0.0], [0.0, 0.0, 0.8, 0.2]]).T
    found = refine_topics(open_source(rows), start, [0.5, 0.5], steps=1, smoothing=0.5)
    # Two pseudo-tokens a topic, shared out by the counts 11, 5, 13 and 3 of 32.
    expected = (
        np.array([11 + 2 * 11 / 32, 5 + 2 * 5 / 32, 2 * 13 / 32, 2 * 3 / 32]) / 18
    )
    np.testing.assert_allclose(found.centers[:, 0], expected)


def test_concentration_of_fixed_topics(rng):
    sample = make_lda(
        2000, n_features=200, n_components=3, concentration=[0.2, 0.5, 1.0]
    )
    found = fit_concentration(open_source(sample.rows), sample.parameters.centers)
    np.testing.assert_allclose(found, sample.parameters.concentration, rtol=0.2)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(STEPS))
def test_nothing_breaks_the_steps(seed, kind):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(1, [12, 9, 6])
    topics = rng.dirichlet(np.full(d, 0.05), size=k).T
    alpha = 10.0 ** rng.uniform(-4, 3, size=k)
    rows = rng.poisson(10.0 ** rng.uniform(-2, 4), size=(n, d))
    rows[0, 0] += 1  # no counts at all are refused when they are opened
    found = refine_topics(open_source(rows), topics, alpha, kind=kind, steps=4)
    assert np.isfinite(found.centers).all()
    assert np.isfinite(found.history).all()
    assert found.centers.min() >= 0.0
    np.testing.assert_allclose(found.centers.sum(axis=0), 1.0, atol=1e-9)
    assert (found.concentration > 0.0).all()
    assert np.isfinite(found.concentration).all()


def test_errors_name_what_is_wrong(sample):
    source, start = open_source(sample.rows), sample.parameters.centers
    for options, message in (
        ({"steps": -1}, "steps=-1"),
        ({"max_steps": 1.5}, r"max_steps=1\.5"),
        ({"kind": "gibbs"}, "kind='gibbs' is not known; choose one of 'collapsed'"),
        ({"smoothing": -1.0}, r"smoothing=-1\.0"),
        ({"update_concentration": "some"}, "update_concentration='some'"),
    ):
        with pytest.raises(ParameterError, match=message):
            refine_topics(source, start, np.ones(4), **options)
    with pytest.raises(ParameterError, match="centers has 59 rows"):
        refine_topics(source, start[1:] / start[1:].sum(axis=0), np.ones(4))
    with pytest.raises(ParameterError, match="concentration"):
        refine_topics(source, start, np.zeros(4))
