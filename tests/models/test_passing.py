"""Small passes of the estimators, and topics to start from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet.flow import Block, MomentPlan
from tercet.intake import open_source
from tercet.models.passing import BothPass, LaterSource, LengthPass
from tercet.models.starting import fill_topics, find_lacking
from tercet.moments import PairPass, TallyPass

D = 4


def draw_rows(seed: int, n: int) -> Any:
    return np.random.default_rng(seed).poisson(1.0, size=(n, D)).astype(float)


@given(
    seed=st.integers(0, 2**32 - 1),
    places=st.lists(st.integers(1, 11), min_size=1, max_size=4, unique=True),
)
def test_two_passes_at_once_are_the_two(seed: int, places: list[int]) -> None:
    X = draw_rows(seed, 12)
    basis = np.random.default_rng(seed).standard_normal((D, 2))
    tally = TallyPass(D, MomentPlan("rows"))
    pair = PairPass(basis, MomentPlan("length"))
    work = BothPass(BothPass(tally, pair), LengthPass())
    states = []
    for part, start in zip(
        np.split(X, sorted(places)), [0, *sorted(places)], strict=True
    ):
        states.append(work.update(work.initial(), Block(part, start)))
    # Merged from the end: the order of blocks is that of their rows.
    total = work.initial()
    for state in reversed(states):
        total = work.merge(total, state)
    (found_tally, found_pair), lengths = total
    assert found_tally.first[0] == pytest.approx(X.sum(axis=0))
    assert found_pair.pair == pytest.approx(X.T @ (X @ basis))
    assert lengths.join() == pytest.approx(X.sum(axis=1))


def test_lengths_carry_weights() -> None:
    source = open_source(draw_rows(0, 5), sample_weight=[1, 2, 0, 1, 3])
    lengths = source.run(LengthPass()).join()
    assert lengths == pytest.approx(draw_rows(0, 5).sum(axis=1) * [1, 2, 0, 1, 3])


def test_later_rows_have_later_numbers() -> None:
    source = open_source(draw_rows(0, 5), block_rows=2)
    later = LaterSource(source, 10)
    assert [block.start for block in later.blocks()] == [10, 12, 14]
    lengths = later.run(LengthPass())
    assert [start for start, _ in lengths.pieces] == [10, 12, 14]
    assert (later.n_features, later.rereadable) == (D, True)


def test_filled_topics_cover_the_corpus() -> None:
    rng = np.random.default_rng(0)
    centers = rng.dirichlet(np.full(20, 0.1), size=3).T
    centers[:5] = 0.0
    centers /= centers.sum(axis=0)
    weights = np.array([0.5, 0.3, 0.2])
    frequencies = rng.dirichlet(np.ones(20))
    filled = fill_topics(centers, weights, frequencies)
    assert filled.sum(axis=0) == pytest.approx(np.ones(3))
    assert filled.min() > 0.0
    before = find_lacking(centers, weights, frequencies).sum()
    assert find_lacking(filled, weights, frequencies).sum() < 0.9 * before
    # Topics that lack nothing but for the trace stay what they are.
    whole = centers @ weights
    assert np.abs(fill_topics(centers, weights, whole) - centers).max() < 2e-3
