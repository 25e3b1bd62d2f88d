"""Estimators of two views: what is learned, predicted, kept and refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tercet
from tercet import DiscreteCCA, MixedCCA, NonGaussianCCA
from tercet.datasets import make_discrete_cca, make_mixed_cca, make_non_gaussian_cca
from tercet.evaluation import measure_l1_error
from tercet.exceptions import (
    AlignmentError,
    DataError,
    DataWarning,
    ModelWarning,
    ParameterError,
    RankError,
)
from tercet.intake import open_pair
from tercet.models.facts import describe_model
from tercet.moments import collect_views


@pytest.fixture(scope="module")
def sample() -> Any:
    return make_discrete_cca(6000, n_components=4)


@pytest.fixture(scope="module")
def fitted(sample: Any) -> DiscreteCCA:
    return DiscreteCCA(4).fit(*sample.views)


def measure_error(model: Any, truth: Any) -> float:
    """Mean l1-error of stacked loadings."""
    stacked = np.hstack(model.components_).T / 2.0
    return measure_l1_error(np.vstack(truth.loadings).T / 2.0, stacked.T)


@pytest.mark.parametrize("targets", ["cumulants", "covariances"])
@pytest.mark.parametrize("decomposition", ["sh-rt", "just", "jdtm"])
def test_loadings_are_found_among_more_noise_sources_than_features(
    sample: Any, targets: str, decomposition: str
) -> None:
    model = DiscreteCCA(4, targets=targets, decomposition=decomposition)
    model.fit(*sample.views)
    assert measure_error(model, sample.truth) < 0.06
    for table in model.components_:
        assert table.shape == (4, 20)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        assert table.min() >= 0.0
    assert np.all(np.diff(model.weights_) <= 0.0)
    assert model.outcome_.converged


def test_complex_pairs_of_the_pencil_are_reported() -> None:
    # Which corpora have them depends on the combination of targets, and that on
    # signs that a linear algebra library is free to choose; most of these have.
    fell_back = 0
    for seed in range(12):
        views = make_discrete_cca(60, n_components=10, random_state=seed).views
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = DiscreteCCA(8, decomposition="eigen").fit(*views)
        told = any("complex pair" in str(warning.message) for warning in caught)
        assert told == (model.outcome_.status == "fell back")
        fell_back += told
    assert fell_back > 0


def test_continuous_views_with_symmetric_sources() -> None:
    sample = make_non_gaussian_cca(8000, n_components=3, n_noise=(20, 20))
    model = NonGaussianCCA(3).fit(*sample.views)
    for table, true in zip(model.components_, sample.truth.loadings, strict=True):
        unit = true / np.linalg.norm(true, axis=0)
        assert np.abs(table @ unit).max(axis=0).min() > 0.97
        np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1.0)
    heaviest = np.abs(model.components_[0]).argmax(axis=1)
    assert np.all(model.components_[0][np.arange(3), heaviest] > 0.0)


def test_mixed_views() -> None:
    sample = make_mixed_cca(6000, n_components=3)
    model = MixedCCA(3).fit(*sample.views)
    unit = sample.truth.loadings[0] / np.linalg.norm(sample.truth.loadings[0], axis=0)
    products = model.components_[0] @ unit
    match = products.argmax(axis=1)
    assert sorted(match) == [0, 1, 2]
    assert products.max(axis=1).min() > 0.97
    counts = sample.truth.loadings[1].T[match]
    assert np.abs(model.components_[1] - counts).sum(axis=1).max() < 0.2


def test_strengths_rebuild_the_cross_covariance(
    fitted: DiscreteCCA, sample: Any
) -> None:
    X1, X2 = (view.toarray() for view in sample.views)
    observed = np.cov(X1.T, X2.T)[:20, 20:]
    first, second = fitted.components_
    modelled = first.T @ np.diag(fitted.strengths_) @ second
    error = ((observed - modelled) ** 2).sum() / (observed**2).sum()
    np.testing.assert_allclose(fitted.score(X1, X2), 1.0 - error, rtol=1e-8)


def test_score_of_wide_views_is_nearly_that_of_all_features() -> None:
    views = make_discrete_cca(
        4000, n_features=(600, 550), n_components=3, n_noise=(5, 5), shape=0.5
    ).views
    model = DiscreteCCA(3).fit(*views)
    X1, X2 = (view.toarray() for view in views)
    observed = np.cov(X1.T, X2.T)[:600, 600:]
    modelled = model.components_[0].T @ np.diag(model.strengths_) @ model.components_[1]
    error = ((observed - modelled) ** 2).sum() / (observed**2).sum()
    assert abs(model.score(*views) - (1.0 - error)) < 0.02


def test_sources_are_told_from_both_views_and_from_one(
    fitted: DiscreteCCA, sample: Any
) -> None:
    fresh = make_discrete_cca(3000, n_components=4, truth=sample.truth, random_state=7)
    truth = fresh.sources

    def agreement(estimate: np.ndarray) -> np.ndarray:
        return np.corrcoef(estimate.T, truth.T)[:4, 4:].max(axis=1)

    both = fitted.transform(*fresh.views)
    assert both.shape == (3000, 4)
    first = fitted.transform(fresh.views[0])
    second = fitted.transform(X2=fresh.views[1])
    assert agreement(both).min() > 0.85
    assert agreement(first).min() > 0.6
    assert agreement(second).min() > 0.6
    assert np.all(
        agreement(both) > np.maximum(agreement(first), agreement(second)) - 0.01
    )
    # Centred sources of variance one at most: a linear estimate shrinks.
    assert np.abs(both.mean(axis=0)).max() < 0.15
    assert both.std(axis=0).max() < 1.3


def test_one_view_predicts_the_other(fitted: DiscreteCCA, sample: Any) -> None:
    X1, X2 = (view.toarray() for view in sample.views)
    for given, wanted in (({"X1": X1}, X2), ({"X2": X2}, X1)):
        mean = wanted.mean(axis=0)
        expected = fitted.cross_predict(**given)
        assert expected.shape == wanted.shape
        assert expected.min() >= 0.0
        assert ((expected - wanted) ** 2).sum() < 0.9 * ((mean - wanted) ** 2).sum()
    some = fitted.cross_predict(X1, features=[3, 1])
    np.testing.assert_allclose(some, fitted.cross_predict(X1)[:, [3, 1]])
    with pytest.raises(ParameterError, match="either X1 or X2"):
        fitted.cross_predict(X1, X2)


@pytest.mark.parametrize("targets", ["cumulants", "covariances"])
def test_file_holds_everything(sample: Any, targets: str, tmp_path: Path) -> None:
    model = DiscreteCCA(4, targets=targets).fit(*sample.views)
    model.save(tmp_path / "views.safetensors")
    again = tercet.load(tmp_path / "views.safetensors")
    for mine, kept in zip(model.components_, again.components_, strict=True):
        np.testing.assert_array_equal(mine, kept)
    np.testing.assert_array_equal(
        model.transform(*sample.views), again.transform(*sample.views)
    )
    again.partial_fit(*sample.views)
    assert again.n_samples_seen_ == 12_000


@pytest.mark.parametrize("targets", ["cumulants", "covariances"])
def test_batches_equal_one_fit(sample: Any, targets: str) -> None:
    X1, X2 = sample.views
    model = DiscreteCCA(4, targets=targets)
    model.partial_fit(X1[:3000], X2[:3000])
    points = model.moments_.tilts
    model.partial_fit(X1[3000:4000], X2[3000:4000]).partial_fit(X1[4000:], X2[4000:])
    whole = collect_views(X1, X2, like=model.moments_)
    np.testing.assert_allclose(model.moments_.cross, whole.cross)
    again = DiscreteCCA(4, targets=targets).fit_moments(whole)
    for mine, other in zip(model.components_, again.components_, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-8)
    assert measure_error(model, sample.truth) < 0.08
    assert (points is None) == (targets == "cumulants")


def test_a_fit_goes_on_with_batches(fitted: DiscreteCCA, sample: Any) -> None:
    X1, X2 = sample.views
    model = DiscreteCCA(4).fit(X1[:3000], X2[:3000])
    model.partial_fit(X1[3000:], X2[3000:])
    assert np.abs(model.components_[0] - fitted.components_[0]).max() < 0.05


def test_streams_threads_and_sparse_rows_change_nothing(
    fitted: DiscreteCCA, sample: Any
) -> None:
    X1, X2 = sample.views

    def cut(view: Any, rows: int) -> Any:
        return lambda: (view[i : i + rows] for i in range(0, view.shape[0], rows))

    for views, threads in (
        ((cut(X1, 700), cut(X2, 1100)), None),
        ((X1.toarray(), X2), 2),
        ((X1, sparse.coo_array(X2)), None),
    ):
        other = DiscreteCCA(4, n_jobs=threads).fit(*views)
        for mine, wanted in zip(other.components_, fitted.components_, strict=True):
            np.testing.assert_allclose(mine, wanted, atol=1e-8)
    once = DiscreteCCA(4).fit(iter([X1]), iter([X2]))
    assert measure_error(once, sample.truth) < 0.08


def test_few_rows_wait_for_more() -> None:
    X1, X2 = make_discrete_cca(4, n_components=2).views
    model = DiscreteCCA(8)
    with pytest.warns(DataWarning, match="do not suffice yet"):
        model.partial_fit(X1, X2)
    assert not hasattr(model, "components_")
    more = make_discrete_cca(3000, n_components=8, random_state=1).views
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model.partial_fit(*more)
    assert model.components_[0].shape == (8, 20)


def test_names_of_both_views_are_kept_and_checked() -> None:
    X1, X2 = make_discrete_cca(2000, n_components=2).views
    first = pd.DataFrame(X1.toarray(), columns=[f"en{j}" for j in range(20)])
    second = pd.DataFrame(X2.toarray(), columns=[f"fr{j}" for j in range(20)])
    model = DiscreteCCA(2).fit(first, second)
    assert model.feature_names_in_[0] == "en0"
    assert model.second_names_in_[-1] == "fr19"
    assert "| fr" in str(model)
    with pytest.raises(DataError, match="feature names of X2"):
        model.transform(first, second[second.columns[::-1]])
    facts = describe_model(model)
    json.dumps(facts)
    assert facts["n_components"] == 2
    assert facts["components"][0]["second"][0][0].startswith("fr")
    assert facts["second_features"] == 20
    assert "fr" in model._repr_html_()


def test_unaligned_views_are_named() -> None:
    X1, X2 = make_discrete_cca(50, n_components=2).views
    with pytest.raises(AlignmentError, match="X1 has 50 rows, but X2 has 49"):
        DiscreteCCA(2).fit(X1, X2[:49])
    with pytest.raises(AlignmentError, match="X1 has 50 rows, but X2 has 49"):
        DiscreteCCA(2).fit(iter([X1]), iter([X2[:20], X2[20:49]]))


def test_constant_view_is_named() -> None:
    X1, _ = make_discrete_cca(50, n_components=2).views
    with pytest.raises(DataError, match="X2 is constant"):
        DiscreteCCA(2).fit(X1, np.ones((50, 4)))


def test_more_components_than_features_or_rank() -> None:
    X1, X2 = make_discrete_cca(300, n_components=2).views
    with pytest.raises(RankError, match="20 features of X1") as error:
        DiscreteCCA(21).fit(X1, X2)
    assert error.value.supported == 20
    # Views that are multiples of one column share one direction exactly.
    line = X1.toarray()[:, :1]
    with pytest.raises(RankError, match="Ask for 1 component"):
        DiscreteCCA(2).fit(line * [1.0, 2.0, 3.0], line * [1.0, 4.0, 1.0])


def test_components_that_are_noise_are_warned_of() -> None:
    X1, X2 = make_discrete_cca(2000, n_components=2, n_noise=(3, 3)).views
    with pytest.warns(ModelWarning, match="Only 2 of the n_components=6 singular"):
        model = DiscreteCCA(6).fit(X1, X2)
    assert model.diagnostics_["supported"] == 2


@pytest.mark.parametrize("targets", ["cumulants", "covariances"])
@pytest.mark.parametrize("noise", ["gaussian", "skewed"])
def test_gaussian_sources_are_warned_of(
    rng: np.random.Generator, targets: str, noise: str
) -> None:
    shared = rng.normal(size=(3000, 3))
    views = []
    for _ in range(2):
        own = (
            rng.normal(size=(3000, 4))
            if noise == "gaussian"
            else rng.exponential(size=(3000, 4))
        )
        views.append(shared @ rng.normal(size=(3, 8)) + own @ rng.normal(size=(4, 8)))
    with pytest.warns(ModelWarning, match="of 3 sources look Gaussian"):
        NonGaussianCCA(3, targets=targets).fit(*views)


def test_skewed_sources_are_not_warned_of(rng: np.random.Generator) -> None:
    shared = rng.exponential(size=(3000, 3))
    views = [
        shared @ rng.normal(size=(3, 8)) + rng.normal(size=(3000, 8)) for _ in range(2)
    ]
    model = NonGaussianCCA(3, targets="cumulants").fit(*views)
    assert model.diagnostics_["visibility"].min() > 5.0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"targets": "moments"}, "targets='moments'"),
        ({"decomposition": "joint"}, "decomposition='joint'"),
        ({"delta": -1.0}, "delta=-1.0"),
        ({"negative": "keep"}, "negative='keep'"),
        ({"strategy": "guess"}, "strategy='guess'"),
    ],
)
def test_bad_parameters_are_named(changes: dict[str, Any], complaint: str) -> None:
    X1, X2 = make_discrete_cca(50, n_components=2).views
    with pytest.raises(ParameterError, match=complaint):
        DiscreteCCA(**({"n_components": 2} | changes)).fit(X1, X2)


def test_what_cannot_be_done_is_said(fitted: DiscreteCCA, sample: Any) -> None:
    X1, X2 = sample.views
    with pytest.raises(ParameterError, match="two views are wanted"):
        DiscreteCCA(2).fit(X1)
    with pytest.raises(ParameterError, match="reads the rows twice"):
        DiscreteCCA(2, targets="covariances").fit(iter([X1]), iter([X2]))
    with pytest.raises(ParameterError, match="source of pairs already"):
        DiscreteCCA(2).fit(open_pair(X1, X2), X2)
    with pytest.raises(ParameterError, match="not a TwoViewMoments"):
        DiscreteCCA(2).fit_moments(X1)
    with pytest.raises(ParameterError, match="but NonGaussianCCA takes"):
        NonGaussianCCA(2).fit_moments(fitted.moments_)
    with pytest.raises(ParameterError, match="no tilted sums"):
        DiscreteCCA(4, targets="covariances").fit_moments(fitted.moments_)
    with pytest.raises(DataError, match="X2 has 19 features"):
        fitted.transform(X1, X2[:, :19])
    with pytest.raises(DataError, match=r"X1: .*negative"):
        DiscreteCCA(2).fit(-X1.toarray(), X2)
    with pytest.raises(ParameterError, match="different bases"):
        fitted.moments_ + collect_views(X1, X2, 4, strategy="sketch", extra=2)
