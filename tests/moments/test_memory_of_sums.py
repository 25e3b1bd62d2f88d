"""Memory of sums: of size d x p and of the block, never of d x d nor of n x d."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import tercet
from tercet.intake import open_source
from tercet.moments import collect

N, D, K = 4_000, 20_000, 5


@pytest.fixture(scope="module")
def rows() -> sparse.csr_array:
    rng = np.random.default_rng(0)
    of_topic = rng.integers(K, size=(N, 1)) * (D // K)
    words = of_topic + rng.geometric(0.005, size=(N, 60)) % (D // K)
    documents = np.repeat(np.arange(N), 60)
    return sparse.csr_array((np.ones(N * 60), (documents, words.ravel())), shape=(N, D))


@pytest.mark.parametrize("strategy", ["subspace", "sketch"])
def test_peak_is_that_of_the_sums(rows: sparse.csr_array, strategy: str) -> None:
    def learn() -> None:
        sums = collect(rows, "single-topic", K, strategy=strategy, random_state=0)
        tercet.decompose(sums, K)

    learn()  # what is loaded and compiled once does not count
    tracemalloc.start()
    learn()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The allowance of four sums, for the width that was collected.
    width = 2 * (K + 8) if strategy == "sketch" else K + 8
    block_rows = open_source(rows).block_rows
    assert peak < 8 * 4 * (D * (width + 2) + block_rows * width**2)
    assert peak < 8 * D * D / 50
    assert peak < 8 * N * D / 10
