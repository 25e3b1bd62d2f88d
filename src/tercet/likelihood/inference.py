"""Topic proportions of documents when the topics are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, Registry, Source
from tercet.kernels.tokens import sweep_tokens
from tercet.kernels.variational import infer_map_rows, infer_variational_rows
from tercet.likelihood.documents import RowValues, check_topics, make_sparse
from tercet.likelihood.tokens import draw_seed, list_tokens, make_row_generator
from tercet.recovery import project_simplex

__all__ = ["INFERENCES", "Options", "RowWork", "infer_topics"]

Infer = Callable[[sparse.csr_array, int], FloatArray]


class _MakeInfer(Protocol):
    """Prepares the inference of proportions with given topics."""

    def __call__(
        self, topics: FloatArray, alpha: FloatArray, options: Options, /
    ) -> Infer:
        """Return what takes rows and the index of the first to proportions."""
        ...


@dataclass(frozen=True)
class Options:
    """Settings of the methods of inference; see `infer_topics`."""

    tolerance: float = 1e-4
    max_rounds: int = 200
    sweeps: int = 200
    burn_in: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse budgets that leave nothing to do."""
        if not self.tolerance >= 0.0:
            raise ParameterError(f"tolerance={self.tolerance!r} must not be negative.")
        for name in ("max_rounds", "sweeps"):
            value = getattr(self, name)
            if int(value) != value or value < 1:
                raise ParameterError(f"{name}={value!r} must be a positive integer.")
        if not 0 <= self.burn_in < self.sweeps:
            raise ParameterError(
                f"burn_in={self.burn_in!r} must be at least 0 and below "
                f"sweeps={self.sweeps}; no sweep would be left to average."
            )


INFERENCES = Registry[_MakeInfer]("method")
"""Methods of inference by name."""


@dataclass(frozen=True, eq=False)
class RowWork:
    """A pass that keeps some numbers of every row.

    Parameters
    ----------
    measure : callable
        Takes sparse rows and the index of the first one to an array (n, m).
    """

    measure: Infer

    def initial(self) -> RowValues:
        """Return no values."""
        return RowValues()

    def update(self, state: RowValues, block: Block) -> RowValues:
        """Keep the numbers of a block."""
        # A block without rows starts where another one does.
        if block.n_rows:
            state.pieces[block.start] = self.measure(make_sparse(block), block.start)
        return state

    def merge(self, left: RowValues, right: RowValues) -> RowValues:
        """Join the rows of both."""
        left.absorb(right)
        return left


def infer_topics(
    source: Source,
    centers: ArrayLike,
    concentration: ArrayLike,
    *,
    method: str = "variational",
    rng: np.random.Generator | None = None,
    tolerance: float = 1e-4,
    max_rounds: int = 200,
    sweeps: int = 200,
    burn_in: int = 50,
) -> FloatArray:
    """Infer the topic proportions of documents under fixed topics.

    - `"variational"`: mean of the Dirichlet distribution nearest to the
      posterior (Blei, Ng and Jordan 2003).
    - `"map"`: most probable proportions in the softmax basis, that is the
      maximum of `p(x | theta) prod_j theta_j^alpha_j` (MacKay 1998).
    - `"gibbs"`: average of `(n_j + alpha_j) / (c + alpha0)` over Gibbs sweeps
      (paper 000, remark 4, equation 2); unbiased, and slower.
    - `"linear"`: pseudo-inverse of the topics times the word frequencies,
      projected on the simplex; does not look at the prior.

    Words that no topic knows are left out. A document without any other word
    gets the prior's mean.

    Parameters
    ----------
    source : Source
        Documents.
    centers : array-like of shape (d, k)
        Topics as columns that sum to one.
    concentration : array-like of shape (k,)
        Dirichlet parameters.
    method : {"variational", "map", "gibbs", "linear"}
        How.
    rng : numpy.random.Generator or None, default=None
        For Gibbs; None is a fixed seed.
    tolerance : float, default=1e-4
        A document is done when a round moves less than this share of its
        tokens from topic to topic (variational, MAP).
    max_rounds : int, default=200
        Most rounds for a document (variational, MAP).
    sweeps : int, default=200
        Sweeps over a document (Gibbs).
    burn_in : int, default=50
        How many of them come before the average (Gibbs).

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import infer_topics
    >>> topics = np.array([[0.8, 0.1], [0.2, 0.4], [0.0, 0.5]])
    >>> rows = open_source(np.array([[5, 1, 0], [0, 3, 4], [0, 0, 0]]))
    >>> infer_topics(rows, topics, [0.5, 0.5]).round(2)
    array([[0.92, 0.08],
           [0.07, 0.93],
           [0.5 , 0.5 ]])
    """
    topics, alpha = check_topics(centers, concentration)
    check_features(source, topics)
    options = Options(tolerance, max_rounds, sweeps, burn_in, draw_seed(rng))
    infer = INFERENCES[method](topics, alpha, options)
    values = source.run(RowWork(infer))
    return np.asarray(values, dtype=np.float64).reshape(-1, alpha.size)


