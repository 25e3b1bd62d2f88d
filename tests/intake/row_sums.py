"""A small pass for tests: what any reading of the rows must agree on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tercet.flow import Block, FloatArray


@dataclass
class RowSums:
    """Rows, their weights, weighted sums and squares, and where rows stand."""

    n_rows: int
    weight: float
    first: FloatArray
    pair: FloatArray
    places: FloatArray


class RowSumsPass:
    """Collects `RowSums`; `places` tells rows apart that were swapped or renumbered."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features

    def initial(self) -> RowSums:
        d = self.n_features
        return RowSums(0, 0.0, np.zeros(d), np.zeros((d, d)), np.zeros(d))

    def update(self, state: RowSums, block: Block) -> RowSums:
        rows = block.rows.toarray() if block.is_sparse else block.rows
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        indices = 1.0 + np.arange(block.start, block.start + block.n_rows)
        state.n_rows += block.n_rows
        state.weight += float(weights.sum())
        state.first += weights @ rows
        state.pair += rows.T @ (weights[:, None] * rows)
        state.places += indices @ rows
        return state

    def merge(self, left: RowSums, right: RowSums) -> RowSums:
        left.n_rows += right.n_rows
        left.weight += right.weight
        left.first += right.first
        left.pair += right.pair
        left.places += right.places
        return left


def sum_rows(dense: Any, weights: Any = None) -> RowSums:
    """Sum a dense array by its definition, without a source."""
    dense = np.asarray(dense, dtype=float)
    weights = (
        np.ones(len(dense)) if weights is None else np.asarray(weights, dtype=float)
    )
    return RowSums(
        len(dense),
        float(weights.sum()),
        weights @ dense,
        sum(
            (w * np.outer(x, x) for w, x in zip(weights, dense, strict=True)),
            np.zeros((dense.shape[1],) * 2),
        ),
        (1.0 + np.arange(len(dense))) @ dense,
    )


def assert_same_sums(found: RowSums, wanted: RowSums) -> None:
    assert found.n_rows == wanted.n_rows
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-12)
    for name in ("first", "pair", "places"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(wanted, name), rtol=1e-10, atol=1e-12
        )


def cut_rows(dense: Any, sizes: list[int]) -> Iterator[slice]:
    """Yield slices of the given sizes in turn until all rows are covered."""
    start, turn = 0, 0
    while start < len(dense):
        stop = min(start + sizes[turn % len(sizes)], len(dense))
        yield slice(start, stop)
        start, turn = stop, turn + 1
