"""What trees promise: labels, cuts, orders, limits, weights, files, edges."""

import json
import tracemalloc
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster import hierarchy as scipy_hierarchy
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

import tercet
from tercet.exceptions import (
    ConvergenceWarning,
    DataError,
    ParameterError,
    TercetError,
)
from tercet.hierarchy import rank_relevance
from tercet.models.facts import describe_model


def draw_records(rng, n=300, d=12, k=4):
    chances = np.where(rng.random((k, d)) < 0.35, 0.8, 0.08)
    labels = rng.integers(0, k, size=n)
    return (rng.random((n, d)) < chances[labels]).astype(float), labels


TREES = [
    tercet.BisectingMoments(5),
    tercet.BisectingMoments(5, split_order="size"),
    tercet.BisectingMoments(5, split_order="level", refine=3),
    tercet.BisectingMoments(4, refine=2, density="gaussian"),
    tercet.TopicTree(5, family="bernoulli"),
    tercet.TopicTree(5, family="poisson", split_order="level"),
    tercet.TopicTree(4, refine=2),
    tercet.TopicTree(None, max_depth=2, split_order="size"),
]


@pytest.fixture
def records(rng):
    return draw_records(rng)[0]


@pytest.mark.parametrize("tree", TREES, ids=repr)
class TestAnyTree:
    def fit(self, tree, rows, **kw):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clone(tree).fit(rows, **kw)

    def test_labels_are_what_predict_says(self, tree, records):
        model = self.fit(tree, records)
        assert np.array_equal(model.predict(records), model.labels_)
        assert np.array_equal(model.predict(sparse.csr_array(records)), model.labels_)
        assert sorted(set(model.labels_)) == list(range(model.n_leaves_))
        blocks = (records[i : i + 37] for i in range(0, len(records), 37))
        assert np.array_equal(model.predict(blocks), model.labels_)

    def test_leaves_part_the_rows(self, tree, records):
        model = self.fit(tree, records)
        sizes = np.bincount(model.labels_)
        assert np.allclose(model.weights_, sizes / len(records))
        nodes = model.nodes()
        for node in nodes:
            under = np.isin(model.labels_, node.leaves)
            assert under.sum() == node.size
            if not node.is_leaf:
                one, two = (nodes[child] for child in node.children)
                assert node.leaves == one.leaves + two.leaves
                assert one.parent == two.parent == node.index
                assert node.gain > 0.0
                assert 0.0 <= node.separation <= 1.0
                assert node.discriminators.shape == (records.shape[1], 2)
            else:
                assert node.reason
            assert 0.0 <= node.quality <= 1.0
        tokens = isinstance(model, tercet.TopicTree) and model.family == "single-topic"
        for label, center in enumerate(model.components_):
            mean = records[model.labels_ == label].mean(axis=0)
            expected = mean / mean.sum() if tokens else mean
            assert np.allclose(center, expected)

    def test_the_form_of_the_rows_does_not_matter(self, tree, records):
        frame = pytest.importorskip("pandas").DataFrame(
            records, columns=[f"code {j}" for j in range(records.shape[1])]
        )
        model = self.fit(tree, records)
        for form in (
            sparse.csr_array(records),
            sparse.csc_matrix(records.astype(np.int8)),
            records.astype(bool),
            frame,
            [records[:100], records[100:]],
        ):
            assert np.array_equal(self.fit(tree, form).labels_, model.labels_)
        named = self.fit(tree, frame)
        assert named.node(0).features[0][0].startswith("code ")
        assert "code" in named.export_text()

    def test_weights_count_rows(self, tree, records):
        rng = np.random.default_rng(1)
        weights = rng.integers(0, 3, size=len(records))
        weighted = self.fit(tree, records, sample_weight=weights)
        repeated = self.fit(tree, np.repeat(records, weights, axis=0))
        expected = np.repeat(weighted.labels_, weights)
        assert adjusted_rand_score(expected, repeated.labels_) == pytest.approx(1.0)
        assert np.allclose(weighted.weights_, repeated.weights_)
        assert np.array_equal(weighted.predict(records), weighted.labels_)

    def test_order_of_rows_does_not_matter(self, tree, records):
        turned = self.fit(tree, records[::-1].copy())
        labels = self.fit(tree, records).labels_
        assert adjusted_rand_score(turned.labels_[::-1], labels) == pytest.approx(1.0)

    def test_cuts_are_nested_and_those_of_scipy(self, tree, records):
        model = self.fit(tree, records)
        linkage = model.linkage()
        assert scipy_hierarchy.is_valid_linkage(linkage)
        assert linkage[-1, 3] == model.n_leaves_
        cuts = [model.cut(m) for m in range(1, model.n_leaves_ + 1)]
        assert np.array_equal(cuts[-1], np.arange(model.n_leaves_))
        for count, cut in enumerate(cuts, start=1):
            assert sorted(set(cut)) == list(range(count))
            theirs = scipy_hierarchy.fcluster(linkage, count, "maxclust")
            assert adjusted_rand_score(cut, theirs) == 1.0
        for coarse, fine in pairwise(cuts):
            assert (
                len({(a, b) for a, b in zip(coarse, fine, strict=True)})
                == fine.max() + 1
            )
        by_loss = model.linkage("loss")
        assert scipy_hierarchy.is_valid_linkage(by_loss)
        assert scipy_hierarchy.is_monotonic(by_loss)

    def test_files_keep_everything(self, tree, records, tmp_path):
        model = self.fit(tree, records)
        model.save(tmp_path / "tree.safetensors")
        again = tercet.load(tmp_path / "tree.safetensors")
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.predict(records), model.labels_)
        assert again.export_text() == model.export_text()
        assert again.to_dict() == model.to_dict()
        assert again.outcome_ == model.outcome_
        assert describe_model(again) == describe_model(model)

    def test_transform_is_leaf_or_path(self, tree, records):
        model = self.fit(tree, records)
        leaf = model.transform(records)
        assert np.array_equal(leaf.toarray(), np.eye(model.n_leaves_)[model.labels_])
        assert len(model.get_feature_names_out()) == model.n_leaves_
        path = clone(tree).set_params(membership="path")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ways = path.fit_transform(records).toarray()
        nodes = path.nodes()
        assert ways.shape == (len(records), len(nodes))
        assert np.array_equal(ways, path.transform(records).toarray())
        assert np.allclose(ways.sum(axis=0), [node.size for node in nodes])
        assert np.array_equal(
            ways.sum(axis=1), [nodes[n].depth + 1 for n in path.apply(records)]
        )

    def test_exports_are_plain(self, tree, records):
        model = self.fit(tree, records)
        told = json.loads(json.dumps(model.to_dict()))
        assert told["size"] == len(records)
        assert len(model.export_text().splitlines()) == 2 * model.n_leaves_ - 1
        facts = json.loads(json.dumps(describe_model(model)))
        assert facts["n_leaves"] == model.n_leaves_ == len(facts["components"])
        assert str(model).startswith(type(model).__name__)
        assert "<table>" in model._repr_html_()


