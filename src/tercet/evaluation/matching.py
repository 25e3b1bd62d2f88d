"""Which component of one model is which component of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, IntArray, Parameters, Registry

__all__ = ["COSTS", "Components", "Matching", "match_components", "read_components"]

Components = ArrayLike | Parameters

# Entries of one comparison of all pairs that are held at once.
_ENTRIES_AT_ONCE = 1 << 22

COSTS = Registry[Callable[[FloatArray, FloatArray], FloatArray]]("cost")


@dataclass(frozen=True, eq=False)
class Matching:
    """The cheapest way to pair the components of two models.

    Parameters
    ----------
    order : ndarray of shape (k,)
        For each component of the first model its partner in the second, -1
        where the second has none left.
    signs : ndarray of shape (k,)
        -1 where the partner points the other way and the cost does not mind,
        else 1.
    costs : ndarray of shape (k,)
        Cost of each pair, NaN without a partner.
    left : ndarray
        Components of the second model that are nobody's partner.

    Examples
    --------
    >>> from tercet.evaluation import match_components
    >>> match_components([[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.9], [1.0, 0.0]]).order
    array([1, 0])
    """

    order: IntArray
    signs: FloatArray
    costs: FloatArray
    left: IntArray

    def apply(self, values: ArrayLike) -> FloatArray:
        """Bring rows of the second model into the order (and signs) of the first.

        Parameters
        ----------
        values : array-like of shape (k2, ...)
            One entry or row for each component of the second model.

        Returns
        -------
        ndarray of shape (k, ...)
            NaN where there is no partner.
        """
        given = np.asarray(values, dtype=np.float64)
        signs = self.signs.reshape(-1, *([1] * (given.ndim - 1)))
        ordered = given[self.order] * (signs if given.ndim > 1 else 1.0)
        ordered[self.order < 0] = np.nan
        return np.asarray(ordered)


def read_components(name: str, components: Components) -> FloatArray:
    """Return components as rows, or say what is wrong with them.

    Parameters
    ----------
    name : str
        Name of the argument.
    components : array-like of shape (k, d) or Parameters
        Components as rows; the centers of parameters are turned.

    Returns
    -------
    ndarray of shape (k, d)
        Components as rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.evaluation.matching import read_components
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.ones((3, 2)), np.full(2, 0.5))
    >>> read_components("truth", truth).shape
    (2, 3)
    """
    if isinstance(components, Parameters):
        rows = np.asarray(components.centers, dtype=np.float64).T
    else:
        rows = np.asarray(components, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ParameterError(
            f"{name} has shape {rows.shape}; give components as rows, (k, d)."
        )
    if not np.isfinite(rows).all():
        raise ParameterError(f"{name} has an entry that is NaN or infinite.")
    return rows


def match_components(
    truth: Components, estimate: Components, cost: str = "l1"
) -> Matching:
    """Pair the components of two models so that the pairs cost least in all.

    The assignment is optimal (Hungarian method), not greedy: no other pairing
    has a smaller sum of costs.

    Parameters
    ----------
    truth : array-like of shape (k, d) or Parameters
        Components of the first model.
    estimate : array-like of shape (k2, d) or Parameters
        Components of the second model, perhaps more or fewer.
    cost : {"l1", "squared", "angle", "cubes"}
        Sum of absolute differences, sum of squares, one minus the absolute
        cosine, which minds neither scale nor sign, or the squared distance of
        the cubes `mu^(x)3`.

    Returns
    -------
    Matching
        Partners and costs.

    Examples
    --------
    >>> from tercet.evaluation import match_components
    >>> found = match_components([[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.9], [1.0, 0.0]])
    >>> found.order, found.costs
    (array([1, 0]), array([0. , 0.2]))
    >>> found.apply([[0.1, 0.9], [1.0, 0.0]])
    array([[1. , 0. ],
           [0.1, 0.9]])
    """
    wanted, found = (
        read_components("truth", truth),
        read_components("estimate", estimate),
    )
    if wanted.shape[1] != found.shape[1]:
        raise ParameterError(
            f"estimate has components over {found.shape[1]} features, truth over "
            f"{wanted.shape[1]}; bring both to the same features."
        )
    table = COSTS[cost](wanted, found)
    rows, partners = linear_sum_assignment(table)
    order = np.full(wanted.shape[0], -1, dtype=np.int64)
    order[rows] = partners
    costs = np.full(wanted.shape[0], np.nan)
    costs[rows] = table[rows, partners]
    signs = np.ones(wanted.shape[0])
    if cost == "angle":
        inner = np.einsum("jd,jd->j", wanted[rows], found[partners])
        signs[rows] = np.where(inner < 0.0, -1.0, 1.0)
    left = np.setdiff1d(np.arange(found.shape[0]), partners)
    return Matching(order=order, signs=signs, costs=costs, left=left)


def _compare_all(
    truth: FloatArray,
    estimate: FloatArray,
    measure: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Sum a measure of the difference of every pair, some features at a time."""
    table = np.zeros((truth.shape[0], estimate.shape[0]))
    step = max(1, _ENTRIES_AT_ONCE // table.size)
    for start in range(0, truth.shape[1], step):
        part = slice(start, start + step)
        difference = truth[:, None, part] - estimate[None, :, part]
        table += measure(difference).sum(axis=2)
    return table


def _cost_l1(truth: FloatArray, estimate: FloatArray) -> FloatArray:
    """Sum of absolute differences of every pair."""
    return _compare_all(truth, estimate, np.abs)


def _cost_squared(truth: FloatArray, estimate: FloatArray) -> FloatArray:
    """Sum of squared differences of every pair."""
    return _compare_all(truth, estimate, np.square)


def _cost_angle(truth: FloatArray, estimate: FloatArray) -> FloatArray:
    """One minus the absolute cosine of every pair; one for a row of zeros."""
    lengths = np.outer(np.linalg.norm(truth, axis=1), np.linalg.norm(estimate, axis=1))
    inner = np.abs(truth @ estimate.T)
    cosine = np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0)
    return np.asarray(1.0 - np.minimum(cosine, 1.0))


def _cost_cubes(truth: FloatArray, estimate: FloatArray) -> FloatArray:
    """Squared distance of the third powers of every pair."""
    own = np.add.outer((truth**2).sum(axis=1) ** 3, (estimate**2).sum(axis=1) ** 3)
    return np.asarray(np.maximum(own - 2.0 * (truth @ estimate.T) ** 3, 0.0))


COSTS.add("l1", _cost_l1)
COSTS.add("squared", _cost_squared)
COSTS.add("angle", _cost_angle)
COSTS.add("cubes", _cost_cubes)
