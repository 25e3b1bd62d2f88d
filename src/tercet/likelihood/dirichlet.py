"""Variational steps for latent Dirichlet allocation and gamma-Poisson topics.

A step takes every document's expected topic counts n through a few rounds of
`n_j <- e_j sum_w x_w mu_wj / (mu_w . e)`, `e = exp(psi(alpha + n))`, and sets the
topics to the expected counts of words under them: coordinate ascent on the
evidence lower bound of Blei, Ng and Jordan (2003), with topics as parameters.

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

__all__ = ["TopicRefinement", "VariationalPass", "VariationalState", "refine_topics"]

FIRST_ROUNDS = 5
ROUNDS = 2


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
        How the steps ended; its residual is the last rise of the bound.
    history : ndarray of shape (steps,)
        Evidence lower bound for each token before every step.
    shares : ndarray of shape (k,)
        Expected share of the tokens that each topic emitted.
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
        Topic counts to start from; other documents start with equal shares.
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
        known = self.known.find(block.start, block.n_rows)
        if known is None:
            k = self.concentration.size
            lengths = np.asarray(rows.sum(axis=1)).ravel()
            counts = np.repeat(lengths[:, None] / k, k, axis=1)
        else:
            counts = np.array(known, dtype=np.float64)
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
    tolerance: float = 1e-3,
    max_steps: int = 50,
    update_concentration: bool = True,
) -> TopicRefinement:
    """Improve topics by variational steps over the documents.

    Parameters
    ----------
    source : Source
        Documents; read once for every step.
    centers : array-like of shape (d, k)
        Topics to start from, as columns that sum to one.
    concentration : array-like of shape (k,)
        Dirichlet parameters (gamma shapes) to start from.
    steps : int or None, default=None
        Steps to make; None stops when a step raises the bound by less than
        `tolerance` for each token, or after `max_steps`.
    tolerance : float, default=1e-3
        Rise of the bound for each token (in nats) that is not worth a step.
    max_steps : int, default=50
        Most steps when `steps` is None.
    update_concentration : bool, default=True
        Whether the Dirichlet parameters are updated, too.

    Returns
    -------
    TopicRefinement
        Topics, Dirichlet parameters, how the steps ended and the bound on the
        way. The outcome is CONVERGED if the last step raised the bound by less
        than `tolerance`, EXHAUSTED otherwise, EXACT if no step was asked for.

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
           [0.06, 0.53]])
    >>> refined.outcome.converged
    True
    """
    topics, alpha = check_topics(centers, concentration)
    if source.n_features != topics.shape[0]:
        raise ParameterError(
            f"centers has {topics.shape[0]} rows, but the documents have "
            f"{source.n_features} features."
        )
    budget = _check_steps(steps, max_steps)
    known, shares, history = RowValues(), alpha / alpha.sum(), []
    for _ in range(budget):
        state = source.run(VariationalPass(topics, alpha, known))
        history.append(_measure_bound(state, alpha))
        known = state.counts
        topics, shares = _renew_topics(topics, state.expected, shares)
        if update_concentration and state.totals[3] > 0.0:
            alpha = refine_concentration(state.log_sums / state.totals[3], alpha)
        if steps is None and _last_rise(history) <= tolerance:
            break
    return TopicRefinement(
        topics, alpha, _conclude(history, tolerance, steps), np.array(history), shares
    )


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
    topics: FloatArray, expected: FloatArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return topics of the expected counts; one that emitted nothing stays."""
    expected *= topics
    mass = expected.sum(axis=0)
    total = mass.sum()
    if not total > 0.0:
        return topics, shares
    silent = mass < np.finfo(np.float64).tiny
    expected /= np.where(silent, 1.0, mass)
    expected[:, silent] = topics[:, silent]
    return expected, mass / total


def _last_rise(history: list[float]) -> float:
    return history[-1] - history[-2] if len(history) > 1 else np.inf


def _conclude(history: list[float], tolerance: float, steps: int | None) -> Outcome:
    made, rise = len(history), _last_rise(history)
    if not made:
        return Outcome(Status.EXACT, 0, 0.0, "No likelihood steps were asked for.")
    if rise <= tolerance:
        message = (
            f"After {made} variational steps the bound rose by {rise:.2g} for each "
            f"token, below tolerance={tolerance:g}."
        )
        return Outcome(Status.CONVERGED, made, rise, message)
    reason = "asked for" if steps is not None else "allowed by max_steps"
    message = (
        f"Made the {made} variational steps {reason}; the bound was still rising by "
        f"{rise:.2g} for each token, above tolerance={tolerance:g}."
    )
    return Outcome(Status.EXHAUSTED, made, rise, message)
