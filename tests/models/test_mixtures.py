"""Mixtures find what rows were drawn from, in memory and in a stream; edges are clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

import tercet
from tercet import likelihood
from tercet.datasets import (
    make_bernoulli_mixture,
    make_poisson_mixture,
    make_spherical_gaussians,
)
from tercet.exceptions import (
    ConvergenceWarning,
    DataError,
    ModelWarning,
    ParameterError,
    RankError,
)
from tercet.flow import Block, Status


class Setting:
    """One kind of mixture with rows drawn from it."""

    def __init__(self, kind: str, n_rows: int = 1500, seed: int = 0) -> None:
        self.density = {"gaussian": "SphericalGaussian"}.get(kind, kind.title())
        make, self.cls, more = {
            "bernoulli": (make_bernoulli_mixture, tercet.BernoulliMixture, {}),
            "poisson": (make_poisson_mixture, tercet.PoissonMixture, {}),
            "gaussian": (
                make_spherical_gaussians,
                tercet.SphericalGaussianMixture,
                {"variances": [0.5, 1.0, 1.5]},
            ),
        }[kind]
        self.sample = make(
            n_rows,
            n_features=24,
            n_components=3,
            weights=[0.5, 0.3, 0.2],
            random_state=seed,
            **more,
        )
        self.rows = self.sample.rows
        self.labels = self.sample.labels

    def model(self, **settings: Any) -> Any:
        return self.cls(3, **settings)

    def measure(self, model: Any) -> float:
        """How well the model tells the components apart."""
        return adjusted_rand_score(self.labels, model.predict(self.rows))

    def measure_truth(self) -> float:
        """How well they can be told apart with the true parameters."""
        density = getattr(likelihood, self.density)()
        truth = self.sample.parameters
        posteriors = likelihood.infer_mixture(
            Block(self.rows.astype(float)),
            density,
            truth.centers,
            truth.weights,
            variances=truth.variances,
        )
        return adjusted_rand_score(self.labels, posteriors.argmax(axis=1))


KINDS = ["bernoulli", "poisson", "gaussian"]


def measure_distance(found: np.ndarray, truth: np.ndarray) -> float:
    """Largest distance of a center from the truth, after matching."""
    distances = np.abs(found[:, None] - truth[None]).max(axis=2)
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].max())


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
