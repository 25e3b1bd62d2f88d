"""Likelihood steps for topics: from where moments end to where they settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, Outcome, Source, Status
from tercet.likelihood.collapsed import CollapsedSteps
from tercet.likelihood.dirichlet import VariationalSteps
from tercet.likelihood.documents import check_topics
from tercet.likelihood.stepping import TopicSteps

__all__ = ["STEPS", "TopicRefinement", "refine_topics"]

Kind = Literal["collapsed", "variational"]

_MAKERS: dict[Kind, type[TopicSteps]] = {
    "collapsed": CollapsedSteps,
    "variational": VariationalSteps,
}

STEPS: tuple[Kind, ...] = tuple(_MAKERS)
"""Kinds of likelihood steps for topics."""

SMOOTHING: dict[Kind, float] = {"collapsed": 0.1, "variational": 0.05}
"""Pseudo-tokens for each word and topic."""

TOLERANCES: dict[Kind, float] = {"collapsed": 1e-3, "variational": 2e-3}
"""Nats for each token that are not worth a step."""

# Nats for each document that are not worth a step, over the tolerance for a token.
_OF_DOCUMENT = 150.0


@dataclass(frozen=True, eq=False)
class TopicRefinement:
    """Topics after likelihood steps.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Topics as columns that sum to one, in the order in which they came.
    concentration : ndarray of shape (k,)
        Dirichlet parameters.
    outcome : Outcome
        How the steps ended; its residual is what the rule looks at.
    history : ndarray of shape (steps,)
        Objective before every step: the log-probability of a token given the others
        of its document (collapsed), or for each token the evidence lower bound plus
        the logarithm of the smoothing prior (variational).
    shares : ndarray of shape (k,)
        Expected share of the tokens that each topic emitted.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import refine_topics
    >>> source = open_source(np.array([[8, 1], [1, 6]]))
    >>> start = np.array([[0.7, 0.2], [0.3, 0.8]])
    >>> refined = refine_topics(source, start, [0.5, 0.5], steps=3)
    >>> refined.outcome.iterations, refined.history.shape
    (3, (3,))
    """

    centers: FloatArray
    concentration: FloatArray
    outcome: Outcome
    history: FloatArray
    shares: FloatArray


def refine_topics(
    source: Source,
    centers: ArrayLike,
    concentration: ArrayLike,
    *,
    kind: Kind = "collapsed",
    steps: int | None = None,
    tolerance: float | None = None,
    max_steps: int = 60,
    update_concentration: bool | Literal["shares"] = True,
    smoothing: float | None = None,
) -> TopicRefinement:
    """Improve topics by likelihood steps over the documents.

    Without a number of steps, they end when two in a row change the objective by no more
    than `tolerance` for each token, and 150 times that for each document;
    docs/concepts/topic_likelihood.md says how kinds and constants were chosen.

    Parameters
    ----------
    source : Source
        Documents; read once for every step.
    centers : array-like of shape (d, k)
        Topics to start from, as columns that sum to one.
    concentration : array-like of shape (k,)
        Dirichlet parameters (gamma shapes) to start from.
    kind : {"collapsed", "variational"}, default="collapsed"
        Steps that leave a token's own trace out of what is known about it, or plain
        ones, which raise the evidence lower bound plus the logarithm of the
        smoothing prior every time.
    steps : int or None, default=None
        Steps to make; None leaves the end to the rule.
    tolerance : float or None, default=None
        Nats for each token that are not worth a step; documents of more than 150
        tokens are worth more steps. None is 0.001 for collapsed steps, 0.002 for
        variational ones, which take less of a step in.
    max_steps : int, default=60
        Most steps when `steps` is None.
    update_concentration : bool or "shares", default=True
        Whether the Dirichlet parameters are updated, too: from the third step on,
        for before, proportions are far from settled. "shares" keeps their sum and
        lets them follow the shares of the topics.
    smoothing : float or None, default=None
        Pseudo-tokens of each topic, as a multiple of the number of words; None is
        0.1 for collapsed steps, 0.05 for variational ones.

    Returns
    -------
    TopicRefinement
        Topics, Dirichlet parameters, how the steps ended and the objective on
        the way. The outcome is CONVERGED if the rule was met, EXHAUSTED
        otherwise, EXACT if no step was asked for; its residual is what the last
        two steps changed at most, per token.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import refine_topics
    >>> rows = np.array([[8, 1, 0], [7, 0, 1], [0, 5, 4], [0, 4, 6]])
    >>> start = np.array([[0.5, 0.2], [0.3, 0.4], [0.2, 0.4]])
    >>> refined = refine_topics(open_source(rows), start, [0.5, 0.5])
    >>> refined.centers.round(1)
    array([[0.9, 0. ],
           [0. , 0.5],
           [0. , 0.5]])
    >>> refined.outcome.converged
    True
    """
    topics, alpha = check_topics(centers, concentration)
    if source.n_features != topics.shape[0]:
        raise ParameterError(
            f"centers has {topics.shape[0]} rows, but the documents have "
            f"{source.n_features} features."
        )
    if kind not in STEPS:
        raise ParameterError(
            f"kind={kind!r} is not known; choose one of {', '.join(map(repr, STEPS))}."
        )
    smoothing = SMOOTHING[kind] if smoothing is None else smoothing
    tolerance = TOLERANCES[kind] if tolerance is None else tolerance
    if not (np.isfinite(smoothing) and smoothing >= 0.0):
        raise ParameterError(f"smoothing={smoothing!r} must be a number from 0 on.")
    if update_concentration not in (True, False, "shares"):
        raise ParameterError(
            f"update_concentration={update_concentration!r} must be True, False or "
            "'shares'."
        )
    budget = _check_steps(steps, max_steps)
    way = _MAKERS[kind](topics, alpha, smoothing * topics.shape[0])
    enough = tolerance
    for _ in range(budget):
        way.make(source, update_concentration)
        enough = tolerance * min(1.0, _OF_DOCUMENT / way.mean_length)
        if steps is None and _measure_change(way.history) <= enough:
            break
    outcome = _conclude(way.history, enough, steps)
    return TopicRefinement(
        way.topics, way.concentration, outcome, np.array(way.history), way.shares
    )


def _check_steps(steps: int | None, max_steps: int) -> int:
    """Return the most steps that may be made."""
    name, value = ("max_steps", max_steps) if steps is None else ("steps", steps)
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise ParameterError(f"{name}={value!r} must be a non-negative integer.")
    return int(value)


def _measure_change(history: list[float]) -> float:
    """Return by how much one of the last two steps changed the objective, at most.

    Momentum sets in with the third step, so that the changes are no smooth sequence.
    """
    if len(history) < 3:
        return np.inf
    return float(np.abs(np.diff(history[-3:])).max())


def _conclude(history: list[float], tolerance: float, steps: int | None) -> Outcome:
    made = len(history)
    if not made:
        return Outcome(Status.EXACT, 0, 0.0, "No likelihood steps were asked for.")
    change = _measure_change(history)
    if change <= tolerance:
        message = (
            f"The last two of {made} likelihood steps changed the objective by at most "
            f"{change:.2g} nats for each token, within tolerance={tolerance:.2g}."
        )
        return Outcome(Status.CONVERGED, made, change, message)
    reason = "asked for" if steps is not None else "allowed by max_steps"
    message = f"Made the {made} likelihood steps {reason}"
    if made > 2:
        message += (
            f"; the last still changed the objective by {change:.2g} nats for each "
            f"token, above tolerance={tolerance:.2g}"
        )
    return Outcome(Status.EXHAUSTED, made, change, f"{message}.")
