"""Topic models: from rows or sums to topics, in one piece or in batches."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import tercet
from tercet.decomposition import DECOMPOSITIONS
from tercet.exceptions import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    ModelWarning,
    ParameterError,
    RankError,
)
from tercet.families import GammaPoisson, LatentDirichlet, SingleTopic
from tercet.flow import Parameters, Status

N_WORDS, K, LENGTH = 80, 4, 60
MODELS = {
    "single-topic": tercet.SingleTopicModel,
    "latent-dirichlet": tercet.LatentDirichletAllocation,
    "gamma-poisson": tercet.DiscreteICA,
}


def draw(kind: str, rng: np.random.Generator, n: int = 1500) -> tuple[Any, Any]:
    """Draw documents of a model and its topics (rows)."""
    topics = rng.dirichlet(np.full(N_WORDS, 0.1), size=K)
    centers = np.ascontiguousarray(topics.T)
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    if kind == "single-topic":
        truth = Parameters(centers, weights)
        return SingleTopic().sample(truth, n, rng, lengths=LENGTH)[0], topics
    if kind == "latent-dirichlet":
        truth = Parameters(centers, weights)
        return LatentDirichlet(0.8).sample(truth, n, rng, lengths=LENGTH)[0], topics
    shape = 0.8 * weights
    rate = np.full(K, 0.8 / LENGTH)
    truth = Parameters(centers, weights, concentration=shape, rate=rate)
    return GammaPoisson().sample(truth, n, rng)[0], topics


def measure_error(found: Any, truth: Any) -> float:
    distances = np.abs(found[:, None, :] - truth[None]).sum(axis=2) / 2.0
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].max())


def check_model(model: Any, k: int = K) -> None:
    """A fitted model is a model."""
    assert model.components_.shape == (k, model.n_features_in_)
    assert model.components_.min() >= 0.0
    assert model.components_.sum(axis=1) == pytest.approx(np.ones(k), abs=1e-9)
    assert model.weights_.min() > 0.0
    assert model.weights_.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.all(np.diff(model.weights_) <= 1e-12)


@pytest.fixture(params=list(MODELS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestRecovery:
    @pytest.mark.parametrize("refine", [0, 3, "auto"])
    def test_topics_come_back(
        self, kind: str, refine: Any, rng: np.random.Generator
    ) -> None:
        X, topics = draw(kind, rng, 4000)
        model = MODELS[kind](K, refine=refine).fit(X)
        check_model(model)
        # Even the worst topic is near; the lightest rests on a tenth of the tokens.
        assert measure_error(model.components_, topics) < (0.16 if refine == 0 else 0.1)

    def test_weights_and_concentration_come_back(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng, 6000)
        model = MODELS[kind](K).fit(X)
        assert model.weights_ == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.04)
        if kind != "single-topic":
            assert model.concentration_.sum() == pytest.approx(0.8, rel=0.15)
        if kind == "gamma-poisson":
            means = model.concentration_ / model.rate_
            assert means.sum() == pytest.approx(X.sum() / X.shape[0], rel=0.02)

    def test_every_decomposition_is_known_by_name(
        self, rng: np.random.Generator
    ) -> None:
        X, topics = draw("latent-dirichlet", rng, 4000)
        for method in DECOMPOSITIONS:
            model = tercet.LatentDirichletAllocation(K, decomposition=method).fit(X)
            check_model(model)
            assert measure_error(model.components_, topics) < 0.2, method

    @pytest.mark.parametrize("weighting", ["length", "document", "three-words"])
    def test_all_weightings_find_the_topics(
        self, weighting: str, rng: np.random.Generator
    ) -> None:
        X, topics = draw("single-topic", rng, 6000)
        plain = tercet.SingleTopicModel(K, weighting=weighting, refine=0).fit(X)
        check_model(plain)
        assert plain.mean_length_ == pytest.approx(LENGTH)
        full = tercet.SingleTopicModel(K, weighting=weighting).fit(X)
        assert measure_error(full.components_, topics) < 0.05

    def test_the_likelihood_rises_at_every_step(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng)
        plain = {} if kind == "single-topic" else {"steps": "variational"}
        model = MODELS[kind](K, refine=12, **plain).fit(X)
        history = model.diagnostics_["refinement"]
        levels = history["log_likelihoods" if kind == "single-topic" else "objective"]
        assert len(levels) == 12
        # The bound rises from a document's second round on; the first step of
        # topics starts from no proportions at all.
        assert np.all(np.diff(levels[1:]) > -1e-9 * np.abs(levels[1:-1]))

    def test_refitting_gives_the_same_bits(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng)
        first, second = (MODELS[kind](K).fit(X) for _ in range(2))
        for name in ("components_", "weights_"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
        assert first.transform(X).tobytes() == second.transform(X).tobytes()

    def test_threads_change_rounding_alone(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng)
        one, two = (MODELS[kind](K, n_jobs=j, refine=3).fit(X) for j in (1, 2))
        assert two.components_ == pytest.approx(one.components_, abs=1e-8)


class TestBatches:
    @pytest.mark.parametrize("weighting", ["length", "document", "three-words"])
    def test_batches_equal_one_fit(
        self, weighting: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw("single-topic", rng)
        whole = tercet.SingleTopicModel(
            K, weighting=weighting, strategy="sketch", refine=0
        ).fit(X)
        batched = tercet.SingleTopicModel(K, weighting=weighting)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            for size in np.array_split(np.arange(X.shape[0]), 7):
                batched.partial_fit(X[size])
        assert batched.components_ == pytest.approx(whole.components_, abs=1e-8)
        assert batched.weights_ == pytest.approx(whole.weights_, abs=1e-8)
        assert batched.n_samples_seen_ == X.shape[0]

    def test_order_and_size_do_not_matter(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng)
        X = sparse.csr_array(X)
        found = []
        for cut, seed in ((2, None), (9, 3), (40, 4)):
            rows = np.arange(X.shape[0])
            if seed is not None:
                np.random.default_rng(seed).shuffle(rows)
            model = MODELS[kind](K)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                for part in np.array_split(rows, cut):
                    model.partial_fit(X[part])
            found.append(model)
        for other in found[1:]:
            assert other.components_ == pytest.approx(found[0].components_, abs=1e-8)
        whole = MODELS[kind](K, strategy="sketch", refine=0).fit(X)
        assert whole.components_ == pytest.approx(found[0].components_, abs=1e-8)

    def test_a_batch_without_triples_adds_up(self, rng: np.random.Generator) -> None:
        X, _ = draw("single-topic", rng)
        short = sparse.csr_array(np.eye(3, N_WORDS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model = tercet.SingleTopicModel(K).partial_fit(short)
            assert not hasattr(model, "components_")
            model.partial_fit(X)
        whole = tercet.SingleTopicModel(K, strategy="sketch", refine=0)
        whole.fit(sparse.vstack([short, X], format="csr"))
        assert model.components_ == pytest.approx(whole.components_, abs=1e-8)

    def test_batches_go_on_from_a_fit(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, topics = draw(kind, rng, 3000)
        X = sparse.csr_array(X)
        model = MODELS[kind](K).fit(X[:1000])
        first = measure_error(model.components_, topics)
        model.partial_fit(X[1000:])
        assert model.n_samples_seen_ == 3000
        assert measure_error(model.components_, topics) < max(0.2, 2 * first)

    def test_an_iterator_is_read_once(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, topics = draw(kind, rng, 4000)
        X = sparse.csr_array(X)
        blocks = (X[s : s + 100] for s in range(0, X.shape[0], 100))
        with warnings.catch_warnings():
            # One reading is not always enough to tell the concentration.
            warnings.simplefilter("ignore", ModelWarning)
            model = MODELS[kind](K).fit(blocks)
        check_model(model)
        assert measure_error(model.components_, topics) < 0.35
        with pytest.raises(ParameterError, match="refine=3 reads the rows again"):
            MODELS[kind](K, refine=3).fit(X[s : s + 9] for s in range(0, 90, 9))

    def test_blocks_that_can_be_read_again_are_like_one_table(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng)
        X = sparse.csr_array(X)
        model = MODELS[kind](K, refine=3).fit(
            lambda: (X[s : s + 400] for s in range(0, X.shape[0], 400))
        )
        whole = MODELS[kind](K, refine=3).fit(X)
        assert model.components_ == pytest.approx(whole.components_, abs=1e-6)

    def test_sums_suffice(self, kind: str, rng: np.random.Generator) -> None:
        X, _ = draw(kind, rng)
        model = MODELS[kind](K, refine=0).fit(X)
        again = MODELS[kind](K).fit_moments(model.moments_)
        assert again.components_.tobytes() == model.components_.tobytes()
        with pytest.raises(ParameterError, match="is not a Moments"):
            MODELS[kind](K).fit_moments(X)

    def test_weights_count_repetitions(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng, 600)
        X = sparse.csr_array(X)
        times = rng.integers(0, 3, size=X.shape[0])
        repeated = X[np.repeat(np.arange(X.shape[0]), times)]
        weighted = MODELS[kind](K, refine=3).fit(X, sample_weight=times)
        plain = MODELS[kind](K, refine=3).fit(repeated)
        assert weighted.components_ == pytest.approx(plain.components_, abs=1e-6)


class TestConcentration:
    @pytest.mark.parametrize(("total", "k"), [(0.3, 5), (1.0, 10), (3.0, 5)])
    def test_it_is_read_from_the_sums(self, total: float, k: int) -> None:
        # The full study is experiments/concentration/run.py.
        ratios, errors = [], []
        for seed in range(3):
            rng = np.random.default_rng([seed, k])
            topics = rng.dirichlet(np.full(300, 0.05), size=k)
            truth = Parameters(np.ascontiguousarray(topics.T), np.full(k, 1 / k))
            X, _ = LatentDirichlet(total).sample(truth, 5000, rng, lengths=100)
            model = tercet.LatentDirichletAllocation(k).fit(X)
            told = tercet.LatentDirichletAllocation(k, concentration=total).fit(X)
            ratios.append(model.concentration_.sum() / total)
            errors.append(
                measure_error(model.components_, topics)
                / measure_error(told.components_, topics)
            )
        assert 0.85 < np.median(ratios) < 1.15
        assert np.median(errors) < 1.05

    def test_a_number_is_kept(self, rng: np.random.Generator) -> None:
        X, _ = draw("latent-dirichlet", rng)
        for refine in (0, 4):
            model = tercet.LatentDirichletAllocation(
                K, concentration=2.5, refine=refine
            ).fit(X)
            assert model.concentration_.sum() == pytest.approx(2.5)

    def test_without_a_crossing_it_falls_back(self, rng: np.random.Generator) -> None:
        # Counts without any topics.
        X = np.random.default_rng(1).poisson(2.0, size=(120, 8))
        with pytest.warns(ModelWarning, match="more than one concentration"):
            plain = tercet.LatentDirichletAllocation(3, refine=0).fit(X)
        assert plain.diagnostics_["concentration"].status is Status.FELL_BACK
        assert plain.concentration_.sum() == pytest.approx(
            plain.diagnostics_["alpha0_by_sums"]
        )

    def test_documents_about_one_topic_have_next_to_none(
        self, rng: np.random.Generator
    ) -> None:
        X, topics = draw("single-topic", rng)
        model = tercet.LatentDirichletAllocation(K).fit(X)
        assert model.concentration_.sum() < 0.2
        assert measure_error(model.components_, topics) < 0.05


class TestKindsOfSteps:
    def test_auto_is_variational_where_the_model_holds(
        self, rng: np.random.Generator
    ) -> None:
        X, _ = draw("latent-dirichlet", rng, 4000)
        chosen = tercet.LatentDirichletAllocation(K).fit(X)
        assert chosen.diagnostics_["residual"] <= 0.1
        assert chosen.diagnostics_["refinement"]["steps"] == "variational"
        told = tercet.LatentDirichletAllocation(K, steps="variational").fit(X)
        assert chosen.components_.tobytes() == told.components_.tobytes()
        other = tercet.LatentDirichletAllocation(K, steps="collapsed").fit(X)
        assert other.diagnostics_["refinement"]["steps"] == "collapsed"
        assert chosen.components_.tobytes() != other.components_.tobytes()
        # The concentration that the sums told is kept.
        by_sums = chosen.diagnostics_["alpha0_by_sums"]
        assert chosen.concentration_.sum() == pytest.approx(by_sums)

    @pytest.mark.filterwarnings("ignore")
    def test_auto_is_collapsed_where_it_does_not(self) -> None:
        # Words in bursts, without any topics.
        X = np.random.default_rng(0).negative_binomial(0.1, 0.05, size=(300, 40))
        model = tercet.LatentDirichletAllocation(12).fit(X[X.sum(axis=1) > 3])
        assert model.diagnostics_["residual"] > 0.15
        assert model.diagnostics_["refinement"]["steps"] == "collapsed"

    def test_an_unknown_kind_is_refused(self, rng: np.random.Generator) -> None:
        X, _ = draw("gamma-poisson", rng, 100)
        for model in (tercet.LatentDirichletAllocation, tercet.DiscreteICA):
            with pytest.raises(ParameterError, match="steps='gibbs' is not known"):
                model(K, steps="gibbs").fit(X)


class TestStarts:
    def test_own_topics_are_where_the_steps_start(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, topics = draw(kind, rng)
        model = MODELS[kind](K, components_init=topics, refine=5).fit(X)
        check_model(model)
        assert measure_error(model.components_, topics) < 0.15
        assert not hasattr(model, "moments_")

    def test_a_fitted_model_goes_on(self, kind: str, rng: np.random.Generator) -> None:
        X, _ = draw(kind, rng)
        short = MODELS[kind](K, refine=2, warm_start=True).fit(X)
        before = short.score(X)
        short.fit(X)
        assert short.score(X) >= before - 1e-4
        check_model(short)

    def test_another_number_of_topics_is_no_continuation(
        self, kind: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw(kind, rng)
        model = MODELS[kind](K, refine=1, warm_start=True).fit(X)
        with pytest.raises(ParameterError, match="fitted model has 4 topics"):
            model.set_params(n_components=3).fit(X)

    def test_a_new_concentration_holds_from_the_start(
        self, rng: np.random.Generator
    ) -> None:
        X, _ = draw("latent-dirichlet", rng)
        model = tercet.LatentDirichletAllocation(K, refine=1, warm_start=True).fit(X)
        model.set_params(concentration=2.0).fit(X)
        assert model.concentration_.sum() == pytest.approx(2.0)

    @pytest.mark.parametrize(
        ("start", "message"),
        [
            (np.ones((K, 3)), "has shape"),
            (-np.ones((K, N_WORDS)), "negative"),
            (np.zeros((K, N_WORDS)), "all zeros"),
            (np.full((K, N_WORDS), np.nan), "missing"),
        ],
    )
    def test_bad_starts_are_named(
        self, start: Any, message: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw("single-topic", rng, 100)
        with pytest.raises(ParameterError, match=message):
            tercet.SingleTopicModel(K, components_init=start).fit(X)

    def test_a_start_without_steps_is_refused(self, rng: np.random.Generator) -> None:
        X, topics = draw("single-topic", rng, 100)
        with pytest.raises(ParameterError, match="learns nothing"):
            tercet.SingleTopicModel(K, components_init=topics, refine=0).fit(X)


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_components": 0}, "n_components=0"),
            ({"n_components": 2.5}, "n_components=2.5"),
            ({"refine": -1}, "refine=-1"),
            ({"refine": "often"}, "refine='often'"),
            ({"concentration": 0.0}, "concentration=0.0"),
            ({"concentration": "much"}, "concentration='much'"),
            ({"weighting": "none"}, "weighting='none'"),
            ({"negative": "keep"}, "negative='keep'"),
            ({"decomposition": "magic"}, "'magic' is not known"),
            ({"strategy": "magic"}, "'magic' is not known"),
            ({"n_jobs": 0}, "n_jobs=0"),
            ({"random_state": -1}, "random_state=-1"),
        ],
        ids=str,
    )
    def test_bad_parameters_are_named(
        self, parameters: Any, message: str, rng: np.random.Generator
    ) -> None:
        X, _ = draw("latent-dirichlet", rng, 200)
        model = tercet.LatentDirichletAllocation(2).set_params(**parameters)
        with pytest.raises(ParameterError, match=message):
            model.fit(X)

    def test_too_many_components_are_refused(self, rng: np.random.Generator) -> None:
        X = np.repeat([[4, 2, 0], [0, 3, 3]], 20, axis=0)
        with pytest.raises(RankError, match="more than the moments support"):
            tercet.SingleTopicModel(3).fit(X)

    def test_short_documents_are_spoken_of(self, rng: np.random.Generator) -> None:
        X, _ = draw("single-topic", rng, 300)
        short = sparse.csr_array(np.eye(10, N_WORDS))
        with pytest.warns(DataWarning, match="10 of 310 documents"):
            tercet.SingleTopicModel(2).fit(sparse.vstack([X, short], format="csr"))

    def test_a_spent_budget_is_spoken_of(self, rng: np.random.Generator) -> None:
        model = tercet.SingleTopicModel(2)
        outcome = tercet.flow.Outcome(Status.EXHAUSTED, 9, 1.0, "not there yet")
        with pytest.warns(ConvergenceWarning, match="not there yet"):
            model._announce(outcome)

    def test_rows_of_zeros_are_refused(self, kind: str) -> None:
        with pytest.raises(DataError, match="no counts"):
            MODELS[kind](1).fit(np.zeros((5, 4)))


class TestCopies:
    def test_pickles_and_clones(self, kind: str, rng: np.random.Generator) -> None:
        X, _ = draw(kind, rng)
        model = MODELS[kind](K, refine=1).fit(X)
        pickled = pickle.loads(pickle.dumps(model))  # noqa: S301
        for other in (pickled, copy.deepcopy(model)):
            assert other.transform(X).tobytes() == model.transform(X).tobytes()
        fresh = clone(model)
        assert fresh.get_params() == model.get_params()
        assert not hasattr(fresh, "components_")
