"""Trees of moments, next to bisecting k-means on the same rows.

Three seeded matrices: 51,181 x 222 zeros and ones with the density of diagnosis
records (sixteen profiles, falling frequencies, eight to nine ones a row; 16 leaves),
and two corpora of 11,463 x 3,000 (8 leaves): documents about one of sixteen topics
each, and documents that mix sixteen topics, words of falling frequency. The yardstick
is `sklearn.cluster.BisectingKMeans` with the same number of leaves on the same sparse
matrix. Both run in one process, one after the other, several times, and the median
of the ratios is reported, of CPU seconds (which do not notice what else the machine is
doing) and of wall seconds.

Memory is the peak of all allocations during our fit, the input included, as a multiple
of the input. The last column is the adjusted Rand index with the truth, ours and
theirs, where each row has one component. At the end: 8 leaves on the 400 documents of
`make_hierarchical_topics`, the median and the slowest of ten samples.

Run it with `python benchmarks/trees.py` (or `make bench`).
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import BisectingKMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import tercet
from tercet.datasets import make_hierarchical_topics, make_lda, make_single_topic

Work = Callable[[], Any]


def draw_records(seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Return zeros and ones of 16 profiles with falling frequencies."""
    rng = np.random.default_rng(seed)
    n, d, k, ones = 51_181, 222, 16, 9.0
    falling = 0.2 * np.arange(1, d + 1) ** -0.9
    chances = falling * np.exp(rng.normal(0.0, 1.2, size=(k, d)))
    chances *= ones / chances.sum(axis=1, keepdims=True)
    labels = rng.integers(0, k, size=n)
    rows = rng.random((n, d)) < np.clip(chances, 0.0, 0.95)[labels]
    return sparse.csr_array(rows.astype(np.float64)), labels


def draw_corpus() -> tuple[sparse.csr_array, np.ndarray | None]:
    """Return documents about one topic each."""
    sample = make_single_topic(
        11_463, n_features=3000, n_components=16, length_range=(400, 1600)
    )
    return sparse.csr_array(sample.rows.astype(np.float64)), sample.labels


def draw_mixed_corpus() -> tuple[sparse.csr_array, np.ndarray | None]:
    """Return documents that mix topics."""
    sample = make_lda(
        11_463,
        n_features=3000,
        n_components=16,
        frequencies="falling",
        mean_length=1000,
    )
    return sparse.csr_array(sample.rows.astype(np.float64)), None


CASES: dict[str, tuple[Callable[[], Any], int, list[tuple[str, Any]], float]] = {
    "records": (
        draw_records,
        16,
        [
            ("BisectingMoments", tercet.BisectingMoments(16)),
            ("the same, by size", tercet.BisectingMoments(16, split_order="size")),
        ],
        1.0,
    ),
    "corpus": (
        draw_corpus,
        8,
        [
            ("TopicTree", tercet.TopicTree(8)),
            ("BisectingMoments", tercet.BisectingMoments(8)),
        ],
        0.2,
    ),
    "mixed corpus": (
        draw_mixed_corpus,
        8,
        [
            ("TopicTree", tercet.TopicTree(8)),
            ("BisectingMoments", tercet.BisectingMoments(8)),
        ],
        0.2,
    ),
}


def spend(work: Work) -> tuple[float, float]:
    """Return the CPU seconds and the wall seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def measure_memory(X: sparse.csr_array, work: Work) -> float:
    """Return the peak of memory as a multiple of the input."""
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return 1.0 + peak / size


def compare(name: str, repeats: int) -> None:
    """Print the lines of one matrix."""
    draw, k, models, bound = CASES[name]
    X, labels = draw()
    peer = BisectingKMeans(k, random_state=0)
    for title, model in models:
        model.fit(X)  # compiles
        pairs = [
            (*spend(lambda: model.fit(X)), *spend(lambda: peer.fit(X)))  # noqa: B023
            for _ in range(repeats)
        ]
        times = np.array(pairs)
        ratios = np.median(times[:, :2] / times[:, 2:], axis=0)
        memory = measure_memory(X, lambda: model.fit(X))  # noqa: B023
        scores = (
            ["-", "-"]
            if labels is None
            else [
                f"{adjusted_rand_score(labels, m.labels_):.2f}" for m in (model, peer)
            ]
        )
        ours, _, theirs, _ = np.median(times, axis=0)
        print(
            f"{name:13} {title:17} {ours:7.3f} {theirs:8.3f} {ratios[0]:8.2f} "
            f"{ratios[1]:8.2f} {bound:6.2f} {memory:7.2f}   {' / '.join(scores)}",
            flush=True,
        )


def main() -> None:
    """Print one line for each tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=list(CASES), action="append")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    print(
        "rows          tree               ours s  k-means s  CPU ratio  wall  bound  "
        "memory  index"
    )
    with threadpool_limits(1):
        for name in arguments.case or CASES:
            compare(name, arguments.repeats)
        samples = [
            make_hierarchical_topics(400, random_state=s).rows for s in range(10)
        ]
        tercet.TopicTree(8).fit(samples[0])
        pairs = [spend(lambda: tercet.TopicTree(8).fit(rows)) for rows in samples]  # noqa: B023
    cpu, wall = np.array(pairs).T
    print(
        f"eight topics, 400 documents: {np.median(cpu):.3f} s of CPU, {max(cpu):.3f} s at "
        f"most; {np.median(wall):.3f} s of wall time, {max(wall):.3f} s at most (bound 0.05)"
    )


if __name__ == "__main__":
    main()
