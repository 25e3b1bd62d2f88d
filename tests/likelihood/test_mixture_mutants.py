"""Wrong EM steps: the tests of the right one reject each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tercet.flow import Block
from tercet.likelihood import Bernoulli, Poisson, SphericalGaussian, refine_mixture
from tercet.likelihood.densities import LinearScores


class SharedNormalizer(Bernoulli):
    """Divides every component's ones by the mean mass."""

    def maximize(self, sums: Any, centers: Any, variances: Any) -> Any:
        return self.admit(sums.sums / sums.mass.mean()), variances


class CountsMissingAsZero(Bernoulli):
    """Divides by all rows, observed or not."""

    def maximize(self, sums: Any, centers: Any, variances: Any) -> Any:
        return self.admit(sums.sums / sums.mass), variances


class ForgetsZeros(Bernoulli):
    """Scores ones only."""

    def express(self, centers: Any, weights: Any, variances: Any) -> Any:
        right = super().express(centers, weights, variances)
        return LinearScores(np.log(centers), np.log(weights), right.slopes)


class IgnoresExposure(Poisson):
    """Divides counts by rows in place of exposures."""

    def maximize(self, sums: Any, centers: Any, variances: Any) -> Any:
        return self.admit(sums.sums / sums.mass), variances


class ForgetsTheDimension(SphericalGaussian):
    """Forgets the dimension in the variances."""

    def maximize(self, sums: Any, centers: Any, variances: Any) -> Any:
        means, spread = super().maximize(sums, centers, variances)
        return means, spread * centers.shape[0]


def binary(rng: np.random.Generator) -> Any:
    rows = (rng.random((200, 6)) < rng.uniform(0.1, 0.9, 6)).astype(float)
    rows[:90, :3] = 1.0 - rows[:90, :3]
    return rows


def gaps(rng: np.random.Generator) -> Any:
    rows = binary(rng)
    return np.where(rng.random(rows.shape) < 0.4, np.nan, rows)


def falls(density: Any, rows: Any, rng: np.random.Generator) -> bool:
    """Whether the likelihood falls at some step."""
    d = rows.shape[1]
    centers = rng.uniform(0.2, 0.8, (d, 3))
    variances = np.ones(3) if density.has_variances else None
    path = refine_mixture(
        Block(rows),
        density,
        centers,
        rng.dirichlet(np.full(3, 5.0)),
        variances=variances,
        steps=40,
    ).log_likelihoods
    return bool(np.diff(path).min() < -1e-9 * abs(path[-1]))


EXPOSURE = np.linspace(0.2, 5.0, 200)
MUTANTS: list[tuple[Any, Any, Callable[[np.random.Generator], Any]]] = [
    (SharedNormalizer(), Bernoulli(), binary),
    (CountsMissingAsZero(), Bernoulli(), gaps),
    (ForgetsZeros(), Bernoulli(), binary),
    (IgnoresExposure(EXPOSURE), Poisson(EXPOSURE), binary),
    (ForgetsTheDimension(), SphericalGaussian(), binary),
]


@pytest.mark.parametrize(
    ("mutant", "right", "draw"), MUTANTS, ids=lambda value: type(value).__name__
)
def test_the_likelihood_tells_a_wrong_step(
    mutant: Any, right: Any, draw: Callable[[np.random.Generator], Any]
) -> None:
    found = []
    for seed in range(4):
        rows = draw(np.random.default_rng(seed))
        found.append(falls(mutant, rows, np.random.default_rng(seed)))
        assert not falls(right, rows, np.random.default_rng(seed))
    assert any(found)
