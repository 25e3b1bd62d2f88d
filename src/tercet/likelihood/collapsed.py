"""Collapsed variational steps for latent Dirichlet allocation.

A pass asks of every token which topic it is from, given the other tokens of its
document and topics that have, in part, not seen the document
(`tercet.kernels.collapsed`); a step sets the topics to the expected counts that follow,
smoothed. Leaving a token's own trace out is what keeps many topics from learning single
documents by heart, and what lets few topics go on learning where plain variational
steps come to rest.

The steps go on in the direction in which topics moved last (Nesterov's momentum,
started anew when the objective falls), and so do the shares of the documents. The
objective is the log-probability of a token given the others of its document. Dirichlet
parameters follow by Minka's fixed point (2000, equation 55), for expected counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma

from tercet.flow import Block, FloatArray, Source
from tercet.kernels.collapsed import blend_topics, pad_width, step_collapsed_rows
from tercet.likelihood.concentration import (
    LARGEST_CONCENTRATION,
    SMALLEST_CONCENTRATION,
)
from tercet.likelihood.documents import RowValues, give_weights, make_sparse
from tercet.likelihood.smoothing import follow_shares, smooth_topics
from tercet.likelihood.stepping import TopicSteps

__all__ = ["CollapsedPass", "CollapsedState", "CollapsedSteps"]

FIRST_ROUNDS = 5
ROUNDS = 1
SETTLED = 3
EXCLUDED = 0.75
"""How much of a document's trace in the topics its tokens leave out."""

_PATIENCE = 1.5
_STRIDE = 1.0


@dataclass(eq=False)
class CollapsedState:
    """Sums of one step, and the topic shares of the documents for the next.

    Parameters
    ----------
    expected : ndarray of shape (d, k)
        Expected number of times that a topic emitted a word.
    climbs : ndarray of shape (k,)
        Sums over documents of the expectation of `psi(alpha_j + n_j) - psi(alpha_j)`.
    totals : ndarray of shape (4,)
        Log-probabilities of tokens given the others of their documents, tokens, sum
        of `psi(alpha_0 + c) - psi(alpha_0)`, documents that are not empty.
    shares : RowValues
        Expected topic counts of the documents over their lengths, in single
        precision.
    """

    expected: FloatArray
    climbs: FloatArray
    totals: FloatArray
    shares: RowValues = field(default_factory=RowValues)


@dataclass(frozen=True, eq=False)
class CollapsedPass:
    """One collapsed step over all documents.

    Parameters
    ----------
    topics : ndarray of shape (d, p)
        Probabilities of words under topics, single precision, padded with zeros to
        the width that `tercet.kernels.collapsed.pad_width` gives.
    concentration : ndarray of shape (k,)
        Dirichlet parameters.
    own : ndarray of shape (k,)
        What a token's share in a topic takes out of the topic: `EXCLUDED` over the
        topic's tokens; zeros for topics that come from elsewhere.
    known : RowValues
        Topic shares to start from, which are taken out as they are used, so that
        only one copy is held; other documents start with equal shares.
    climbing : bool
        Whether what the Dirichlet parameters climb by is summed, too.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood.collapsed import CollapsedPass
    >>> topics = np.zeros((2, 8), dtype=np.float32)
    >>> topics[:, :2] = [[0.9, 0.2], [0.1, 0.8]]
    >>> work = CollapsedPass(topics, np.ones(2), np.zeros(2))
    >>> open_source(np.array([[8, 1], [1, 6]])).run(work).expected.sum().round(6)
    np.float64(16.0)
    """

    topics: NDArray[np.float32]
    concentration: FloatArray
    own: FloatArray
    known: RowValues = field(default_factory=RowValues)
    climbing: bool = True

    def initial(self) -> CollapsedState:
        """Return zero sums."""
        k = self.concentration.size
        return CollapsedState(
            np.zeros((self.topics.shape[0], k)), np.zeros(k), np.zeros(4)
        )

    def update(self, state: CollapsedState, block: Block) -> CollapsedState:
        """Take one block of documents through the rounds."""
        rows = make_sparse(block)
        known = self.known.take(block.start, block.n_rows)
        k = self.concentration.size
        if known is None:
            shares = np.full((block.n_rows, k), 1.0 / k, dtype=np.float32)
        else:
            shares = np.asarray(known, dtype=np.float32)
        alpha = self.concentration
        step_collapsed_rows(
            rows.data,
            rows.indices,
            rows.indptr,
            give_weights(block),
            self.topics,
            self.own,
            EXCLUDED,
            alpha,
            _list_polygammas(alpha) if self.climbing else np.zeros((3, 0)),
            FIRST_ROUNDS if known is None else ROUNDS,
            0.0 if known is None else _STRIDE,
            shares,
            state.expected,
            state.climbs,
            state.totals,
        )
        # A block without rows starts where another one does.
        if block.n_rows:
            state.shares.pieces[block.start] = shares
        return state

    def merge(self, left: CollapsedState, right: CollapsedState) -> CollapsedState:
        """Add the right sums to the left."""
        left.expected += right.expected
        left.climbs += right.climbs
        left.totals += right.totals
        left.shares.absorb(right.shares)
        return left