EXPECTED = {
    "check_clustering": "clusters standardised points, most of them negative; counts are not",
}


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (tercet.BisectingMoments(2), {}),
        (tercet.BisectingMoments(2, membership="path"), {}),
        (tercet.TopicTree(2), EXPECTED),
    ],
    ids=repr,
)
def test_scikit_learn_finds_nothing_to_complain_of(tree, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            tree, expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    failed = {
        result["check_name"]: str(result["exception"])
        for result in results
        if result["status"] == "failed"
    }
    assert failed == {}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)


def test_eight_topics_come_back():
    scores = []
    for seed in range(3):
        sample = tercet.datasets.make_hierarchical_topics(400, random_state=seed)
        tree = tercet.TopicTree(8).fit(sample.rows)
        scores.append(adjusted_rand_score(sample.labels, tree.labels_))
        # The two halves of the vocabulary part first (paper 004, figure 1).
        halves = adjusted_rand_score(sample.labels < 4, tree.cut(2)[tree.labels_])
        assert halves > 0.98
    assert np.mean(scores) > 0.98


def test_level_by_level_is_balanced(rng):
    rows, _ = draw_records(rng, 600, 30, 8)
    tree = tercet.BisectingMoments(None, max_depth=3, split_order="level").fit(rows)
    assert tree.n_leaves_ == 8
    assert {node.depth for node in tree.nodes() if node.is_leaf} == {3}
    depths = tree.hierarchy_.depths[np.argsort(tree.hierarchy_.orders)]
    splits = depths[-tree.hierarchy_.n_splits :]
    assert np.array_equal(splits, np.sort(splits))


