"""Likelihood: steps that raise it, inference with fixed parameters, held-out scores."""

from tercet.likelihood.densities import Density
from tercet.likelihood.densities_discrete import Bernoulli, Multinomial, Poisson
from tercet.likelihood.densities_gaussian import SphericalGaussian
from tercet.likelihood.dirichlet import fit_concentration
from tercet.likelihood.expectation import RowSubset
from tercet.likelihood.held_out import SCORES, HeldOutScore, score_topics
from tercet.likelihood.inference import INFERENCES, infer_topics
from tercet.likelihood.mixtures import (
    STOPPING_RULES,
    MixtureRefinement,
    infer_mixture,
    refine_mixture,
    score_mixture,
    sum_mixture,
)
from tercet.likelihood.topic_steps import STEPS, TopicRefinement, refine_topics

__all__ = [
    "INFERENCES",
    "SCORES",
    "STEPS",
    "STOPPING_RULES",
    "Bernoulli",
    "Density",
    "HeldOutScore",
    "MixtureRefinement",
    "Multinomial",
    "Poisson",
    "RowSubset",
    "SphericalGaussian",
    "TopicRefinement",
    "fit_concentration",
    "infer_mixture",
    "infer_topics",
    "refine_mixture",
    "refine_topics",
    "score_mixture",
    "score_topics",
    "sum_mixture",
]
