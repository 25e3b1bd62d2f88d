"""Missing entries, exposures, more components than features, rows without structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import tercet
from models.mixture_settings import KINDS, Setting, measure_distance
from tercet.datasets import (
    make_bernoulli_mixture,
    make_poisson_mixture,
)
from tercet.exceptions import (
    ConvergenceWarning,
    DataError,
    ModelWarning,
    ParameterError,
    RankError,
)

# Missing entries -------------------------------------------------------------------


def hide(rows: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(rows.shape) < share, np.nan, rows)


def test_complete_rows_give_the_moments_that_sums_give() -> None:
    from tercet.families import Bernoulli
    from tercet.intake import open_source
    from tercet.models.decomposing import solve_equations
    from tercet.models.observed_rows import count_observed, solve_observed

    setting = Setting("bernoulli", n_rows=800)
    rows = setting.rows.toarray().astype(float)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 800)
    source = open_source(rows, sample_weight=weights, requirement="binary-or-missing")
    counted = count_observed(source)
    assert counted.complete
    assert counted.missing_share == pytest.approx(0.0, abs=1e-12)
    family = Bernoulli()
    found = solve_observed(source, counted, family, 3, "joint", np.random.default_rng())
    sums = tercet.moments.collect(
        rows, family, 3, sample_weight=weights, basis=found.equations.basis
    )
    expected = solve_equations(sums.equations(), family, 3)
    np.testing.assert_allclose(
        found.parameters.centers, expected.parameters.centers, atol=1e-7
    )


def test_moments_of_observed_triples_are_their_definition(
    rng: np.random.Generator,
) -> None:
    from tercet.intake import open_source
    from tercet.models import observed_rows

    rows = hide(rng.integers(0, 2, (40, 5)).astype(float), 0.3, rng)
    weights = rng.uniform(0.5, 2.0, 40)
    source = open_source(
        rows, sample_weight=weights, requirement="binary-or-missing", block_rows=16
    )
    means = observed_rows.count_observed(source).means
    third = observed_rows._collect_triples(source, np.eye(5), means)
    pair = observed_rows._collect_pairs(source, means)
    for i, j, r in np.ndindex(5, 5, 5):
        there = ~np.isnan(rows[:, [i, j, r]]).any(axis=1)
        product = rows[there][:, [i, j, r]].prod(axis=1)
        mean = (weights[there] @ product) / weights[there].sum()
        distinct = len({i, j, r}) == 3
        assert third[i, j, r] == pytest.approx(mean if distinct else 0.0)
        if r == j:
            assert pair[i, j] == pytest.approx(mean if i != j else 0.0)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_missing_entries_cost_little(share: float, rng: np.random.Generator) -> None:
    setting = Setting("bernoulli", n_rows=3000)
    rows = hide(setting.rows.toarray().astype(float), share, rng)
    truth = setting.sample.parameters
    model = setting.model().fit(rows)
    assert measure_distance(model.components_, truth.centers.T) < 0.12
    assert np.diff(model.log_likelihoods_).min() > -1e-6
    assert model.diagnostics_["missing_share"] == pytest.approx(share, abs=0.01)
    # Zeros in place of missing entries would be far off.
    naive = setting.model().fit(np.nan_to_num(rows))
    assert measure_distance(model.components_, truth.centers.T) < measure_distance(
        naive.components_, truth.centers.T
    )
    assert np.isfinite(model.score(rows))


def test_entries_that_are_missing_together_are_counted_together() -> None:
    """Features that half of the rows do not have at all."""
    setting = Setting("bernoulli", n_rows=4000)
    rows = setting.rows.toarray().astype(float)
    rows[::2, :8] = np.nan
    model = setting.model(refine=0).fit(rows)
    truth = setting.sample.parameters
    assert measure_distance(model.components_, truth.centers.T) < 0.2


def test_many_features_with_missing_entries(rng: np.random.Generator) -> None:
    sample = make_bernoulli_mixture(
        1500,
        n_features=300,
        n_components=3,
        weights=[0.5, 0.3, 0.2],
        random_state=0,
    )
    rows = hide(sample.rows.toarray().astype(float), 0.1, rng)
    model = tercet.BernoulliMixture(3).fit(rows)
    assert adjusted_rand_score(sample.labels, model.predict(rows)) > 0.95


def test_where_missing_entries_cannot_be() -> None:
    setting = Setting("bernoulli", n_rows=200)
    rows = setting.rows.toarray().astype(float)
    rows[3, 2] = np.nan
    with pytest.raises(DataError, match="read again"):
        setting.model().fit(block for block in [rows])
    with pytest.raises(DataError, match="read again"):
        setting.model().partial_fit(rows)
    with pytest.raises(DataError, match="need a dense array"):
        setting.model().fit(sparse.csr_array(rows))
    with pytest.raises(DataError, match="three-view"):
        setting.model(moments="three-view").fit(rows)
    with pytest.raises(DataError, match="row 3, column 2"):
        tercet.PoissonMixture(2).fit(rows)


def test_a_threshold_makes_rows_binary() -> None:
    setting = Setting("bernoulli", n_rows=500)
    noisy = setting.rows.toarray() * 3.0 + 0.25
    plain = setting.model().fit(setting.rows)
    cut = setting.model(binarize=1.0).fit(noisy)
    np.testing.assert_allclose(cut.components_, plain.components_, atol=1e-6)
    np.testing.assert_array_equal(cut.predict(noisy), plain.predict(setting.rows))
    with pytest.raises(DataError, match="zeros"):
        setting.model().fit(noisy)


# Exposure --------------------------------------------------------------------------


def draw_exposed(n_rows: int = 2000) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    truth = make_poisson_mixture(
        10, n_features=15, n_components=3, weights=[0.5, 0.3, 0.2], random_state=2
    ).parameters
    exposure = rng.gamma(2.0, 0.5, n_rows)
    labels = rng.choice(3, n_rows, p=truth.weights)
    rows = rng.poisson(truth.centers.T[labels] * exposure[:, None])
    return truth, rows, exposure, labels


@pytest.mark.parametrize("refine", [0, "auto"])
def test_exposure_scales_the_rates(refine: Any) -> None:
    truth, rows, exposure, labels = draw_exposed()
    model = tercet.PoissonMixture(3, refine=refine).fit(rows, exposure=exposure)
    bound = (0.3 if refine == 0 else 0.08) * truth.centers.max()
    assert measure_distance(model.components_, truth.centers.T) < bound
    found = adjusted_rand_score(labels, model.predict(rows, exposure=exposure))
    blind = tercet.PoissonMixture(3, refine=refine).fit(rows)
    assert found > adjusted_rand_score(labels, blind.predict(rows))
    assert model.score(rows, exposure=exposure) > model.score(rows)
    assert model.bic(rows, exposure=exposure) < model.bic(rows)
    assert model.aic(rows, exposure=exposure) < model.aic(rows)


def test_exposures_of_one_change_nothing_and_batches_add_up() -> None:
    _, rows, exposure, _ = draw_exposed(600)
    plain = tercet.PoissonMixture(3).fit(rows)
    ones = tercet.PoissonMixture(3).fit(rows, exposure=np.ones(600))
    np.testing.assert_allclose(ones.components_, plain.components_, rtol=1e-6)
    whole = tercet.PoissonMixture(3, strategy="sketch", refine=0)
    whole.fit(rows, exposure=exposure)
    parts = tercet.PoissonMixture(3)
    parts.partial_fit(rows[:350], exposure=exposure[:350])
    parts.partial_fit(rows[350:], exposure=exposure[350:])
    np.testing.assert_allclose(parts.components_, whole.components_, rtol=1e-6)
    drawn, _ = whole.sample(400, exposure=np.full(400, 2.0), random_state=0)
    other, _ = whole.sample(400, random_state=0)
    assert drawn.sum() / other.sum() == pytest.approx(2.0, rel=0.15)


def test_exposures_that_cannot_be() -> None:
    _, rows, exposure, _ = draw_exposed(50)
    for wrong, message in [
        (exposure[:3], "exposure has 3 entries"),
        (-exposure, "row 0"),
        (exposure[:, None], "shape"),
    ]:
        with pytest.raises((DataError, ParameterError), match=message):
            tercet.PoissonMixture(2).fit(rows, exposure=wrong)
    model = tercet.PoissonMixture(2).fit(rows)
    with pytest.raises(ParameterError, match="n_samples=3"):
        model.sample(3, exposure=[1.0])


# More components than features, and rows that cannot be told apart ------------------


def test_more_gaussians_than_features() -> None:
    """Thesis 001, figure 6.5: two features, four components."""
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0], [4.0, 4.0]])
    labels = rng.integers(4, size=2000)
    rows = corners[labels] + 0.7 * rng.standard_normal((2000, 2))
    model = tercet.SphericalGaussianMixture(4).fit(rows)
    assert model.diagnostics_["start"] == "splits"
    assert measure_distance(model.components_, corners) < 0.1
    assert adjusted_rand_score(labels, model.predict(rows)) > 0.95
    with pytest.raises(ParameterError, match="n_components=4 is more than"):
        tercet.SphericalGaussianMixture(4, refine=0).fit(rows)


def test_more_gaussians_on_a_line() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(5, size=1500)
    rows = 6.0 * labels[:, None] + rng.standard_normal((1500, 1))
    model = tercet.SphericalGaussianMixture(5).fit(rows)
    assert adjusted_rand_score(labels, model.predict(rows)) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_do_no_harm(kind: str) -> None:
    setting = Setting(kind, n_rows=800)
    rows = setting.rows if kind == "gaussian" else setting.rows.toarray()
    more = np.column_stack([rows, np.ones(800), np.zeros(800)])
    model = setting.model().fit(more)
    found = adjusted_rand_score(setting.labels, model.predict(more))
    assert found > setting.measure_truth() - 0.05
    np.testing.assert_allclose(model.components_[:, -2], 1.0, atol=1e-5)
    np.testing.assert_allclose(model.components_[:, -1], 0.0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_zeros_belong_somewhere(kind: str) -> None:
    setting = Setting(kind, n_rows=800)
    rows = np.array(setting.rows if kind == "gaussian" else setting.rows.toarray())
    rows[:20] = 0
    model = setting.model().fit(rows)
    posteriors = model.predict_proba(rows)
    assert np.isfinite(posteriors).all()
    assert np.isfinite(model.score(np.zeros((2, 24))))


@pytest.mark.parametrize("kind", KINDS)
def test_duplicate_rows_are_as_many_groups_as_they_are(kind: str) -> None:
    setting = Setting(kind)
    rows = np.repeat(np.eye(4)[:3] * (1.0 if kind == "bernoulli" else 5.0), 10, axis=0)
    model = setting.cls(3).fit(rows)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 10), model.predict(rows)) == 1.0
    with pytest.raises(RankError, match="fall into 3 groups only") as caught:
        setting.cls(4).fit(rows)
    assert caught.value.supported == 3


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_rows_than_components_are_refused(kind: str) -> None:
    setting = Setting(kind)
    with pytest.raises(DataError, match="n_samples=2 is less than n_components=3"):
        setting.model().fit(setting.rows[:2])


def test_rows_of_nothing_but_zeros() -> None:
    zeros = np.zeros((10, 4))
    with pytest.raises(RankError, match="all alike"):
        tercet.BernoulliMixture(2).fit(zeros)
    with pytest.raises(RankError, match="all alike"):
        tercet.SphericalGaussianMixture(2).fit(zeros)
    with pytest.raises(RankError, match="all alike"):
        tercet.PoissonMixture(2).fit(zeros)
    one = tercet.BernoulliMixture(1).fit(zeros)
    assert one.score(zeros) == pytest.approx(0.0, abs=1e-5)


def test_moments_that_support_too_little_are_told() -> None:
    """Two groups of rows along one line in four dimensions: three are asked for."""
    rows = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], [20, 20, 2], axis=0)
    with pytest.warns(ModelWarning, match="splits of the rows"):
        model = tercet.BernoulliMixture(3).fit(rows)
    assert np.unique(model.predict(rows)).size == 3
    with pytest.raises(RankError):
        tercet.BernoulliMixture(3, refine=0).fit(rows)


def test_a_budget_that_ends_first_is_a_warning() -> None:
    setting = Setting("bernoulli", n_rows=300)
    with pytest.warns(ConvergenceWarning, match="before convergence"):
        model = setting.model(max_iter=1).fit(setting.rows)
    assert not model.outcome_.converged
    assert setting.model(refine=3).fit(setting.rows).n_iter_ == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"moments": "cooked"}, "moments='cooked'"),
        ({"decomposition": "svdd"}, "Did you mean 'svd'"),
        ({"refine": "much"}, "refine='much'"),
        ({"refine": -1}, "refine=-1"),
        ({"rule": "omega"}, "rule='omega'"),
        ({"tolerance": 0.0}, "tolerance=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"binarize": -1.0}, "binarize=-1.0"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        tercet.BernoulliMixture(2, **settings).fit(np.eye(4))
