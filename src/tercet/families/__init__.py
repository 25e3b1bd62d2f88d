"""The equations of each model: moments in, parameters out, and rows drawn from it.

A family is a frozen value that satisfies `tercet.flow.Family`; besides, it has
`population(parameters)`, the exact moments of given parameters, and
`sample(parameters, n_rows, rng)`, rows with their hidden truth. Modules are
loaded when a family is first asked for, so that names are known at once and
cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tercet.flow import FAMILIES, Family

if TYPE_CHECKING:
    from tercet.families.bernoulli import Bernoulli as Bernoulli
    from tercet.families.counts import GammaPoisson as GammaPoisson
    from tercet.families.counts import Poisson as Poisson
    from tercet.families.gaussian import SphericalGaussian as SphericalGaussian
    from tercet.families.independent import (
        IndependentComponents as IndependentComponents,
    )
    from tercet.families.three_views import ThreeViews as ThreeViews
    from tercet.families.topics import LatentDirichlet as LatentDirichlet
    from tercet.families.topics import SingleTopic as SingleTopic

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "GammaPoisson",
    "IndependentComponents",
    "LatentDirichlet",
    "Poisson",
    "SingleTopic",
    "SphericalGaussian",
    "ThreeViews",
]

# Where each family lives and the name under which it is registered.
_HOMES = {
    "SingleTopic": ("tercet.families.topics", "single-topic"),
    "LatentDirichlet": ("tercet.families.topics", "latent-dirichlet"),
    "GammaPoisson": ("tercet.families.counts", "gamma-poisson"),
    "Poisson": ("tercet.families.counts", "poisson"),
    "Bernoulli": ("tercet.families.bernoulli", "bernoulli"),
    "SphericalGaussian": ("tercet.families.gaussian", "spherical-gaussian"),
    "IndependentComponents": (
        "tercet.families.independent",
        "independent-components",
    ),
    "ThreeViews": ("tercet.families.three_views", "three-view"),
}


class _Builder:
    """Build a family from its settings, loading its module on first use."""

    def __init__(self, class_name: str) -> None:
        self.class_name = class_name

    def __call__(self, **settings: Any) -> Family:
        home, _ = _HOMES[self.class_name]
        family: Family = getattr(import_module(home), self.class_name)(**settings)
        return family


for _class_name, (_, _name) in _HOMES.items():
    FAMILIES.add(_name, _Builder(_class_name))


def __getattr__(name: str) -> Any:
    """Load a family on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tercet.families' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name][0]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
