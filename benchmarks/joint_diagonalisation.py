"""Joint diagonalisation of k symmetric k x k matrices, side by side.

Run it as one process: ``python benchmarks/joint_diagonalisation.py``. Each
method gets the same planted problems, one thread, and is timed twice; the best
time counts. Ratios are to the first row of each size. `pyriemann` is needed for
the peers.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

from tercet.decomposition import (  # noqa: E402
    diagonalize_by_congruence,
    diagonalize_by_similarity,
    diagonalize_jointly,
)
from tercet.decomposition.targets import off_diagonal_ratio  # noqa: E402
from tercet.flow import FloatArray  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)


def plant(size: int, noise: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return symmetric targets with a planted rotation and relative noise."""
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.standard_normal((size, size)))[0]
    diagonals = rng.standard_normal((size, size))
    targets = np.einsum("ij,pj,kj->pik", rotation, diagonals, rotation, optimize=True)
    disturbance = rng.standard_normal(targets.shape)
    disturbance = disturbance + disturbance.transpose(0, 2, 1)
    share = np.linalg.norm(targets, axis=(1, 2)) / np.linalg.norm(
        disturbance, axis=(1, 2)
    )
    return targets + noise * share[:, None, None] * disturbance, rotation


def distance(estimate: FloatArray, planted: FloatArray) -> float:
    """Frobenius distance of unit columns after matching and signs."""
    columns = estimate / np.linalg.norm(estimate, axis=0)
    overlap = planted.T @ columns
    rows, order = linear_sum_assignment(-np.abs(overlap))
    signs = np.sign(overlap[rows, order])
    return float(np.linalg.norm(planted - columns[:, order] * signs))


def cost_after(targets: FloatArray, columns: FloatArray) -> float:
    """Off-diagonal ratio after projection of the columns to a rotation."""
    left, _, right = np.linalg.svd(columns / np.linalg.norm(columns, axis=0))
    rotation = left @ right
    return off_diagonal_ratio(np.matmul(rotation.T, targets @ rotation))


def methods(slow: bool) -> dict[str, Callable[[FloatArray], FloatArray]]:
    """Return the competitors; each returns columns."""
    table: dict[str, Callable[[FloatArray], FloatArray]] = {
        "tercet joint": lambda targets: diagonalize_jointly(targets)[0],
        "tercet congruence": lambda targets: diagonalize_by_congruence(targets)[0],
    }
    try:
        from pyriemann.geometry.ajd import rjd, uwedge
    except ImportError:
        try:
            from pyriemann.utils.ajd import rjd, uwedge
        except ImportError:
            print("pyriemann is not installed: no peers.")
            return table
    table["pyriemann uwedge"] = lambda targets: np.linalg.inv(uwedge(targets)[0])
    if slow:
        table["tercet similarity"] = lambda targets: diagonalize_by_similarity(targets)[
            0
        ]
        table["pyriemann rjd"] = lambda targets: rjd(targets)[0]
    return table


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--fast", action="store_true", help="leave out the slow ones")
    options = parser.parse_args()
    print(
        "   k  method              seconds       cpu   ratio  off-diagonal    distance"
    )
    for size in options.sizes:
        targets, planted = plant(size, options.noise, options.seed)
        reference = None
        for name, solve in methods(not options.fast).items():
            seconds = cpu = np.inf
            for _ in range(options.repeats + (reference is None)):
                copied = targets.copy()
                start, began = time.perf_counter(), time.process_time()
                columns = solve(copied)
                seconds = min(seconds, time.perf_counter() - start)
                cpu = min(cpu, time.process_time() - began)
            reference = reference or cpu
            print(
                f"{size:4d}  {name:18s} {seconds:9.4f} {cpu:9.4f} {cpu / reference:7.2f} "
                f"{cost_after(targets, columns):13.9f} "
                f"{distance(columns, planted):11.6f}"
            )


if __name__ == "__main__":
    main()
