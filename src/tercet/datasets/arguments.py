"""Checks of the arguments of generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from tercet.datasets.truths import spread_concentration
from tercet.exceptions import ParameterError
from tercet.families.population import check_components
from tercet.families.settings import check_count, check_positive
from tercet.flow import IntArray, Parameters
from tercet.recovery import order_by_weight

__all__ = [
    "check_range",
    "check_sizes",
    "draw_lengths",
    "order_given",
    "order_topics",
    "tell_settings",
]


def check_sizes(n_rows: int, n_features: int, n_components: int) -> None:
    """Refuse sizes that no sample has.

    Parameters
    ----------
    n_rows, n_features, n_components : int
        Sizes, each at least one.

    Examples
    --------
    >>> from tercet.datasets.arguments import check_sizes
    >>> check_sizes(10, 5, 2)
    """
    check_count("n_rows", n_rows, 1)
    check_count("n_features", n_features, 1)
    check_count("n_components", n_components, 1)


def check_range(name: str, bounds: Sequence[float], least: float) -> None:
    """Refuse a range that is empty or begins too low.

    Parameters
    ----------
    name : str
        Name of the argument.
    bounds : pair of float
        Beginning and end.
    least : float
        Where it may begin.

    Examples
    --------
    >>> from tercet.datasets.arguments import check_range
    >>> check_range("lengths", (3, 100), 0)
    """
    if len(bounds) != 2 or not least <= bounds[0] <= bounds[1]:
        raise ParameterError(
            f"{name}={tuple(bounds)} must be two rising numbers from {least:g} on."
        )


def draw_lengths(
    lengths: ArrayLike | None, mean_length: float, n_rows: int, rng: Generator
) -> IntArray:
    """Return given lengths, or Poisson lengths of a given mean.

    Parameters
    ----------
    lengths : int, array-like of shape (n,) or None
        Tokens of each document.
    mean_length : float
        Mean of the Poisson distribution when no lengths are given.
    n_rows : int
        Number of documents n.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n,)
        Tokens of each document.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.arguments import draw_lengths
    >>> draw_lengths(5, 100.0, 2, np.random.default_rng(0))
    array([5, 5])
    """
    if lengths is None:
        check_positive("mean_length", mean_length)
        return np.asarray(rng.poisson(mean_length, n_rows), dtype=np.int64)
    given = np.asarray(lengths)
    if given.shape not in ((), (n_rows,)) or not np.issubdtype(given.dtype, np.integer):
        raise ParameterError(
            f"lengths is {given.dtype} of shape {given.shape}; give a whole number or "
            f"{n_rows} of them."
        )
    return np.array(np.broadcast_to(given, n_rows), dtype=np.int64)


def order_given(parameters: Parameters) -> Parameters:
    """Check parameters that a caller gave, and sort them by falling weight.

    Parameters
    ----------
    parameters : Parameters
        For instance those of a model fitted to real data.

    Returns
    -------
    truth : Parameters
        The same, components by falling weight, without details.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.arguments import order_given
    >>> from tercet.flow import Parameters
    >>> given = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.2, 0.8]))
    >>> order_given(given).weights
    array([0.8, 0.2])
    """
    if not isinstance(parameters, Parameters):
        raise ParameterError(
            f"parameters={parameters!r} is not a tercet.flow.Parameters; make one from "
            "centers (d, k) and weights (k)."
        )
    check_components(parameters)
    return order_by_weight(replace(parameters, details={}))


def order_topics(parameters: Parameters, concentration: ArrayLike) -> Parameters:
    """Check topics that a caller gave and complete them with Dirichlet parameters.

    Parameters
    ----------
    parameters : Parameters
        Topics with `concentration`, or with weights alone.
    concentration : float or array-like of shape (k,)
        Its sum is spread over the weights if `parameters` has none.

    Returns
    -------
    truth : Parameters
        Topics, Dirichlet parameters and the weights that follow from them.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.arguments import order_topics
    >>> from tercet.flow import Parameters
    >>> given = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.75, 0.25]))
    >>> order_topics(given, 2.0).concentration
    array([3., 1.])
    """
    truth = order_given(parameters)
    if truth.concentration is None:
        total = spread_concentration(concentration, truth.n_components).sum()
        alpha = total * truth.weights
    else:
        alpha = spread_concentration(truth.concentration, truth.n_components)
    return order_by_weight(
        replace(truth, weights=alpha / alpha.sum(), concentration=alpha, rate=None)
    )


def tell_settings(
    n_rows: int,
    truth: Parameters,
    random_state: int | Generator | None,
    **others: Any,
) -> dict[str, Any]:
    """Return what was asked for.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    truth : Parameters
        What the rows were drawn from.
    random_state : int, Generator or None
        A generator cannot be told and becomes None.
    **others : object
        Other arguments of the generator.

    Returns
    -------
    dict
        Every argument by name.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.arguments import tell_settings
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.full((2, 1), 0.5), np.ones(1))
    >>> tell_settings(9, truth, 0)["n_features"]
    2
    """
    return {
        "n_rows": n_rows,
        "n_features": truth.n_features,
        "n_components": truth.n_components,
        **others,
        "random_state": None if isinstance(random_state, Generator) else random_state,
    }
