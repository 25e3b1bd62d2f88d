"""Likelihood: steps that raise it, inference with fixed parameters, held-out scores."""

from tercet.likelihood.dirichlet import TopicRefinement, refine_topics

__all__ = [
    "TopicRefinement",
    "refine_topics",
]