def check_features(source: Source, topics: FloatArray) -> None:
    """Refuse documents that count other words than the topics.

    Parameters
    ----------
    source : Source
        Documents.
    topics : ndarray of shape (d, k)
        Topics.
    """
    if source.n_features != topics.shape[0]:
        raise DataError(
            f"The documents have {source.n_features} features, but centers has "
            f"{topics.shape[0]} rows; count the same words, in the same order, as when "
            "the topics were learned."
        )


def _climb(
    kernel: Any, topics: FloatArray, alpha: FloatArray, options: Options
) -> Infer:
    """Prepare rounds that each raise a document's objective."""
    known = (topics.max(axis=1) > 0.0).astype(np.float64)

    def infer(rows: sparse.csr_array, start: int) -> FloatArray:  # noqa: ARG001
        counts = (rows @ known)[:, None] * (alpha / alpha.sum())
        kernel(
            rows.data,
            rows.indices,
            rows.indptr,
            topics,
            alpha,
            options.tolerance,
            options.max_rounds,
            counts,
        )
        shares = counts + alpha
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    return infer


def _sample(topics: FloatArray, alpha: FloatArray, options: Options) -> Infer:
    """Prepare Gibbs sweeps."""
    known = (topics.max(axis=1) > 0.0).astype(np.int64)
    k = alpha.size

    def infer(rows: sparse.csr_array, start: int) -> FloatArray:
        shares = np.empty((rows.shape[0], k))
        for i, words in list_tokens(rows, known, start, "method='gibbs'"):
            generator = make_row_generator(options.seed, start + i)
            sweep_tokens(
                words,
                topics,
                alpha,
                generator.random((1 + options.sweeps, words.size)),
                options.burn_in,
                np.empty(words.size, dtype=np.int64),
                np.empty(k),
                np.empty(k),
                shares[i],
            )
        return shares

    return infer


def _project(topics: FloatArray, alpha: FloatArray, options: Options) -> Infer:  # noqa: ARG001
    """Prepare the linear estimate."""
    inverse = np.ascontiguousarray(np.linalg.pinv(topics).T)
    known = (topics.max(axis=1) > 0.0).astype(np.float64)

    def infer(rows: sparse.csr_array, start: int) -> FloatArray:  # noqa: ARG001
        tokens = rows @ known
        empty = tokens <= 0.0
        estimate = (rows @ inverse) / np.where(empty, 1.0, tokens)[:, None]
        shares = project_simplex(np.ascontiguousarray(estimate.T)).T
        shares[empty] = alpha / alpha.sum()
        return np.ascontiguousarray(shares)

    return infer


INFERENCES.add("variational", partial(_climb, infer_variational_rows))
INFERENCES.add("map", partial(_climb, infer_map_rows))
INFERENCES.add("gibbs", _sample)
INFERENCES.add("linear", _project)
