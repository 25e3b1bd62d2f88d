"""Models by the names that the command knows them by."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tercet.exceptions import ParameterError

__all__ = ["MODELS", "Model", "find_model", "make_model", "read_settings"]


@dataclass(frozen=True)
class Model:
    """A model that the command can fit.

    Attributes
    ----------
    public : str
        Its class, a public name of the package.
    size : str
        Its parameter for the number of components.
    views : bool
        Whether it learns from two files.
    """

    public: str
    size: str = "n_components"
    views: bool = False


MODELS = {
    "lda": Model("LatentDirichletAllocation"),
    "single-topic": Model("SingleTopicModel"),
    "discrete-ica": Model("DiscreteICA"),
    "bernoulli": Model("BernoulliMixture"),
    "poisson": Model("PoissonMixture"),
    "gaussian": Model("SphericalGaussianMixture"),
    "cumulant-ica": Model("CumulantICA"),
    "topic-tree": Model("TopicTree", size="n_leaves"),
    "bisecting": Model("BisectingMoments", size="n_clusters"),
    "discrete-cca": Model("DiscreteCCA", views=True),
    "mixed-cca": Model("MixedCCA", views=True),
    "non-gaussian-cca": Model("NonGaussianCCA", views=True),
}


def find_model(name: str) -> Model:
    """Return the model of a name.

    Examples
    --------
    >>> from tercet.cli.models import find_model
    >>> find_model("lda").public
    'LatentDirichletAllocation'
    """
    if name not in MODELS:
        raise ParameterError(
            f"model={name!r} is not known; choose one of {', '.join(MODELS)}."
        )
    return MODELS[name]


def make_model(name: str, size: int | None, settings: dict[str, Any]) -> Any:
    """Return an unfitted model.

    Parameters
    ----------
    name : str
        One of `MODELS`.
    size : int or None
        Number of components; None takes the default of the model.
    settings : dict
        Further parameters of its class.

    Returns
    -------
    estimator
        Ready to be fitted.

    Examples
    --------
    >>> from tercet.cli.models import make_model
    >>> make_model("single-topic", 4, {"refine": "none"}).get_params()["refine"]
    'none'
    """
    import tercet

    model = find_model(name)
    model_class = getattr(tercet, model.public)
    known = inspect.signature(model_class.__init__).parameters
    wrong = next((key for key in settings if key not in known or key == "self"), None)
    if wrong is not None:
        shown = ", ".join(key for key in known if key != "self")
        raise ParameterError(
            f"{wrong!r} is not a parameter of {model.public}; it has {shown}."
        )
    given = dict(settings)
    if size is not None:
        given[model.size] = size
    return model_class(**given)


def read_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Return parameters from words such as "refine=20".

    Parameters
    ----------
    pairs : iterable of str
        Name, equals sign, value; the value is JSON or else plain text.

    Returns
    -------
    dict
        Values by name.

    Examples
    --------
    >>> from tercet.cli.models import read_settings
    >>> read_settings(["refine=20", "decomposition=joint", "shared_variance=true"])
    {'refine': 20, 'decomposition': 'joint', 'shared_variance': True}
    """
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise ParameterError(
                f"set={pair!r} is not of the form name=value, as in --set refine=20."
            )
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings
