"""The picture of a tree has every node in its place."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import tercet
from tercet.exceptions import ParameterError
from tercet.plotting import TreeDisplay

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def tree():
    sample = tercet.datasets.make_hierarchical_topics(300, random_state=1)
    return tercet.TopicTree(6).fit(sample.rows)


def test_every_node_has_a_box_with_its_features(tree):
    display = TreeDisplay.from_estimator(tree, n_top=3)
    assert len(display.ax_.texts) == 11
    assert len(display.ax_.lines) == 10
    for node, text in zip(tree.nodes(), display.ax_.texts, strict=True):
        told = text.get_text().replace("\n", " ")
        assert f"{node.size:,} rows" in told
        assert all(name in told for name, _ in node.features[:3])
        assert ("leaf" in told) == node.is_leaf
        assert text.get_position() == tuple(display.positions[node.index])


def test_parents_stand_between_their_children(tree):
    places = TreeDisplay(tree.nodes()).positions
    leaves = [node for node in tree.nodes() if node.is_leaf]
    assert sorted(places[node.index, 1] for node in leaves) == list(range(6))
    for node in tree.nodes():
        if node.children:
            below = places[list(node.children)]
            assert (below[:, 0] == places[node.index, 0] + 1).all()
            assert places[node.index, 1] == pytest.approx(below[:, 1].mean())


def test_boxes_do_not_overlap(tree):
    display = TreeDisplay.from_estimator(tree)
    display.figure_.canvas.draw()
    boxes = [t.get_window_extent() for t in display.ax_.texts]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert not one.overlaps(other)
    inside = display.figure_.bbox
    assert all(inside.containsx(b.x1) and inside.containsy(b.y0) for b in boxes)


def test_a_single_node_and_given_axes(rng):
    lone = tercet.BisectingMoments(1).fit(rng.random((5, 3)))
    _, ax = plt.subplots()
    assert TreeDisplay.from_estimator(lone, ax=ax).ax_ is ax
    assert np.allclose(TreeDisplay(lone.nodes()).positions, 0.0)


def test_what_is_no_tree_is_refused(rng):
    with pytest.raises(ParameterError, match="no node"):
        TreeDisplay([])
    flat = tercet.BernoulliMixture(2).fit((rng.random((40, 5)) < 0.5).astype(float))
    with pytest.raises(ParameterError, match="TopicTree"):
        TreeDisplay.from_estimator(flat)
