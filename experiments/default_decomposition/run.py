"""The decomposition that topic models should use when nobody says.

Every registered decomposition learns latent Dirichlet allocation and single-topic
models from the same seeded corpora (topics from a Dirichlet of 0.1 per word, 0.1 per
topic). For each method: topic error (mean total variation after matching) of moments
alone and after the default likelihood steps, as ratios to `joint` on the same corpus
(medians, and the worst), and the CPU time of the decomposition itself. A method that
raises an error on a corpus is counted as failed there.

    python experiments/default_decomposition/run.py [--seeds 5]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment

import tercet
from tercet.decomposition import DECOMPOSITIONS, solve
from tercet.exceptions import TercetError
from tercet.families import LatentDirichlet, SingleTopic
from tercet.flow import Parameters
from tercet.whitening import whiten_pair, whiten_third

# documents, words, topics, mean length
SIZES = ((2_000, 1_000, 10, 100), (5_000, 2_000, 20, 100), (2_000, 2_000, 20, 60))
MODELS = {
    "latent Dirichlet": (tercet.LatentDirichletAllocation, True),
    "single topic": (tercet.SingleTopicModel, False),
}


def measure_error(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean total variation of matched topics (rows)."""
    distances = np.abs(found[:, None, :] - truth[None]).sum(axis=2) / 2.0
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean())


def draw(size: tuple[int, int, int, int], mixed: bool, seed: int):
    """Draw a corpus and its topics."""
    n, d, k, length = size
    rng = np.random.default_rng([seed, n, k, length])
    topics = rng.dirichlet(np.full(d, 0.1), size=k)
    truth = Parameters(np.ascontiguousarray(topics.T), np.full(k, 1.0 / k))
    family = LatentDirichlet(0.1 * k) if mixed else SingleTopic()
    lengths = rng.poisson(length, size=n)
    return family.sample(truth, n, rng, lengths=lengths)[0], topics


def time_solver(model, method: str) -> float:
    """Return CPU milliseconds of the decomposition alone."""
    equations = model.moments_.equations()
    problem = whiten_third(equations, whiten_pair(equations, model.n_components))
    solve(problem, method, rng=np.random.default_rng(0))
    start = time.process_time()
    solve(problem, method, rng=np.random.default_rng(0))
    return 1e3 * (time.process_time() - start)


def main() -> None:
    """Run every method on every corpus and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    write = sys.stdout.write
    for title, (model_class, mixed) in MODELS.items():
        rows: dict[str, list[tuple[float, float, float]]] = {}
        failed = dict.fromkeys(DECOMPOSITIONS, 0)
        for size in SIZES:
            for seed in range(seeds):
                X, topics = draw(size, mixed, seed)
                for method in DECOMPOSITIONS:
                    try:
                        plain, full = (
                            model_class(size[2], decomposition=method, refine=r).fit(X)
                            for r in (0, "auto")
                        )
                        figures = (
                            measure_error(plain.components_, topics),
                            measure_error(full.components_, topics),
                            time_solver(plain, method),
                        )
                    except TercetError:
                        failed[method] += 1
                        figures = (np.nan, np.nan, np.nan)
                    rows.setdefault(method, []).append(figures)
        joint = np.array(rows["joint"])
        write(f"{title}; joint: errors {joint[:, 0].mean():.3f} (moments alone), ")
        write(f"{joint[:, 1].mean():.3f} (after steps), {joint[:, 2].mean():.2f} ms\n")
        write(
            "  method              moments (worst)   after steps (worst)    time  failed\n"
        )
        for method, figures in rows.items():
            ratios = np.array(figures) / joint
            middle, worst = np.nanmedian(ratios, axis=0), np.nanmax(ratios, axis=0)
            write(
                f"  {method:18s} {middle[0]:8.3f} ({worst[0]:5.2f}) {middle[1]:13.3f} "
                f"({worst[1]:5.2f}) {middle[2]:7.1f}  {failed[method]:d}\n"
            )


if __name__ == "__main__":
    main()
