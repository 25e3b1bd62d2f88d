"""Clusters of patients: the study of thesis 001, section 6.4.

Records are zeros and ones: the diagnoses of a stay in three-character codes (those
that cover 90 % of all diagnoses; stays with fewer than three are left out) and the
drugs given. Methods find 16 clusters. Three things are measured, as in the thesis:

- stability: 80 % of the records are clustered together with one further tenth and
  then with another; the adjusted Rand index of both partitions of the 80 %;
- predictive accuracy: nine tenths of the records are clustered, and a logistic
  regression that knows nothing of a record but its cluster predicts readmission (a
  stay of more than a week, for MIMIC-III), judged on 30 % of these records, which it
  has not seen;
- the processor's time of a fit.

Everything is repeated with other records and other seeds, and the spread is told. A
method counts as more accurate if its mean is higher by more than the root of both
variances; methods with EM are compared with D-SIDIWO with EM, by the rule of the
thesis (change of the centers below 0.0001) or with twenty steps after each split.

Flat methods of moments are mixtures of independent Bernoulli variables with MAP
assignment: three views with the tensor power method (3V-TPM) and with the SVD
(3V-MoM), each also with EM, and ASVTD with EM; EM stops by the rule of the thesis or
after 100 steps. Trees: D-SIDIWO (`BisectingMoments`) with and without EM, SIDIWO
(`TopicTree`, Bernoulli) with and without EM, all level by level as in the thesis;
D-SIDIWO as it comes, by gain; bisecting k-means (scikit-learn).

    python experiments/patients/run.py [--data diabetes|mimic] [--repeats 5] [--keep]

Prints the table and writes it beside this file under the name of the data, with the
figures as JSON, a picture of stability, accuracy and time by the number of leaves of
the trees, and three charts of the clusters of D-SIDIWO: tree, heat map, frequencies.
The folder of the data is that of the environment's TERCET_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import BisectingKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import tercet
from tercet.evaluation import measure_stability

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from records import Records, read_diabetes, read_mimic  # noqa: E402

READERS = {"diabetes": read_diabetes, "mimic": read_mimic}
OURS, KMEANS = "D-SIDIWO", "bisecting k-means"
EM = {"refine": "auto", "rule": "centers"}
# Repeats for the other numbers of leaves, of which only the figure tells.
FEW_REPEATS = 2
# Fewer records than this show that the code runs, and nothing else.
LEAST_RECORDS = 1000
Method = Callable[[int, int], Any]


def mixture(moments: str, decomposition: str, **more: Any) -> Method:
    """Return a flat method of moments."""
    return lambda k, seed: tercet.BernoulliMixture(
        k, moments=moments, decomposition=decomposition, random_state=seed, **more
    )


FLAT: dict[str, Method] = {
    "3V-TPM": mixture("three-view", "power", refine=0),
    "3V-MoM": mixture("three-view", "svd", refine=0),
    "3V-TPM + EM": mixture("three-view", "power", max_iter=100, **EM),
    "3V-MoM + EM": mixture("three-view", "svd", max_iter=100, **EM),
    "ASVTD + EM": mixture("raw", "svtd", max_iter=100, **EM),
}
# Level by level, as in the thesis.
LEVEL = {"split_order": "level"}
TREES: dict[str, Method] = {
    OURS: lambda k, _: tercet.BisectingMoments(k, **LEVEL),
    "D-SIDIWO, by gain": lambda k, _: tercet.BisectingMoments(k),
    "SIDIWO": lambda k, _: tercet.TopicTree(k, family="bernoulli", **LEVEL),
    KMEANS: lambda k, seed: BisectingKMeans(k, random_state=seed),
    "D-SIDIWO + EM": lambda k, _: tercet.BisectingMoments(k, **LEVEL, **EM),
    "D-SIDIWO + 20 EM steps": lambda k, _: tercet.BisectingMoments(
        k, **LEVEL, refine=20
    ),
    "SIDIWO + EM": lambda k, _: tercet.TopicTree(k, family="bernoulli", **LEVEL, **EM),
}


class Timed:
    """A clustering that adds up the processor's time of its fits."""

    def __init__(self, method: Method, k: int) -> None:
        self.method, self.k = method, k
        self.seconds: list[float] = []
        self.seed = 0

    def __call__(self, rows: Any) -> np.ndarray:
        """Cluster rows with a seed of their own."""
        self.seed += 1
        began = time.process_time()
        labels = self.method(self.k, self.seed).fit_predict(rows)
        self.seconds.append(time.process_time() - began)
        return np.asarray(labels)


