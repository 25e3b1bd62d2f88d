"""Time of the default `fit` over the number of non-zeros, and over threads.

The same corpus at four sizes, each twice the one before. The exponent is the slope of
the logarithm of CPU seconds over that of the non-zeros (the least of several runs
each); a fixed number of likelihood steps keeps the work the same. With `--threads`,
wall seconds of one thread over those of two, taken in turns, on the largest size.

    python benchmarks/scaling.py
    python benchmarks/scaling.py --threads
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import tercet
from tercet.datasets import make_lda

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


def measure_threads(rows: sparse.csr_array, k: int, repeats: int) -> dict[str, object]:
    """Return wall seconds of one and of two threads, in turns."""
    pairs = []
    for _ in range(repeats):
        pairs.append((fit(rows, k, 1)[1], fit(rows, k, 2)[1]))
        print(f"one thread {pairs[-1][0]:.2f} s, two {pairs[-1][1]:.2f} s", flush=True)
    ratio = min(one for one, _ in pairs) / min(two for _, two in pairs)
    print(f"two threads are {ratio:.2f} times as fast as one (aim 1.6)")
    return {"wall_seconds": pairs, "speed_up": round(ratio, 3)}


def main() -> None:
    """Measure, keep and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
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
