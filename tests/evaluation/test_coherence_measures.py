"""Coherence and relevance against loops over the definitions, and against gensim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from references.topic_likelihoods import average_npmi, sum_umass
from tercet.datasets import make_lda
from tercet.evaluation import measure_coherence, measure_relevance
from tercet.exceptions import DataError, ParameterError


@pytest.fixture
def corpus(rng):
    rows = rng.poisson(0.5, size=(60, 30))
    topics = rng.dirichlet(np.full(30, 0.3), size=4)
    return rows, topics


def foremost(topics, n_top):
    return [np.argsort(-topic, kind="stable")[:n_top].tolist() for topic in topics]


@pytest.mark.parametrize(
    ("kind", "reference"), [("umass", sum_umass), ("npmi", average_npmi)]
)
@pytest.mark.parametrize("n_top", [2, 20])
def test_coherence_follows_its_definition(corpus, kind, reference, n_top):
    rows, topics = corpus
    expected = [reference(rows, words) for words in foremost(topics, n_top)]
    for X in (rows, sparse.csr_array(rows), lambda: iter([rows[:7], rows[7:]])):
        found = measure_coherence(topics, X, kind=kind, n_top=n_top)
        np.testing.assert_allclose(found, expected)


def test_extremes_of_npmi():
    rows = np.array([[1, 1, 0, 1], [2, 3, 0, 1], [0, 0, 1, 1], [0, 0, 4, 1]])
    together = np.array([1.0, 0.5, 0.0, 0.0])
    apart = np.array([1.0, 0.0, 0.5, 0.0])
    everywhere = np.array([0.5, 0.0, 0.0, 1.0])
    topics = [together, apart, everywhere]
    found = measure_coherence(topics, rows, kind="npmi", n_top=2)
    np.testing.assert_allclose(found, [1.0, -1.0, 0.0], atol=1e-12)


def test_words_of_no_document_are_skipped(corpus):
    rows, topics = corpus
    rows = rows.copy()
    word = foremost(topics, 1)[0][0]
    rows[:, word] = 0
    found = measure_coherence(topics, rows, n_top=10)
    words = [other for other in foremost(topics, 10)[0] if other != word]
    assert found[0] == pytest.approx(sum_umass(rows, words))
    only = np.zeros((3, 30), dtype=int)
    only[:, word] = 1
    assert np.isnan(measure_coherence(topics[:1], only, n_top=10)[0])


def test_true_topics_are_more_coherent_than_shuffled_ones(rng):
    sample = make_lda(2000, n_features=200, n_components=5, random_state=3)
    truth = sample.parameters.centers.T
    shuffled = rng.permuted(truth, axis=1)
    for kind in ("umass", "npmi"):
        right, wrong = (
            measure_coherence(topics, sample.rows, kind=kind, n_top=10).min()
            for topics in (truth, shuffled)
        )
        assert right > wrong


@pytest.mark.peers
def test_gensim_agrees(rng):
    pytest.importorskip("gensim")
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel
    from gensim.topic_coherence import direct_confirmation_measure, segmentation
    from gensim.topic_coherence.probability_estimation import p_boolean_document

    rows = rng.poisson(1.5, size=(200, 12))
    texts = [
        [str(word) for word in np.flatnonzero(row) for _ in range(row[word])]
        for row in rows
    ]
    names = Dictionary(texts)
    corpus = [names.doc2bow(text) for text in texts]
    topics = rng.dirichlet(np.full(12, 0.5), size=3)
    words = [[str(word) for word in chosen] for chosen in foremost(topics, 6)]
    model = CoherenceModel(
        topics=words, corpus=corpus, dictionary=names, coherence="u_mass", topn=6
    )
    # Gensim averages the 15 pairs and adds next to nothing instead of one.
    np.testing.assert_allclose(
        measure_coherence(topics, rows, n_top=6, pseudo_count=0.0) / 15,
        model.get_coherence_per_topic(),
        rtol=1e-6,
    )
    ids = [np.array([names.token2id[word] for word in chosen]) for chosen in words]
    pairs = segmentation.s_one_pre(ids)
    seen = p_boolean_document(corpus, pairs)
    np.testing.assert_allclose(
        measure_coherence(topics, rows, kind="npmi", n_top=6),
        direct_confirmation_measure.log_ratio_measure(pairs, seen, normalize=True),
        rtol=1e-6,
    )


def test_relevance_follows_its_definition(corpus):
    rows, topics = corpus
    overall = rows.sum(axis=0)
    found = measure_relevance(topics, overall, 0.7)
    for j, w in ((0, 3), (3, 29)):
        p, q = topics[j, w], overall[w] / overall.sum()
        assert found[j, w] == pytest.approx(0.7 * np.log(p) + 0.3 * np.log(p / q))
    order = np.argsort(-measure_relevance(topics, overall, 1.0), axis=1)
    np.testing.assert_array_equal(order, np.argsort(-topics, axis=1))


@pytest.mark.peers
def test_pyldavis_ranks_words_alike(rng):
    pytest.importorskip("pyLDAvis")
    from pyLDAvis import prepare

    rows = rng.poisson(1.5, size=(100, 25)) + 1
    topics = rng.dirichlet(np.full(25, 0.5), size=3)
    shares = rng.dirichlet(np.ones(3), size=100)
    words = [f"w{j:02}" for j in range(25)]
    page = prepare(
        topics,
        shares,
        rows.sum(axis=1),
        words,
        rows.sum(axis=0),
        R=5,
        sort_topics=False,
    )
    table = page.topic_info
    for j in range(3):
        told = table[table.Category == f"Topic{j + 1}"]
        ours = measure_relevance(topics, rows.sum(axis=0), 0.6)[j]
        first = {words[w] for w in np.argsort(-ours)[:5]}
        assert first <= set(told.Term)


def test_errors_name_what_is_wrong(corpus):
    rows, topics = corpus
    with pytest.raises(ParameterError, match="kind='c_v'"):
        measure_coherence(topics, rows, kind="c_v")
    with pytest.raises(ParameterError, match="n_top=1"):
        measure_coherence(topics, rows, n_top=1)
    with pytest.raises(DataError, match="X has 29 features"):
        measure_coherence(topics, rows[:, 1:])
    with pytest.raises(ParameterError, match="share=2"):
        measure_relevance(topics, rows.sum(axis=0), 2.0)
    with pytest.raises(ParameterError, match="frequencies"):
        measure_relevance(topics, np.ones(3))