def predict_outcome(labels: np.ndarray, target: np.ndarray, seed: int) -> float:
    """Return the accuracy of a regression on nothing but the cluster."""
    known = np.eye(int(labels.max()) + 1)[labels]
    split = train_test_split(known, target, test_size=0.3, random_state=seed)
    return float(LogisticRegression().fit(split[0], split[2]).score(split[1], split[3]))


def study(method: Method, k: int, records: Records, repeats: int) -> dict[str, Any]:
    """Return stability, accuracy and time of a method."""
    cluster = Timed(method, k)
    stability = measure_stability(records.rows, cluster, n_repeats=repeats)
    n = records.rows.shape[0]
    accuracy = []
    for seed in range(repeats):
        drawn = np.random.default_rng(seed).permutation(n)[: round(0.9 * n)]
        labels = cluster(records.rows[drawn])
        accuracy.append(predict_outcome(labels, records.target[drawn], seed))
    return {
        "stability": stability.mean,
        "spread": stability.spread,
        "accuracy": float(np.mean(accuracy)),
        "accuracy spread": float(np.std(accuracy)),
        "seconds": float(np.median(cluster.seconds)),
    }


def attempt(method: Method, k: int, records: Records, repeats: int) -> dict[str, Any]:
    """Return the figures of a method, or the error that says why there are none."""
    try:
        return study(method, k, records, repeats)
    except tercet.exceptions.TercetError as error:
        return {"error": str(error)}