def test_size_splits_the_heaviest_and_gain_the_best(rng):
    rows, _ = draw_records(rng, 400)
    by_size = tercet.BisectingMoments(4, split_order="size").fit(rows)
    by_gain = tercet.BisectingMoments(4, split_order="gain").fit(rows)
    for tree, figure in ((by_size, "masses"), (by_gain, "gains")):
        h = tree.hierarchy_
        values = getattr(h, figure)
        done = np.argsort(h.orders)[-h.n_splits :]
        for step, node in enumerate(done):
            # What was split at this step beats the splits that could have been.
            rivals = [
                v
                for v in done[step:]
                if h.parents[v] < 0 or h.orders[h.parents[v]] < step
            ]
            assert values[node] == max(values[v] for v in rivals)
    assert by_gain.diagnostics_["explained"] >= by_size.diagnostics_["explained"] - 0.05


def test_limits_end_the_growth(rng):
    rows, _ = draw_records(rng, 300, 20, 8)
    with pytest.warns(ConvergenceWarning, match="max_depth=2 was reached"):
        tree = tercet.BisectingMoments(8, max_depth=2).fit(rows)
    assert tree.n_leaves_ == 4
    with pytest.warns(ConvergenceWarning, match="min_samples=60"):
        tree = tercet.BisectingMoments(8, min_samples=60).fit(rows)
    assert np.bincount(tree.labels_).min() >= 60
    with pytest.warns(ConvergenceWarning, match="min_gain=0.2"):
        tree = tercet.BisectingMoments(8, min_gain=0.2).fit(rows)
    assert tree.n_leaves_ < 8
    assert not tree.outcome_.converged
    assert tercet.BisectingMoments(1).fit(rows).n_leaves_ == 1
    assert tercet.TopicTree(None, max_depth=0).fit(rows).n_leaves_ == 1


def test_em_after_each_split_raises_the_likelihood(rng):
    rows, labels = draw_records(rng, 2000, 20, 4)
    plain = tercet.BisectingMoments(4).fit(rows)
    refined = tercet.BisectingMoments(4, refine="auto").fit(rows)
    scores = [adjusted_rand_score(labels, tree.labels_) for tree in (plain, refined)]
    assert scores[1] >= scores[0] - 0.02
    assert scores[1] > 0.6
    thesis = tercet.BisectingMoments(4, refine="auto", rule="centers").fit(rows)
    assert adjusted_rand_score(refined.labels_, thesis.labels_) > 0.7


def test_em_that_does_not_converge_is_told(rng, monkeypatch):
    from tercet.hierarchy import splitting

    def refine_briefly(*arguments, **settings):
        return refine_mixture(*arguments, **settings, max_steps=2)

    refine_mixture = splitting.refine_mixture
    monkeypatch.setattr(splitting, "refine_mixture", refine_briefly)
    rows, _ = draw_records(rng, 300)
    with pytest.warns(ConvergenceWarning, match="after 2 of 2 splits"):
        tercet.BisectingMoments(3, refine="auto").fit(rows)
    # Steps that were asked for are no budget.
    assert tercet.BisectingMoments(3, refine=2).fit(rows).outcome_.converged


