"""Which decomposition and which moments mixtures should start from.

For Bernoulli, Poisson and spherical Gaussian mixtures of several sizes, rows are
drawn (`tercet.datasets`) and fitted with every pair of moments and decomposition.
Prints the adjusted Rand index of the moments alone and after EM, EM steps, and the
processor's time, means over the seeds. `BernoulliMixture`, `PoissonMixture` and
`SphericalGaussianMixture` take their defaults from this table.

    python experiments/mixture_defaults/run.py [--seeds 4]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import tercet
from tercet.datasets import (
    make_bernoulli_mixture,
    make_poisson_mixture,
    make_spherical_gaussians,
)

HERE = Path(__file__).parent
DECOMPOSITIONS = ("joint", "sidiwo", "svtd", "power")
KINDS: dict[str, tuple[Callable[..., Any], dict[str, Any], Any, tuple[str, ...]]] = {
    "Bernoulli": (
        make_bernoulli_mixture,
        {},
        tercet.BernoulliMixture,
        ("completed", "factorial", "raw"),
    ),
    "Poisson": (make_poisson_mixture, {"mean": 0.3}, tercet.PoissonMixture, ("",)),
    "Gaussian": (
        make_spherical_gaussians,
        {"spread": 1.0},
        tercet.SphericalGaussianMixture,
        ("",),
    ),
}
SIZES = ((300, 60, 8), (1000, 60, 8), (5000, 60, 8), (5000, 12, 6))


def measure(
    kind: str, size: tuple[int, int, int], moments: str, method: str, seed: int
) -> list[float]:
    """Return index without and with EM, steps and seconds."""
    make, more, mixture, _ = KINDS[kind]
    n, d, k = size
    sample = make(n, n_features=d, n_components=k, random_state=seed, **more)
    settings = {"decomposition": method} | ({"moments": moments} if moments else {})
    try:
        plain = mixture(k, refine=0, **settings).fit(sample.rows)
        alone = adjusted_rand_score(sample.labels, plain.predict(sample.rows))
    except tercet.exceptions.RankError:
        alone = 0.0  # the moments support fewer components
    start = time.process_time()
    model = mixture(k, **settings).fit(sample.rows)
    spent = time.process_time() - start
    index = adjusted_rand_score(sample.labels, model.predict(sample.rows))
    return [alone, index, model.n_iter_, spent]


def main() -> None:
    """Run all pairs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "| mixture | n | d | k | moments | decomposition | index | with EM | steps | time, s |",
        "| --- " * 10 + "|",
    ]
    results = []
    for kind, (_, _, _, choices) in KINDS.items():
        for size in SIZES:
            for moments in choices:
                for method in DECOMPOSITIONS:
                    rows = [
                        measure(kind, size, moments, method, seed)
                        for seed in range(options.seeds)
                    ]
                    alone, index, steps, spent = np.mean(rows, axis=0)
                    numbers = " | ".join(map(str, size))
                    lines.append(
                        f"| {kind} | {numbers} | {moments or '-'} | {method} | "
                        f"{alone:.3f} | {index:.3f} | {steps:.0f} | {spent:.3f} |"
                    )
                    results.append([kind, *size, moments, method, rows])
            sys.stderr.write(f"{kind} {size}\n")
    table = "\n".join(lines) + "\n"
    sys.stdout.write(table)
    (HERE / "results.md").write_text(table)
    (HERE / "results.json").write_text(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
