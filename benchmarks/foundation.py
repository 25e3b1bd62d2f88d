"""From rows to parameters, next to one randomised SVD of the same matrix.

Three seeded corpora of latent Dirichlet allocation (topics from a Dirichlet of 0.1
per word, documents from 0.1 per topic, Poisson lengths). Ours is everything:
collecting, whitening, joint diagonalisation, recovery. The yardstick is
`sklearn.utils.extmath.randomized_svd(X, k)` plus one `X.T @ (X @ B)` by SciPy. Both run
in one process with the same number of BLAS threads, one after the other, several
times; the median of the ratios is reported. CPU seconds do not notice what else the
machine is doing.

The last column is the peak of all allocations during our run above the input, as a
share of `4 (d (k + 10) + rows-per-block k^2)` doubles.

Run it with `python benchmarks/foundation.py` (or `make bench`).
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.utils.extmath import randomized_svd

import tercet
from tercet.families import LatentDirichlet
from tercet.flow import Parameters
from tercet.intake import open_source

# name: documents, words, topics, mean length
SIZES = {
    "small": (2_000, 1_000, 10, 100),
    "middle": (20_000, 5_000, 20, 150),
    "large": (100_000, 10_000, 50, 150),
}
WORD_PRIOR, TOPIC_PRIOR = 0.1, 0.1
SLACK_SECONDS = 0.02


def draw_corpus(size: str, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Return counts in float64 and the topics they were drawn from."""
    n, d, k, length = SIZES[size]
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, WORD_PRIOR), size=k).T
    truth = Parameters(topics, np.full(k, 1.0 / k))
    family = LatentDirichlet(concentration=TOPIC_PRIOR * k)
    rows, _ = family.sample(truth, n, rng, lengths=rng.poisson(length, size=n))
    return rows.astype(np.float64), topics


def learn(X: sparse.csr_array, k: int) -> Any:
    """Go from rows to topics."""
    family = LatentDirichlet(concentration=TOPIC_PRIOR * k)
    return tercet.decompose(tercet.moments.collect(X, family, k, random_state=0), k)


def run_yardstick(X: sparse.csr_array, k: int) -> np.ndarray:
    """Take one randomised SVD and one product with the Gram matrix."""
    _, _, rows = randomized_svd(X, k, random_state=0)
    return np.asarray(X.T @ (X @ np.ascontiguousarray(rows.T)))


def spend(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def measure_peak(X: sparse.csr_array, k: int) -> float:
    """Return the peak allocation of a run over the allowance of the issue."""
    rows_per_block = open_source(X).block_rows  # type: ignore[attr-defined]
    tracemalloc.start()
    learn(X, k)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    allowed = 4 * (X.shape[1] * (k + 10) + rows_per_block * k**2) * 8
    return peak / allowed


def measure_error(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean L1 distance of matched topics."""
    costs = np.array([np.abs(truth.T - topic).sum(axis=1) for topic in found.T])
    return float(costs[linear_sum_assignment(costs)].mean())


def main() -> None:
    """Print one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=list(SIZES), action="append")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("size     ours s   SVD s   ratio   L1 error   memory / allowed")
    for size in arguments.size or SIZES:
        X, topics = draw_corpus(size)
        k = topics.shape[1]
        learn(X, k)
        pairs = [
            (spend(lambda: learn(X, k)), spend(lambda: run_yardstick(X, k)))  # noqa: B023
            for _ in range(arguments.repeats)
        ]
        slack = SLACK_SECONDS if size == "small" else 0.0
        ours, peer = np.median(pairs, axis=0)
        ratio = float(np.median([mine / (other + slack) for mine, other in pairs]))
        error = measure_error(learn(X, k).centers, topics)
        print(
            f"{size:7} {ours:7.3f} {peer:7.3f} {ratio:7.2f} {error:10.4f} "
            f"{measure_peak(X, k):12.2f}"
        )
    print(
        "ratio: ours over the yardstick (plus 20 ms at the smallest size); below 1 wins"
    )


if __name__ == "__main__":
    main()
