"""Aligned views on synthetic data: thesis 002, figures 4-3, 4-4 and 4-5.

For each number of rows five samples are drawn with the same loadings. The figures
are the l1-error of stacked loadings, `min_perm 1/(2K) sum_k |d_k - dhat_k|_1`, each
half of a column brought to l1-norm 1/2 (up to the common sign, where loadings are
signed); methods with more than K columns are judged by their K best. Means over
samples.

Figure 4-3, counts, more sources than features (2D: 5 sources in 4 features, 20D: 50 in
40): DiscreteCCA by cumulants (DCCA) and by generalised covariances (DCCAg), discrete
ICA of stacked views (DICA, as many columns as it can have), NMF of stacked views for
the divergence with multiplicative steps (scikit-learn), and the same started with the
zeros of the true stacked matrix (NMF0).
Figure 4-4, counts, 20D: DCCAg over delta, as the class does it (points are shortened
where exponents would spread too far) and as published (points as they come, "raw").
Figure 4-5, continuous views, K shared sources and K (as in the thesis) or 20 noise
sources a view (more sources than features): NonGaussianCCA (NCCA), the same by the
eigenvectors of one combination (NCCAe), ICA of stacked views by joint diagonalisation
of cumulants (JADE), classical CCA (scikit-learn, loadings `cov(x) w`).

    python experiments/discrete_cca/run.py [--figures 4-3 4-4 4-5] [--samples 5]

Prints the tables, and whether the orderings of the thesis hold; keeps both in
`results.json` beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402
from sklearn.cross_decomposition import CCA  # noqa: E402
from sklearn.decomposition import NMF  # noqa: E402

from tercet import CumulantICA, DiscreteCCA, NonGaussianCCA  # noqa: E402
from tercet.datasets import (  # noqa: E402
    ViewSample,
    make_discrete_cca,
    make_non_gaussian_cca,
)
from tercet.exceptions import RankError  # noqa: E402
from tercet.families import GammaPoisson  # noqa: E402
from tercet.families.two_view import form_cumulants  # noqa: E402
from tercet.families.two_view_recovery import choose_points  # noqa: E402
from tercet.intake import open_pair  # noqa: E402
from tercet.models import solve_equations  # noqa: E402
from tercet.models.view_solving import solve_views, whiten_equations  # noqa: E402
from tercet.moments import collect, collect_tilts, collect_views  # noqa: E402

SIZES = (500, 1_000, 2_000, 5_000, 10_000)
DELTAS = (0.01, 0.1, 1.0, 10.0, 100.0)
RESULTS = Path(__file__).with_name("results.json")
Estimate = Callable[[ViewSample], np.ndarray]


def halve(columns: np.ndarray, d1: int) -> np.ndarray:
    """Bring each half of stacked columns to l1-norm 1/2."""
    halves = [columns[:d1], columns[d1:]]
    sizes = [np.maximum(np.abs(part).sum(axis=0), 1e-300) for part in halves]
    return np.vstack([part / (2.0 * s) for part, s in zip(halves, sizes, strict=True)])


def measure(sample: ViewSample, columns: np.ndarray) -> float:
    """Return the l1-error of stacked loadings after the best matching."""
    d1 = sample.views[0].shape[1]
    true = halve(np.vstack(sample.truth.loadings), d1)[:, :, None]
    found = halve(columns, d1)[:, None, :]
    plus, minus = np.abs(true - found).sum(axis=0), np.abs(true + found).sum(axis=0)
    costs = np.minimum(plus, minus) / 2.0
    rows, places = linear_sum_assignment(costs)
    return float(costs[rows, places].sum() / costs.shape[0])


def stack_views(sample: ViewSample) -> np.ndarray:
    """Return both views side by side, dense."""
    return np.hstack(
        [
            view if isinstance(view, np.ndarray) else view.toarray()
            for view in sample.views
        ]
    ).astype(float)


def count_sources(sample: ViewSample) -> tuple[int, int]:
    """Return the number of shared and of all sources."""
    k = sample.sources.shape[1]
    return k, k + sum(part.shape[1] for part in sample.truth.noise_loadings)


def by_discrete_cca(sample: ViewSample, **settings: object) -> np.ndarray:
    """DiscreteCCA."""
    model = DiscreteCCA(sample.sources.shape[1], **settings).fit(*sample.views)
    return np.hstack(model.components_).T


def by_raw_points(sample: ViewSample, delta: float) -> np.ndarray:
    """Generalised covariances at points of any length, as published."""
    k = sample.sources.shape[1]
    source = open_pair(*sample.views)
    sums = collect_views(source, None, k)
    equations = form_cumulants(sums)
    whitening = whiten_equations(equations, k)
    points = choose_points(sums, equations, whitening, delta, reach=(0.0, np.inf))
    solution = solve_views(collect_tilts(source, sums, points), k, "covariances")
    return np.vstack(solution.parameters.loadings)


def by_continuous_cca(sample: ViewSample, **settings: object) -> np.ndarray:
    """NonGaussianCCA."""
    model = NonGaussianCCA(sample.sources.shape[1], **settings).fit(*sample.views)
    return np.hstack(model.components_).T


def by_discrete_ica(sample: ViewSample) -> np.ndarray:
    """Discrete ICA of stacked views."""
    X = stack_views(sample)
    sums = collect(X, GammaPoisson(), X.shape[1])
    equations = sums.equations()
    k = min(count_sources(sample)[1], X.shape[1])
    try:
        return solve_equations(equations, sums.family, k).parameters.centers
    except RankError as error:
        return solve_equations(
            equations, sums.family, error.supported
        ).parameters.centers


def by_nmf(sample: ViewSample, *, zeros: bool = False) -> np.ndarray:
    """Return NMF of stacked views, perhaps started with the true zeros."""
    X = stack_views(sample)
    k, total = count_sources(sample)
    rng = np.random.default_rng(0)
    tables = rng.uniform(0.1, 1.0, (total, X.shape[1]))
    if zeros:
        d1 = sample.views[0].shape[1]
        k1 = sample.truth.noise_loadings[0].shape[1]
        tables[k : k + k1, d1:] = 0.0
        tables[k + k1 :, :d1] = 0.0
    model = NMF(
        total,
        init="custom",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=150,
    )
    weights = rng.uniform(0.1, 1.0, (len(X), total)) * X.mean()
    model.fit_transform(X, W=weights, H=tables)
    return model.components_.T


def by_ica(sample: ViewSample) -> np.ndarray:
    """ICA of stacked views through cumulants."""
    X = stack_views(sample)
    total = min(count_sources(sample)[1], X.shape[1])
    return CumulantICA(total, refine=0).fit(X).mixing_


def by_cca(sample: ViewSample) -> np.ndarray:
    """Classical CCA."""
    X1, X2 = sample.views
    model = CCA(sample.sources.shape[1], scale=False, max_iter=2_000).fit(X1, X2)
    return np.vstack(
        [np.cov(X1.T) @ model.x_rotations_, np.cov(X2.T) @ model.y_rotations_]
    )


def run_setting(
    draw: Callable[[int, int], ViewSample],
    methods: dict[str, Estimate],
    n_samples: int,
    sizes: tuple[int, ...] = SIZES,
) -> dict[str, list[float]]:
    """Return the mean error of each method for each number of rows, and print it."""
    table: dict[str, list[float]] = {name: [] for name in methods}
    print("      N  " + "  ".join(f"{name:>7s}" for name in methods))
    for n in sizes:
        errors = []
        for seed in range(n_samples):
            sample = draw(n, seed)
            errors.append([measure(sample, find(sample)) for find in methods.values()])
        means = np.mean(errors, axis=0)
        for name, value in zip(methods, means, strict=True):
            table[name].append(round(float(value), 4))
        shown = "  ".join(f"{v:7.3f}" for v in means)
        print(f"{n:7d}  {shown}", flush=True)
    return table


def share_below(table: dict[str, list[float]], name: str, other: str) -> bool:
    """Whether one method has the smaller mean error over all numbers of rows."""
    return bool(np.mean(table[name]) < np.mean(table[other]))


def draw_figure_3(n_samples: int) -> dict[str, object]:
    """Measure counts, with more sources than features."""
    methods: dict[str, Estimate] = {
        "DCCA": by_discrete_cca,
        "DCCAg": lambda s: by_discrete_cca(s, targets="covariances"),
        "DICA": by_discrete_ica,
        "NMF": by_nmf,
        "NMF0": lambda s: by_nmf(s, zeros=True),
    }
    found: dict[str, object] = {}
    for setting in ("2D", "20D"):
        print(f"\nFigure 4-3, {setting}: l1-error of stacked loadings")
        truth = make_discrete_cca(1, setting=setting, random_state=42).truth
        table = run_setting(
            lambda n, seed, s=setting, t=truth: make_discrete_cca(
                n,
                setting=s,
                truth=t,
                random_state=[n, seed],  # type: ignore[arg-type]
            ),
            methods,
            n_samples,
        )
        holds = {
            f"{mine} below {other}": share_below(table, mine, other)
            for mine in ("DCCA", "DCCAg")
            for other in ("DICA", "NMF", "NMF0")
        }
        print(holds)
        found[setting] = {"errors": table, "holds": holds}
    return found


def draw_figure_4(n_samples: int) -> dict[str, object]:
    """Measure the sensitivity to delta."""
    truth = make_discrete_cca(1, random_state=42).truth
    print("\nFigure 4-4, 20D: DCCAg over delta")
    methods: dict[str, Estimate] = {
        f"{delta:g}": lambda s, d=delta: by_discrete_cca(
            s, targets="covariances", delta=d
        )
        for delta in DELTAS
    }
    methods |= {
        f"raw {delta:g}": lambda s, d=delta: by_raw_points(s, d) for delta in DELTAS
    }
    table = run_setting(
        lambda n, seed: make_discrete_cca(n, truth=truth, random_state=[n, seed]),  # type: ignore[arg-type]
        methods,
        n_samples,
    )
    best = min(np.mean(values) for values in table.values())
    holds = {"0.1 within 5 % of the best": bool(np.mean(table["0.1"]) < 1.05 * best)}
    print(holds)
    return {"errors": table, "holds": holds}


def draw_figure_5(n_samples: int) -> dict[str, object]:
    """Measure continuous views."""
    methods: dict[str, Estimate] = {
        "NCCA": by_continuous_cca,
        "NCCAe": lambda s: by_continuous_cca(s, decomposition="eigen"),
        "JADE": by_ica,
        "CCA": by_cca,
    }
    found: dict[str, object] = {}
    for k, noise in ((1, 1), (1, 20), (10, 10), (10, 20)):
        print(f"\nFigure 4-5, K = {k}, {noise} noise sources: l1-error")
        truth = make_non_gaussian_cca(
            1, n_components=k, n_noise=(noise, noise), random_state=42
        ).truth
        table = run_setting(
            lambda n, seed, t=truth: make_non_gaussian_cca(
                n,
                truth=t,
                random_state=[n, seed],  # type: ignore[arg-type]
            ),
            methods,
            n_samples,
        )
        holds = {
            f"NCCA below {other}": share_below(table, "NCCA", other)
            for other in ("NCCAe", "JADE", "CCA")
        }
        print(holds)
        found[f"K = {k}, noise {noise}"] = {"errors": table, "holds": holds}
    return found


FIGURES = {"4-3": draw_figure_3, "4-4": draw_figure_4, "4-5": draw_figure_5}


def main() -> None:
    """Print the tables and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", nargs="+", default=list(FIGURES), choices=FIGURES)
    parser.add_argument("--samples", type=int, default=5)
    arguments = parser.parse_args()
    # Small samples deserve the warnings that they get; the tables say it all.
    warnings.simplefilter("ignore")
    for figure in arguments.figures:
        found = FIGURES[figure](arguments.samples)
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        known[figure] = found
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
