"""How the error of the parameters falls with the number of rows.

For the single-topic model, latent Dirichlet allocation, the gamma-Poisson model and
the Poisson mixture, rows are drawn from known parameters (300 features, 5
components; 100 features for the single-topic model, whose topics are uniform numbers
as in paper 000 and so alike), and learned by moments alone (joint diagonalisation). Sums of 1,000,
2,000, ... rows are prefixes of one another. Printed for every model and number of
rows: mean L1 error (centers of the Poisson mixture are brought to sum one), mean
largest error of a weight, and, over the larger half of the sizes, the exponent
fitted to both: -0.5 is what sums of independent rows allow.

    python experiments/sample_rate/run.py [--seeds 5] [--largest 256000]

It prints to the terminal and writes no file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

import tercet
from tercet.datasets import (
    Sample,
    make_gamma_poisson,
    make_lda,
    make_poisson_mixture,
    make_single_topic,
)
from tercet.evaluation import measure_l1_error, measure_weight_error
from tercet.families import GammaPoisson, LatentDirichlet, Poisson, SingleTopic
from tercet.flow import Parameters

SIZE = {"n_features": 300, "n_components": 5}
WEIGHTS = np.array([5.0, 4.0, 3.0, 2.0, 1.0]) / 15.0
SHAPES = [0.5, 0.4, 0.3, 0.2, 0.1]
SMALLEST = 1000


def draw_single_topic(n_rows: int, seed: int) -> Sample:
    """Draw documents about uniform topics with weights that are not left to chance."""
    topics = np.random.default_rng(seed).random((100, 5))
    truth = Parameters(topics / topics.sum(axis=0), WEIGHTS)
    return make_single_topic(n_rows, parameters=truth, random_state=seed)


# A model: how rows are drawn, and the family that learns from them.
MODELS: dict[str, tuple[Callable[[int, int], Sample], object]] = {
    "single topic": (draw_single_topic, SingleTopic()),
    "latent Dirichlet": (
        lambda n, seed: make_lda(n, concentration=SHAPES, random_state=seed, **SIZE),
        LatentDirichlet(sum(SHAPES)),
    ),
    "gamma-Poisson": (
        lambda n, seed: make_gamma_poisson(
            n, concentration=SHAPES, random_state=seed, **SIZE
        ),
        GammaPoisson(),
    ),
    "Poisson mixture": (
        lambda n, seed: make_poisson_mixture(
            n, mean=0.5, weights=WEIGHTS, random_state=seed, **SIZE
        ),
        Poisson(),
    ),
}


def normalize(parameters: Parameters) -> np.ndarray:
    """Return components as rows that sum to one."""
    rows = parameters.centers.T
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def measure_errors(name: str, sizes: list[int], seed: int) -> np.ndarray:
    """Return L1 and weight errors, (2, sizes), of growing prefixes of one sample."""
    make, family = MODELS[name]
    sample = make(sizes[-1], seed)
    truth = sample.parameters
    errors = []
    for n_rows in sizes:
        sums = tercet.moments.collect(sample.rows[:n_rows], family, 5)
        found = tercet.decompose(sums, 5)
        pair = normalize(truth), normalize(found)
        weights = measure_weight_error(*pair, truth.weights, found.weights)
        errors.append((measure_l1_error(*pair), weights))
    return np.array(errors).T


def fit_exponent(sizes: list[int], errors: np.ndarray) -> float:
    """Return the slope of log errors over log sizes, over the larger half."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(errors[half:]), 1)[0])


def study(name: str, sizes: list[int], seeds: int) -> tuple[np.ndarray, list[float]]:
    """Return mean errors (2, sizes) and the exponents of both."""
    every = [measure_errors(name, sizes, seed) for seed in range(seeds)]
    mean = np.mean(every, axis=0)
    return mean, [fit_exponent(sizes, errors) for errors in mean]


def main() -> None:
    """Run the study and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=256_000)
    options = parser.parse_args()
    sizes = [SMALLEST]
    while 2 * sizes[-1] <= options.largest:
        sizes.append(2 * sizes[-1])
    out = sys.stdout
    head = "".join(f"{n_rows:>9,}" for n_rows in sizes)
    out.write(f"{'model':18}{'error':9}{head} exponent\n")
    for name in MODELS:
        errors, exponents = study(name, sizes, options.seeds)
        for what, row, exponent in zip(
            ("L1", "weights"), errors, exponents, strict=True
        ):
            cells = "".join(f"{error:9.4f}" for error in row)
            out.write(f"{name:18}{what:9}{cells} {exponent:8.2f}\n")
        out.flush()


if __name__ == "__main__":
    main()
