"""Stability compares what two samples make of the rows they share."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import tercet
from tercet.evaluation import measure_stability
from tercet.exceptions import DataError, ParameterError


def test_shared_rows_are_compared_and_no_others(rng):
    X = np.column_stack([np.arange(200.0), rng.integers(0, 3, 200)])
    seen = []

    def cluster(rows):
        seen.append(rows[:, 0].astype(int))
        # Labels that depend on the sample, by how many rows lie below 100.
        shift = int((rows[:, 0] < 100).sum() % 2)
        return (rows[:, 1] + shift * (rows[:, 0] % 2)).astype(int)

    found = measure_stability(X, cluster, n_repeats=4, random_state=3)
    assert (found.n_shared, found.n_replaced) == (160, 20)
    assert len(seen) == 8
    for repeat in range(4):
        one, two = seen[2 * repeat : 2 * repeat + 2]
        assert one.size == two.size == 180
        assert (np.diff(one) > 0).all()
        both = np.intersect1d(one, two)
        assert both.size == 160
        labels = []
        for rows in (one, two):
            shift = int((rows < 100).sum() % 2)
            labels.append(X[both, 1] + shift * (both % 2))
        assert found.scores[repeat] == pytest.approx(adjusted_rand_score(*labels))
    assert found.mean == pytest.approx(found.scores.mean())
    assert found.spread == pytest.approx(found.scores.std())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_clear_clusters_are_stable_and_noise_is_not(rng, form):
    clear = np.repeat(np.eye(2) * 5.0, 60, axis=0) + 0.1 * rng.random((120, 2))
    noise = rng.random((120, 3))
    tree = tercet.BisectingMoments(2)
    assert measure_stability(form(clear), tree).mean == 1.0
    assert measure_stability(form(noise), KMeans(6, n_init=1)).mean < 0.9
    assert not hasattr(tree, "labels_")


def test_data_frames_keep_their_names(rng):
    frame = pytest.importorskip("pandas").DataFrame(
        rng.random((50, 2)), columns=["a", "b"]
    )
    found = measure_stability(
        frame, lambda rows: (rows["a"] > 0.5).to_numpy(), n_repeats=2
    )
    assert found.mean == 1.0


def test_the_same_seed_gives_the_same_samples(rng):
    X = rng.random((60, 2))
    model = KMeans(3, n_init=1, random_state=0)
    one, two = (measure_stability(X, model, random_state=5).scores for _ in range(2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"shared": 1.0}, "shared=1.0"),
        ({"replaced": "much"}, "replaced='much'"),
        ({"shared": 0.8, "replaced": 0.2}, "more than all rows"),
    ],
)
def test_bad_settings_are_named(settings, words):
    with pytest.raises(ParameterError, match=words):
        measure_stability(np.eye(20), lambda rows: rows[:, 0], **settings)


def test_too_few_rows_and_no_clustering_are_errors():
    with pytest.raises(DataError, match="too few"):
        measure_stability(np.eye(3), lambda rows: rows[:, 0])
    with pytest.raises(ParameterError, match="fit_predict"):
        measure_stability(np.eye(30), "k-means")
