"""How much a center leaves unsaid about rows, from their sums alone.

Each loss is a Bregman information: it is least about the mean of the rows,
never negative in the gain of a split, and a function of `sum w`, `sum w x` and
`sum w |x|^2`. Constants that no center has a part in are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import xlog1py, xlogy

from tercet.flow import FloatArray, Registry

__all__ = ["LOSSES", "Loss"]


@dataclass(frozen=True)
class Loss:
    """What rows cost about a center.

    Parameters
    ----------
    name : str
        Name in `LOSSES`.
    noun : str
        What it is, for people.
    center : callable
        `center(mass, total)` is the best center.
    measure : callable
        `measure(mass, total, squares, center)` is the loss about a center.
    """

    name: str
    noun: str
    center: Callable[[float, FloatArray], FloatArray]
    measure: Callable[[float, FloatArray, float, FloatArray], float]


LOSSES = Registry[Loss]("loss")


def _mean(mass: float, total: FloatArray) -> FloatArray:
    return total / max(mass, np.finfo(float).tiny)


def _share(mass: float, total: FloatArray) -> FloatArray:  # noqa: ARG001
    tokens = float(total.sum())
    if tokens <= 0.0:
        return np.full(total.size, 1.0 / total.size)
    return np.asarray(total / tokens)


def _scatter(
    mass: float, total: FloatArray, squares: float, center: FloatArray
) -> float:
    return max(0.0, float(squares - 2.0 * (total @ center) + mass * (center @ center)))


def _multinomial(
    mass: float,  # noqa: ARG001
    total: FloatArray,
    squares: float,  # noqa: ARG001
    center: FloatArray,
) -> float:
    return float(-xlogy(total, center).sum())


def _bernoulli(
    mass: float,
    total: FloatArray,
    squares: float,  # noqa: ARG001
    center: FloatArray,
) -> float:
    zeros = np.maximum(mass - total, 0.0)
    # Ones in every row have a center of one and no zeros, up to rounding.
    below = np.minimum(center, 1.0 - np.finfo(float).epsneg)
    return float(-xlogy(total, center).sum() - xlog1py(zeros, -below).sum())


def _poisson(
    mass: float,
    total: FloatArray,
    squares: float,  # noqa: ARG001
    center: FloatArray,
) -> float:
    return float(mass * center.sum() - xlogy(total, center).sum())


for _loss in (
    Loss("scatter", "squared distances from the center", _mean, _scatter),
    Loss("multinomial", "minus log-likelihood", _share, _multinomial),
    Loss("bernoulli", "minus log-likelihood", _mean, _bernoulli),
    Loss("poisson", "minus log-likelihood", _mean, _poisson),
):
    LOSSES.add(_loss.name, _loss)
