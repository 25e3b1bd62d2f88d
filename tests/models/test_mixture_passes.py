"""Passes of mixtures are monoids, whatever the blocks; sources that change blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tercet.flow import Block, Source
from tercet.intake import open_source
from tercet.likelihood import Bernoulli
from tercet.likelihood.expectation import ScorePass, express_scores
from tercet.models import mapped_rows, mixture_starts, observed_rows, poisson_mixture

N, D = 24, 5
LABELS = np.arange(N) % 3
EXPOSURE = np.linspace(0.5, 2.0, N)


def score_pass() -> Any:
    centers = np.random.default_rng(1).uniform(0.1, 0.9, (D, 2))
    density = Bernoulli()
    return ScorePass(density, *express_scores(density, centers, np.full(2, 0.5)))


PASSES = {
    "scores": score_pass,
    "spread": lambda: mixture_starts.SpreadPass(D, LABELS, 3),
    "column": lambda: mixture_starts._ColumnPass(2),
    "observed": lambda: observed_rows._ObservedPass(D),
    "tuples": lambda: observed_rows._TuplePass((None, 0, 2), D),
    "exposure": lambda: poisson_mixture._ExposurePass(EXPOSURE),
}


def flatten(state: Any) -> list[np.ndarray]:
    """Every number of a state, whatever it is made of."""
    if hasattr(state, "pieces"):
        state = state.pieces
    if isinstance(state, list) and state and isinstance(state[0], tuple):
        return [part for _, part in sorted(state, key=lambda piece: piece[0])]
    if isinstance(state, list):
        return list(state)
    if isinstance(state, np.ndarray):
        return [state]
    return [np.asarray(value, dtype=float) for value in vars(state).values()]


def joined(state: Any) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in flatten(state)])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", list(PASSES))
def test_a_pass_is_a_monoid(name: str, kind: str, rng: np.random.Generator) -> None:
    rows: Any = rng.integers(0, 2, (N, D)).astype(float)
    weights = rng.uniform(0.5, 2.0, N)
    if kind == "sparse":
        rows = sparse.csr_array(rows)
    work = PASSES[name]()

    def run(*limits: int) -> Any:
        state = work.initial()
        for start, stop in pairwise(limits):
            block = Block(rows[start:stop], start, weights[start:stop])
            state = work.update(state, block)
        return state

    whole = joined(run(0, N))
    np.testing.assert_allclose(joined(run(0, 5, 6, 20, N)), whole)
    left, middle, right = run(0, 9), run(9, 11), run(11, N)
    np.testing.assert_allclose(
        joined(work.merge(work.merge(left, middle), right)), whole
    )
    left, middle, right = run(0, 9), run(9, 11), run(11, N)
    np.testing.assert_allclose(
        joined(work.merge(left, work.merge(middle, right))), whole
    )
    np.testing.assert_allclose(joined(work.merge(work.initial(), run(0, N))), whole)


def test_groups_have_their_own_weight_center_and_spread(
    rng: np.random.Generator,
) -> None:
    rows = rng.standard_normal((N, D))
    weights = rng.uniform(0.5, 2.0, N)
    source = open_source(rows, sample_weight=weights, requirement="reals")
    for label, group in enumerate(mixture_starts._measure(source, LABELS, 3)):
        inside = label == LABELS
        center = np.average(rows[inside], axis=0, weights=weights[inside])
        spread = np.average(
            (rows[inside] - center) ** 2, axis=0, weights=weights[inside]
        )
        assert group.weight == pytest.approx(weights[inside].sum())
        np.testing.assert_allclose(group.center, center)
        np.testing.assert_allclose(group.spread, spread)
        assert group.scatter == pytest.approx(group.weight * spread.sum())


def test_a_mapped_source_is_a_source(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((N, D))
    source = open_source(rows, requirement="reals", block_rows=7)
    mapped = mapped_rows.MappedSource(
        source, lambda block: mapped_rows.threshold_block(block, 0.5)
    )
    assert isinstance(mapped, Source)
    assert open_source(mapped) is mapped
    seen = np.concatenate([block.rows for block in mapped.blocks()])
    np.testing.assert_array_equal(seen, rows > 0.5)
    counted = mapped.run(observed_rows._ObservedPass(D))
    np.testing.assert_allclose(counted.ones, (rows > 0.5).sum(axis=0))


def test_a_threshold_leaves_the_given_rows_alone(rng: np.random.Generator) -> None:
    dense = rng.poisson(1.0, (N, D)).astype(float)
    rows = sparse.csr_array(dense)
    kept = rows.copy()
    for threshold in (0.0, 1.0):
        found = mapped_rows.threshold_block(Block(rows), threshold)
        np.testing.assert_array_equal(found.rows.toarray(), dense > threshold)
    np.testing.assert_array_equal(rows.toarray(), kept.toarray())
    assert rows.nnz == kept.nnz


def test_weights_multiply_and_gaps_are_filled() -> None:
    rows = np.array([[1.0, np.nan], [0.0, 1.0]])
    block = mapped_rows.weigh_block(
        Block(rows, 1, np.array([2.0, 3.0])), np.array([9.0, 0.5, 0.0])
    )
    np.testing.assert_array_equal(block.weights, [1.0, 0.0])
    filled = mapped_rows.fill_gaps(block, np.array([0.1, 0.2]))
    np.testing.assert_array_equal(filled.rows, [[1.0, 0.2], [0.0, 1.0]])
    whole = Block(sparse.csr_array(np.eye(2)))
    assert mapped_rows.fill_gaps(whole, np.zeros(2)) is whole
