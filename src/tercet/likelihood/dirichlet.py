"""Plain variational passes for latent Dirichlet allocation and gamma-Poisson topics.

A pass takes every document's expected topic counts n through a few rounds of
`n_j <- e_j sum_w x_w mu_wj / (mu_w . e)`, `e = exp(psi(alpha + n))`, and sums the
expected counts of words under topics: coordinate ascent on the evidence lower bound
of Blei, Ng and Jordan (2003), with topics as parameters.

Gamma-Poisson topics (discrete ICA) draw intensities `h_j` from a gamma
distribution with shape `alpha_j` and one rate for all topics, and counts from
`Poisson(centers @ h)`. Given its length, such a document is one of latent
Dirichlet allocation with `concentration = shapes`: `h / sum(h)` has the
Dirichlet distribution of the shapes and is independent of `sum(h)`, which alone
decides the length. The passes therefore serve both models; the shapes are the
concentration. With a rate for each topic the shares are no longer Dirichlet
exactly; then the steps are those of the nearest model with a common rate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from tercet.flow import Block, FloatArray, Source
from tercet.kernels.variational import step_variational_rows
from tercet.likelihood.concentration import refine_concentration
from tercet.likelihood.documents import (
    RowValues,
    check_topics,
    give_weights,
    make_sparse,
)
from tercet.likelihood.smoothing import follow_shares, smooth_topics
from tercet.likelihood.stepping import TopicSteps

__all__ = [
    "VariationalPass",
    "VariationalState",
    "VariationalSteps",
    "fit_concentration",
]

FIRST_ROUNDS = 5
ROUNDS = 2
SETTLED = 3

_WORDS = 1024
_TINY = float(np.finfo(np.float64).tiny)


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


class VariationalSteps(TopicSteps):
    """Makes plain variational steps.

    A step raises the evidence lower bound plus the logarithm of the smoothing prior.
    """

    def __init__(
        self, topics: FloatArray, concentration: FloatArray, pseudo_tokens: float
    ) -> None:
        super().__init__(topics, concentration, pseudo_tokens)
        self._known = RowValues()

    def make(self, source: Source, update: bool | str) -> None:
        """Make a step; see `TopicSteps`."""
        topics, alpha = self.topics, self.concentration
        state = source.run(VariationalPass(topics, alpha, self._known))
        self._known = state.counts
        objective = _measure_bound(state, alpha)
        _, tokens, _, documents = state.totals
        self.measure_length(float(tokens), float(documents))
        state.expected *= topics
        self.topics, mass, prior = smooth_topics(
            state.expected, self.pseudo_tokens, topics
        )
        total = float(mass.sum())
        if total > 0.0:
            self.shares = mass / total
            if self.pseudo_tokens > 0.0:
                objective += _sum_logs(topics, prior) / total
        self.history.append(objective)
        if not update or not state.totals[3] > 0.0:
            return
        if update is True and len(self.history) >= SETTLED:
            logs = state.log_sums / state.totals[3]
            self.concentration = refine_concentration(logs, alpha)
        else:
            # Proportions look too even before they settle; their sum would shoot up.
            self.concentration = follow_shares(alpha, self.shares)


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


def _measure_bound(state: VariationalState, alpha: FloatArray) -> float:
    """Return the evidence lower bound for each token."""
    bound, tokens, _, documents = state.totals
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return float((bound + documents * constant) / tokens) if tokens > 0.0 else 0.0


def _sum_logs(topics: FloatArray, prior: FloatArray) -> float:
    """Return `sum_wj prior_w log topics_wj`, some words at a time."""
    total = 0.0
    for first in range(0, topics.shape[0], _WORDS):
        part = slice(first, first + _WORDS)
        logs = np.log(np.maximum(topics[part], _TINY)).sum(axis=1)
        total += float(prior[part] @ logs)
    return total
