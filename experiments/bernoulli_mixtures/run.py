"""Clusters of binary rows: figure 4.1 and table 4.2 of thesis 001.

Rows are drawn from mixtures of independent Bernoulli variables whose probabilities
and weights are exponential random numbers (section 4.5). Three sweeps: the number
of rows n from 100 to 10,000 (d = 99, k = 12), of components k from 2 to 33
(n = 10,000, d = 99), of features d from 12 to 99 (n = 10,000, k = 4). Every method
clusters the same rows; what is measured is the adjusted Rand index with the true
components, and the processor's time.

Methods: `BernoulliMixture` as it comes; ASVTD + EM, 3V-MoM and 3V-TPM with and
without EM, all from this package with the stopping rule of the thesis; k-means,
spectral clustering with a linear kernel, and k-means on principal components, with
scikit-learn; ten random starts of EM with StepMix, which is told to stop when a
step gains less than 1e-5 for each row (by default it would go on about ten times as
long), on the first seeds only.

    python experiments/bernoulli_mixtures/run.py [--seeds 10] [--peer-seeds 2]
        [--rows 100 300] [--peer-tolerance 1e-10] [--out FOLDER]

StepMix's own tolerance is 1e-10. With `--rows` only settings with so many rows are
run, and the others are taken from results.json. Prints the table and writes results.json
and results.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

import tercet
from tercet.datasets import make_bernoulli_mixture

SWEEPS = {
    "n": [(n, 99, 12) for n in (100, 300, 1000, 3000, 10_000)],
    "k": [(10_000, 99, k) for k in (2, 4, 7, 12, 20, 33)],
    "d": [(10_000, d, 4) for d in (12, 24, 48, 99)],
}
PEER = "StepMix x 10"
HERE = Path(__file__).parent

Labels = np.ndarray
Method = Callable[[Any, int, int], Labels]


def fit_mixture(**settings: Any) -> Method:
    """Return a method that fits a mixture from this package."""

    def method(rows: Any, k: int, seed: int) -> Labels:
        model = tercet.BernoulliMixture(k, random_state=seed, **settings)
        return model.fit_predict(rows)

    return method


def run_k_means(rows: Any, k: int, seed: int) -> Labels:
    """Cluster by k-means."""
    return KMeans(k, n_init=10, random_state=seed).fit(rows.toarray()).labels_


def run_pca(rows: Any, k: int, seed: int) -> Labels:
    """Cluster by k-means on principal components."""
    points = PCA(min(k, rows.shape[1]), random_state=seed).fit_transform(rows.toarray())
    return KMeans(k, n_init=10, random_state=seed).fit(points).labels_


def run_spectral(rows: Any, k: int, seed: int) -> Labels:
    """Cluster by the normalised Laplacian of `X X'`, as scikit-learn does.

    Its eigenvectors are found through products with X, so that the n x n matrix,
    over which the thesis spent its 7.5 seconds, is never formed.
    """
    X = sparse.csr_array(rows, dtype=float)
    own = np.asarray(X.sum(axis=1)).ravel()
    degree = X @ X.sum(axis=0) - own
    root = np.sqrt(np.where(degree > 0.0, degree, 1.0))

    def apply(vector: np.ndarray) -> np.ndarray:
        scaled = np.ravel(vector) / root
        return (X @ (X.T @ scaled) - own * scaled) / root

    operator = LinearOperator((X.shape[0],) * 2, matvec=apply, dtype=float)
    start = np.random.default_rng(seed).uniform(-1.0, 1.0, X.shape[0])
    vectors = eigsh(operator, k, which="LA", v0=start)[1]
    return KMeans(k, n_init=10, random_state=seed).fit(vectors / root[:, None]).labels_


def run_stepmix(rows: Any, k: int, seed: int, tolerance: float = 1e-5) -> Labels:
    """Cluster by EM, the best of ten random starts."""
    from stepmix.stepmix import StepMix

    model = StepMix(
        k,
        measurement="binary",
        n_init=10,
        abs_tol=tolerance,
        random_state=seed,
        progress_bar=0,
    )
    return model.fit(rows.toarray()).predict(rows.toarray())


METHODS: dict[str, Method] = {
    "BernoulliMixture": fit_mixture(),
    "ASVTD + EM": fit_mixture(moments="raw", decomposition="svtd", rule="weights"),
    "3V-MoM": fit_mixture(moments="three-view", decomposition="svd", refine=0),
    "3V-MoM + EM": fit_mixture(
        moments="three-view", decomposition="svd", rule="weights"
    ),
    "3V-TPM": fit_mixture(moments="three-view", decomposition="power", refine=0),
    "3V-TPM + EM": fit_mixture(
        moments="three-view", decomposition="power", rule="weights"
    ),
    "k-means": run_k_means,
    "SC-lin": run_spectral,
    "PCA + k-means": run_pca,
    PEER: run_stepmix,
}


def run_setting(n: int, d: int, k: int, seeds: int, peer_seeds: int) -> dict[str, Any]:
    """Cluster the rows of all seeds with all methods."""
    found: dict[str, Any] = {name: {"ari": [], "time": []} for name in METHODS}
    for seed in range(seeds):
        sample = make_bernoulli_mixture(
            n, n_features=d, n_components=k, random_state=seed
        )
        for name, method in METHODS.items():
            if name == PEER and seed >= peer_seeds:
                continue
            start = time.process_time()
            try:
                labels = method(sample.rows, k, seed)
                index = adjusted_rand_score(sample.labels, labels)
            except tercet.exceptions.RankError:
                index = 0.0  # the moments support fewer components: no clusters
            found[name]["time"].append(time.process_time() - start)
            found[name]["ari"].append(index)
    return {"n": n, "d": d, "k": k, "methods": found}


def format_table(results: list[dict[str, Any]]) -> str:
    """Return a Markdown table of mean indices, then times and ratios."""
    names = list(METHODS)
    lines = [
        "Mean adjusted Rand index.",
        "",
        "| n | d | k | " + " | ".join(names) + " |",
        "| ---: " * (3 + len(names)) + "|",
    ]
    for row in results:
        cells = [f"{np.mean(row['methods'][name]['ari']):.3f}" for name in names]
        lines.append(f"| {row['n']} | {row['d']} | {row['k']} | {' | '.join(cells)} |")
    lines += ["", *compare_peer(results), "", *average_times(results)]
    return "\n".join(lines) + "\n"


def compare_peer(results: list[dict[str, Any]]) -> list[str]:
    """Compare with StepMix on the seeds that both have seen."""
    lines = [
        "BernoulliMixture and ten random starts of StepMix on the same rows.",
        "",
        "| n | d | k | index | StepMix | time, s | StepMix | share of its time |",
        "| ---: " * 8 + "|",
    ]
    for row in results:
        own, peer = row["methods"]["BernoulliMixture"], row["methods"][PEER]
        count = len(peer["ari"])
        times = [np.mean(each["time"][:count]) for each in (own, peer)]
        indices = [np.mean(each["ari"][:count]) for each in (own, peer)]
        lines.append(
            f"| {row['n']} | {row['d']} | {row['k']} | {indices[0]:.3f} | "
            f"{indices[1]:.3f} | {times[0]:.3f} | {times[1]:.2f} | "
            f"1/{times[1] / times[0]:.0f} |"
        )
    return lines


def average_times(results: list[dict[str, Any]]) -> list[str]:
    """Average over all settings, as table 4.2 of the thesis does."""
    lines = [
        "Averages over all settings; how often BernoulliMixture is as good (to 0.005).",
        "",
        "| method | index | time, s | time / BernoulliMixture | as good in |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    own_times = [np.mean(row["methods"]["BernoulliMixture"]["time"]) for row in results]
    for name in METHODS:
        counts = [len(row["methods"][name]["ari"]) for row in results]
        index = np.mean([np.mean(row["methods"][name]["ari"]) for row in results])
        spent = np.mean([np.mean(row["methods"][name]["time"]) for row in results])
        good = sum(
            np.mean(row["methods"]["BernoulliMixture"]["ari"][:count])
            >= np.mean(row["methods"][name]["ari"]) - 0.005
            for row, count in zip(results, counts, strict=True)
        )
        lines.append(
            f"| {name} | {index:.3f} | {spent:.3f} | {spent / np.mean(own_times):.2f} | "
            f"{good} of {len(results)} |"
        )
    return lines


def read_known(path: Path) -> dict[tuple[int, int, int], dict[str, Any]]:
    """Return the results of an earlier run by setting."""
    kept = json.loads(path.read_text()) if path.exists() else []
    return {(row["n"], row["d"], row["k"]): row for row in kept}


def main() -> None:
    """Run all settings; print and keep the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--peer-seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--peer-tolerance", type=float, default=1e-5)
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    METHODS[PEER] = partial(run_stepmix, tolerance=options.peer_tolerance)
    warnings.simplefilter("ignore")
    # Compile outside the measurement.
    run_setting(200, 30, 3, 1, 0)
    settings = list(dict.fromkeys(s for sweep in SWEEPS.values() for s in sweep))
    known = read_known(options.out / "results.json") if options.rows else {}
    results = []
    for n, d, k in settings:
        if options.rows and n not in options.rows:
            results += [known[n, d, k]] if (n, d, k) in known else []
            continue
        results.append(run_setting(n, d, k, options.seeds, options.peer_seeds))
        indices = {
            name: round(float(np.mean(found["ari"])), 3)
            for name, found in results[-1]["methods"].items()
            if found["ari"]
        }
        sys.stderr.write(f"n={n} d={d} k={k} {indices}\n")
    table = format_table(results)
    sys.stdout.write(table)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(json.dumps(results) + "\n")
    (options.out / "results.md").write_text(table)


if __name__ == "__main__":
    main()
