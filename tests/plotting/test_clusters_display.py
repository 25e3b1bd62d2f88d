"""Charts of clusters show what the model and the rows say."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy import sparse

import tercet
from tercet.exceptions import ParameterError
from tercet.plotting import ClustersDisplay, FrequencyDisplay

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def records(rng):
    chances = np.array(
        [[0.9, 0.8, 0.05, 0.1], [0.1, 0.05, 0.9, 0.1], [0.1, 0.6, 0.1, 0.9]]
    )
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    return (rng.random((100, 4)) < chances[labels]).astype(float)


@pytest.mark.parametrize(
    "model", [tercet.BisectingMoments(3), tercet.BernoulliMixture(3)]
)
def test_frequencies_of_a_model_are_those_of_its_rows(model, records):
    model.fit(records)
    labels = model.predict(records)
    display = FrequencyDisplay.from_estimator(model, records, n_features=3)
    assert display.features.size == 3
    for label in range(3):
        expected = records[labels == label].mean(axis=0)
        assert np.allclose(display.frequencies[label], expected)
    assert np.allclose(display.weights, np.bincount(labels) / 100)
    bars = [patch for patch in display.ax_.patches if patch.get_width() > 0]
    longest = max(bars, key=lambda bar: bar.get_width())
    j, place = int(longest.get_x()), round(longest.get_y() + longest.get_height() / 2)
    shown = display.frequencies[:, display.features]
    assert shown[j, place] == pytest.approx(shown.max())
    texts = {text.get_text() for text in display.ax_.texts}
    assert f"{shown.max():.0%}" in texts


def test_frequencies_without_rows_are_the_centers(records):
    tree = tercet.BisectingMoments(3).fit(records)
    plain = FrequencyDisplay.from_estimator(tree)
    counted = FrequencyDisplay.from_estimator(tree, sparse.csr_array(records))
    assert np.allclose(plain.frequencies, counted.frequencies)
    assert [t.get_text() for t in plain.ax_.get_yticklabels()] == plain.names


def test_heat_map_has_the_rows_cluster_by_cluster(records):
    frame = pytest.importorskip("pandas").DataFrame(records, columns=list("abcd"))
    tree = tercet.BisectingMoments(3).fit(frame)
    display = ClustersDisplay.from_estimator(tree, frame, n_features=4)
    picture = np.asarray(display.ax_.images[0].get_array())
    assert picture.shape == (100, 4, 3)
    order = np.argsort(tree.labels_, kind="stable")
    shown = records[order][:, display.features]
    # Ones are dark, zeros have the light colour of their cluster.
    assert np.array_equal(picture.mean(axis=2) < 0.5, shown == 1.0)
    light = {tuple(np.round(c, 6)) for c in picture[shown == 0.0]}
    assert len(light) == 3
    assert sorted(display.names) == list("abcd")


def test_many_rows_become_bands(rng):
    rows = sparse.csr_array((rng.random((5000, 9)) < 0.3).astype(float))
    labels = np.sort(rng.integers(0, 4, size=5000))
    display = ClustersDisplay(rows, labels, n_features=5).plot()
    picture = np.asarray(display.ax_.images[0].get_array())
    assert picture.shape[0] <= 600
    assert picture.shape[1] == 5
    assert ((picture >= 0.0) & (picture <= 1.0)).all()


def test_given_axes_are_used_and_bad_shapes_refused(records):
    tree = tercet.BisectingMoments(3).fit(records)
    _, axes = plt.subplots(1, 2)
    assert FrequencyDisplay.from_estimator(tree, ax=axes[0]).ax_ is axes[0]
    assert ClustersDisplay.from_estimator(tree, records, ax=axes[1]).ax_ is axes[1]
    with pytest.raises(ParameterError, match="labels has shape"):
        ClustersDisplay(records, [0, 1])
    with pytest.raises(ParameterError, match="frequencies has shape"):
        FrequencyDisplay([[0.5]], [0.5, 0.5])