class TestEdges:
    def test_duplicate_rows_make_as_many_leaves_as_there_are_kinds(self):
        rows = np.repeat(np.eye(4)[:3], [5, 4, 3], axis=0)
        with pytest.warns(ConvergenceWarning, match="3 leaves of the 6"):
            tree = tercet.BisectingMoments(6).fit(rows)
        assert tree.n_leaves_ == 3
        assert len(np.unique(tree.labels_[[0, 5, 9]])) == 3
        reasons = {node.reason for node in tree.nodes() if node.is_leaf}
        assert reasons == {"its rows show one direction only"}

    def test_rows_all_the_same_are_one_leaf(self):
        with pytest.warns(ConvergenceWarning, match="1 leaf of the 2"):
            tree = tercet.BisectingMoments(2).fit(np.ones((5, 3)))
        assert tree.labels_.tolist() == [0] * 5

    def test_empty_rows_go_to_the_first_side_and_are_counted(self, records):
        rows = np.vstack([records, np.zeros((7, records.shape[1]))])
        tree = tercet.BisectingMoments(4).fit(rows)
        assert len(set(tree.labels_[-7:])) == 1
        assert tree.diagnostics_["empty_rows"] >= 7
        assert (
            tree.predict(np.zeros((2, records.shape[1]))).tolist()
            == [tree.labels_[-1]] * 2
        )

    def test_nothing_but_zeros_is_one_leaf_or_an_error(self):
        with pytest.warns(ConvergenceWarning, match="1 leaf"):
            assert tercet.BisectingMoments(2).fit(np.zeros((6, 3))).n_leaves_ == 1
        with pytest.raises(DataError, match="all entries"):
            tercet.TopicTree(2).fit(np.zeros((6, 3)))

    def test_constant_columns_change_nothing_of_importance(self, records):
        ones = np.hstack([records, np.zeros((len(records), 2))])
        plain = tercet.BisectingMoments(4).fit(records)
        assert np.array_equal(
            tercet.BisectingMoments(4).fit(ones).labels_, plain.labels_
        )
        full = np.hstack([records, np.ones((len(records), 1))])
        assert tercet.BisectingMoments(4).fit(full).n_leaves_ == 4

    def test_fewer_rows_than_clusters_is_an_error(self):
        with pytest.raises(DataError, match=r"n_samples=3 .* n_clusters=8"):
            tercet.BisectingMoments(8).fit(np.eye(3))
        with pytest.raises(DataError, match=r"n_samples=2 .* n_leaves=4"):
            tercet.TopicTree(4).fit(np.ones((5, 3)), sample_weight=[1, 0, 0, 0, 1])

    def test_as_many_rows_as_clusters(self):
        tree = tercet.BisectingMoments(4).fit(np.eye(4))
        assert sorted(tree.labels_) == [0, 1, 2, 3]

    def test_negative_numbers_are_ranked_by_distance(self, rng):
        rows = rng.standard_normal((60, 4))
        rows[:30, 2] += 5.0
        tree = tercet.BisectingMoments(2).fit(rows)
        assert tree.node(1).features[0][0] == "x2"

    @pytest.mark.parametrize(
        ("tree", "words"),
        [
            (tercet.BisectingMoments(0), "n_clusters=0"),
            (tercet.BisectingMoments(2.5), "n_clusters=2.5"),
            (tercet.BisectingMoments(None), "max_depth=None"),
            (tercet.TopicTree(None), "n_leaves=None"),
            (tercet.TopicTree(3, max_depth=-1), "max_depth=-1"),
            (tercet.TopicTree(3, family="gauss"), "family='gauss'"),
            (tercet.TopicTree(3, rule="never"), "never"),
            (tercet.TopicTree(3, split_order="best"), "split_order='best'"),
            (tercet.TopicTree(3, refine="often"), "refine='often'"),
            (tercet.TopicTree(3, min_samples=0), "min_samples=0"),
            (tercet.BisectingMoments(3, min_gain=-1), "min_gain=-1"),
            (tercet.BisectingMoments(3, membership="x"), "membership='x'"),
            (tercet.BisectingMoments(3, density="beta"), "beta"),
            (tercet.BisectingMoments(3, refine=1), "density='bernoulli'"),
            (tercet.TopicTree(3, family="bernoulli"), "zeros and ones"),
        ],
        ids=repr,
    )
    def test_bad_parameters_are_named(self, tree, words):
        with pytest.raises(TercetError) as caught:
            tree.fit(np.arange(12.0).reshape(4, 3))
        assert words in str(caught.value)

    def test_bad_questions_are_errors(self, records):
        tree = tercet.BisectingMoments(3).fit(records)
        for ask in (
            lambda: tree.cut(4),
            lambda: tree.cut(0),
            lambda: tree.node(5),
            lambda: tree.node(-1),
            lambda: tree.linkage("width"),
            lambda: tree.nodes(relevance=2.0),
        ):
            with pytest.raises(ParameterError):
                ask()
        with pytest.raises(DataError, match="features"):
            tree.predict(np.ones((2, 3)))


def test_relevance_is_the_formula(rng):
    p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    for weight in (0.0, 0.7, 1.0):
        expected = weight * np.log(p) + (1.0 - weight) * np.log(p / q)
        features, values = rank_relevance(p, q, weight=weight)
        assert np.array_equal(features, np.argsort(-expected))
        assert np.allclose(values, np.sort(expected)[::-1])


def test_rows_are_not_copied(rng):
    # A tree of depth six over rows in memory takes a fraction of them.
    rows = sparse.csr_array((rng.random((20_000, 200)) < 0.2).astype(np.float64))
    small = sparse.csr_array(rows[:2000])
    tercet.BisectingMoments(64).fit(small)  # compiles
    size = rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    tracemalloc.start()
    tercet.BisectingMoments(64).fit(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size
