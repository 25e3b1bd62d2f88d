"""Scores of documents that the topics were not learned from.

Three estimates of one thing, the logarithm of the probability of a token:

- the evidence lower bound of a document, over its tokens;
- the left-to-right estimate of its probability, over its tokens (Wallach,
  Murray, Salakhutdinov and Mimno 2009, algorithm 3);
- document completion: one part of the tokens is predicted from the other,
  `sum_held log(mu_w . theta) / n_held`, theta being the posterior mean of the
  proportions given the observed part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, Registry, Source
from tercet.kernels.tokens import run_particle
from tercet.kernels.variational import (
    bound_rows,
    infer_variational_rows,
    predict_rows,
)
from tercet.likelihood.documents import (
    RowValues,
    check_topics,
    give_weights,
    make_sparse,
)
from tercet.likelihood.inference import (
    INFERENCES,
    Infer,
    Options,
    RowWork,
    check_features,
)
from tercet.likelihood.tokens import (
    check_whole,
    draw_seed,
    list_tokens,
    make_row_generator,
    split_row,
)

__all__ = ["SCORES", "HeldOutScore", "score_topics"]


@dataclass(frozen=True)
class HeldOutScore:
    """How well topics predict documents.

    Parameters
    ----------
    per_token : float
        Mean natural logarithm of the probability of a token; larger is better.
    n_tokens : float
        Tokens that were predicted.
    standard_error : float
        Of `per_token`, from how the documents differ.
    n_unknown : float
        Tokens of words that no topic knows; they are left out.

    Examples
    --------
    >>> from tercet.likelihood import HeldOutScore
    >>> round(HeldOutScore(-2.0, 100.0, 0.01).perplexity, 2)
    7.39
    """

    per_token: float
    n_tokens: float
    standard_error: float
    n_unknown: float = 0.0

    @property
    def perplexity(self) -> float:
        """Number of equally likely words that a token is as uncertain as."""
        return float(np.exp(-self.per_token))


@dataclass(frozen=True)
class _Settings:
    """Settings of the scores; see `score_topics`."""

    particles: int
    sweeps: int
    held_share: float
    inference: str
    seed: int

    def __post_init__(self) -> None:
        for name in ("particles", "sweeps"):
            value = getattr(self, name)
            if int(value) != value or value < 1:
                raise ParameterError(f"{name}={value!r} must be a positive integer.")
        if not 0.0 < self.held_share < 1.0:
            raise ParameterError(
                f"held_share={self.held_share!r} must lie between 0 and 1: one part of "
                "each document is predicted from the other."
            )


SCORES = Registry[Callable[[FloatArray, FloatArray, _Settings], Infer]]("method")
"""Scores by name; each measures log-probability, known tokens and unknown ones."""


def score_topics(
    source: Source,
    centers: ArrayLike,
    concentration: ArrayLike,
    *,
    method: str = "bound",
    rng: np.random.Generator | None = None,
    particles: int = 20,
    sweeps: int = 1,
    held_share: float = 0.5,
    inference: str = "variational",
) -> HeldOutScore:
    """Return the log-probability of a token of held-out documents.

    With c tokens in a document, `t` in all and row weights `w`:

    - `"bound"`: `sum_i w_i L_i / sum_i w_i c_i`, L being the evidence lower
      bound on `log p(x_i)` as a sequence of tokens, at its maximum.
    - `"left-to-right"`: the same with an estimate of `log p(x_i)` itself,
      `sum_n log (1/R) sum_r p(w_n | w_<n, z_<n^r)` with R particles. Its
      exponential has no bias for R = 1; averaging at each token, as published,
      trades a small bias for far less variance. The tokens come in random
      order. Time grows with the square of a document's length.
    - `"completion"`: the tokens of each document are parted at random;
      `floor(held_share c)` of them are predicted one at a time from the others.

    Words that no topic knows are left out, and counted.

    Parameters
    ----------
    source : Source
        Documents.
    centers : array-like of shape (d, k)
        Topics as columns that sum to one.
    concentration : array-like of shape (k,)
        Dirichlet parameters.
    method : {"bound", "completion", "left-to-right"}
        Which estimate.
    rng : numpy.random.Generator or None, default=None
        For the latter two; None is a fixed seed.
    particles : int, default=20
        Particles R of the left-to-right estimate.
    sweeps : int, default=1
        Gibbs sweeps of a particle before each token; one is Wallach's algorithm.
    held_share : float, default=0.5
        Share of the tokens that is predicted by completion.
    inference : str, default="variational"
        How completion infers proportions; see `infer_topics`.

    Returns
    -------
    HeldOutScore
        The score, its standard error and the tokens it rests on.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import score_topics
    >>> topics = np.array([[0.8, 0.1], [0.2, 0.4], [0.0, 0.5]])
    >>> rows = open_source(np.array([[5, 1, 0], [0, 3, 4], [4, 2, 2]]))
    >>> bound = score_topics(rows, topics, [0.5, 0.5])
    >>> exact = score_topics(rows, topics, [0.5, 0.5], method="left-to-right")
    >>> round(bound.per_token, 2), round(exact.per_token, 2)
    (-0.99, -0.97)
    """
    topics, alpha = check_topics(centers, concentration)
    check_features(source, topics)
    settings = _Settings(particles, sweeps, held_share, inference, draw_seed(rng))
    measure = SCORES[method](topics, alpha, settings)
    table = np.asarray(source.run(_WeightedWork(measure))).reshape(-1, 4)
    return _summarize(table[:, :3], table[:, 3])


@dataclass(frozen=True, eq=False)
class _WeightedWork(RowWork):
    """A pass that keeps the weight of every row behind its numbers."""

    def update(self, state: RowValues, block: Block) -> RowValues:
        """Keep the numbers and weights of a block."""
        numbers = self.measure(make_sparse(block), block.start)
        weights = give_weights(block)
        state.pieces[block.start] = np.column_stack([numbers, weights])
        return state


def _summarize(table: FloatArray, weights: FloatArray) -> HeldOutScore:
    """Return the ratio of sums and the standard error of a ratio."""
    logs, tokens, unknown = weights * table.T
    total = float(tokens.sum())
    if not total > 0.0:
        raise DataError(
            "None of the tokens can be predicted: the documents are too short, have "
            "weight zero, or share no word with the topics."
        )
    per_token = float(logs.sum() / total)
    n = int(np.count_nonzero(tokens))
    spread = float(np.sqrt(((logs - per_token * tokens) ** 2).sum()))
    error = spread / total * np.sqrt(n / (n - 1)) if n > 1 else float("nan")
    return HeldOutScore(per_token, total, float(error), float(unknown.sum()))


def _bound(topics: FloatArray, alpha: FloatArray, settings: _Settings) -> Infer:  # noqa: ARG001
    """Prepare the evidence lower bound."""
    options = Options()
    known = (topics.max(axis=1) > 0.0).astype(np.float64)

    def measure(rows: sparse.csr_array, start: int) -> FloatArray:  # noqa: ARG001
        counts = (rows @ known)[:, None] * (alpha / alpha.sum())
        flat = (rows.data, rows.indices, rows.indptr, topics, alpha)
        infer_variational_rows(*flat, options.tolerance, options.max_rounds, counts)
        table = np.empty((3, rows.shape[0]))
        bound_rows(*flat, counts, table[0], table[1])
        table[2] = rows.sum(axis=1) - table[1]
        return table.T

    return measure


def _left_to_right(topics: FloatArray, alpha: FloatArray, settings: _Settings) -> Infer:
    """Prepare the left-to-right estimate."""
    known = (topics.max(axis=1) > 0.0).astype(np.int64)
    k = alpha.size

    def measure(rows: sparse.csr_array, start: int) -> FloatArray:
        table = np.zeros((rows.shape[0], 3))
        lengths = np.asarray(rows.sum(axis=1)).ravel()
        for i, listed in list_tokens(rows, known, start, "method='left-to-right'"):
            generator = make_row_generator(settings.seed, start + i)
            words = generator.permutation(listed)
            predicted = np.zeros(words.size)
            pairs = words.size * (words.size - 1) // 2
            needed = settings.sweeps * pairs + words.size
            for _ in range(settings.particles):
                run_particle(
                    words,
                    topics,
                    alpha,
                    settings.sweeps,
                    generator.random(needed),
                    np.empty(words.size, dtype=np.int64),
                    np.empty(k),
                    np.empty(k),
                    predicted,
                )
            value = float(np.log(predicted / settings.particles).sum())
            table[i] = value, words.size, lengths[i] - words.size
        return table

    return measure


def _completion(topics: FloatArray, alpha: FloatArray, settings: _Settings) -> Infer:
    """Prepare document completion."""
    options = Options(seed=settings.seed)
    infer = INFERENCES[settings.inference](topics, alpha, options)

    def measure(rows: sparse.csr_array, start: int) -> FloatArray:
        held = np.empty(rows.nnz)
        for i in range(rows.shape[0]):
            part = slice(rows.indptr[i], rows.indptr[i + 1])
            purpose = "method='completion'"
            whole = check_whole(rows.indices[part], rows.data[part], start + i, purpose)
            held[part] = split_row(whole, settings.held_share, settings.seed, start + i)
        observed = sparse.csr_array(
            (rows.data - held, rows.indices, rows.indptr), shape=rows.shape
        )
        shares = np.ascontiguousarray(infer(observed, start))
        table = np.empty((3, rows.shape[0]))
        predict_rows(
            held, rows.indices, rows.indptr, topics, shares, table[0], table[1]
        )
        asked = sparse.csr_array((held, rows.indices, rows.indptr), shape=rows.shape)
        table[2] = asked.sum(axis=1) - table[1]
        return table.T

    return measure


SCORES.add("bound", _bound)
SCORES.add("completion", _completion)
SCORES.add("left-to-right", _left_to_right)
