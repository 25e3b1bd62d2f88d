"""Variational steps for latent Dirichlet allocation and gamma-Poisson topics.

A step takes every document's expected topic counts n through a few rounds of
`n_j <- e_j sum_w x_w mu_wj / (mu_w . e)`, `e = exp(psi(alpha + n))`, and sets the
topics to the expected counts of words under them: coordinate ascent on the
evidence lower bound of Blei, Ng and Jordan (2003), with topics as parameters.
To the counts of every topic a few pseudo-tokens are added, shared out like the
words of the corpus: the maximum under a Dirichlet prior, without which words
that a topic happened not to emit would be impossible in new documents.

Gamma-Poisson topics (discrete ICA) draw intensities `h_j` from a gamma
distribution with shape `alpha_j` and one rate for all topics, and counts from
`Poisson(centers @ h)`. Given its length, such a document is one of latent
Dirichlet allocation with `concentration = shapes`: `h / sum(h)` has the
Dirichlet distribution of the shapes and is independent of `sum(h)`, which alone
decides the length. The steps therefore serve both models; the shapes are the
concentration. With a rate for each topic the shares are no longer Dirichlet
exactly; then the steps are those of the nearest model with a common rate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from tercet.exceptions import ParameterError
from tercet.flow import Block, FloatArray, Outcome, Source, Status
from tercet.kernels.variational import step_variational_rows
from tercet.likelihood.concentration import refine_concentration
from tercet.likelihood.documents import (
    RowValues,
    check_topics,
    give_weights,
    make_sparse,
)

__all__ = [
    "TopicRefinement",
    "VariationalPass",
    "VariationalState",
    "fit_concentration",
    "refine_topics",
]

FIRST_ROUNDS = 5
ROUNDS = 2
SETTLED = 3
SMOOTHING = 0.05
"""Pseudo-tokens for each word and topic."""

_LEAST_SHARE = 1e-2
_WORDS = 1024
# Nats for each token that count, alone and for each parameter a token.
_WORTH, _WORTH_LOADED = 0.2, 0.44
_TINY = float(np.finfo(np.float64).tiny)


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
        Objective for each token before every step: the evidence lower bound
        plus the logarithm of the smoothing prior.
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


@dataclass(eq=False)
class VariationalState:
    """Sums of one step, and the topic counts of the documents for the next.

    Parameters
    ----------
    expected : ndarray of shape (d, k)
        Times the topics: expected number of times a topic emitted a word.
    log_sums : ndarray of shape (k,)
        Sums of the documents' expected log proportions.
    totals : ndarray of shape (4,)
        Bound, tokens, sum of psi(gamma_0), documents that are not empty.
    counts : RowValues
        Expected topic counts of the documents.
    """

    expected: FloatArray
    log_sums: FloatArray
    totals: FloatArray
    counts: RowValues = field(default_factory=RowValues)


@dataclass(frozen=True, eq=False)
class VariationalPass:
    """One variational step over all documents.

    Parameters
    ----------
    topics : ndarray of shape (d, k)
        Probabilities of words under topics.
    concentration : ndarray of shape (k,)
        Dirichlet parameters.
    known : RowValues
        Topic counts to start from, which are taken out as they are used, so that
        only one copy is held; other documents start with equal shares.
    rounds : int
        Rounds for documents whose counts are known.
    first_rounds : int
        Rounds for the others.
    """

    topics: FloatArray
    concentration: FloatArray
    known: RowValues = field(default_factory=RowValues)
    rounds: int = ROUNDS
    first_rounds: int = FIRST_ROUNDS

    def initial(self) -> VariationalState:
        """Return zero sums."""
        k = self.concentration.size
        return VariationalState(np.zeros(self.topics.shape), np.zeros(k), np.zeros(4))

    def update(self, state: VariationalState, block: Block) -> VariationalState:
        """Take one block of documents through the rounds."""
        rows = make_sparse(block)
        known = self.known.take(block.start, block.n_rows)
        if known is None:
            k = self.concentration.size
            lengths = np.asarray(rows.sum(axis=1)).ravel()
            counts = np.repeat(lengths[:, None] / k, k, axis=1)
        else:
            counts = np.asarray(known, dtype=np.float64)
        step_variational_rows(
            rows.data,
            rows.indices,
            rows.indptr,
            give_weights(block),
            self.topics,
            self.concentration,
            self.first_rounds if known is None else self.rounds,
            counts,
            state.expected,
            state.log_sums,
            state.totals,
        )
        # A block without rows starts where another one does.
        if block.n_rows:
            state.counts.pieces[block.start] = counts
        return state

    def merge(
        self, left: VariationalState, right: VariationalState
    ) -> VariationalState:
        """Add the right sums to the left."""
        left.expected += right.expected
        left.log_sums += right.log_sums
        left.totals += right.totals
        left.counts.absorb(right.counts)
        return left


def refine_topics(
    source: Source,
    centers: ArrayLike,
    concentration: ArrayLike,
    *,
    steps: int | None = None,
    tolerance: float = 0.02,
    max_steps: int = 50,
    update_concentration: bool | Literal["shares"] = True,
    smoothing: float = SMOOTHING,
) -> TopicRefinement:
    """Improve topics by variational steps over the documents.

    A step raises the evidence lower bound plus the logarithm of the smoothing
    prior. Without a number of steps, they end when one adds no more than a
    fiftieth of what all have added, and no more than `0.004 + 0.0088 k d / c`
    nats for each of the c tokens: topics that many documents know gain for
    long, topics of few documents soon begin to fit noise
    (docs/concepts/topic_likelihood.md has the figures).

    Parameters
    ----------
    source : Source
        Documents; read once for every step.
    centers : array-like of shape (d, k)
        Topics to start from, as columns that sum to one.
    concentration : array-like of shape (k,)
        Dirichlet parameters (gamma shapes) to start from.
    steps : int or None, default=None
        Steps to make; None leaves the end to the rule.
    tolerance : float, default=0.02
        Share of the rise so far that is not worth a step; the nats above are
        `tolerance (0.2 + 0.44 k d / c)`.
    max_steps : int, default=50
        Most steps when `steps` is None.
    update_concentration : bool or "shares", default=True
        Whether the Dirichlet parameters are updated, too. They climb from the
        third step on: before, proportions are far from settled and look too even,
        so that only the shares of the topics are updated and their sum is kept.
        "shares" keeps it throughout.
    smoothing : float, default=0.05
        Pseudo-tokens of each topic, as a multiple of the number of words.

    Returns
    -------
    TopicRefinement
        Topics, Dirichlet parameters, how the steps ended and the objective on
        the way. The outcome is CONVERGED if the rule was met, EXHAUSTED
        otherwise, EXACT if no step was asked for; its residual is compared with
        `tolerance`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import refine_topics
    >>> rows = np.array([[8, 1, 0], [7, 0, 1], [0, 5, 4], [0, 4, 6]])
    >>> start = np.array([[0.5, 0.2], [0.3, 0.4], [0.2, 0.4]])
    >>> refined = refine_topics(open_source(rows), start, [0.5, 0.5])
    >>> refined.centers.round(2)
    array([[0.88, 0.  ],
           [0.06, 0.47],
           [0.06, 0.52]])
    >>> refined.outcome.converged
    True
    """
    topics, alpha = check_topics(centers, concentration)
    if source.n_features != topics.shape[0]:
        raise ParameterError(
            f"centers has {topics.shape[0]} rows, but the documents have "
            f"{source.n_features} features."
        )
    if not (np.isfinite(smoothing) and smoothing >= 0.0):
        raise ParameterError(f"smoothing={smoothing!r} must be a number from 0 on.")
    if update_concentration not in (True, False, "shares"):
        raise ParameterError(
            f"update_concentration={update_concentration!r} must be True, False or "
            "'shares'."
        )
    budget = _check_steps(steps, max_steps)
    pseudo_tokens = smoothing * topics.shape[0]
    known, shares, load = RowValues(), alpha / alpha.sum(), 0.0
    history: list[float] = []
    for made in range(1, budget + 1):
        state = source.run(VariationalPass(topics, alpha, known))
        known = state.counts
        bound = _measure_bound(state, alpha)
        topics, shares, prior = _renew_topics(topics, state, shares, pseudo_tokens)
        history.append(bound + prior)
        alpha = _renew_concentration(
            alpha, state, shares, update_concentration, settled=made >= SETTLED
        )
        load = topics.size / max(float(state.totals[1]), 1.0)
        if steps is None and _judge_rise(history, load) <= tolerance:
            break
    outcome = _conclude(history, load, tolerance, steps)
    return TopicRefinement(topics, alpha, outcome, np.array(history), shares)


def fit_concentration(
    source: Source,
    centers: ArrayLike,
    *,
    start: float = 1.0,
    tolerance: float = 0.01,
    max_steps: int = 30,
) -> FloatArray:
    """Return the Dirichlet parameters that suit documents and fixed topics.

    They climb on the evidence lower bound; no topic is changed.

    Parameters
    ----------
    source : Source
        Documents; read once for every step.
    centers : array-like of shape (d, k)
        Topics as columns that sum to one.
    start : float, default=1.0
        Sum of the parameters at the start, shared out evenly.
    tolerance : float, default=0.01
        Relative change of the sum that is not worth a step.
    max_steps : int, default=30
        Most steps.

    Returns
    -------
    ndarray of shape (k,)
        Dirichlet parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import fit_concentration
    >>> rows = open_source(np.array([[8, 1, 0], [7, 0, 1], [0, 5, 4], [0, 4, 6]]))
    >>> topics = np.array([[0.8, 0.1], [0.1, 0.4], [0.1, 0.5]])
    >>> alpha = fit_concentration(rows, topics)
    >>> bool(alpha[0] < alpha[1] < 1.0)
    True
    """
    k = np.shape(centers)[-1]
    topics, alpha = check_topics(centers, np.full(k, start / k))
    known, rounds = RowValues(), 4 * FIRST_ROUNDS
    for _ in range(max_steps):
        previous = float(alpha.sum())
        state = source.run(
            VariationalPass(topics, alpha, known, ROUNDS + 1, first_rounds=rounds)
        )
        known = state.counts
        if not state.totals[3] > 0.0:
            break
        alpha = refine_concentration(state.log_sums / state.totals[3], alpha)
        if abs(alpha.sum() - previous) <= tolerance * previous:
            break
    return alpha


def _check_steps(steps: int | None, max_steps: int) -> int:
    """Return the most steps that may be made."""
    name, value = ("max_steps", max_steps) if steps is None else ("steps", steps)
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise ParameterError(f"{name}={value!r} must be a non-negative integer.")
    return int(value)


def _measure_bound(state: VariationalState, alpha: FloatArray) -> float:
    """Return the evidence lower bound for each token."""
    bound, tokens, _, documents = state.totals
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return float((bound + documents * constant) / tokens) if tokens > 0.0 else 0.0


def _renew_topics(
    topics: FloatArray,
    state: VariationalState,
    shares: FloatArray,
    pseudo_tokens: float,
) -> tuple[FloatArray, FloatArray, float]:
    """Return topics of the smoothed counts, shares, and the prior of the old topics.

    The prior is its logarithm for each token. Without smoothing, a topic that
    emitted nothing stays.
    """
    expected = state.expected
    expected *= topics
    mass = expected.sum(axis=0)
    total = float(mass.sum())
    if not total > 0.0:
        return topics, shares, 0.0
    prior = (pseudo_tokens / total) * expected.sum(axis=1)
    height = 0.0
    if pseudo_tokens > 0.0:
        height = _sum_logs(topics, prior) / total
    expected += prior[:, None]
    smoothed = mass + pseudo_tokens
    silent = smoothed < _TINY
    expected /= np.where(silent, 1.0, smoothed)
    expected[:, silent] = topics[:, silent]
    return expected, mass / total, height


def _sum_logs(topics: FloatArray, prior: FloatArray) -> float:
    """Return `sum_wj prior_w log topics_wj`, some words at a time."""
    total = 0.0
    for first in range(0, topics.shape[0], _WORDS):
        part = slice(first, first + _WORDS)
        logs = np.log(np.maximum(topics[part], _TINY)).sum(axis=1)
        total += float(prior[part] @ logs)
    return total


def _renew_concentration(
    alpha: FloatArray,
    state: VariationalState,
    shares: FloatArray,
    update: bool | str,
    *,
    settled: bool,
) -> FloatArray:
    """Return the Dirichlet parameters for the next step."""
    if not update or not state.totals[3] > 0.0:
        return alpha
    if update is True and settled:
        return refine_concentration(state.log_sums / state.totals[3], alpha)
    # A topic that emits nothing keeps a little, and can come back.
    kept = np.maximum(shares, _LEAST_SHARE / shares.size)
    return np.asarray(alpha.sum() * kept / kept.sum())


def _judge_rise(history: list[float], load: float) -> float:
    """Return how much the last step added, to be compared with the tolerance.

    As a share of what all steps have added, or as nats for each token over what
    counts there (see `refine_topics`), whichever is larger.
    """
    if len(history) < 2:
        return np.inf
    last, whole = history[-1] - history[-2], history[-1] - history[0]
    share = last / whole if whole > 0.0 else 0.0
    return max(share, last / (_WORTH + _WORTH_LOADED * load))


def _conclude(
    history: list[float], load: float, tolerance: float, steps: int | None
) -> Outcome:
    made = len(history)
    if not made:
        return Outcome(Status.EXACT, 0, 0.0, "No likelihood steps were asked for.")
    residual = _judge_rise(history, load)
    rise = history[-1] - history[-2] if made > 1 else np.inf
    if residual <= tolerance:
        message = (
            f"The last of {made} variational steps raised the objective by {rise:.2g} "
            f"for each token: {residual:.2g}, within tolerance={tolerance:g}."
        )
        return Outcome(Status.CONVERGED, made, residual, message)
    reason = "asked for" if steps is not None else "allowed by max_steps"
    message = f"Made the {made} variational steps {reason}"
    if made > 1:
        message += (
            f"; the last still raised the objective by {rise:.2g} for each token: "
            f"{residual:.2g}, above tolerance={tolerance:g}"
        )
    return Outcome(Status.EXHAUSTED, made, residual, f"{message}.")
