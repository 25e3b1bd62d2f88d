"""Synthetic data with the truth attached.

Each generator returns one `Sample`: rows, the parameters they were drawn from,
the hidden component or proportions of each row, and what was asked for. The
same arguments always give the same rows.
"""

from tercet.datasets.gamma_poisson import make_gamma_poisson
from tercet.datasets.latent_dirichlet import (
    make_lda,
    make_lda_conditioned,
    make_lda_fixed,
    make_lda_two_lengths,
)
from tercet.datasets.mixtures import (
    make_bernoulli_mixture,
    make_poisson_mixture,
    make_spherical_gaussians,
)
from tercet.datasets.samples import Sample
from tercet.datasets.single_topic import make_hierarchical_topics, make_single_topic
from tercet.datasets.views import (
    ViewSample,
    ViewTruth,
    make_discrete_cca,
    make_mixed_cca,
    make_non_gaussian_cca,
)

__all__ = [
    "Sample",
    "ViewSample",
    "ViewTruth",
    "make_bernoulli_mixture",
    "make_discrete_cca",
    "make_gamma_poisson",
    "make_hierarchical_topics",
    "make_lda",
    "make_lda_conditioned",
    "make_lda_fixed",
    "make_lda_two_lengths",
    "make_mixed_cca",
    "make_non_gaussian_cca",
    "make_poisson_mixture",
    "make_single_topic",
    "make_spherical_gaussians",
]
