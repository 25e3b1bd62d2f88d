"""Topics handed to other packages work there, and stay what they were."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import tercet
from tercet.families import LatentDirichlet
from tercet.flow import Parameters

pytestmark = [
    pytest.mark.peers,
    # The model was fitted to a frame, and is asked about arrays.
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

N_WORDS, K = 60, 3


@pytest.fixture(scope="module")
def corpus() -> Any:
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(N_WORDS, 0.2), size=K).T
    truth = Parameters(np.ascontiguousarray(topics), np.full(K, 1 / K))
    X, _ = LatentDirichlet(0.6).sample(truth, 600, rng, lengths=60)
    return X


@pytest.fixture(scope="module")
def model(corpus: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    names = [f"word{j}" for j in range(N_WORDS)]
    return tercet.LatentDirichletAllocation(K).fit(
        pandas.DataFrame(corpus.toarray(), columns=names)
    )


def as_bags(X: Any) -> list[list[tuple[int, float]]]:
    rows = sparse.csr_array(X)
    return [
        [
            (int(rows.indices[p]), float(rows.data[p]))
            for p in range(rows.indptr[i], rows.indptr[i + 1])
        ]
        for i in range(rows.shape[0])
    ]


def test_scikit_learn_infers_the_same_proportions(model: Any, corpus: Any) -> None:
    other = model.to_sklearn()
    assert type(other).__module__.startswith("sklearn")
    topics = other.components_ / other.components_.sum(axis=1, keepdims=True)
    assert np.abs(topics - model.components_).sum(axis=1).max() < 0.01
    other.set_params(max_doc_update_iter=500, mean_change_tol=1e-8)
    table = corpus.toarray()
    other_shares = other.transform(table)
    # A single prior for all topics, and topics with pseudo-counts: near, not equal.
    shares = model.transform(table)
    assert np.abs(other_shares - shares).sum(axis=1).mean() < 0.03


def test_scikit_learn_goes_on_from_there(model: Any, corpus: Any) -> None:
    table = corpus.toarray()
    other = model.to_sklearn()
    before = other.perplexity(table)
    other.partial_fit(table)
    assert other.perplexity(table) < 1.02 * before
    topics = other.components_ / other.components_.sum(axis=1, keepdims=True)
    assert np.abs(topics - model.components_).sum(axis=1).max() < 0.3


def test_scikit_learn_scores_them_like_its_own(model: Any, corpus: Any) -> None:
    from sklearn.decomposition import LatentDirichletAllocation

    table = corpus.toarray()
    own = LatentDirichletAllocation(K, random_state=0, max_iter=5).fit(table)
    other = model.to_sklearn()
    assert other.perplexity(table) < 1.01 * own.perplexity(table)


def test_gensim_has_the_same_topics_and_proportions(model: Any, corpus: Any) -> None:
    pytest.importorskip("gensim")
    other = model.to_gensim()
    assert np.abs(other.get_topics() - model.components_).sum(axis=1).max() < 0.01
    assert other.alpha == pytest.approx(model.concentration_, rel=1e-5)
    words = [word for word, _ in other.show_topic(0, topn=5)]
    assert words == model.top_words(5)[0]
    bags = as_bags(corpus)[:50]
    other.minimum_probability = 0.0
    other.iterations, other.gamma_threshold = 500, 1e-6
    found = np.zeros((len(bags), K))
    for i, bag in enumerate(bags):
        for topic, share in other.get_document_topics(bag, minimum_probability=0.0):
            found[i, topic] = share
    shares = model.transform(corpus[:50])
    assert np.abs(found - shares).sum(axis=1).mean() < 0.02


def test_gensim_goes_on_from_there(model: Any, corpus: Any) -> None:
    pytest.importorskip("gensim")
    other = model.to_gensim()
    bags = as_bags(corpus)
    before = other.log_perplexity(bags)
    other.update(bags)
    assert other.log_perplexity(bags) > before - 0.05


@pytest.mark.filterwarnings("ignore:::pandas", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_pyldavis_draws_them(model: Any, corpus: Any) -> None:
    pyldavis = pytest.importorskip("pyLDAvis")
    padded = sparse.vstack([corpus, sparse.csr_array((1, N_WORDS))], format="csr")
    prepared = model.to_pyldavis(padded, R=10)
    assert len(prepared.topic_coordinates) == K
    sizes = prepared.topic_coordinates["Freq"].to_numpy() / 100
    assert sizes == pytest.approx(model.topic_sizes(corpus), abs=1e-6)
    page = pyldavis.prepared_data_to_html(prepared)
    assert model.top_words(1)[0][0] in page


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from tercet.models import bridges

    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(bridges, "import_module", refuse)
    X = np.random.default_rng(0).poisson(2.0, size=(50, 5))
    model = tercet.LatentDirichletAllocation(1).fit(X)
    with pytest.raises(ImportError, match="gensim is not installed"):
        model.to_gensim()
