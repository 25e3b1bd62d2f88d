"""Gamma-Poisson cumulants against LDA moments: thesis 002, figures 3-3 and 3-4.

Semi-synthetic as in the thesis, smaller: topics and their shares are learned from AP
(the 2,000 most frequent words; without the data, topics are drawn with falling word
frequencies), and documents are sampled from them. LDA moments are told the true sum
of the Dirichlet parameters, as in the thesis; gamma-Poisson cumulants are told
nothing. `LDA` weighs all documents alike, as in the thesis; `LDA-length` weighs them by
their pairs and triples of tokens, which is our default (paper 000) and closes most of
the gap. Moments alone, no likelihood steps. Figures are the L1 error
`min_perm 1/(2k) sum_j |d_j - dhat_j|_1`, means over samples.

Figure 3-3: diagonalisation by the spectral method (`svd`), joint diagonalisation
(`joint`) and the tensor power method (`power`), gamma-Poisson documents.
Figure 3-4: joint diagonalisation on gamma-Poisson documents, on documents of 200
tokens each (where discrete ICA is misspecified), on a half-and-half mixture of 20 and
200 tokens, and over the share of the longer ones.

    python experiments/discrete_ica_vs_lda/run.py [--samples 3]

Prints the tables, and whether the orderings of the thesis hold; keeps both in
`results.json` beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

import tercet
from tercet.datasets import (
    make_gamma_poisson,
    make_lda_fixed,
    make_lda_two_lengths,
)
from tercet.datasets.truths import draw_topics, join_topics
from tercet.evaluation import measure_l1_error
from tercet.exceptions import RankError
from tercet.families import GammaPoisson, LatentDirichlet
from tercet.flow import Family, Parameters

DATA = Path(
    os.environ.get("TERCET_DATA", Path(__file__).parents[3] / "shared" / "data")
)
N_WORDS = 2_000
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000)
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
Draw = Callable[[int, int], sparse.csr_array]


def learn_truth(k: int, total: float) -> Parameters:
    """Return topics and Dirichlet parameters to sample from."""
    path = DATA / "ap" / "ap.npz"
    if not path.exists():
        rng = np.random.default_rng(0)
        topics = draw_topics(N_WORDS, k, 0.05, "falling", rng)
        return join_topics(topics, total / k)
    rows = sparse.csr_array(sparse.load_npz(path))
    often = np.sort(np.argsort(-np.asarray(rows.sum(axis=0)).ravel())[:N_WORDS])
    rows = rows[:, often]
    rows = rows[np.flatnonzero(np.asarray(rows.sum(axis=1)).ravel() >= 3)]
    model = tercet.LatentDirichletAllocation(k).fit(rows)
    return join_topics(model.components_.T, total * model.weights_)


def list_families(total: float) -> dict[str, Family]:
    """Return the kinds of moments."""
    return {
        "GP": GammaPoisson(),
        "LDA": LatentDirichlet(total, "document"),
        "LDA-length": LatentDirichlet(total, "length"),
    }


def measure(
    rows: sparse.csr_array, truth: Parameters, family: Family, method: str
) -> float:
    """Return the L1 error of what the moments give."""
    k = truth.centers.shape[1]
    try:
        moments = tercet.moments.collect(rows, family, k, random_state=0)
        found = tercet.decompose(moments, k, method)
    except RankError:
        return 1.0  # fewer components than were asked for
    return measure_l1_error(truth.centers.T, found.centers.T)


def compare_methods(samples: int, k: int = 20) -> dict[str, dict[str, list[float]]]:
    """Return figure 3-3: errors of every method and kind of moments over sizes."""
    truth = learn_truth(k, 0.5)
    families = list_families(0.5)
    table: dict[str, dict[str, list[float]]] = {}
    for n in SIZES:
        for seed in range(samples):
            rows = make_gamma_poisson(
                n,
                parameters=truth,
                concentration=truth.concentration,
                mean_length=200,
                shortest=3,
                random_state=seed,
            ).rows
            for kind, family in families.items():
                for method in ("svd", "joint", "power"):
                    name = f"{method}-{kind}"
                    errors = table.setdefault(name, {}).setdefault(str(n), [])
                    errors.append(measure(rows, truth, family, method))
    return table


def compare_moments(samples: int, k: int = 10) -> dict[str, dict[str, list[float]]]:
    """Return figure 3-4: errors of both kinds of moments over kinds of documents."""
    truth = learn_truth(k, 1.0)
    given = {"parameters": truth, "concentration": truth.concentration}

    def gamma_poisson(n: int, seed: int) -> sparse.csr_array:
        return make_gamma_poisson(
            n, mean_length=200, shortest=3, random_state=seed, **given
        ).rows

    def fixed(n: int, seed: int) -> sparse.csr_array:
        return make_lda_fixed(n, length=200, random_state=seed, **given).rows

    def two_lengths(share: float) -> Draw:
        return lambda n, seed: (
            make_lda_two_lengths(n, share=share, random_state=seed, **given).rows
        )

    kinds: list[tuple[str, Draw, tuple[int, ...]]] = [
        ("gamma-Poisson", gamma_poisson, SIZES),
        ("LDA-fix(200)", fixed, SIZES),
        ("LDA-fix2(0.5, 20, 200)", two_lengths(0.5), SIZES),
    ]
    kinds += [(f"share {s:.1f}", two_lengths(s), (10_000,)) for s in SHARES]
    table: dict[str, dict[str, list[float]]] = {}
    for name, draw, sizes in kinds:
        for n in sizes:
            for seed in range(samples):
                rows = draw(n, seed)
                for kind, family in list_families(1.0).items():
                    errors = table.setdefault(f"{kind} on {name}", {}).setdefault(
                        str(n), []
                    )
                    errors.append(measure(rows, truth, family, "joint"))
    return table


def average(table: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    """Return means over samples."""
    return {
        name: {n: round(float(np.mean(errors)), 4) for n, errors in row.items()}
        for name, row in table.items()
    }


def check_methods(means: dict[str, dict[str, float]]) -> dict[str, bool]:
    """Return which orderings of figure 3-3 hold, on average over sizes."""
    whole = {name: float(np.mean(list(row.values()))) for name, row in means.items()}
    return {
        "joint no worse than svd, GP": whole["joint-GP"] <= 1.01 * whole["svd-GP"],
        "joint no worse than svd, LDA": whole["joint-LDA"] <= 1.01 * whole["svd-LDA"],
        "GP cumulants better than LDA moments": whole["joint-GP"] < whole["joint-LDA"],
        "power suffers more from LDA moments than joint": (
            whole["power-LDA"] - whole["power-GP"]
            > whole["joint-LDA"] - whole["joint-GP"]
        ),
    }


def check_moments(means: dict[str, dict[str, float]]) -> dict[str, bool]:
    """Return which orderings of figure 3-4 hold."""

    def whole(name: str) -> float:
        return float(np.mean(list(means[name].values())))

    fix = "on LDA-fix(200)"
    mixed = "on LDA-fix2(0.5, 20, 200)"
    return {
        "GP better on gamma-Poisson documents": (
            whole("GP on gamma-Poisson") < whole("LDA on gamma-Poisson")
        ),
        "LDA better on documents of one length, where GP is misspecified": (
            whole(f"LDA {fix}") < whole(f"GP {fix}")
        ),
        "two lengths help GP": whole(f"GP {mixed}") < whole(f"GP {fix}"),
        "GP is best between the ends of the shares": (
            min(means[f"GP on share {s:.1f}"]["10000"] for s in SHARES[1:-1])
            < min(means[f"GP on share {s:.1f}"]["10000"] for s in (0.0, 1.0))
        ),
    }


def show(title: str, means: dict[str, dict[str, float]]) -> None:
    """Print a table."""
    print(f"\n{title}")
    for name, row in means.items():
        cells = "  ".join(f"{n}: {error:.4f}" for n, error in row.items())
        print(f"{name:32} {cells}")


def main() -> None:
    """Measure, keep and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=3)
    arguments = parser.parse_args()
    methods = average(compare_methods(arguments.samples))
    show("Figure 3-3: methods, gamma-Poisson documents, k = 20", methods)
    kinds = average(compare_moments(arguments.samples))
    show("Figure 3-4: moments, joint diagonalisation, k = 10", kinds)
    holds = check_methods(methods) | check_moments(kinds)
    print()
    for claim, held in holds.items():
        print(f"{'holds' if held else 'FAILS'}: {claim}")
    found = {"methods": methods, "moments": kinds, "holds": holds}
    target = Path(__file__).parent / "results.json"
    target.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
