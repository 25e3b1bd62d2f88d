"""Which likelihood steps topics take after the moments, and when they end.

Three choices of `tercet.likelihood.refine_topics`, each measured on a corpus with
known topics (2,000 documents, 1,000 words, 10 topics, as in `benchmarks/topics.py`)
and on AP (four fifths of the documents, ten topics and fifty; document completion of
the others, one per cent of the word frequencies mixed in):

- variational steps (weights `exp(psi(alpha + n))`) or MAP steps (`alpha + n`);
- how much smoothing: pseudo-tokens for each word and topic;
- when they end: the share of the rise so far that a step must add.

    python experiments/likelihood_steps/run.py

Prints three tables and keeps them in `results.json` beside this file. Without the data
(TERCET_DATA), AP is left out.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import tercet
from tercet.datasets import make_lda
from tercet.evaluation import compare, measure_l1_error
from tercet.intake import open_source
from tercet.likelihood import refine_topics

DATA = Path(
    os.environ.get("TERCET_DATA", Path(__file__).parents[3] / "shared" / "data")
)
STEPS = (1, 2, 3, 5, 8, 12, 20, 40)
SMOOTHINGS = (0.0, 0.01, 0.05, 0.1, 0.2)
TOLERANCES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)


@dataclass(frozen=True)
class Case:
    """A corpus, where the steps start, and how topics are judged."""

    name: str
    rows: sparse.csr_array
    centers: np.ndarray
    alpha: np.ndarray
    judge: Callable[[np.ndarray], float]


def start(rows: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return topics from moments, with a trace of the corpus in each, and alpha."""
    model = tercet.LatentDirichletAllocation(k, refine=0).fit(rows)
    mixed = 0.999 * model.components_ + 0.001 * model.feature_shares_
    return mixed.T, model.concentration_


def list_cases() -> list[Case]:
    """Return the corpora."""
    sample = make_lda(2_000, n_features=1_000, n_components=10, random_state=0)
    truth = sample.parameters.centers.T
    rows = sparse.csr_array(sample.rows)
    cases = [
        Case(
            "known topics, L1",
            rows,
            *start(rows, 10),
            lambda topics: 2.0 * measure_l1_error(truth, topics),
        )
    ]
    path = DATA / "ap" / "ap.npz"
    if not path.exists():
        return cases
    rows = sparse.csr_array(sparse.load_npz(path))
    rows = rows[np.flatnonzero(np.asarray(rows.sum(axis=1)).ravel() >= 3)]
    order = np.random.default_rng(0).permutation(rows.shape[0])
    cut = rows.shape[0] // 5
    train, test = rows[np.sort(order[cut:])], rows[np.sort(order[:cut])]
    words = np.flatnonzero(np.asarray(train.sum(axis=0)).ravel() > 0)
    train, test = train[:, words], test[:, words]

    def predict(topics: np.ndarray) -> float:
        return compare({"it": topics}, test, train=train).best.score.perplexity

    return cases + [
        Case(f"AP, k = {k}, perplexity", train, *start(train, k), predict)
        for k in (10, 50)
    ]


def step_map(case: Case, steps: int) -> np.ndarray:
    """Make MAP steps: EM on `p(x | theta) prod theta^alpha` and the topics."""
    rows, topics, alpha = case.rows, case.centers, case.alpha
    documents = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    lengths = np.asarray(rows.sum(axis=1)).ravel()
    counts = np.repeat(lengths[:, None] / alpha.size, alpha.size, axis=1)
    for made in range(steps):
        for _ in range(2 if made else 5):
            weights = counts + alpha
            mass = np.einsum("ij,ij->i", topics[rows.indices], weights[documents])
            ratio = sparse.csr_array(
                (rows.data / np.maximum(mass, 1e-300), rows.indices, rows.indptr),
                shape=rows.shape,
            )
            counts = weights * (ratio @ topics)
        topics = topics * (ratio.T @ weights)
        topics = topics / topics.sum(axis=0)
    return topics


def compare_steps(case: Case) -> dict[str, dict[str, float]]:
    """Return the quality after some numbers of steps of either kind."""
    source = open_source(case.rows)

    def step_variational(case: Case, steps: int) -> np.ndarray:
        return refine_topics(
            source, case.centers, case.alpha, steps=steps, smoothing=0.0
        ).centers

    table: dict[str, dict[str, float]] = {}
    kinds = {"variational": step_variational, "map": step_map}
    for name, make in kinds.items():
        table[name] = {"0": case.judge(case.centers.T)}
        for steps in STEPS:
            table[name][str(steps)] = case.judge(make(case, steps).T)
    return table


def compare_settings(case: Case, name: str, values: tuple[float, ...]) -> Any:
    """Return the quality, and the steps made, over values of a setting."""
    source = open_source(case.rows)
    found = {}
    for value in values:
        options: dict[str, Any] = {name: value}
        refined = refine_topics(source, case.centers, case.alpha, **options)
        found[str(value)] = (
            case.judge(refined.centers.T),
            refined.outcome.iterations,
        )
    return found


def main() -> None:
    """Measure, keep and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    kept: dict[str, Any] = {}
    for case in list_cases():
        kept[case.name] = {
            "steps": compare_steps(case),
            "smoothing": compare_settings(case, "smoothing", SMOOTHINGS),
            "tolerance": compare_settings(case, "tolerance", TOLERANCES),
        }
        print(f"\n{case.name}")
        for kind, row in kept[case.name]["steps"].items():
            print(
                f"{kind:12}", "  ".join(f"{n}: {value:.5g}" for n, value in row.items())
            )
        for name in ("smoothing", "tolerance"):
            row = kept[case.name][name]
            cells = "  ".join(f"{n}: {q:.5g} ({m} steps)" for n, (q, m) in row.items())
            print(f"{name:12}", cells, flush=True)
    target = Path(__file__).parent / "results.json"
    target.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
