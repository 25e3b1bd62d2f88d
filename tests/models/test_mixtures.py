"""Mixtures find what rows were drawn from, in memory and in a stream; edges are clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import tercet
from models.mixture_settings import KINDS, Setting, measure_distance
from tercet.datasets import (
    make_bernoulli_mixture,
)
from tercet.exceptions import (
    DataError,
    ParameterError,
)
from tercet.flow import Status

# What is found ---------------------------------------------------------------------


@pytest.mark.parametrize("refine", [0, "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_give_back_what_they_were_drawn_from(kind: str, refine: Any) -> None:
    setting = Setting(kind, n_rows=6000)
    model = setting.model(refine=refine).fit(setting.rows)
    truth = setting.sample.parameters
    scale = truth.centers.max()
    bound = (0.12 if refine == 0 else 0.06) * scale
    assert measure_distance(model.components_, truth.centers.T) < bound
    np.testing.assert_allclose(model.weights_, truth.weights, atol=0.03)
    if kind == "gaussian":
        np.testing.assert_allclose(
            model.variances_,
            truth.variances,
            rtol=0.25 if refine == 0 else 0.05,
        )
    loss = 0.05 if refine == 0 else 0.02
    assert setting.measure(model) > setting.measure_truth() - loss


@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_rises_and_the_end_is_reported(kind: str) -> None:
    setting = Setting(kind, n_rows=400)
    model = setting.model().fit(setting.rows)
    path = model.log_likelihoods_
    assert np.diff(path).min() >= -1e-9 * abs(path[-1])
    assert model.outcome_.status is Status.CONVERGED
    assert model.n_iter_ == path.size
    # The result is at least as likely as the last entry says.
    assert model.score_samples(setting.rows).sum() >= path[-1] - 1e-6


@pytest.mark.parametrize(
    ("moments", "decomposition"),
    [
        ("completed", "joint"),
        ("factorial", "joint"),
        ("raw", "svtd"),
        ("raw", "joint"),
        ("three-view", "svd"),
        ("three-view", "power"),
    ],
)
def test_every_kind_of_moments_leads_there(moments: str, decomposition: str) -> None:
    setting = Setting("bernoulli", n_rows=5000)
    model = setting.model(moments=moments, decomposition=decomposition)
    model.fit(setting.rows)
    assert setting.measure(model) > setting.measure_truth() - 0.02


def test_completed_moments_need_no_em_where_raw_ones_do() -> None:
    """Method, section 2: on sparse rows completed, factorial, raw, in this order."""
    found = {}
    for moments in ("completed", "factorial", "raw"):
        scores = []
        for seed in range(3):
            sample = make_bernoulli_mixture(
                6000, n_features=150, n_components=5, largest=0.5, random_state=seed
            )
            model = tercet.BernoulliMixture(5, moments=moments, refine=0)
            model.fit(sample.rows)
            scores.append(
                adjusted_rand_score(sample.labels, model.predict(sample.rows))
            )
        found[moments] = np.mean(scores)
    assert found["completed"] > found["factorial"] > found["raw"]


def test_asvtd_reads_slices_of_the_data() -> None:
    setting = Setting("bernoulli")
    model = setting.model(moments="raw", decomposition="svtd").fit(setting.rows)
    assert model.moments_.slices is not None
    assert model.moments_.slices.shape[0] == 24
    # Sums of the same kind add up, slices included.
    again = model.partial_fit(setting.rows)
    assert again.moments_.n_rows == 3000


@pytest.mark.parametrize("rule", ["weights", "centers", "thesis"])
def test_rules_of_the_thesis_are_to_be_had(rule: str) -> None:
    setting = Setting("bernoulli")
    model = setting.model(rule=rule).fit(setting.rows)
    assert model.outcome_.converged
    assert "change of" in model.outcome_.message


# Ways to give rows -----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_sparse_and_dense_rows_give_the_same(kind: str) -> None:
    setting = Setting(kind)
    dense = setting.rows if kind == "gaussian" else setting.rows.toarray()
    first = setting.model().fit(dense)
    others = [
        sparse.csr_array(dense),
        lambda: (dense[i : i + 400] for i in range(0, 1500, 400)),
        tercet.intake.open_source(dense, requirement=setting.cls(2).requirement),
    ]
    for rows in others:
        other = setting.model().fit(rows)
        np.testing.assert_allclose(other.weights_, first.weights_, atol=2e-3)
        np.testing.assert_allclose(
            other.components_, first.components_, atol=2e-2, rtol=2e-2
        )
        np.testing.assert_array_equal(other.predict(rows), other.predict(dense))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_that_is_read_once_gives_moments_alone(kind: str) -> None:
    setting = Setting(kind)
    dense = setting.rows if kind == "gaussian" else setting.rows.toarray()
    model = setting.model().fit(block for block in np.array_split(dense, 3))
    assert adjusted_rand_score(setting.labels, model.predict(dense)) > 0.6
    with pytest.raises(ParameterError, match="refine=5 reads the rows again"):
        setting.model(refine=5).fit(block for block in np.array_split(dense, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_batches_add_up_to_one_fit(kind: str) -> None:
    setting = Setting(kind)
    whole = setting.model(strategy="sketch", refine=0).fit(setting.rows)
    parts = setting.model()
    for rows in (setting.rows[:700], setting.rows[700:]):
        parts.partial_fit(rows)
    np.testing.assert_allclose(parts.components_, whole.components_, atol=1e-6)
    again = setting.model().fit_moments(whole.moments_)
    np.testing.assert_allclose(again.components_, whole.components_, atol=1e-8)
    assert parts.n_samples_seen_ == 1500


@pytest.mark.parametrize("kind", KINDS)
def test_weights_repeat_rows(kind: str, rng: np.random.Generator) -> None:
    setting = Setting(kind, n_rows=500)
    times = rng.integers(0, 3, 500)
    rows = sparse.csr_array(setting.rows) if kind != "gaussian" else setting.rows
    repeated = rows[np.repeat(np.arange(500), times)]
    first = setting.model(tolerance=1e-9).fit(rows, sample_weight=times)
    second = setting.model(tolerance=1e-9).fit(repeated)
    np.testing.assert_allclose(first.components_, second.components_, atol=1e-4)
    blocks = [(rows[:200], times[:200]), (rows[200:], times[200:])]
    assert first.score(lambda: iter(blocks)) == pytest.approx(first.score(repeated))
    third = setting.model(tolerance=1e-9).fit(lambda: iter(blocks))
    np.testing.assert_allclose(third.components_, second.components_, atol=1e-4)
    weights = np.ones(500)
    assert first.score(rows, sample_weight=weights) == pytest.approx(first.score(rows))
    assert first.score(rows, sample_weight=times) == pytest.approx(
        first.score(repeated)
    )
    assert first.bic(rows, sample_weight=times) == pytest.approx(first.bic(repeated))


# What a fitted model can do --------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_is_the_same(kind: str, tmp_path: Path) -> None:
    setting = Setting(kind)
    model = setting.model(n_jobs=2).fit(setting.rows)
    model.save(tmp_path / "mixture.safetensors")
    again = tercet.load(tmp_path / "mixture.safetensors")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(
        again.predict_proba(setting.rows), model.predict_proba(setting.rows)
    )
    np.testing.assert_array_equal(again.log_likelihoods_, model.log_likelihoods_)
    assert str(again) == str(model)
    assert again.outcome_ == model.outcome_


@pytest.mark.parametrize("kind", KINDS)
def test_criteria_are_their_definitions(kind: str) -> None:
    setting = Setting(kind)
    model = setting.model().fit(setting.rows)
    total = model.score_samples(setting.rows).sum()
    parameters = 3 * 24 + 2 + (3 if kind == "gaussian" else 0)
    expected = -2.0 * total + parameters * np.log(1500)
    assert model.bic(setting.rows) == pytest.approx(expected)
    assert model.aic(setting.rows) == pytest.approx(-2.0 * total + 2.0 * parameters)
    assert model.score(setting.rows) == pytest.approx(total / 1500)


@pytest.mark.parametrize("kind", KINDS)
def test_bic_finds_the_number_of_components(kind: str) -> None:
    setting = Setting(kind)
    found = {
        k: setting.cls(k).fit(setting.rows).bic(setting.rows) for k in (1, 2, 3, 4)
    }
    assert min(found, key=lambda k: found[k]) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_select_components_takes_mixtures(kind: str) -> None:
    setting = Setting(kind)
    found = tercet.select_components(setting.rows, range(1, 6), setting.cls())
    assert found.choose("bic") == 3
    assert found.choose("held_out") in (3, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_rows_look_like_the_mixture(kind: str) -> None:
    setting = Setting(kind)
    model = setting.model().fit(setting.rows)
    rows, labels = model.sample(20_000, random_state=1)
    shares = np.bincount(labels, minlength=3) / 20_000
    np.testing.assert_allclose(shares, model.weights_, atol=0.02)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    spread = float(np.abs(model.components_).max())
    np.testing.assert_allclose(
        mean, model.weights_ @ model.components_, atol=0.05 * spread
    )
    first, _ = model.sample(5)
    second, _ = model.sample(5)
    assert abs(first - second).sum() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_are_probabilities_and_predictions_their_largest(kind: str) -> None:
    setting = Setting(kind)
    model = setting.model()
    labels = model.fit_predict(setting.rows)
    posteriors = model.predict_proba(setting.rows)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    np.testing.assert_array_equal(posteriors.argmax(axis=1), labels)
    assert (np.diff(model.weights_) <= 0.0).all()


def test_names_of_features_are_kept() -> None:
    pandas = pytest.importorskip("pandas")
    setting = Setting("bernoulli")
    names = [f"code {i}" for i in range(24)]
    frame = pandas.DataFrame(setting.rows.toarray(), columns=names)
    model = setting.model().fit(frame)
    assert "code" in str(model)
    with pytest.raises(DataError, match="feature names"):
        model.predict(frame[names[::-1]])


# Peers -----------------------------------------------------------------------------


def test_scikit_learn_sees_the_same_gaussians() -> None:
    from sklearn.mixture import GaussianMixture

    setting = Setting("gaussian", n_rows=800)
    model = setting.model(tolerance=1e-8).fit(setting.rows)
    peer = GaussianMixture(3, covariance_type="spherical", tol=1e-9, max_iter=500)
    peer.set_params(means_init=setting.sample.parameters.centers.T, random_state=0)
    peer.fit(setting.rows)
    assert model.score(setting.rows) == pytest.approx(
        peer.score(setting.rows), abs=1e-4
    )
    assert model.bic(setting.rows) == pytest.approx(peer.bic(setting.rows), rel=1e-5)


@pytest.mark.peers
def test_stepmix_sees_the_same_likelihood() -> None:
    stepmix = pytest.importorskip("stepmix.stepmix")
    setting = Setting("bernoulli", n_rows=600)
    rows = setting.rows.toarray()
    model = setting.model(tolerance=1e-8).fit(rows)
    peer = stepmix.StepMix(
        3, measurement="binary", n_init=5, random_state=0, progress_bar=0
    )
    peer.fit(rows)
    assert model.score(rows) == pytest.approx(peer.score(rows), abs=1e-3)
    assert adjusted_rand_score(model.predict(rows), peer.predict(rows)) > 0.99
