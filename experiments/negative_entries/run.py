"""What to do with negative entries of topics: project or truncate.

Topics recovered from noisy moments have negative entries. They can be projected on
the simplex (the nearest distribution, Duchi et al. 2008), or truncated at zero and
brought back to sum one. Rows are drawn from known parameters of three models, at
two numbers of rows, and learned by moments alone; printed is the mean L1 error of
both, for dense topics (Dirichlet parameter 1 for each word) and sparse ones (0.1).

    python experiments/negative_entries/run.py [--seeds 5]

It prints to the terminal and writes no file.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np

import tercet
from tercet.datasets import make_gamma_poisson, make_lda, make_single_topic
from tercet.evaluation import measure_l1_error
from tercet.families import GammaPoisson, LatentDirichlet, SingleTopic
from tercet.flow import Parameters

N_FEATURES, K = 1000, 10
ROWS = (2000, 20_000)
PRIORS = (0.1, 1.0)


def draw(model: str, n_rows: int, prior: float, seed: int):
    """Return a sample and the family that learns from it."""
    options = {"n_features": N_FEATURES, "n_components": K, "random_state": seed}
    if model == "latent Dirichlet":
        sample = make_lda(n_rows, topic_prior=prior, **options)
        return sample, LatentDirichlet(float(sample.parameters.concentration.sum()))
    if model == "gamma-Poisson":
        return make_gamma_poisson(n_rows, topic_prior=prior, **options), GammaPoisson()
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(N_FEATURES, prior), size=K).T
    truth = Parameters(np.ascontiguousarray(topics), np.full(K, 1.0 / K))
    return make_single_topic(n_rows, parameters=truth, random_state=seed), SingleTopic()


def main() -> None:
    """Run all settings and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    out = sys.stdout
    out.write(
        f"{'model':18}{'prior':>6}{'rows':>8}{'truncate':>10}{'simplex':>10}"
        f"{'ratio':>8}{'removed':>9}\n"
    )
    for model in ("single topic", "latent Dirichlet", "gamma-Poisson"):
        for prior in PRIORS:
            for n_rows in ROWS:
                errors, removed = [], []
                for seed in range(seeds):
                    sample, family = draw(model, n_rows, prior, seed)
                    sums = tercet.moments.collect(sample.rows, family, K)
                    pair = []
                    for negative in ("truncate", "simplex"):
                        reader = replace(family, negative=negative)
                        found = tercet.decompose(sums.with_family(reader), K)
                        pair.append(measure_l1_error(sample.parameters, found))
                    errors.append(pair)
                    removed.append(found.details["negative_mass"].mean())
                cut, near = np.mean(errors, axis=0)
                out.write(
                    f"{model:18}{prior:6.1f}{n_rows:8,}{cut:10.4f}{near:10.4f}"
                    f"{near / cut:8.2f}{np.mean(removed):9.3f}\n"
                )
                out.flush()


if __name__ == "__main__":
    main()
