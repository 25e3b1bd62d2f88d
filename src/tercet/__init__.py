"""Tercet: latent variable models from the first three moments of the data.

Public names are loaded when they are first asked for, so that `import tercet`
costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tercet import datasets as datasets
    from tercet import decomposition as decomposition
    from tercet import evaluation as evaluation
    from tercet import exceptions as exceptions
    from tercet import families as families
    from tercet import flow as flow
    from tercet import hierarchy as hierarchy
    from tercet import intake as intake
    from tercet import likelihood as likelihood
    from tercet import models as models
    from tercet import moments as moments
    from tercet import plotting as plotting
    from tercet import recovery as recovery
    from tercet import report as report
    from tercet import whitening as whitening
    from tercet.hierarchy.bisecting import BisectingMoments as BisectingMoments
    from tercet.hierarchy.topics import TopicTree as TopicTree
    from tercet.intake.corpus import CorpusReader as CorpusReader
    from tercet.intake.corpus import read as read
    from tercet.intake.texts.pipelines import TextPipeline as TextPipeline
    from tercet.models.bernoulli_mixture import BernoulliMixture as BernoulliMixture
    from tercet.models.cumulant_ica import CumulantICA as CumulantICA
    from tercet.models.decomposing import decompose as decompose
    from tercet.models.discrete_cca import DiscreteCCA as DiscreteCCA
    from tercet.models.discrete_ica import DiscreteICA as DiscreteICA
    from tercet.models.files import load as load
    from tercet.models.gaussian_mixture import (
        SphericalGaussianMixture as SphericalGaussianMixture,
    )
    from tercet.models.latent_dirichlet import (
        LatentDirichletAllocation as LatentDirichletAllocation,
    )
    from tercet.models.mixed_cca import MixedCCA as MixedCCA
    from tercet.models.non_gaussian_cca import NonGaussianCCA as NonGaussianCCA
    from tercet.models.poisson_mixture import PoissonMixture as PoissonMixture
    from tercet.models.selection import select_components as select_components
    from tercet.models.single_topic import SingleTopicModel as SingleTopicModel

__all__ = [
    "BernoulliMixture",
    "BisectingMoments",
    "CorpusReader",
    "CumulantICA",
    "DiscreteCCA",
    "DiscreteICA",
    "LatentDirichletAllocation",
    "MixedCCA",
    "NonGaussianCCA",
    "PoissonMixture",
    "SingleTopicModel",
    "SphericalGaussianMixture",
    "TextPipeline",
    "TopicTree",
    "__version__",
    "datasets",
    "decompose",
    "decomposition",
    "evaluation",
    "exceptions",
    "families",
    "flow",
    "hierarchy",
    "intake",
    "likelihood",
    "load",
    "models",
    "moments",
    "plotting",
    "read",
    "recovery",
    "report",
    "select_components",
    "whitening",
]

__version__ = "0.1.0"

_ROOMS = (
    "datasets",
    "decomposition",
    "evaluation",
    "exceptions",
    "families",
    "flow",
    "hierarchy",
    "intake",
    "likelihood",
    "models",
    "moments",
    "plotting",
    "recovery",
    "report",
    "whitening",
)

# Where each public name lives; a room is its own home.
_HOMES = {room: f"tercet.{room}" for room in _ROOMS} | {
    "CumulantICA": "tercet.models.cumulant_ica",
    "MixedCCA": "tercet.models.mixed_cca",
    "NonGaussianCCA": "tercet.models.non_gaussian_cca",
    "DiscreteCCA": "tercet.models.discrete_cca",
    "BernoulliMixture": "tercet.models.bernoulli_mixture",
    "BisectingMoments": "tercet.hierarchy.bisecting",
    "DiscreteICA": "tercet.models.discrete_ica",
    "LatentDirichletAllocation": "tercet.models.latent_dirichlet",
    "PoissonMixture": "tercet.models.poisson_mixture",
    "SingleTopicModel": "tercet.models.single_topic",
    "SphericalGaussianMixture": "tercet.models.gaussian_mixture",
    "TopicTree": "tercet.hierarchy.topics",
    "CorpusReader": "tercet.intake.corpus",
    "TextPipeline": "tercet.intake.texts.pipelines",
    "decompose": "tercet.models.decomposing",
    "select_components": "tercet.models.selection",
    "load": "tercet.models.files",
    "read": "tercet.intake.corpus",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tercet' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if home.__name__ == f"tercet.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
