"""Pictures of docs/concepts/aligned_views.md: shared and own sources, and what is found.

    python experiments/discrete_cca/pictures.py

Writes three pictures to docs/concepts and prints the numbers that they show:
`aligned_views-model.png`, counts of the 2D setting (paper 002, figure 4-2) and the columns
that DiscreteCCA, discrete ICA and NMF of stacked views find in it;
`aligned_views-rotation.png`, loadings of two continuous views by classical CCA and by
NonGaussianCCA; `aligned_views-errors.png`, figures 4-3 and 4-5 from `results.json`.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from run import (  # noqa: E402
    RESULTS,
    SIZES,
    by_cca,
    by_discrete_cca,
    by_discrete_ica,
    by_nmf,
    halve,
)

from tercet import NonGaussianCCA  # noqa: E402
from tercet.datasets import (  # noqa: E402
    ViewTruth,
    make_discrete_cca,
    make_non_gaussian_cca,
)

PICTURES = HERE.parents[1] / "docs" / "concepts"
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"


def save(figure: Any, name: str) -> None:
    """Write one picture."""
    figure.tight_layout()
    figure.savefig(PICTURES / name, dpi=110)
    plt.close(figure)


def draw_model() -> None:
    """Scatter counts of the 2D setting with the columns that are found in them."""
    sample = make_discrete_cca(2_000, setting="2D", random_state=1)
    methods = {
        "shared column: DiscreteCCA": (by_discrete_cca(sample), GREEN),
        "nearest of discrete ICA": (by_discrete_ica(sample), ORANGE),
        "nearest of NMF": (by_nmf(sample), BLUE),
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9), sharex=True, sharey=True)
    true = halve(np.vstack(sample.truth.loadings), 2)
    for j, axis in enumerate(axes):
        rows = sample.views[j].toarray()
        jitter = np.random.default_rng(j).uniform(-0.4, 0.4, rows.shape)
        axis.plot(*(rows + jitter).T, ".", color="#BBBBBB", markersize=2)
        half = true[2 * j : 2 * j + 2, 0]
        axis.plot(
            [0, 800 * half[0]],
            [0, 800 * half[1]],
            color="black",
            lw=5,
            alpha=0.3,
            label="true shared column",
        )
        for label, (columns, colour) in methods.items():
            found = halve(columns, 2)
            nearest = int(np.abs(found - true).sum(axis=0).argmin())
            error = np.abs(found - true).sum(axis=0).min() / 2.0
            part = found[2 * j : 2 * j + 2, nearest]
            axis.plot(
                [0, 800 * part[0]], [0, 800 * part[1]], color=colour, lw=2, label=label
            )
            if j == 0:
                print(f"2D, {label}: l1-error {error:.3f}")
        axis.set(
            title=f"view {j + 1}",
            xlabel="word 1",
            ylabel="word 2",
            xlim=(-5, 420),
            ylim=(-5, 420),
        )
    axes[0].legend(loc="upper right", fontsize=8, frameon=False)
    save(figure, "aligned_views-model.png")


def draw_rotation() -> None:
    """Show loadings by CCA, a mixture of the true ones, beside those of the model."""
    d = 12
    grid = np.arange(d)
    bump = np.stack([np.exp(-0.5 * ((grid - c) / 1.3) ** 2) for c in (3, 8)], axis=1)
    rng = np.random.default_rng(0)
    noise = tuple(rng.normal(size=(d, 14)) * 0.15 for _ in range(2))
    truth = ViewTruth((bump, bump[::-1].copy()), noise)
    sample = make_non_gaussian_cca(
        20_000,
        n_features=(d, d),
        n_components=2,
        truth=truth,
        length=100.0,
        noise_length=700.0,
        shape=0.5,
        noise_shape=1.0,
    )
    model = NonGaussianCCA(2).fit(*sample.views)
    panels = {
        "true": bump,
        "classical CCA": by_cca(sample)[:d],
        "NonGaussianCCA": model.components_[0].T,
    }
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 2.8), sharey=True)
    for axis, (title, columns) in zip(axes, panels.items(), strict=True):
        scaled = columns / np.abs(columns).max(axis=0)
        heaviest = np.abs(scaled).argmax(axis=0)
        scaled = scaled * np.sign(scaled[heaviest, [0, 1]])
        scaled = scaled[:, np.argsort(np.abs(scaled).argmax(axis=0))]
        for k, colour in enumerate((GREEN, ORANGE)):
            axis.plot(grid, scaled[:, k], "o-", color=colour, markersize=4)
        axis.axhline(0.0, color=GREY, lw=0.5)
        axis.set(title=title, xlabel="feature of view 1")
    axes[0].set_ylabel("loading")
    save(figure, "aligned_views-rotation.png")


def draw_errors() -> None:
    """Plot figures 4-3 and 4-5 over the number of rows."""
    results = json.loads(RESULTS.read_text())
    panels = {
        "counts, 50 sources in 40 words": results["4-3"]["20D"]["errors"],
        "continuous, 50 sources in 40 features": results["4-5"]["K = 10, noise 20"][
            "errors"
        ],
    }
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), sharey=True)
    colours = (GREEN, "#56B4E9", ORANGE, BLUE, "#CC79A7")
    for axis, (title, table) in zip(axes, panels.items(), strict=True):
        for (name, values), colour in zip(table.items(), colours, strict=False):
            # The first line may lie under the second.
            width = 5 if name == next(iter(table)) else 1.5
            axis.plot(SIZES, values, "o-", label=name, color=colour, ms=4, lw=width)
        axis.set(title=title, xlabel="rows", xscale="log", ylim=(0.0, 0.5))
        axis.legend(fontsize=8, frameon=False)
    axes[0].set_ylabel("l1-error of stacked loadings")
    save(figure, "aligned_views-errors.png")


def main() -> None:
    """Draw all pictures."""
    warnings.simplefilter("ignore")
    PICTURES.mkdir(exist_ok=True)
    draw_model()
    draw_rotation()
    if RESULTS.exists():
        draw_errors()


if __name__ == "__main__":
    main()
