"""Time of the default `fit` over the number of non-zeros, and over threads.

The same corpus at four sizes, each twice the one before. The exponent is the slope of
the logarithm of CPU seconds over that of the non-zeros (the least of several runs
each); a fixed number of likelihood steps keeps the work the same. With `--threads`,
wall seconds of one thread over those of two, taken in turns, on the largest size.
Where others use the cores, wall seconds tell about them; therefore CPU seconds along the
longest path are shown, too: those of the calling thread, and of the busiest thread of
every pass. One thread's CPU seconds over them are what two free cores would give.

    python benchmarks/scaling.py
    python benchmarks/scaling.py --threads
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import tercet
from tercet.datasets import make_lda
from tercet.flow import Block
from tercet.intake import execution, memory

RESULTS = Path(__file__).parent / "results" / "scaling.json"
STEPS = 7


def fit(X: sparse.csr_array, k: int, n_jobs: int = 1) -> tuple[float, float]:
    """Return the CPU and wall seconds of a fit."""
    model = tercet.LatentDirichletAllocation(k, refine=STEPS, n_jobs=n_jobs)
    processor, wall = time.process_time(), time.perf_counter()
    model.fit(X)
    return time.process_time() - processor, time.perf_counter() - wall


def measure_exponent(rows: sparse.csr_array, k: int, repeats: int) -> dict[str, object]:
    """Return the slope of time over non-zeros in logarithms."""
    sizes = [rows.shape[0] // 8, rows.shape[0] // 4, rows.shape[0] // 2, rows.shape[0]]
    entries, seconds = [], []
    for size in sizes:
        X = rows[:size]
        entries.append(int(X.nnz))
        seconds.append(min(fit(X, k)[0] for _ in range(repeats)))
        print(f"{X.nnz:>12,} non-zeros {seconds[-1]:8.3f} s", flush=True)
    slope = float(np.polyfit(np.log(entries), np.log(seconds), 1)[0])
    print(f"exponent {slope:.3f} (aim 0.9 to 1.1)")
    return {"non_zeros": entries, "cpu_seconds": seconds, "exponent": round(slope, 3)}


class Watched:
    """Runs shares as before, and notes the CPU seconds of the threads.

    Attributes
    ----------
    longest, all : float
        Of the busiest thread of every pass, and of all threads.
    """

    def __init__(self) -> None:
        self.longest = self.all = 0.0

    def __call__(
        self, work: Any, n_shares: int, feed: Callable[[int], Iterable[Block]]
    ) -> Any:
        """Run a pass."""
        seconds = [0.0] * n_shares

        def timed(share: int) -> Iterator[Block]:
            start = time.thread_time()
            yield from feed(share)
            seconds[share] = time.thread_time() - start

        state = execution.run_shares(work, n_shares, timed)
        self.longest += max(seconds)
        self.all += sum(seconds)
        return state


def fit_watched(rows: sparse.csr_array, k: int) -> tuple[float, float, float]:
    """Return the wall seconds of two threads, CPU seconds of the longest path, of all."""
    watched = Watched()
    memory.run_shares = watched
    try:
        start = time.thread_time()
        cpu, wall = fit(rows, k, 2)
        calling = time.thread_time() - start
    finally:
        memory.run_shares = execution.run_shares
    return wall, calling + watched.longest, cpu


def measure_threads(rows: sparse.csr_array, k: int, repeats: int) -> dict[str, object]:
    """Return wall seconds of one and of two threads, in turns, and of the longest path."""
    walls, paths = [], []
    for _ in range(repeats):
        alone, wall_alone = fit(rows, k, 1)
        wall, path, cpu = fit_watched(rows, k)
        walls.append((wall_alone, wall))
        paths.append((alone, path))
        print(
            f"one thread {wall_alone:.2f} s, CPU {alone:.2f} s; two {wall:.2f} s, CPU "
            f"{cpu:.2f} s, longest path {path:.2f} s",
            flush=True,
        )
    ratios = {
        name: round(min(one for one, _ in pairs) / min(two for _, two in pairs), 3)
        for name, pairs in (("speed_up", walls), ("speed_up_of_path", paths))
    }
    print(f"two threads are {ratios['speed_up']:.2f} times as fast as one (aim 1.6)")
    print(f"the longest path is {ratios['speed_up_of_path']:.2f} times as short")
    return {"wall_seconds": walls, "cpu_seconds_of_path": paths, **ratios}


def main() -> None:
    """Measure, keep and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", action="store_true")
    arguments = parser.parse_args()
    k = arguments.topics
    rows = make_lda(
        arguments.documents, n_features=arguments.words, n_components=k, mean_length=150
    ).rows
    fit(rows[:1000], min(k, 5))  # compile
    measure = measure_threads if arguments.threads else measure_exponent
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known["threads" if arguments.threads else "exponent"] = {
        "documents": arguments.documents,
        "words": arguments.words,
        "topics": k,
        **measure(rows, k, arguments.repeats),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
