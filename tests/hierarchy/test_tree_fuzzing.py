"""Whatever the rows: a valid tree, or an error that says why not."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tercet
from tercet.exceptions import TercetError, TercetWarning

COUNTS = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 12), st.integers(1, 5)),
    elements=st.sampled_from([0, 0, 0, 1, 1, 2, 7]),
)
REALS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 5)),
    elements=st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, 1e9, -3e4]),
)
ORDERS = st.sampled_from(["gain", "size", "level"])


def check_tree(tree, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TercetWarning)
        try:
            tree.fit(rows)
        except TercetError:
            return
    h = tree.hierarchy_
    assert np.array_equal(tree.predict(rows), tree.labels_)
    assert sorted(set(tree.labels_)) == list(range(tree.n_leaves_))
    assert tree.n_leaves_ == h.n_splits + 1
    for values in (h.centers, h.losses, h.gains, h.qualities, h.separations, h.tables):
        assert np.isfinite(values).all()
    assert np.isclose(tree.weights_.sum(), 1.0)
    assert tree.outcome_.converged == (tree.n_leaves_ == tree._wanted()[1])
    assert len(tree.export_text().splitlines()) == h.n_nodes
    assert len(tree.linkage()) == h.n_splits
    assert all(node.reason for node in tree.nodes() if node.is_leaf)


@settings(max_examples=50)
@given(COUNTS, st.integers(1, 5), ORDERS, st.sampled_from([0, 2]))
def test_topic_trees_of_any_counts(rows, n_leaves, order, steps):
    for family in ("single-topic", "poisson"):
        check_tree(
            tercet.TopicTree(n_leaves, family=family, split_order=order, refine=steps),
            rows,
        )


@given(COUNTS, st.integers(1, 5), ORDERS, st.sampled_from([0, 2]))
def test_trees_of_any_zeros_and_ones(rows, n_leaves, order, steps):
    binary = np.minimum(rows, 1)
    check_tree(
        tercet.TopicTree(n_leaves, family="bernoulli", split_order=order, refine=steps),
        binary,
    )
    check_tree(
        tercet.BisectingMoments(n_leaves, split_order=order, refine=steps), binary
    )


@given(REALS, st.integers(1, 5), ORDERS)
def test_data_trees_of_any_numbers(rows, n_clusters, order):
    check_tree(tercet.BisectingMoments(n_clusters, split_order=order), rows)