def _list_polygammas(alpha: FloatArray) -> FloatArray:
    """Return `psi(alpha)`, `psi'(alpha + 1)` and `psi''(alpha + 1) / 2` as rows."""
    orders = np.arange(3)[:, None]
    return np.asarray(polygamma(orders, alpha + (orders > 0)) / (1 + (orders == 2)))


class CollapsedSteps(TopicSteps):
    """Makes collapsed steps.

    The objective is the log-probability of a token given the others of its document.
    """

    def __init__(
        self, topics: FloatArray, concentration: FloatArray, pseudo_tokens: float
    ) -> None:
        super().__init__(topics, concentration, pseudo_tokens)
        d, k = topics.shape
        self._own = np.zeros(k)
        self._known = RowValues()
        self._table = np.zeros((d, pad_width(k)), dtype=np.float32)
        self._table[:, :k] = topics
        self._before: NDArray[np.float32] | None = None
        self._age = 0

    def make(self, source: Source, update: bool | str) -> None:
        """Make a step; see `TopicSteps`."""
        made = len(self.history) + 1
        # The parameters move slowly; what they climb by costs a sixth of a pass.
        climbing = update is True and made >= SETTLED and made % 2 == 1
        alpha = self.concentration
        # The topics are in the table; their own array makes room for the sums.
        del self.topics
        state = source.run(
            CollapsedPass(self._table, alpha, self._own, self._known, climbing)
        )
        self._known = state.shares
        value, tokens, spread, documents = state.totals
        self.measure_length(float(tokens), float(documents))
        self.topics, mass, _ = smooth_topics(
            state.expected, self.pseudo_tokens, self._table
        )
        held = mass + self.pseudo_tokens
        self._own = EXCLUDED / np.where(held > 0.0, held, np.inf)
        if tokens > 0.0:
            self.shares = mass / mass.sum()
        self._note(float(value / tokens) if tokens > 0.0 else 0.0)
        self._prepare()
        if climbing and spread > 0.0:
            risen = alpha * state.climbs / spread
            self.concentration = np.clip(
                risen, SMALLEST_CONCENTRATION, LARGEST_CONCENTRATION
            )
        elif update == "shares":
            self.concentration = follow_shares(alpha, self.shares)

    def _note(self, objective: float) -> None:
        """Keep the objective; a fall ends the momentum."""
        if self.history and objective < self.history[-1]:
            self._age = 0
        self.history.append(objective)

    def _prepare(self) -> None:
        """Set the table for the next step a little further on than the topics."""
        k = self.topics.shape[1]
        if self._before is None:
            self._before = self.topics.astype(np.float32)
            self._table[:, :k] = self.topics
            return
        self._age += 1
        momentum = self._age / (self._age + _PATIENCE)
        blend_topics(self.topics, self._before, momentum, self._table)
        self._before[:] = self.topics
