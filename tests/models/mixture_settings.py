"""Rows drawn from one kind of mixture, and how near a model comes to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

import tercet
from tercet import likelihood
from tercet.datasets import (
    make_bernoulli_mixture,
    make_poisson_mixture,
    make_spherical_gaussians,
)
from tercet.flow import Block


class Setting:
    """One kind of mixture with rows drawn from it."""

    def __init__(self, kind: str, n_rows: int = 1500, seed: int = 0) -> None:
        self.density = {"gaussian": "SphericalGaussian"}.get(kind, kind.title())
        make, self.cls, more = {
            "bernoulli": (make_bernoulli_mixture, tercet.BernoulliMixture, {}),
            "poisson": (make_poisson_mixture, tercet.PoissonMixture, {}),
            "gaussian": (
                make_spherical_gaussians,
                tercet.SphericalGaussianMixture,
                {"variances": [0.5, 1.0, 1.5]},
            ),
        }[kind]
        self.sample = make(
            n_rows,
            n_features=24,
            n_components=3,
            weights=[0.5, 0.3, 0.2],
            random_state=seed,
            **more,
        )
        self.rows = self.sample.rows
        self.labels = self.sample.labels

    def model(self, **settings: Any) -> Any:
        return self.cls(3, **settings)

    def measure(self, model: Any) -> float:
        """How well the model tells the components apart."""
        return adjusted_rand_score(self.labels, model.predict(self.rows))

    def measure_truth(self) -> float:
        """How well they can be told apart with the true parameters."""
        density = getattr(likelihood, self.density)()
        truth = self.sample.parameters
        posteriors = likelihood.infer_mixture(
            Block(self.rows.astype(float)),
            density,
            truth.centers,
            truth.weights,
            variances=truth.variances,
        )
        return adjusted_rand_score(self.labels, posteriors.argmax(axis=1))


KINDS = ["bernoulli", "poisson", "gaussian"]


def measure_distance(found: np.ndarray, truth: np.ndarray) -> float:
    """Largest distance of a center from the truth, after matching."""
    distances = np.abs(found[:, None] - truth[None]).max(axis=2)
    rows, columns = linear_sum_assignment(distances)
    return float(distances[rows, columns].max())
