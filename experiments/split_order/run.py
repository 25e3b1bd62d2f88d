"""Which leaf to split next: the default of `split_order`.

Trees with as many leaves as there are components, grown in the three orders, with and
without five EM steps after each split, on documents about one topic each and on
mixtures of independent zeros and ones; the adjusted Rand index with the truth, a mean
over the seeds.

    python experiments/split_order/run.py [--seeds 5]

Prints the table and writes results.md beside this file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import tercet
from tercet.datasets import (
    make_bernoulli_mixture,
    make_hierarchical_topics,
    make_single_topic,
)

ORDERS = ("gain", "size", "level")


def draw(seed: int) -> dict[str, tuple[Any, int]]:
    """Return samples with their number of components."""
    drawn: dict[str, tuple[Any, int]] = {
        "eight topics in a tree": (make_hierarchical_topics(random_state=seed), 8)
    }
    for k in (8, 16):
        drawn[f"{k} topics"] = (
            make_single_topic(
                3000,
                n_features=1000,
                n_components=k,
                length_range=(200, 800),
                random_state=seed,
            ),
            k,
        )
    for k in (4, 12):
        drawn[f"{k} profiles"] = (
            make_bernoulli_mixture(
                5000, n_features=99, n_components=k, random_state=seed
            ),
            k,
        )
    return drawn


def grow(name: str, k: int, order: str, steps: int) -> dict[str, Any]:
    """Return the trees to compare."""
    binary = "profiles" in name
    family = "bernoulli" if binary else "single-topic"
    density = "bernoulli" if binary else "multinomial"
    return {
        "TopicTree": tercet.TopicTree(
            k, family=family, split_order=order, refine=steps
        ),
        "BisectingMoments": tercet.BisectingMoments(
            k, split_order=order, refine=steps, density=density
        ),
    }


def main() -> None:
    """Grow all trees, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for seed in range(arguments.seeds):
        for name, (sample, k) in draw(seed).items():
            for steps in (0, 5):
                for order in ORDERS:
                    for kind, tree in grow(name, k, order, steps).items():
                        labels = tree.fit(sample.rows).labels_
                        index = adjusted_rand_score(sample.labels, labels)
                        row = (name, f"{kind}{' + EM' if steps else ''}")
                        scores.setdefault(row, {o: [] for o in ORDERS})[order].append(
                            index
                        )
    lines = [
        f"| rows | tree | {' | '.join(ORDERS)} |",
        f"| --- | --- |{' --- |' * len(ORDERS)}",
    ]
    for (name, kind), by_order in scores.items():
        told = " | ".join(f"{np.mean(by_order[order]):.3f}" for order in ORDERS)
        lines.append(f"| {name} | {kind} | {told} |")
    overall = {
        order: np.mean([values[order] for values in scores.values()])
        for order in ORDERS
    }
    lines.append(f"| all | all | {' | '.join(f'{v:.3f}' for v in overall.values())} |")
    table = "\n".join(lines)
    print(table)
    (Path(__file__).parent / "results.md").write_text(table + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
