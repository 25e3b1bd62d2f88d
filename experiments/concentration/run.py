"""How well the concentration is read from the data.

For alpha0 in {0.3, 1, 3} and k in {5, 10, 20}, 5,000 documents of 100 tokens over
1,000 words are drawn from latent Dirichlet allocation with equal parameters and
topics from a Dirichlet(0.05); ten seeds each. The default fit, the same with
moments alone, and both with the truth given are compared. Prints, for every
setting, medians over the seeds: relative error of the estimate from the sums alone
and of the fitted `concentration_`, and the topic error (mean total variation after
matching) relative to that of the fit which was told the truth; at the end the worst
residual of the small tensor.

Where the data folder is there (`TERCET_DATA`, by default ../shared/data), bags of
words of AP and KOS follow: held-out perplexity (document completion, every fifth
document, words of at least three documents) with the fitted `concentration_`, and
with the same parameters brought to the sum that the moments gave.

    python experiments/concentration/run.py [--seeds 10] [--documents 5000]
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

import tercet
from tercet.families import LatentDirichlet
from tercet.flow import Parameters
from tercet.intake import open_source
from tercet.likelihood import score_topics

TOTALS = (0.3, 1.0, 3.0)
COMPONENTS = (5, 10, 20)
N_FEATURES, LENGTH = 1000, 100


@dataclass(frozen=True)
class Trial:
    """One corpus: estimates of alpha0, and topic errors with and without the truth."""

    by_sums: float
    fitted: float
    ratio_by_sums: float
    ratio_fitted: float
    residual: float
    status: str


def measure_error(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean total variation of matched topics (rows)."""
    distances = np.abs(found[:, None, :] - truth[None]).sum(axis=2) / 2.0
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].mean())


def run_trial(total: float, k: int, n_documents: int, seed: int) -> Trial:
    """Draw a corpus and fit it four times."""
    rng = np.random.default_rng([seed, k, round(10 * total)])
    topics = rng.dirichlet(np.full(N_FEATURES, 0.05), size=k)
    truth = Parameters(np.ascontiguousarray(topics.T), np.full(k, 1.0 / k))
    X, _ = LatentDirichlet(total).sample(truth, n_documents, rng, lengths=LENGTH)
    found = {}
    for refine in (0, "auto"):
        for concentration in ("auto", total):
            model = tercet.LatentDirichletAllocation(
                k, concentration=concentration, refine=refine, n_jobs=-1
            ).fit(X)
            found[refine, concentration] = model
    errors = {key: measure_error(m.components_, topics) for key, m in found.items()}
    plain, full = found[0, "auto"], found["auto", "auto"]
    return Trial(
        by_sums=float(plain.concentration_.sum()) / total - 1.0,
        fitted=float(full.concentration_.sum()) / total - 1.0,
        ratio_by_sums=errors[0, "auto"] / errors[0, total],
        ratio_fitted=errors["auto", "auto"] / errors["auto", total],
        residual=float(plain.diagnostics_["residual"]),
        status=plain.diagnostics_["concentration"].status.value,
    )


def judge_texts() -> None:
    """Print perplexities of real texts with either estimate."""
    folder = Path(
        os.environ.get("TERCET_DATA", Path(__file__).parents[3] / "shared/data")
    )
    write = sys.stdout.write
    for name in ("ap/ap.npz", "kos/kos.npz"):
        if not (folder / name).is_file():
            write(f"{name} is not there\n")
            continue
        X = sparse.csr_array(sparse.load_npz(folder / name))
        out = np.arange(X.shape[0]) % 5 == 0
        seen = np.asarray((X[~out] > 0).sum(axis=0)).ravel() >= 3
        train, held = X[~out][:, seen], X[out][:, seen].astype(np.float64)
        for k in (10, 50):
            model = tercet.LatentDirichletAllocation(k, n_jobs=-1).fit(train)
            by_sums = model.diagnostics_["alpha0_by_sums"]
            figures = []
            for total in (model.concentration_.sum(), by_sums):
                score = score_topics(
                    open_source(held),
                    model.components_.T,
                    model.weights_ * total,
                    method="completion",
                )
                figures.append(f"{total:6.2f} {score.perplexity:8.1f}")
            status = model.diagnostics_["concentration"].status.value
            corpus = name.split("/")[0]
            write(f"{corpus:3s} {k:3d} | fitted {figures[0]} | by sums {figures[1]}")
            residual = model.diagnostics_["residual"]
            write(f" ({status}, residual {residual:.2f})\n")


def main() -> None:
    """Run all settings and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--documents", type=int, default=5000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    write = sys.stdout.write
    write(
        "alpha0   k | alpha0 by sums  fitted | topic error / told: by sums  fitted"
        " (worst) | no single crossing | residual, worst\n"
    )
    for total in TOTALS:
        for k in COMPONENTS:
            trials = [
                run_trial(total, k, options.documents, s) for s in range(options.seeds)
            ]
            columns = [
                np.array([getattr(trial, name) for trial in trials])
                for name in ("by_sums", "fitted", "ratio_by_sums", "ratio_fitted")
            ]
            medians = [float(np.median(column)) for column in columns]
            fell = sum(trial.status != "converged" for trial in trials)
            write(
                f"{total:6.1f} {k:3d} | {medians[0]:+13.1%} {medians[1]:+7.1%} | "
                f"{medians[2]:27.3f} {medians[3]:7.3f} ({columns[3].max():.3f}) | "
                f"{fell}/{options.seeds} | {max(t.residual for t in trials):.3f}\n"
            )
            sys.stdout.flush()
    write("\ntexts   k | alpha0 and perplexity\n")
    judge_texts()


if __name__ == "__main__":
    main()
