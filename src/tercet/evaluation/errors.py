"""How far estimated parameters are from the true ones (method section 10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from tercet.evaluation.matching import Components, match_components, read_components
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray

__all__ = [
    "WorstComponent",
    "find_worst_component",
    "measure_amari_distance",
    "measure_component_errors",
    "measure_frobenius_error",
    "measure_l1_error",
    "measure_relative_error",
    "measure_weight_error",
]


@dataclass(frozen=True)
class WorstComponent:
    """The component that was missed by most.

    Parameters
    ----------
    component : int
        Index of the component of the truth.
    partner : int
        Index of the component of the estimate that is paired with it.
    error : float
        Half the sum of absolute differences.

    Examples
    --------
    >>> from tercet.evaluation import WorstComponent
    >>> WorstComponent(component=2, partner=0, error=0.4).error
    0.4
    """

    component: int
    partner: int
    error: float


def measure_l1_error(truth: Components, estimate: Components) -> float:
    """Return `min_perm 1/(2k) sum_j |d_j - dhat_perm(j)|_1` (thesis 002, section 3.5).

    For probability vectors it lies between zero and one: one means that no
    topic shares a word with its partner.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows.

    Returns
    -------
    float
        Mean over components, after the best permutation.

    Examples
    --------
    >>> from tercet.evaluation import measure_l1_error
    >>> round(measure_l1_error([[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.9], [1.0, 0.0]]), 3)
    0.05
    """
    return float(measure_component_errors(truth, estimate).mean())


def measure_component_errors(truth: Components, estimate: Components) -> FloatArray:
    """Return the L1 error of every component, `1/2 |d_j - dhat_perm(j)|_1`.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows.

    Returns
    -------
    ndarray of shape (k,)
        Errors in the order of the truth, under the permutation that makes
        their sum least.

    Examples
    --------
    >>> from tercet.evaluation import measure_component_errors
    >>> measure_component_errors([[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.9], [1.0, 0.0]])
    array([0. , 0.1])
    """
    wanted, found = _read_both(truth, estimate)
    return match_components(wanted, found, "l1").costs / 2.0


def find_worst_component(truth: Components, estimate: Components) -> WorstComponent:
    """Find the component with the largest L1 error.

    A mean over components hides that one of them was lost.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows.

    Returns
    -------
    WorstComponent
        The component, its partner and the error.

    Examples
    --------
    >>> from tercet.evaluation import find_worst_component
    >>> worst = find_worst_component([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]])
    >>> worst.component, worst.partner, worst.error
    (1, 0, 0.5)
    """
    wanted, found = _read_both(truth, estimate)
    matching = match_components(wanted, found, "l1")
    worst = int(np.argmax(matching.costs))
    return WorstComponent(
        component=worst,
        partner=int(matching.order[worst]),
        error=float(matching.costs[worst] / 2.0),
    )


def measure_frobenius_error(
    truth: Components, estimate: Components, *, relative: bool = False
) -> float:
    """Return `min_perm |D - Dhat_perm|_F`.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows.
    relative : bool
        Whether to divide by the norm of the truth.

    Returns
    -------
    float
        Norm of the difference after the best permutation.

    Examples
    --------
    >>> from tercet.evaluation import measure_frobenius_error
    >>> measure_frobenius_error([[3.0, 0.0], [0.0, 4.0]], [[0.0, 4.0], [3.0, 5.0]])
    5.0
    """
    wanted, found = _read_both(truth, estimate)
    costs = match_components(wanted, found, "squared").costs
    error = float(np.sqrt(costs.sum()))
    return error / _norm(wanted) if relative else error


def measure_relative_error(
    truth: Components, estimate: Components, *, relative: bool = False
) -> float:
    """Return `sqrt(3 |D - Dhat X|_F^2)` with the best X (thesis 003, equation 5.1).

    X solves `Dhat X = D` by least squares, so that permutation and scale do not
    matter; neither does any other mixing of the columns. The measure tells how
    far the true components are from the space that the estimate spans; look at
    the L1 error as well. The formula is called a relative error but divides by
    nothing; that is an option.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows, the columns of D.
    relative : bool
        Whether to divide by the norm of the truth.

    Returns
    -------
    float
        Square root of three times the squared residual.

    Examples
    --------
    >>> from tercet.evaluation import measure_relative_error
    >>> truth = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> round(measure_relative_error(truth, [[0.0, 2.0, 0.0], [5.0, 0.0, 0.0]]), 12)
    0.0
    """
    wanted, found = _read_both(truth, estimate)
    solution = linalg.lstsq(found.T, wanted.T)[0]
    error = float(np.sqrt(3.0) * np.linalg.norm(wanted.T - found.T @ solution))
    return error / _norm(wanted) if relative else error


def measure_amari_distance(truth: Components, estimate: Components) -> float:
    """Return the Amari distance of two mixing matrices (Amari et al. 1996).

    With `P = pinv(Dhat) D` and absolute values taken, the mean over rows and
    columns of `(sum / max - 1) / (k - 1)`: zero if and only if P is a permuted
    diagonal matrix, at most one. Scales and signs of components do not matter.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows, linearly independent.

    Returns
    -------
    float
        Between zero and one; zero for a single component.

    Examples
    --------
    >>> from tercet.evaluation import measure_amari_distance
    >>> truth = [[1.0, 0.0], [0.0, 1.0]]
    >>> round(measure_amari_distance(truth, [[0.0, -2.0], [5.0, 0.0]]), 12)
    0.0
    >>> round(measure_amari_distance(truth, [[1.0, 1.0], [1.0, -1.0]]), 12)
    1.0
    """
    wanted, found = _read_both(truth, estimate)
    k = wanted.shape[0]
    if k == 1:
        return 0.0
    for name, rows in (("truth", wanted), ("estimate", found)):
        rank = int(np.linalg.matrix_rank(rows))
        if rank < k:
            raise ParameterError(
                f"{name} has {k} components of rank {rank}; the Amari distance needs "
                "linearly independent ones. Use measure_l1_error."
            )
    mixed = np.abs(linalg.lstsq(found.T, wanted.T)[0])
    # A component that is orthogonal to everything found shares nothing.
    excess = [
        np.divide(
            mixed.sum(axis=axis),
            mixed.max(axis=axis),
            out=np.full(k, float(k)),
            where=mixed.max(axis=axis) > 0,
        )
        - 1.0
        for axis in (0, 1)
    ]
    return float((excess[0].sum() + excess[1].sum()) / (2.0 * k * (k - 1.0)))


def measure_weight_error(
    truth: Components,
    estimate: Components,
    true_weights: ArrayLike,
    weights: ArrayLike,
) -> float:
    """Return the largest difference of weights, components paired by L1 error.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows; they decide who is whose partner.
    true_weights, weights : array-like of shape (k,)
        Weights of either.

    Returns
    -------
    float
        Largest absolute difference.

    Examples
    --------
    >>> from tercet.evaluation import measure_weight_error
    >>> truth, estimate = [[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.9], [1.0, 0.0]]
    >>> round(measure_weight_error(truth, estimate, [0.8, 0.2], [0.3, 0.7]), 3)
    0.1
    """
    wanted, found = _read_both(truth, estimate)
    first, second = np.asarray(true_weights, float), np.asarray(weights, float)
    for name, values in (("true_weights", first), ("weights", second)):
        if values.shape != (wanted.shape[0],):
            raise ParameterError(
                f"{name} has shape {values.shape}; give {wanted.shape[0]} numbers."
            )
    matching = match_components(wanted, found, "l1")
    return float(np.abs(first - matching.apply(second)).max())


def _read_both(
    truth: Components, estimate: Components
) -> tuple[FloatArray, FloatArray]:
    """Return both sets of components, which must be equally many."""
    wanted = read_components("truth", truth)
    found = read_components("estimate", estimate)
    if wanted.shape != found.shape:
        raise ParameterError(
            f"estimate has shape {found.shape} but truth {wanted.shape}; this measure "
            "compares equally many components over the same features. "
            "match_components pairs what can be paired."
        )
    return wanted, found


def _norm(wanted: FloatArray) -> float:
    """Return the norm of the truth, which must not vanish."""
    norm = float(np.linalg.norm(wanted))
    if norm == 0.0:
        raise ParameterError("truth is zero; relative errors need another truth.")
    return norm
