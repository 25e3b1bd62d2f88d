"""One judge for topics of any make."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation

from tercet.datasets import make_lda
from tercet.evaluation import compare, measure_coherence
from tercet.exceptions import DataError, ParameterError


@pytest.fixture(scope="module")
def corpus():
    sample = make_lda(900, n_features=80, n_components=3, mean_length=60)
    return sample.rows[:700], sample.rows[700:], sample.parameters


def test_the_truth_wins(corpus, rng):
    train, test, truth = corpus
    topics = truth.centers.T
    found = compare(
        {
            "even": np.ones((3, 80)),
            "truth": topics,
            "shuffled": rng.permuted(topics, axis=1),
            "swapped": topics[[2, 0, 1]] * 7.0,
        },
        test,
        train=train,
        truth=topics,
    )
    assert found.best.name in {"truth", "swapped"}
    # Order and scale of topics change nothing.
    assert found["truth"].score.per_token == pytest.approx(
        found["swapped"].score.per_token, abs=1e-6
    )
    assert found["truth"].l1_error == pytest.approx(0.0, abs=1e-12)
    assert found["shuffled"].l1_error > 0.3
    assert found["truth"].npmi > found["shuffled"].npmi
    coherence = measure_coherence(topics, train).mean()
    assert found["truth"].umass == pytest.approx(coherence)
    assert "perplexity" in str(found)
    assert [row["name"] for row in found.to_rows()][-1] in {"even", "shuffled"}


def test_models_of_other_makes_are_read(corpus):
    train, test, truth = corpus
    theirs = LatentDirichletAllocation(3, max_iter=3, random_state=0).fit(train)

    class WithTopics:
        alpha = np.full(3, 0.1)

        def get_topics(self):
            return truth.centers.T

    found = compare(
        {
            "sklearn": theirs,
            "array": theirs.components_,
            "gensim": WithTopics(),
            "pair": (truth.centers.T, [0.1, 0.1, 0.1]),
        },
        test,
        train=train,
    )
    assert found["sklearn"].score == found["array"].score
    assert found["gensim"].score == found["pair"].score
    own = compare({"pair": (truth.centers.T, np.full(3, 5.0))}, test, train=train,
                  own_concentration=True)  # fmt: skip
    assert own["pair"].concentration.sum() == pytest.approx(15.0)
    assert own["pair"].score.per_token < found["pair"].score.per_token


def test_every_score_can_judge(corpus):
    train, test, truth = corpus
    for method in ("bound", "completion", "left-to-right"):
        found = compare(
            {"even": np.ones((3, 80)), "truth": truth.centers.T},
            test[:20],
            train=train,
            method=method,
        )
        assert found.best.name == "truth"


def test_words_that_a_topic_rules_out_do_not_end_the_comparison(corpus):
    train, test, _ = corpus
    hard = np.eye(3, 80)
    found = compare({"hard": hard}, test, train=train)
    assert np.isfinite(found.best.score.per_token)


def test_errors_name_what_is_wrong(corpus):
    train, test, truth = corpus
    topics = truth.centers.T
    with pytest.raises(ParameterError, match="candidates is empty"):
        compare({}, test)
    with pytest.raises(DataError, match=r"candidates\['a'\] has 79 columns"):
        compare({"a": topics[:, 1:]}, test)
    with pytest.raises(ParameterError, match=r"candidates\['a'\] must be non-negative"):
        compare({"a": -topics}, test)
    with pytest.raises(ParameterError, match="topic 1 is all zeros"):
        compare({"a": topics * [[1], [0], [1]]}, test)
    with pytest.raises(ParameterError, match="mixed_in=1"):
        compare({"a": topics}, test, mixed_in=1.0)
    with pytest.raises(DataError, match="train has 79 features"):
        compare({"a": topics}, test, train=train[:, 1:])
    with pytest.raises(ParameterError, match="name='b'"):
        _ = compare({"a": topics}, test)["b"]
