"""Generators keep to their papers, tell the truth and repeat themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tercet import datasets
from tercet.exceptions import ParameterError
from tercet.flow import Parameters

SMALL = {
    "make_single_topic": {"n_features": 20, "n_components": 3},
    "make_hierarchical_topics": {},
    "make_lda": {"n_features": 20, "n_components": 3},
    "make_lda_fixed": {"n_features": 20, "n_components": 3},
    "make_lda_two_lengths": {"n_features": 20, "n_components": 3},
    "make_lda_conditioned": {},
    "make_gamma_poisson": {"n_features": 20, "n_components": 3},
    "make_poisson_mixture": {"n_features": 20, "n_components": 3},
    "make_bernoulli_mixture": {"n_features": 20, "n_components": 3},
    "make_spherical_gaussians": {},
}
GENERATORS = sorted(SMALL)


def make(name, n_rows=200, **options):
    return getattr(datasets, name)(n_rows, **SMALL[name] | options)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def topics_of(parameters):
    return parameters.centers / parameters.centers.sum(axis=0)


def test_every_generator_of_one_view_is_listed_here():
    made = {name for name in datasets.__all__ if name.startswith("make_")}
    assert {name for name in made if not name.endswith("_cca")} == set(SMALL)


@pytest.mark.parametrize("name", GENERATORS)
def test_same_seed_same_rows_other_seed_other_rows(name):
    first, again, other = (make(name, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(dense(first.rows), dense(again.rows))
    assert np.array_equal(first.parameters.centers, again.parameters.centers)
    assert not np.array_equal(dense(first.rows), dense(other.rows))


@pytest.mark.parametrize("name", GENERATORS)
def test_sample_is_complete_and_consistent(name):
    sample = make(name)
    truth = sample.parameters
    assert sample.rows.shape == (200, truth.n_features)
    assert truth.weights.shape == (truth.n_components,)
    assert np.all(np.diff(truth.weights) <= 0.0)
    assert truth.weights.sum() == pytest.approx(1.0)
    assert (sample.labels is None) != (sample.proportions is None)
    if sample.labels is not None:
        assert sample.labels.shape == (200,)
        assert set(np.unique(sample.labels)) <= set(range(truth.n_components))
    else:
        assert sample.proportions.shape == (200, truth.n_components)
        sums = sample.proportions.sum(axis=1)
        assert np.all(np.isclose(sums, 1.0) | (sums == 0.0))
    if sparse.issparse(sample.rows):
        assert sample.rows.dtype == np.int32
        assert sample.rows.has_canonical_format
        assert sample.rows.data.min() > 0
    assert sample.settings["n_rows"] == 200
    assert sample.settings["random_state"] == 0


@pytest.mark.parametrize("name", GENERATORS)
def test_means_of_rows_are_those_of_the_truth(name):
    sample = make(name, n_rows=20_000)
    truth, rows = sample.parameters, dense(sample.rows).astype(float)
    if name.startswith(("make_lda", "make_single", "make_hier", "make_gamma")):
        # Tokens of topic models: shares of words over all documents.
        seen = rows.sum(axis=0) / rows.sum()
        spread = 12.0 / np.sqrt(rows.shape[0])
        assert np.abs(seen - truth.centers @ truth.weights).sum() < spread
    else:
        means = truth.centers @ truth.weights
        error = rows.std(axis=0) / np.sqrt(rows.shape[0])
        assert np.all(np.abs(rows.mean(axis=0) - means) < 5.0 * error + 1e-12)


@pytest.mark.parametrize("name", ["make_single_topic", "make_poisson_mixture"])
def test_rows_of_one_label_have_its_center(name):
    sample = make(name, n_rows=20_000)
    rows = dense(sample.rows).astype(float)
    for j in range(sample.parameters.n_components):
        mine = rows[sample.labels == j].sum(axis=0)
        wanted = topics_of(sample.parameters)[:, j]
        assert np.abs(mine / mine.sum() - wanted).max() < 0.01


def test_single_topic_is_uniform_as_in_paper_000():
    sample = datasets.make_single_topic(5000, n_features=2000, n_components=5)
    topics = sample.parameters.centers
    # Uniform numbers normalised to sum one: mean 1/d, all below about 2/d.
    assert topics.sum(axis=0) == pytest.approx(1.0)
    assert 1.9 < topics.max() * 2000 < 2.2
    assert np.quantile(topics * 2000, 0.25) == pytest.approx(0.5, abs=0.03)
    lengths = sample.rows.sum(axis=1)
    assert (lengths.min(), lengths.max()) == (3, 100)
    assert lengths.mean() == pytest.approx(51.5, abs=1.5)


def test_lda_lengths_fixed_two_and_poisson():
    fixed = datasets.make_lda_fixed(30, length=17, n_features=9, n_components=2)
    assert set(fixed.rows.sum(axis=1)) == {17}
    two = datasets.make_lda_two_lengths(
        100, share=0.9, first_length=20, second_length=60, n_features=9, n_components=2
    )
    lengths = two.rows.sum(axis=1)
    assert (lengths == 60).sum() == 90
    assert (lengths == 20).sum() == 10
    free = datasets.make_lda(4000, n_features=9, n_components=2, mean_length=50.0)
    lengths = free.rows.sum(axis=1)
    assert lengths.mean() == pytest.approx(50.0, abs=0.6)
    assert lengths.var() == pytest.approx(50.0, rel=0.1)


def test_lda_proportions_have_dirichlet_moments():
    alpha = np.array([0.6, 0.3, 0.1])
    sample = datasets.make_lda(
        20_000, n_features=9, n_components=3, concentration=alpha, mean_length=5
    )
    shares = sample.proportions
    assert shares.mean(axis=0) == pytest.approx(alpha, abs=0.015)
    # The variance of a share of mean m is m times 1 - m over alpha0 + 1.
    assert shares.var(axis=0) == pytest.approx(alpha * (1 - alpha) / 2.0, abs=0.01)


def test_gamma_poisson_has_lengths_and_sources_as_asked():
    sample = datasets.make_gamma_poisson(
        20_000, n_features=15, n_components=2, concentration=[2.0, 1.0], mean_length=30
    )
    truth, lengths = sample.parameters, sample.rows.sum(axis=1)
    assert truth.concentration == pytest.approx([2.0, 1.0])
    assert truth.rate == pytest.approx(3.0 / 30.0)
    assert lengths.mean() == pytest.approx(30.0, rel=0.02)
    # The length is Poisson with a gamma mean: variance L + sum(c) / b^2.
    assert lengths.var() == pytest.approx(30.0 + 3.0 / 0.1**2, rel=0.05)


@pytest.mark.parametrize(
    "bounds", [(0.01, 0.05), (0.05, 0.1), (0.1, 0.5), (0.5, 0.7), (0.7, 1.1)]
)
def test_conditioned_topics_lie_in_every_range_of_thesis_003(bounds):
    sample = datasets.make_lda_conditioned(
        5, n_features=20, n_components=3, singular_values=bounds
    )
    topics = sample.parameters.centers
    smallest = np.linalg.svd(topics, compute_uv=False)[-1]
    assert bounds[0] <= smallest <= bounds[1]
    assert topics.min() >= 0.0
    assert topics.sum(axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize("d", [16, 100])
def test_hierarchical_topics_are_a_tree(d):
    sample = datasets.make_hierarchical_topics(4, n_features=d, contrast=10.0)
    topics = sample.parameters.centers
    assert sample.parameters.weights == pytest.approx(1 / 8)

    def distance(i, j):
        return np.abs(topics[:, i] - topics[:, j]).sum()

    # Pairs (0,1), (2,3), ... are nearest, then the two pairs of a half.
    for i in range(0, 8, 2):
        other = (i + 2) % 4 + 4 * (i // 4)
        far = (i + 4) % 8
        assert distance(i, i + 1) < distance(i, other) < distance(i, far)
    assert np.allclose(topics[::-1, ::-1], topics)


def test_exponential_parameters_of_thesis_001():
    poisson = datasets.make_poisson_mixture(
        2, n_features=500, n_components=20, mean=2.0
    ).parameters.centers
    # An exponential number has its mean as standard deviation.
    assert poisson.mean() == pytest.approx(2.0, rel=0.05)
    assert poisson.std() == pytest.approx(2.0, rel=0.05)
    bernoulli = datasets.make_bernoulli_mixture(
        2, n_features=500, n_components=20
    ).parameters.centers
    assert bernoulli.max() == 1.0
    assert bernoulli.std() == pytest.approx(bernoulli.mean(), rel=0.05)


def test_given_parameters_are_kept_but_sorted():
    given = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.25, 0.75]))
    for name in ("make_single_topic", "make_lda", "make_gamma_poisson"):
        truth = getattr(datasets, name)(10, parameters=given).parameters
        assert truth.weights == pytest.approx([0.75, 0.25])
        assert np.array_equal(truth.centers, given.centers[:, ::-1])


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("make_lda", {"n_components": 0}, "n_components"),
        ("make_lda", {"concentration": -1.0}, "concentration"),
        ("make_lda", {"frequencies": "steep"}, "flat"),
        ("make_lda", {"lengths": [1, 2]}, "lengths"),
        ("make_lda", {"parameters": "good"}, "parameters"),
        ("make_single_topic", {"length_range": (9, 3)}, "length_range"),
        ("make_lda_two_lengths", {"share": 1.5}, "share"),
        ("make_lda_conditioned", {"singular_values": (1.0, 1.1)}, "singular_values"),
        ("make_gamma_poisson", {"shortest": 200}, "shortest"),
        ("make_bernoulli_mixture", {"largest": 1.5}, "largest"),
        ("make_poisson_mixture", {"weights": [1.0, 2.0]}, "weights"),
        ("make_spherical_gaussians", {"variances": [-1.0]}, "variances"),
    ],
)
def test_bad_arguments_are_named(name, options, named):
    with pytest.raises(ParameterError, match=named):
        make(name, **options)
