"""How long 100,000 synthetic documents over 10,000 words take.

Every generator of `tercet.datasets` that makes many rows is timed once, beside one
product `X.T @ (X @ B)` with B of 50 columns on its own rows, in the same process.

    python benchmarks/generators.py [--documents 100000]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from tercet import datasets
from tercet.datasets import Sample

N_FEATURES, K = 10_000, 50
OPTIONS = {"n_features": N_FEATURES, "n_components": K}

GENERATORS: dict[str, Callable[[int], Sample]] = {
    "single topic": lambda n: datasets.make_single_topic(n, **OPTIONS),
    "LDA": lambda n: datasets.make_lda(n, mean_length=150, **OPTIONS),
    "LDA-fix(200)": lambda n: datasets.make_lda_fixed(n, length=200, **OPTIONS),
    "LDA-fix2": lambda n: datasets.make_lda_two_lengths(n, **OPTIONS),
    "gamma-Poisson": lambda n: datasets.make_gamma_poisson(
        n, mean_length=150, **OPTIONS
    ),
    "Poisson mixture": lambda n: datasets.make_poisson_mixture(
        n, mean=0.015, **OPTIONS
    ),
    "Bernoulli mixture": lambda n: datasets.make_bernoulli_mixture(
        n, largest=0.15, **OPTIONS
    ),
}


def main() -> None:
    """Time all generators and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    n_rows = parser.parse_args().documents
    out = sys.stdout
    out.write(
        f"{n_rows:,} rows, {N_FEATURES:,} features, {K} components\n"
        f"{'generator':20}{'wall s':>8}{'CPU s':>8}{'non-zeros':>14}{'/ product':>11}\n"
    )
    block = np.random.default_rng(0).standard_normal((N_FEATURES, K))
    for name, make in GENERATORS.items():
        wall, cpu = time.perf_counter(), time.process_time()
        rows = make(n_rows).rows
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        product = time.process_time()
        rows.T @ (rows @ block)
        product = time.process_time() - product
        out.write(
            f"{name:20}{wall:8.2f}{cpu:8.2f}{rows.nnz:14,}{cpu / product:11.2f}\n"
        )
        out.flush()


if __name__ == "__main__":
    main()
