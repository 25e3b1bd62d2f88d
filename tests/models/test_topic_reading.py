"""Asking fitted topics: inference, scores, words, sizes, documents, summaries."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, logsumexp

import tercet
from tercet.exceptions import DataError, ParameterError
from tercet.families import LatentDirichlet
from tercet.flow import Parameters
from tercet.models.facts import describe_model

WORDS = ["rain", "wind", "bank", "loan", "both", "<b>"]
TOPICS = np.array([[0.5, 0.3, 0.0, 0.0, 0.1, 0.1], [0.0, 0.05, 0.45, 0.3, 0.15, 0.05]])


def draw_rows(n: int = 1500, total: float = 0.6) -> Any:
    truth = Parameters(np.ascontiguousarray(TOPICS.T), np.array([0.6, 0.4]))
    rng = np.random.default_rng(0)
    return LatentDirichlet(total).sample(truth, n, rng, lengths=40)[0]


@pytest.fixture(scope="module")
def mixed() -> Any:
    return tercet.LatentDirichletAllocation(2).fit(draw_rows())


@pytest.fixture(scope="module")
def single() -> Any:
    return tercet.SingleTopicModel(2).fit(draw_rows(total=0.01))


@pytest.fixture(scope="module")
def named() -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(draw_rows().toarray(), columns=WORDS)
    return tercet.LatentDirichletAllocation(2).fit(frame)


def enumerate_posterior(model: Any, words: list[int]) -> Any:
    """Mean proportions given tokens, summed over all topics of all tokens."""
    alpha, topics = model.concentration_, model.components_
    k = alpha.size
    logs, shares = [], []
    for z in product(range(k), repeat=len(words)):
        counts = np.bincount(z, minlength=k)
        prior = gammaln(alpha.sum()) - gammaln(alpha.sum() + len(words))
        prior += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        with np.errstate(divide="ignore"):
            logs.append(prior + np.log(topics[list(z), words]).sum())
        shares.append((alpha + counts) / (alpha.sum() + len(words)))
    weights = np.exp(np.array(logs) - logsumexp(logs))
    return weights @ np.array(shares), logsumexp(logs)


class TestSingleTopic:
    def test_the_posterior_is_that_of_the_paper(self, single: Any) -> None:
        # Paper 000, equation 1: omega_j prod_w mu_wj^x_w, normalised.
        rows = np.array([[2, 0, 1, 0, 1, 0], [0, 1, 0, 0, 2, 0], [0, 0, 0, 0, 0, 0]])
        topics = np.maximum(single.components_, 1e-9)
        weights = single.weights_ * np.prod(topics[None] ** rows[:, None, :], axis=2)
        expected = weights / weights.sum(axis=1, keepdims=True)
        assert single.predict_proba(rows) == pytest.approx(expected, abs=1e-7)
        assert single.transform(rows) == pytest.approx(expected, abs=1e-7)
        assert single.predict(rows).tolist() == expected.argmax(axis=1).tolist()

    def test_the_score_is_exact(self, single: Any) -> None:
        rows = np.array([[2, 0, 1, 0, 1, 0], [0, 1, 0, 0, 2, 0]])
        topics = np.maximum(single.components_, 1e-9)
        weights = single.weights_ * np.prod(topics[None] ** rows[:, None, :], axis=2)
        expected = np.log(weights.sum(axis=1)).sum() / rows.sum()
        assert single.score(rows) == pytest.approx(expected, abs=1e-6)
        assert single.perplexity(rows) == pytest.approx(np.exp(-expected), abs=1e-5)
        weighted = np.log(weights.sum(axis=1)) @ [3, 1] / (rows.sum(axis=1) @ [3, 1])
        found = single.score(rows, sample_weight=[3, 1])
        assert found == pytest.approx(weighted, abs=1e-6)

    def test_new_words_do_not_count(self) -> None:
        X = np.column_stack([draw_rows(total=0.01).toarray(), np.zeros(1500)])
        model = tercet.SingleTopicModel(2).fit(X)
        rows = np.array([[2, 0, 1, 0, 1, 0, 0], [2, 0, 1, 0, 1, 0, 5]])
        scores = [model.score(row[None]) for row in rows]
        assert scores[1] == pytest.approx(scores[0], abs=1e-9)
        assert model.transform(rows)[1] == pytest.approx(model.transform(rows)[0])
        with pytest.raises(DataError, match="None of the tokens"):
            model.score(np.eye(7)[[6]])


class TestMixed:
    @pytest.mark.parametrize("method", ["variational", "map", "gibbs", "linear"])
    def test_rows_sum_to_one(self, mixed: Any, method: str) -> None:
        rows = sparse.vstack([draw_rows(20), sparse.csr_array((1, 6))], format="csr")
        shares = mixed.transform(rows, method=method)
        assert shares.shape == (21, 2)
        assert shares.min() >= 0.0
        assert shares.sum(axis=1) == pytest.approx(np.ones(21))
        prior = mixed.concentration_ / mixed.concentration_.sum()
        assert shares[-1] == pytest.approx(prior)

    def test_inference_agrees_with_enumeration(self, mixed: Any) -> None:
        words = [0, 0, 2, 4, 1]
        row = np.bincount(words, minlength=6)[None]
        mean, _ = enumerate_posterior(mixed, words)
        gibbs = np.mean(
            [
                mixed.set_params(random_state=s).transform(row, method="gibbs")
                for s in range(20)
            ],
            axis=0,
        )[0]
        mixed.set_params(random_state=None)
        assert gibbs == pytest.approx(mean, abs=0.01)
        assert mixed.transform(row)[0] == pytest.approx(mean, abs=0.08)

    def test_scores_agree_with_enumeration(self, mixed: Any) -> None:
        words = [0, 0, 2, 4, 1]
        row = np.bincount(words, minlength=6)[None]
        _, exact = enumerate_posterior(mixed, words)
        # The bound is below.
        bound = mixed.score(row) * 5
        assert exact - 0.5 < bound < exact
        logs = [
            5 * mixed.set_params(random_state=s).score(row, method="left-to-right")
            for s in range(100)
        ]
        mixed.set_params(random_state=None)
        # The mean over particles at each token, as published, costs a small bias.
        assert logsumexp(logs) - np.log(100) == pytest.approx(exact, abs=0.15)

    def test_unknown_choices_are_named(self, mixed: Any) -> None:
        with pytest.raises(ParameterError, match="method='guess' is not known"):
            mixed.transform(draw_rows(3), method="guess")
        with pytest.raises(ParameterError, match="method='guess' is not known"):
            mixed.score(draw_rows(3), method="guess")

    def test_perplexity_is_that_of_the_score(self, mixed: Any) -> None:
        rows = draw_rows(50)
        for method in ("bound", "completion", "left-to-right"):
            score = mixed.score(rows, method=method)
            found = mixed.perplexity(rows, method=method)
            assert found == pytest.approx(np.exp(-score))

    def test_moments_alone_score_all_words(self) -> None:
        X = draw_rows()
        plain = tercet.LatentDirichletAllocation(2, concentration=0.6, refine=0).fit(X)
        assert np.isfinite(plain.score(X))

    def test_fit_transform_is_fit_and_transform(self) -> None:
        X = draw_rows(300)
        one = tercet.LatentDirichletAllocation(2).fit_transform(X)
        two = tercet.LatentDirichletAllocation(2).fit(X).transform(X)
        assert one.tobytes() == two.tobytes()

    def test_blocks_are_inferred_in_order(self, mixed: Any) -> None:
        X = sparse.csr_array(draw_rows(100))
        blocks = (X[s : s + 30] for s in range(0, 100, 30))
        assert mixed.transform(blocks) == pytest.approx(mixed.transform(X))

    def test_an_iterator_is_scored_in_one_reading(
        self, mixed: Any, single: Any
    ) -> None:
        X = sparse.csr_array(draw_rows(100))
        for model in (mixed, single):
            blocks = (X[s : s + 30] for s in range(0, 100, 30))
            assert model.score(blocks) == pytest.approx(model.score(X))

    def test_weights_count_repetitions(self, mixed: Any) -> None:
        X = sparse.csr_array(draw_rows(60))
        twice = sparse.vstack([X, X[:20]], format="csr")
        weights = np.repeat([2, 1], [20, 40])
        found = mixed.score(X, sample_weight=weights)
        assert found == pytest.approx(mixed.score(twice))

    def test_other_features_are_refused(self, mixed: Any) -> None:
        with pytest.raises(DataError, match="expecting 6 features"):
            mixed.transform(np.ones((2, 5)))


class TestSamples:
    def test_they_come_from_the_model(self, mixed: Any, single: Any) -> None:
        rows, shares = mixed.sample(3000, random_state=1)
        assert rows.shape == (3000, 6)
        assert shares.mean(axis=0) == pytest.approx(mixed.weights_, abs=0.03)
        frequencies = rows.sum(axis=0) / rows.sum()
        expected = mixed.weights_ @ mixed.components_
        assert frequencies == pytest.approx(expected, abs=0.02)
        assert rows.sum() / 3000 == pytest.approx(40)
        rows, topic = single.sample(50, lengths=7)
        assert set(topic) == {0, 1}
        assert np.all(rows.sum(axis=1) == 7)

    def test_lengths_are_part_of_discrete_ica(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.poisson(rng.gamma(0.5, 40.0, size=(1500, 2)) @ TOPICS)
        model = tercet.DiscreteICA(2).fit(X)
        rows, sources = model.sample(4000)
        assert rows.sum() / 4000 == pytest.approx(X.sum() / 1500, rel=0.08)
        assert sources.shape == (4000, 2)
        with pytest.raises(ParameterError, match="lengths are part of discrete ICA"):
            model.sample(2, lengths=5)

    def test_seeds_decide(self, mixed: Any) -> None:
        first, second = (mixed.sample(5, random_state=3)[0] for _ in range(2))
        assert (first != second).nnz == 0


class TestReading:
    def test_top_words_have_names(self, named: Any, mixed: Any) -> None:
        assert named.top_words(2)[0] == ["rain", "wind"]
        assert set(named.top_words(2)[1]) == {"bank", "loan"}
        assert mixed.top_words(1)[0] == ["x0"]

    def test_relevance_is_that_of_the_paper(self, mixed: Any) -> None:
        with np.errstate(divide="ignore"):
            logs = np.log(mixed.components_)
            lift = logs - np.log(mixed.feature_shares_)
        expected = 0.6 * logs + 0.4 * lift
        assert mixed.relevance(0.6) == pytest.approx(expected)
        assert mixed.top_words(6, relevance=1.0) == mixed.top_words(6)
        for share in (-0.1, 1.5, "much"):
            with pytest.raises(ParameterError, match="share="):
                mixed.relevance(share)

    @pytest.mark.parametrize("kind", ["umass", "npmi"])
    def test_coherence_is_that_of_the_evaluation(self, mixed: Any, kind: str) -> None:
        X = draw_rows(200)
        found = mixed.coherence(X, kind=kind, n_top=4)
        expected = tercet.evaluation.measure_coherence(
            mixed.components_, X, kind=kind, n_top=4
        )
        assert found == pytest.approx(expected)

    def test_sizes_are_shares_of_tokens(self, mixed: Any) -> None:
        X = draw_rows(400)
        sizes = mixed.topic_sizes(X)
        shares = mixed.transform(X)
        lengths = np.asarray(X.sum(axis=1)).ravel()
        assert sizes == pytest.approx(lengths @ shares / lengths.sum())
        assert mixed.topic_sizes() == pytest.approx(mixed.weights_)

    def test_likeness(self, mixed: Any) -> None:
        a, b = mixed.components_
        expected = {
            "cosine": a @ b / np.linalg.norm(a) / np.linalg.norm(b),
            "overlap": np.minimum(a, b).sum(),
            "hellinger": np.sqrt(a * b).sum(),
        }
        for measure, value in expected.items():
            table = mixed.topic_similarity(measure)
            assert table[0, 1] == pytest.approx(value)
            assert np.diag(table) == pytest.approx([1.0, 1.0])
        with pytest.raises(ParameterError, match="measure='odd'"):
            mixed.topic_similarity("odd")

    def test_documents_of_a_topic(self, mixed: Any) -> None:
        X = draw_rows(200)
        rows, shares = mixed.top_documents(X, 1, 5)
        everything = mixed.transform(X)[:, 1]
        assert shares == pytest.approx(np.sort(everything)[::-1][:5])
        assert everything[rows] == pytest.approx(shares)
        with pytest.raises(ParameterError, match="topic=2"):
            mixed.top_documents(X, 2)


class TestSummaries:
    def test_print_shows_words_and_weights(self, named: Any) -> None:
        text = str(named)
        assert "LatentDirichletAllocation(n_components=2), fitted" in text
        assert "rain, wind" in text
        assert f"{named.weights_[0]:.3f}" in text

    def test_html_shows_and_escapes_words(self, named: Any) -> None:
        page = named._repr_html_()
        assert "rain, wind" in page
        assert "&lt;b&gt;" in page
        assert "<b>," not in page
        assert named._repr_mimebundle_()["text/plain"] == str(named)

    def test_facts_are_plain(self, named: Any, single: Any) -> None:
        for model in (named, single):
            facts = describe_model(model)
            assert json.loads(json.dumps(facts, allow_nan=False)) == facts
            assert facts["n_components"] == 2
            assert facts["short_documents"] == [0, 0, 0]
            assert facts["diagnostics"]["gap"] > 0.5
        assert describe_model(named)["components"][0]["top"][0][0] == "rain"

    def test_before_fitting_there_is_little_to_say(self) -> None:
        model = tercet.DiscreteICA(3, refine=2)
        assert str(model) == "DiscreteICA(n_components=3, refine=2)"
        assert "not fitted" in model._repr_html_()

    def test_it_talks_when_asked(self, caplog: pytest.LogCaptureFixture) -> None:
        tercet.LatentDirichletAllocation(2, verbose=1).fit(draw_rows(300))
        assert "collecting moments" in caplog.text
        caplog.clear()
        tercet.LatentDirichletAllocation(2).fit(draw_rows(300))
        assert caplog.text == ""