def compare(
    records: Records, k: int, repeats: int, stem: str, *, keep: bool
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the figures of every method by the number of clusters, and write them."""
    path = HERE / f"{stem}.json"
    figures = json.loads(path.read_text("utf-8")) if keep and path.exists() else {}
    for name, method in {**TREES, **FLAT}.items():
        known = figures.setdefault(name, {})
        sizes = [m for m in (2, 4, 8, 16) if m < k] if name in TREES else []
        for m in (*sizes, k):
            if str(m) not in known:
                known[str(m)] = attempt(
                    method, m, records, repeats if m == k else FEW_REPEATS
                )
        path.write_text(json.dumps(figures, indent=1), encoding="utf-8")
        print(name, known[str(k)], flush=True)
    return figures


def tabulate(records: Records, found: dict[str, dict[str, Any]], k: int) -> str:
    """Return the table as Markdown."""
    n, d = records.rows.shape
    most = max(records.target.mean(), 1.0 - records.target.mean())
    head = (
        f"{records.name}: {n:,} records, {d} features, {records.rows.nnz / n:.1f} ones a "
        f"record; {k} clusters; accuracy for {records.noun} (always the more frequent "
        f"answer: {most:.3f})."
    )
    columns = ["method", "stability", "accuracy", "seconds"]
    lines = [head, "", f"| {' | '.join(columns)} |", "| --- | --- | --- | --- |"]
    for name, values in found.items():
        if "error" in values:
            lines.append(f"| {name} | - | - | {values['error'][:90]} |")
            continue
        lines.append(
            f"| {name} | {values['stability']:.3f} ± {values['spread']:.3f} "
            f"| {values['accuracy']:.4f} ± {values['accuracy spread']:.4f} "
            f"| {values['seconds']:.2f} |"
        )
    return "\n".join(lines)


def judge(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return what falls short: D-SIDIWO must be the most stable and as accurate."""
    ours = found[OURS]
    failed = []
    for name in (*FLAT, KMEANS):
        other = found.get(name, {})
        if "stability" not in other:
            continue
        if other["stability"] >= ours["stability"]:
            failed.append(f"{name} is as stable as {OURS}")
        rivals = [OURS] if "EM" not in name else [m for m in TREES if OURS + " +" in m]
        if all(_is_better(other, found[rival]) for rival in rivals):
            failed.append(f"{name} is more accurate than {OURS}")
    return failed


def _is_better(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Say whether one method is more accurate than another, beyond the spread."""
    noise = np.hypot(one["accuracy spread"], other["accuracy spread"])
    return bool(one["accuracy"] > other["accuracy"] + noise)


def draw(path: Path, sweep: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Draw stability, accuracy and time by the number of leaves."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from tercet.plotting.axes import pick_colors

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for (name, values), color in zip(
        sweep.items(), pick_colors(len(sweep)), strict=True
    ):
        sizes = sorted(int(k) for k, told in values.items() if "error" not in told)
        for ax, key in zip(axes, ("stability", "accuracy", "seconds"), strict=True):
            heights = np.array([values[str(k)][key] for k in sizes])
            ax.plot(sizes, heights, marker="o", ms=3.5, color=color, label=name)
            if key == "stability":
                spread = np.array([values[str(k)]["spread"] for k in sizes])
                ax.fill_between(
                    sizes, heights - spread, heights + spread, color=color, alpha=0.15
                )
    for ax, title in zip(
        axes,
        (
            "stability (adjusted Rand index)",
            "accuracy of prediction",
            "seconds of a fit",
        ),
        strict=True,
    ):
        ax.set_xscale("log", base=2)
        ax.set(xlabel="leaves", title=title)
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.spines[["top", "right"]].set_visible(False)
    axes[2].set_yscale("log")
    axes[0].legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_charts(records: Records, stem: str, k: int) -> None:
    """Draw the clusters of D-SIDIWO in three ways."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from tercet.plotting import ClustersDisplay, FrequencyDisplay, TreeDisplay

    source = tercet.intake.open_source(
        records.rows, requirement="reals", feature_names=records.names
    )
    tree = tercet.BisectingMoments(k).fit(source)
    for name, display in (
        ("tree", TreeDisplay.from_estimator(tree)),
        ("heatmap", ClustersDisplay.from_estimator(tree, source)),
        ("frequencies", FrequencyDisplay.from_estimator(tree)),
    ):
        display.figure_.savefig(HERE / f"{stem}-{name}.png", dpi=130)
        plt.close(display.figure_)
    print(tree.export_text(n_top=6))


def main() -> None:
    """Run the study, print the table and write everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=READERS, default="diabetes")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--clusters", type=int, default=None)
    parser.add_argument(
        "--keep", action="store_true", help="keep the figures of an earlier run"
    )
    arguments = parser.parse_args()
    base = os.environ.get("TERCET_DATA")
    folder = Path(base) if base else HERE.parents[2] / "shared" / "data"
    records = READERS[arguments.data](folder)
    k = arguments.clusters or (16 if records.rows.shape[0] >= LEAST_RECORDS else 4)
    stem = arguments.data
    with warnings.catch_warnings():
        # Budgets that run out are part of what is compared.
        warnings.simplefilter("ignore")
        figures = compare(records, k, arguments.repeats, stem, keep=arguments.keep)
        draw_charts(records, stem, min(k, 8))
    found = {name: by_size[str(k)] for name, by_size in figures.items()}
    table = tabulate(records, found, k)
    print("\n" + table)
    if records.rows.shape[0] < LEAST_RECORDS:
        print("\nToo few records to tell methods apart.")
    else:
        failed = judge(found)
        print(
            "\n"
            + (
                "\n".join(failed)
                or "D-SIDIWO is the most stable and as accurate as its like (EM beside EM)."
            )
        )
    (HERE / f"{stem}.md").write_text(table + "\n", encoding="utf-8")
    draw(HERE / f"{stem}-stability.png", {name: figures[name] for name in TREES})


if __name__ == "__main__":
    main()
