"""Every decomposition on the same noisy tensors: time and error, side by side.

Run it as one process: ``python benchmarks/decompositions.py``. A mixture of k
components of unequal weights is whitened exactly, and symmetric noise of a given
share of its norm is added to the whitened third moment. The error is the mean
over components of the distance between unit vectors, best matched; times and
errors are medians over seeds, and ratios are to `joint`.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import itertools  # noqa: E402
import time  # noqa: E402
from dataclasses import replace  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

from tercet.decomposition import DECOMPOSITIONS, solve  # noqa: E402
from tercet.families import SingleTopic  # noqa: E402
from tercet.flow import FloatArray, Parameters, Problem  # noqa: E402
from tercet.whitening import whiten_pair, whiten_third  # noqa: E402

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in DECOMPOSITIONS},
    "svtd, published rule": ("svtd", {"rule": "published"}),
    "power, 10 x 100": ("power", {"n_starts": 10, "n_iterations": 100}),
    "nls, non-negative": ("nls", {"nonnegative": True}),
    "als, random starts": ("als", {"start": "random"}),
    "similarity, just": ("similarity", {"variant": "just"}),
    "similarity, jdtm": ("similarity", {"variant": "jdtm"}),
}


def plant(size: int, noise: float, seed: int) -> tuple[Problem, FloatArray]:
    """Return a noisy small problem and its vectors."""
    rng = np.random.default_rng(seed)
    weights = 0.3 / size + 0.7 * rng.dirichlet(np.full(size, 2.0))
    truth = Parameters(rng.dirichlet(np.full(500, 0.1), size=size).T, weights)
    moments = SingleTopic().population(truth)
    whitening = whiten_pair(moments, size)
    problem = whiten_third(moments, whitening)
    inner = moments.basis.T @ (truth.centers * np.sqrt(weights))
    vectors = whitening.coordinates.T @ inner
    off = rng.standard_normal(problem.third.shape)
    off = sum(off.transpose(order) for order in itertools.permutations(range(3)))
    off *= noise * np.linalg.norm(problem.third) / np.linalg.norm(off)
    return replace(problem, third=problem.third + off, basis_third=None), vectors


def distance(found: FloatArray, planted: FloatArray) -> float:
    """Mean distance of matched unit columns."""
    gaps = np.linalg.norm(planted[:, :, None] - found[:, None, :], axis=0)
    return float(gaps[linear_sum_assignment(gaps)].mean())


def main() -> None:
    """Print one table for each number of components."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--noise", type=float, nargs="+", default=[1e-3, 1e-2])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for size, noise in itertools.product(options.sizes, options.noise):
        print(f"\nk = {size}, noise {noise:g}")
        print(f"{'method':24s} {'ms':>9s} {'ratio':>8s} {'error':>9s} {'ratio':>7s}")
        problems = [plant(size, noise, seed) for seed in range(options.seeds)]
        rows = {}
        for label, (method, parameters) in VARIANTS.items():
            solve(problems[0][0], method, **parameters)
            times, errors = [], []
            for problem, vectors in problems:
                start = time.process_time()
                factors = solve(problem, method, **parameters)
                times.append(time.process_time() - start)
                errors.append(distance(factors.vectors, vectors))
            rows[label] = float(np.median(times)), float(np.median(errors))
        for label, (seconds, error) in rows.items():
            print(
                f"{label:24s} {1e3 * seconds:9.2f} {seconds / rows['joint'][0]:8.1f} "
                f"{error:9.2e} {error / rows['joint'][1]:7.2f}"
            )


if __name__ == "__main__":
    main()
