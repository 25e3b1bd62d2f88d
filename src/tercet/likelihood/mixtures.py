"""EM for mixtures, posteriors and exact likelihoods, over any source of rows.

The parameters live in a closed set: weights at least `least_weight / k`, centers
inside the floor of their density. Each maximisation is exact inside that set, so
the likelihood never falls, no component is silenced and nothing is ever NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, Outcome, Registry, Status
from tercet.likelihood.densities import Density, MixtureSums, project_shares
from tercet.likelihood.expectation import (
    ExpectationPass,
    Rows,
    RowSubset,
    ScorePass,
    ScoreState,
    express_scores,
)

__all__ = [
    "STOPPING_RULES",
    "MixtureRefinement",
    "infer_mixture",
    "refine_mixture",
    "score_mixture",
    "sum_mixture",
]

# A rise of the log-likelihood by less than this share of it is rounding.
_ROUNDING = 1e-13

# Least part of the scatter of the rows that a start takes for variance.
_LEAST_SCATTER = 1e-3


@dataclass(frozen=True, eq=False)
class MixtureRefinement:
    """Parameters after EM and the way there.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Centers, in the order of the start.
    weights : ndarray of shape (k,)
        Positive weights that sum to one.
    variances : ndarray of shape (k,) or None
        Variances of Gaussian components.
    outcome : Outcome
        Whether the stopping rule was met.
    log_likelihoods : ndarray
        Of all rows, before each step; the result is at least as likely as the
        last entry says.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.likelihood import Poisson, refine_mixture
    >>> rows = Block(np.array([[1.0], [2.0], [8.0], [9.0]]))
    >>> start = np.array([[1.0, 9.0]])
    >>> found = refine_mixture(rows, Poisson(), start, np.ones(2) / 2)
    >>> found.centers.round(1), found.outcome.status.value
    (array([[1.5, 8.4]]), 'converged')
    """

    centers: FloatArray
    weights: FloatArray
    variances: FloatArray | None
    outcome: Outcome
    log_likelihoods: FloatArray


@dataclass(frozen=True, eq=False)
class _Values:
    """Parameters of a mixture at one step."""

    centers: FloatArray
    weights: FloatArray
    variances: FloatArray | None


# A rule gives a residual that must fall below the tolerance: from the mean
# log-likelihoods of the rows so far, and the values before and after the step.
_Rule: TypeAlias = Callable[[list[float], _Values, _Values], float]


def _measure_rise(levels: list[float], _: _Values, __: _Values) -> float:
    """Return how much the mean log-likelihood of a row can still rise.

    EM converges linearly, so the rises left add up to a geometric series
    (Aitken's extrapolation); the last rise alone would stop too early.
    """
    if len(levels) < 2:
        return np.inf
    rise = levels[-1] - levels[-2]
    if rise <= _ROUNDING * abs(levels[-1]):
        return 0.0
    if len(levels) < 3:
        return np.inf
    before = levels[-2] - levels[-3]
    ratio = rise / before if before > 0.0 else 1.0
    return max(rise, rise * ratio / (1.0 - ratio)) if ratio < 1.0 else np.inf


def _measure_weights(_: list[float], before: _Values, after: _Values) -> float:
    return float(np.linalg.norm(after.weights - before.weights))


def _measure_centers(_: list[float], before: _Values, after: _Values) -> float:
    return float(np.linalg.norm(after.centers - before.centers))


def _measure_both(levels: list[float], before: _Values, after: _Values) -> float:
    return max(
        _measure_weights(levels, before, after) / 0.01,
        _measure_centers(levels, before, after) / 0.0001,
    )


STOPPING_RULES = Registry[tuple[_Rule, float, str]]("rule")
"""Stopping rules of EM: how they measure, their tolerance, what they measure."""

STOPPING_RULES.add(
    "likelihood", (_measure_rise, 1e-5, "rise of the log-likelihood of a row to come")
)
STOPPING_RULES.add("weights", (_measure_weights, 0.01, "change of the weights"))
STOPPING_RULES.add("centers", (_measure_centers, 0.0001, "change of the centers"))
STOPPING_RULES.add(
    "thesis",
    (_measure_both, 1.0, "change of weights / 0.01 and of centers / 0.0001"),
)


def refine_mixture(
    rows: Rows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    *,
    variances: FloatArray | None = None,
    steps: int | None = None,
    tolerance: float | None = None,
    max_steps: int = 500,
    rule: str = "likelihood",
    least_weight: float = 1e-3,
) -> MixtureRefinement:
    """Improve the parameters of a mixture with EM steps.

    Parameters
    ----------
    rows : Source, Block or RowSubset
        Rows of data; a source must be re-readable unless one step is wanted.
    density : Density
        `Multinomial`, `Bernoulli`, `Poisson` or `SphericalGaussian`.
    centers : ndarray of shape (d, k)
        Start. Entries far below those of the whole mixture are raised a little.
    weights : ndarray of shape (k,)
        Start.
    variances : ndarray of shape (k,) or None
        Start of Gaussian components; None takes what the centers leave of the
        scatter of the rows, at the cost of another reading.
    steps : int or None
        Exactly this many steps, or None to go on until the rule is met.
    tolerance : float or None
        What the residual of the rule must fall below; None takes the rule's own.
    max_steps : int
        Largest number of steps when `steps` is None.
    rule : {"likelihood", "weights", "centers", "thesis"}
        "likelihood": the mean log-likelihood of a row will rise by less than
        1e-5 in all steps to come, by extrapolation. "weights": the norm of
        their change is below 0.01 (thesis 001, section 4.5); "centers": that
        of the centers is below 0.0001 (section 6.4); "thesis": both.
    least_weight : float
        Least weight of a component, as a share of an equal weight.

    Returns
    -------
    MixtureRefinement
        Parameters, outcome, and the log-likelihood before each step.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.likelihood import Bernoulli, refine_mixture
    >>> rows = Block(np.repeat([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [30, 10], axis=0))
    >>> start = np.array([[0.6, 0.4], [0.6, 0.4], [0.4, 0.6]])
    >>> found = refine_mixture(rows, Bernoulli(), start, np.array([0.5, 0.5]))
    >>> found.weights.round(2), found.outcome.converged
    (array([0.75, 0.25]), True)
    """
    measure, own_tolerance, noun = STOPPING_RULES[rule]
    bound = own_tolerance if tolerance is None else tolerance
    rows = rows.expose(density) if isinstance(rows, RowSubset) else rows
    values = _begin(rows, density, centers, weights, variances, least_weight)
    base, residual = 0.0, np.inf
    totals: list[float] = []
    levels: list[float] = []
    for step in range(max_steps if steps is None else steps):
        sums = _expect(rows, density, values, with_base=step == 0)
        mass = float(sums.mass.sum())
        if mass <= 0.0:
            raise DataError(
                "All rows have weight zero; there is nothing to refine with."
            )
        base += sums.base
        totals.append(sums.log_likelihood + base)
        levels.append(totals[-1] / mass)
        before, values = values, _maximize(density, sums, values, least_weight)
        residual = measure(levels, before, values)
        if steps is None and residual < bound:
            break
    return MixtureRefinement(
        values.centers,
        values.weights,
        values.variances,
        _conclude(len(totals), residual, bound, noun, steps),
        np.array(totals),
    )


def infer_mixture(
    rows: Rows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    *,
    variances: FloatArray | None = None,
) -> FloatArray:
    """Return the posterior probabilities of the components (paper 000, equation 1).

    Parameters
    ----------
    rows : Source, Block or RowSubset
        Rows of data.
    density : Density
        Of the components.
    centers : ndarray of shape (d, k)
        Centers.
    weights : ndarray of shape (k,)
        Weights.
    variances : ndarray of shape (k,) or None
        Variances of Gaussian components.

    Returns
    -------
    ndarray of shape (n, k)
        Rows that sum to one, in the order of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.likelihood import Poisson, infer_mixture
    >>> rows = Block(np.array([[2.0], [9.0]]))
    >>> infer_mixture(rows, Poisson(), np.array([[2.0, 9.0]]), np.ones(2) / 2).round(2)
    array([[0.98, 0.02],
           [0.  , 1.  ]])
    """
    scores = _score(rows, density, centers, weights, variances)
    scores -= scores.max(axis=1, keepdims=True)
    posteriors = np.exp(scores, out=scores)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    return posteriors


def score_mixture(
    rows: Rows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    *,
    variances: FloatArray | None = None,
) -> FloatArray:
    """Return the exact log-likelihood of each row.

    Parameters
    ----------
    rows : Source, Block or RowSubset
        Rows of data.
    density : Density
        Of the components.
    centers : ndarray of shape (d, k)
        Centers.
    weights : ndarray of shape (k,)
        Weights.
    variances : ndarray of shape (k,) or None
        Variances of Gaussian components.

    Returns
    -------
    ndarray of shape (n,)
        Log-likelihoods, not weighted, in the order of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.likelihood import Bernoulli, score_mixture
    >>> rows = Block(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> centers = np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> np.exp(score_mixture(rows, Bernoulli(), centers, np.array([0.3, 0.7])))
    array([0.25, 0.25])
    """
    scores = _score(rows, density, centers, weights, variances)
    highest = scores.max(axis=1)
    scores -= highest[:, None]
    return np.asarray(highest + np.log(np.exp(scores, out=scores).sum(axis=1)))


def sum_mixture(
    rows: Rows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    *,
    variances: FloatArray | None = None,
) -> tuple[float, float]:
    """Return the log-likelihood of all rows, weighted, and the weight of them.

    Parameters
    ----------
    rows : Source, Block or RowSubset
        Rows of data, with weights of their own.
    density : Density
        Of the components.
    centers : ndarray of shape (d, k)
        Centers.
    weights : ndarray of shape (k,)
        Weights of the components.
    variances : ndarray of shape (k,) or None
        Variances of Gaussian components.

    Returns
    -------
    total : float
        Weighted sum of the log-likelihoods.
    mass : float
        Sum of the row weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.likelihood import Bernoulli, sum_mixture
    >>> rows = Block(np.array([[1.0], [0.0]]), weights=np.array([3.0, 1.0]))
    >>> total, mass = sum_mixture(rows, Bernoulli(), np.array([[0.5]]), np.ones(1))
    >>> round(float(np.exp(total / mass)), 6)
    0.5
    """
    values = _Values(density.admit(centers), weights, variances)
    sums = _expect(rows, density, values, with_base=True)
    mass = float(sums.mass.sum())
    if mass <= 0.0:
        raise DataError("All rows have weight zero; there is nothing to score.")
    return sums.log_likelihood + sums.base, mass


def _run(rows: Rows, work: Any) -> Any:
    if isinstance(rows, Block):
        return work.update(work.initial(), rows)
    return rows.run(work)


def _score(
    rows: Rows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    variances: FloatArray | None,
) -> FloatArray:
    scores = express_scores(density, density.admit(centers), weights, variances)
    state: ScoreState = _run(rows, ScorePass(density, *scores))
    return state.join(weights.size)


def _expect(
    rows: Rows, density: Density, values: _Values, *, with_base: bool = False
) -> MixtureSums:
    """Return the sums of an expectation step, of rows that are not shifted."""
    scores, shift = express_scores(
        density, values.centers, values.weights, values.variances
    )
    work = ExpectationPass(density, scores, shift, with_base=with_base)
    return cast(MixtureSums, _run(rows, work))


def _maximize(
    density: Density, sums: MixtureSums, values: _Values, least_weight: float
) -> _Values:
    """Return the parameters that maximise the expected likelihood."""
    shift = density.shift(values.centers)
    moved = values.centers if shift is None else values.centers - shift[:, None]
    centers, variances = density.maximize(sums, moved, values.variances)
    return _Values(
        centers if shift is None else centers + shift[:, None],
        project_shares(sums.mass, least_weight / sums.mass.size),
        variances,
    )


def _begin(
    rows: Rows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    variances: FloatArray | None,
    least_weight: float,
) -> _Values:
    """Return a start inside the set that the steps stay in."""
    if centers.ndim != 2 or weights.shape != centers.shape[1:]:
        raise ParameterError(
            f"centers has shape {centers.shape} and weights has shape {weights.shape}; "
            "give (d, k) and (k,)."
        )
    if not (np.isfinite(centers).all() and np.isfinite(weights).all()):
        raise ParameterError("centers and weights must be finite to start from.")
    shares = project_shares(np.maximum(weights, 0.0), least_weight / weights.size)
    start = density.begin(np.ascontiguousarray(centers), shares)
    if density.has_variances:
        variances = (
            _start_variances(rows, density, start, shares)
            if variances is None
            else np.broadcast_to(variances, shares.shape).astype(np.float64)
        )
    return _Values(start, shares, variances)


def _start_variances(
    rows: Rows, density: Density, centers: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the scatter about the pooled center that the centers do not explain."""
    pooled = centers @ weights
    one = _Values(pooled[:, None], np.ones(1), np.ones(1))
    sums = _expect(rows, density, one)
    scatter = float(sums.exposed[0] / max(sums.mass[0], np.finfo(float).tiny))
    explained = float(weights @ ((centers - pooled[:, None]) ** 2).sum(axis=0))
    left = max(scatter - explained, _LEAST_SCATTER * scatter) / centers.shape[0]
    return np.full(weights.size, left)


def _conclude(
    steps: int, residual: float, bound: float, noun: str, asked: int | None
) -> Outcome:
    """Say how the iteration ended."""
    figure = f"{noun} {residual:.2g} (tolerance {bound:.2g})"
    if steps and residual < bound:
        message = f"EM converged after {steps} steps: {figure}."
        return Outcome(Status.CONVERGED, steps, residual, message)
    message = (
        f"EM ended after {steps} steps, its budget, before convergence: {figure}. "
        "Allow more steps, or start from better parameters."
        if asked is None
        else f"EM took the {steps} steps that were asked for: {figure}."
    )
    return Outcome(Status.EXHAUSTED, steps, residual, message)
