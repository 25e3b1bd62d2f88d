"""Rows drawn from a family have its distribution; wrong parameters are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.families import (
    FAMILIES,
    Bernoulli,
    GammaPoisson,
    IndependentComponents,
    LatentDirichlet,
    Poisson,
    SingleTopic,
    SphericalGaussian,
    ThreeViews,
)
from tercet.families.draws import (
    draw_bernoulli,
    draw_labels,
    draw_poisson_counts,
    draw_topic_counts,
    draw_words,
)
from tercet.flow import Family, Parameters

TOPICS = np.array([[0.7, 0.1], [0.2, 0.1], [0.1, 0.8]])
WEIGHTS = np.array([0.6, 0.4])


def test_words_have_the_probabilities_of_their_topic(rng) -> None:
    labels = np.array([0, 1] * 5000)
    rows = draw_topic_counts(labels, TOPICS, np.full(10_000, 20), rng).toarray()
    assert set(rows.sum(axis=1)) == {20}
    for topic in (0, 1):
        mine = rows[labels == topic]
        np.testing.assert_allclose(mine.mean(axis=0) / 20, TOPICS[:, topic], atol=5e-3)
        # Multinomial covariance: words of one document are negatively related.
        wanted = 20 * (
            np.diag(TOPICS[:, topic]) - np.outer(TOPICS[:, topic], TOPICS[:, topic])
        )
        np.testing.assert_allclose(np.cov(mine.T), wanted, atol=0.2)


def test_rows_do_not_depend_on_how_tokens_are_blocked(rng, monkeypatch) -> None:
    labels = np.array([0, 1] * 500)
    monkeypatch.setattr("tercet.families.draws.TOKENS_AT_ONCE", 1000)
    rows = draw_topic_counts(labels, TOPICS, np.full(1000, 20), rng)
    assert rows.shape == (1000, 3)
    assert set(rows.sum(axis=1)) == {20}


def test_poisson_counts_are_poisson_and_independent(rng) -> None:
    means = np.array([[0.5, 3.0], [2.0, 0.0], [1.0, 1.0]])
    rows = draw_poisson_counts(np.zeros(40_000, int), means, rng).toarray()
    np.testing.assert_allclose(rows.mean(axis=0), means[:, 0], atol=0.03)
    np.testing.assert_allclose(np.cov(rows.T), np.diag(means[:, 0]), atol=0.05)
    mixed = draw_poisson_counts(np.full((40_000, 2), [1.0, 2.0]), means, rng)
    np.testing.assert_allclose(mixed.mean(axis=0), means @ [1.0, 2.0], atol=0.06)


def test_ones_are_bernoulli_and_independent(rng) -> None:
    chances = np.array([[1.0], [0.0], [0.5], [1e-3], [0.3]])
    rows = draw_bernoulli(np.zeros(40_000, int), chances, rng).toarray()
    assert rows[:, 0].min() == 1
    assert rows[:, 1].max() == 0
    p = chances[:, 0]
    np.testing.assert_allclose(rows.mean(axis=0), p, atol=0.01)
    np.testing.assert_allclose(np.cov(rows.T), np.diag(p * (1 - p)), atol=0.01)


def test_labels_have_their_weights(rng) -> None:
    labels = draw_labels([1.0, 3.0], 40_000, rng)
    assert labels.mean() == pytest.approx(0.75, abs=0.01)


def test_words_of_given_topic_counts(rng) -> None:
    rows = draw_words(np.array([[5, 0], [0, 7]]), TOPICS, rng)
    assert rows.sum(axis=1).tolist() == [5, 7]


FAMILY_TRUTHS = {
    "single-topic": Parameters(TOPICS, WEIGHTS),
    "latent-dirichlet": Parameters(TOPICS, WEIGHTS),
    "gamma-poisson": Parameters(
        TOPICS, WEIGHTS, concentration=np.array([1.0, 2.0]), rate=np.array([0.2, 0.1])
    ),
    "poisson": Parameters(3 * TOPICS, WEIGHTS),
    "bernoulli": Parameters(TOPICS, WEIGHTS),
    "three-view": Parameters(TOPICS, WEIGHTS),
    "spherical-gaussian": Parameters(TOPICS, WEIGHTS, variances=np.array([1.0, 0.5])),
    "independent-components": Parameters(
        TOPICS,
        WEIGHTS,
        variances=np.array([3.0, 2.0]),
        details={"skewness": np.array([1.0, -0.5])},
    ),
}


@pytest.mark.parametrize("name", list(FAMILIES))
def test_rows_have_the_means_of_the_population(name: str, rng) -> None:
    family, truth = FAMILIES[name](), FAMILY_TRUTHS[name]
    assert isinstance(family, Family)
    rows, hidden = family.sample(truth, 50_000, rng)
    assert len(hidden) == 50_000
    values = rows.toarray() if sparse.issparse(rows) else rows
    mean = values.mean(axis=0)
    if name in ("single-topic", "latent-dirichlet"):
        mean = mean / mean.sum()
    wanted = family.population(truth).first
    np.testing.assert_allclose(mean, wanted, atol=0.03 * max(1.0, wanted.max()))


@pytest.mark.parametrize("name", list(FAMILIES))
def test_settings_rebuild_the_family(name: str) -> None:
    family = FAMILIES[name]()
    assert family.name == name
    assert FAMILIES[name](**family.settings) == family


@pytest.mark.parametrize(
    ("family", "truth", "named"),
    [
        (SingleTopic(), Parameters(-TOPICS, WEIGHTS), "centers"),
        (SingleTopic(), Parameters(TOPICS, np.array([0.6, 0.6])), "weights"),
        (SingleTopic(), Parameters(TOPICS, np.array([1.0, 0.0])), "weights"),
        (SingleTopic(), Parameters(TOPICS, np.ones(3) / 3), "shape"),
        (Poisson(), Parameters(TOPICS * np.nan, WEIGHTS), "centers"),
        (Bernoulli(), Parameters(2 * TOPICS, WEIGHTS), "probabilities"),
        (ThreeViews(), Parameters(2 * TOPICS, WEIGHTS), "probabilities"),
        (GammaPoisson(), Parameters(TOPICS, WEIGHTS), "concentration"),
        (
            GammaPoisson(),
            Parameters(TOPICS, WEIGHTS, concentration=np.ones(2)),
            "rate",
        ),
        (
            LatentDirichlet(1.0),
            Parameters(TOPICS, WEIGHTS, concentration=np.ones(2)),
            "concentration=2",
        ),
        (SphericalGaussian(), Parameters(TOPICS, WEIGHTS), "variances"),
        (
            SphericalGaussian(shared_variance=True),
            Parameters(TOPICS, WEIGHTS, variances=np.array([1.0, 2.0])),
            "shared_variance",
        ),
        (IndependentComponents(), Parameters(TOPICS, WEIGHTS), "variances"),
        (
            IndependentComponents(),
            Parameters(TOPICS, WEIGHTS, variances=np.ones(2)),
            "skewness",
        ),
    ],
)
def test_wrong_parameters_are_named(family: Any, truth: Parameters, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        family.population(truth)
    with pytest.raises(ParameterError, match=named):
        family.sample(truth, 5, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: SingleTopic("tokens"), "document"),
        (lambda: SingleTopic(negative="cut"), "simplex"),
        (lambda: LatentDirichlet(0.0), "concentration"),
        (lambda: LatentDirichlet(np.nan), "concentration"),
        (lambda: GammaPoisson("cut"), "simplex"),
        (lambda: Bernoulli("three"), "completed"),
        (lambda: Bernoulli(rounds=-1), "rounds"),
        (lambda: ThreeViews(seed=-1), "seed"),
    ],
)
def test_wrong_settings_are_named(build: Any, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        build()
