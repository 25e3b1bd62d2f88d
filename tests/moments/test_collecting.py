"""Collecting: blocks, threads, strategies, merging, files and what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import tercet
from tercet.exceptions import DataError, FileFormatError, ParameterError, RankError
from tercet.families import LatentDirichlet, SingleTopic
from tercet.flow import Moments, Parameters
from tercet.intake import open_source
from tercet.moments import collect, load_moments, save_moments


def draw_corpus(n: int = 370, d: int = 40, k: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.2), size=k).T
    truth = Parameters(topics, np.full(k, 1.0 / k))
    rows, _ = SingleTopic().sample(truth, n, rng, lengths=rng.poisson(20, n))
    return rows.astype(np.float64)


def compare(left: Moments, right: Moments, tolerance: float = 1e-10) -> None:
    for entry in fields(Moments):
        mine, other = getattr(left, entry.name), getattr(right, entry.name)
        if isinstance(mine, np.ndarray) and entry.name != "feature_names":
            scale = max(float(np.abs(other).max(initial=0.0)), 1e-300)
            np.testing.assert_allclose(
                mine / scale,
                other / scale,
                rtol=0.0,
                atol=tolerance,
                err_msg=entry.name,
            )
        elif isinstance(mine, float):
            assert mine == pytest.approx(other, rel=tolerance)


@pytest.mark.parametrize("weighting", ["length", "document", "three-words"])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("blocks", [1, 2, 37])
def test_blocks_and_threads_agree(weighting: Any, n_jobs: int, blocks: int) -> None:
    X = draw_corpus()
    family = SingleTopic(weighting=weighting)
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((X.shape[1], 5)))[0]
    whole = collect(
        X, family, 3, basis=basis, slices=[0, 7], block_rows=X.shape[0], random_state=5
    )
    rows = -(-X.shape[0] // blocks)
    cut = collect(
        X,
        family,
        3,
        basis=basis,
        slices=[0, 7],
        block_rows=rows,
        n_jobs=n_jobs,
        random_state=5,
    )
    compare(cut, whole)


@given(order=st.permutations(range(4)))
def test_parts_add_up_in_any_order(order: list[int]) -> None:
    X = draw_corpus(80)
    whole = collect(X, "single-topic", 3, strategy="sketch", random_state=0)
    parts = [
        collect(X[20 * i : 20 * i + 20], "single-topic", 3, basis=whole.basis)
        for i in order
    ]
    compare(sum(parts), whole)


@pytest.mark.parametrize("strategy", ["exact", "subspace", "sketch"])
def test_strategies_find_the_same_model(strategy: Any) -> None:
    X = draw_corpus(3000)
    found = tercet.decompose(
        collect(X, "single-topic", 3, strategy=strategy, random_state=0), 3
    )
    wanted = tercet.decompose(
        collect(X, "single-topic", 3, strategy="exact", random_state=0), 3
    )
    # A basis of 11 or 22 of 40 directions leaves out noise, not the model.
    limit = 1e-6 if strategy != "sketch" else 0.02
    assert np.abs(found.centers - wanted.centers).sum(axis=0).max() < limit


def test_one_shot_rows_are_sketched() -> None:
    X = draw_corpus(90)
    stream = (X[i : i + 30] for i in range(0, 90, 30))
    found = collect(stream, "single-topic", 3, random_state=0)
    wanted = collect(X, "single-topic", 3, strategy="sketch", random_state=0)
    compare(found, wanted)
    with pytest.raises(ParameterError, match="strategy='exact' reads the rows several"):
        collect(iter([X]), "single-topic", 3, strategy="exact")


def test_three_words_are_three_words() -> None:
    X = draw_corpus(200)
    sums = collect(X, SingleTopic(weighting="three-words"), 2, random_state=0)
    assert sums.longest == 3.0
    long = int((X.sum(axis=1) >= 3).sum())
    assert sums.masses[2] == long


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_repeats(weighted: bool) -> None:
    X = draw_corpus(50)
    times = np.arange(50) % 3
    basis = np.eye(X.shape[1])[:, :6]
    if weighted:
        repeated = collect(
            sparse.csr_array(sparse.vstack([X] * 2)),
            "single-topic",
            3,
            basis=basis,
            sample_weight=np.concatenate([times, 0.0 * times]),
        )
    else:
        repeated = collect(
            X[np.repeat(np.arange(50), times)], "single-topic", 3, basis=basis
        )
    weighed = collect(X, "single-topic", 3, basis=basis, sample_weight=times)
    np.testing.assert_allclose(weighed.third, repeated.third, rtol=1e-12)
    np.testing.assert_allclose(weighed.pair, repeated.pair, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(weighed.masses, repeated.masses, rtol=1e-12)


@given(seed=st.integers(0, 1000))
def test_columns_may_come_in_any_order(seed: int) -> None:
    X = draw_corpus(60, d=12)
    order = np.random.default_rng(seed).permutation(12)
    basis = np.random.default_rng(3).standard_normal((12, 4))
    straight = collect(X, "single-topic", 2, basis=basis)
    turned = collect(X[:, order], "single-topic", 2, basis=basis[order])
    np.testing.assert_allclose(turned.third, straight.third, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(turned.pair, straight.pair[order], rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("slices", [None, [3, 1]])
@pytest.mark.parametrize("weighting", ["length", "document"])
def test_files_bring_sums_back(tmp_path: Path, slices: Any, weighting: Any) -> None:
    X = draw_corpus(50)
    names = tuple(f"wörd {i}" for i in range(X.shape[1]))
    sums = collect(
        open_source(X, feature_names=names),
        LatentDirichlet(0.7, weighting),
        3,
        slices=slices,
        random_state=0,
    )
    path = tmp_path / "sums.safetensors"
    save_moments(sums, path)
    again = load_moments(path)
    compare(again, sums, tolerance=0.0)
    assert again.family == sums.family
    assert again.feature_names == names
    assert not list(tmp_path.glob("*.part"))
    compare(again + sums, sums + sums)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    X = draw_corpus(50)
    path = tmp_path / "sums.safetensors"
    save_moments(collect(X, "single-topic", 3, random_state=0), path)
    whole = path.read_bytes()
    for cut in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match=r"sums\.safetensors"):
            load_moments(path)
    with pytest.raises(FileNotFoundError):
        load_moments(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be an integer of at least 1"),
        ({"n_components": 41}, "n_components=41 is more than the 40 features"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"family": "lda"}, "family='lda' is not known; choose one of 'single-topic'"),
        ({"family": 3}, "family=3 is neither"),
        ({"strategy": "fast"}, "strategy='fast' is not known"),
        ({"extra": -1}, "extra=-1"),
        ({"basis": np.eye(3)}, r"basis has shape \(3, 3\)"),
        ({"family": ["poisson"]}, r"family=\['poisson'\] is neither"),
        ({"family": SingleTopic}, "is neither a family nor its name"),
        ({"basis": np.ones(40)}, r"basis has shape \(40,\)"),
        ({"basis": np.ones((40, 0))}, r"basis has shape \(40, 0\)"),
        ({"basis": np.full((40, 3), np.nan)}, "basis holds NaN"),
        ({"basis": np.ones((40, 3)) * 1j}, "basis has values of dtype complex"),
        ({"basis": "eye"}, "basis has values of dtype"),
        ({"slices": "some"}, "slices='some' is not known"),
        ({"slices": [40]}, "distinct feature indices from 0 to 39"),
        ({"slices": []}, "distinct feature indices"),
        ({"slices": [1, 1]}, "distinct feature indices"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, Any], message: str) -> None:
    arguments = {"family": "single-topic", "n_components": 3} | change
    with pytest.raises(ParameterError, match=message):
        collect(draw_corpus(20), **arguments)


def test_short_documents_are_counted_and_refused_only_when_all_are() -> None:
    X = np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 0], [2, 1, 1], [0, 3, 1]])
    assert collect(X, "single-topic", 1, random_state=0).short.tolist() == [1, 2, 3]
    with pytest.raises(
        DataError, match=r"All 3 documents .* have fewer than three tokens"
    ):
        collect(X[:3], "single-topic", 1)


def test_components_beyond_the_support_are_refused_with_their_number() -> None:
    X = np.tile([[3.0, 1.0, 2.0, 0.0]], (30, 1))
    sums = collect(X, "poisson", 3, random_state=0)
    with pytest.raises(RankError, match="Ask for") as caught:
        tercet.decompose(sums, 3)
    assert caught.value.supported < 3


def test_sums_that_do_not_belong_together_do_not_merge() -> None:
    X = draw_corpus(40)
    sums = collect(X, "single-topic", 2, random_state=0)
    other = collect(X, "single-topic", 2, random_state=0, basis=np.eye(40)[:, :4])
    with pytest.raises(ParameterError, match="different bases"):
        _ = sums + other
    with pytest.raises(ParameterError, match="cannot be merged"):
        _ = sums + collect(X, LatentDirichlet(1.0), 2, basis=sums.basis)
    with pytest.raises(ParameterError, match="not a Moments"):
        _ = sums + 3  # type: ignore[operator]
    with pytest.raises(ParameterError, match="needs other sums"):
        sums.with_family(SingleTopic(weighting="document"))


def test_coefficients_change_without_reading_again() -> None:
    X = draw_corpus(200)
    sums = collect(X, LatentDirichlet(0.5), 3, random_state=0)
    later = sums.with_family(LatentDirichlet(2.0))
    fresh = collect(X, LatentDirichlet(2.0), 3, basis=sums.basis)
    np.testing.assert_allclose(
        later.equations().third, fresh.equations().third, rtol=1e-10, atol=1e-14
    )


def test_sources_opened_for_other_values_are_refused() -> None:
    X = draw_corpus(20).toarray()
    with pytest.raises(ParameterError, match="opened for requirement='reals'"):
        collect(open_source(X - 1.0, requirement="reals"), "single-topic", 2)
    with pytest.raises(ParameterError, match="leave them out"):
        collect(open_source(X), "single-topic", 2, n_jobs=2)
    assert collect(open_source(X), "single-topic", 2).n_rows == 20


def test_documents_that_count_must_have_three_tokens() -> None:
    X = np.vstack([np.eye(4), np.full((1, 4), 5.0)])
    with pytest.raises(DataError, match="Only documents of weight zero have three"):
        collect(X, "single-topic", 2, sample_weight=[1, 1, 1, 1, 0])
    with pytest.raises(DataError, match=r"All 4 documents .* fewer than three tokens"):
        collect(X[:4], SingleTopic(weighting="three-words"), 2)


def test_sums_without_triples_add_up_but_say_nothing_alone() -> None:
    X = draw_corpus(60)
    sums = collect(X, "single-topic", 2, random_state=0)
    short = collect(np.eye(40)[:5], "single-topic", 2, basis=sums.basis, partial=True)
    with pytest.raises(DataError, match="hold no pairs or triples"):
        tercet.decompose(short, 2)
    both = tercet.decompose(sums + short, 2)
    assert both.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["joitn", ["joint"], None, 3])
def test_unknown_methods_list_the_known_ones(method: Any) -> None:
    sums = collect(draw_corpus(60), "single-topic", 2, random_state=0)
    with pytest.raises(ParameterError, match=r"choose one of .*'joint'"):
        tercet.decompose(sums, 2, method)


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "2", None])
def test_numbers_of_components_are_checked_again_when_solving(k: Any) -> None:
    sums = collect(draw_corpus(60), "single-topic", 2, random_state=0)
    with pytest.raises(ParameterError, match=f"n_components={k!r} must be"):
        tercet.decompose(sums, k)
