"""A matrix whose square would fill 320 GB: 200,000 features, 20 million non-zeros.

Fits 20 topics to a seeded 200,000 x 200,000 sparse matrix and prints the largest
resident size of the whole process, interpreter, input and all. Anything of size d x d
would show at once.

Run it with `python benchmarks/wide.py`.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy import sparse

import tercet
from tercet.families import LatentDirichlet

N_ROWS, N_FEATURES, ROW_NONZEROS, TOPICS = 200_000, 200_000, 100, 20
GIGABYTE = 1 << 30


def draw_rows(n_rows: int, rng: np.random.Generator) -> sparse.csr_array:
    """Draw documents that use words of one topic half of the time."""
    share = N_FEATURES // TOPICS
    topic = rng.integers(TOPICS, size=n_rows)
    everywhere = rng.integers(N_FEATURES, size=(n_rows, ROW_NONZEROS // 2))
    # Squaring makes low words of a topic frequent, as words are.
    inside = (rng.random((n_rows, ROW_NONZEROS // 2)) ** 2 * share).astype(np.int64)
    columns = np.concatenate([everywhere, topic[:, None] * share + inside], axis=1)
    starts = np.arange(n_rows + 1, dtype=np.int64) * ROW_NONZEROS
    rows = sparse.csr_array(
        (np.ones(columns.size), columns.ravel().astype(np.int32), starts),
        shape=(n_rows, N_FEATURES),
    )
    rows.sum_duplicates()
    return rows


def main() -> None:
    """Fit and print time and memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=N_ROWS)
    arguments = parser.parse_args()
    X = draw_rows(arguments.rows, np.random.default_rng(0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    started = time.process_time()
    sums = tercet.moments.collect(X, LatentDirichlet(1.0), TOPICS, random_state=0)
    found = tercet.decompose(sums, TOPICS)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} non-zeros, k = {TOPICS}")
    print(f"{seconds:.1f} CPU seconds; residual {found.details['residual']:.3f}")
    print(
        f"peak {peak / GIGABYTE:.2f} GB in all, {before / GIGABYTE:.2f} GB before the fit"
    )


if __name__ == "__main__":
    main()
