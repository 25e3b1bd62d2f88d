"""Rows as likelihood loops take them, and values that are kept for every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, Pass, Source
from tercet.intake import Requirement, open_source
from tercet.intake.validation import validate_block

__all__ = [
    "RowValues",
    "check_topics",
    "give_weights",
    "make_sparse",
    "run_over",
]

State = TypeVar("State")


@dataclass(eq=False)
class RowValues:
    """Arrays of values for runs of rows, kept by the row at which they start.

    Parameters
    ----------
    pieces : mapping of int to ndarray of shape (n, k)
        Values of the rows from a start on.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood.documents import RowValues
    >>> values = RowValues({2: np.ones((1, 1)), 0: np.zeros((2, 1))})
    >>> values.join().sum(axis=1)
    array([0., 0., 1.])
    """

    pieces: dict[int, NDArray[np.floating[Any]]] = field(default_factory=dict)

    def find(self, start: int, n_rows: int) -> NDArray[np.floating[Any]] | None:
        """Return the values of these rows if they were kept in one piece."""
        piece = self.pieces.get(start)
        return piece if piece is not None and piece.shape[0] == n_rows else None

    def take(self, start: int, n_rows: int) -> NDArray[np.floating[Any]] | None:
        """Return what `find` finds, and keep it no longer."""
        found = self.find(start, n_rows)
        if found is not None:
            del self.pieces[start]
        return found

    def absorb(self, other: RowValues) -> None:
        """Take over the pieces of another."""
        self.pieces.update(other.pieces)

    def join(self) -> NDArray[np.floating[Any]]:
        """Return all values in the order of their rows."""
        ordered = [self.pieces[start] for start in sorted(self.pieces)]
        return ordered[0] if len(ordered) == 1 else np.concatenate(ordered)

    def __array__(
        self,
        dtype: DTypeLike | None = None,
        copy: bool | None = None,
    ) -> NDArray[Any]:
        """Return all values in the order of their rows."""
        if not self.pieces:
            return np.zeros((0, 0), dtype=dtype)
        return np.asarray(self.join(), dtype=dtype)


def run_over(
    rows: Any, work: Pass[State], n_features: int, requirement: Requirement
) -> State:
    """Run a pass over a source, a single block, or anything that holds rows.

    Parameters
    ----------
    rows : Source, Block, or what `tercet.intake.open_source` opens
        The rows.
    work : Pass
        What to do.
    n_features : int
        Number of columns that the rows must have.
    requirement : Requirement
        Values that are allowed.

    Returns
    -------
    State
        The final state.
    """
    if isinstance(rows, Block):
        _check_columns(rows.n_features, n_features)
        validate_block(rows, requirement)
        return work.update(work.initial(), rows)
    source: Source = open_source(rows, requirement=requirement)
    _check_columns(source.n_features, n_features)
    return source.run(work)


def _check_columns(found: int, wanted: int) -> None:
    if found != wanted:
        raise DataError(
            f"The rows have {found} features, but centers has {wanted} rows; count the "
            "same words, in the same order, as when the model was learned."
        )


def make_sparse(block: Block) -> sparse.csr_array:
    """Return the rows of a block in compressed sparse row form.

    Parameters
    ----------
    block : Block
        Sparse or dense rows.

    Returns
    -------
    csr_array of shape (n, d)
        The same rows.
    """
    return block.rows if block.is_sparse else sparse.csr_array(block.rows)


def give_weights(block: Block) -> FloatArray:
    """Return the weights of a block's rows, ones if it has none.

    Parameters
    ----------
    block : Block
        Rows.

    Returns
    -------
    ndarray of shape (n,)
        Weights.
    """
    return np.ones(block.n_rows) if block.weights is None else block.weights


def check_topics(centers: Any, concentration: Any) -> tuple[FloatArray, FloatArray]:
    """Return topics and Dirichlet parameters as arrays, or say what is wrong.

    Parameters
    ----------
    centers : array-like of shape (d, k)
        Topics as columns, non-negative; each sums to one.
    concentration : array-like of shape (k,)
        Dirichlet parameters, positive.

    Returns
    -------
    centers : ndarray of shape (d, k)
        C-ordered.
    concentration : ndarray of shape (k,)
        The parameters.
    """
    topics = np.ascontiguousarray(centers, dtype=np.float64)
    if topics.ndim != 2 or not topics.size:
        raise ParameterError(
            f"centers has shape {topics.shape}; give one column for each topic, one row "
            "for each feature."
        )
    if not np.isfinite(topics).all() or topics.min() < 0.0:
        raise ParameterError(
            "centers has negative, infinite or missing entries; topics are probability "
            "vectors."
        )
    sums = topics.sum(axis=0)
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if abs(sums[worst] - 1.0) > 1e-6:
        raise ParameterError(
            f"centers: topic {worst} sums to {sums[worst]:.6g}; divide every column by "
            "its sum."
        )
    alpha = np.asarray(concentration, dtype=np.float64)
    if alpha.shape != (topics.shape[1],):
        raise ParameterError(
            f"concentration has shape {alpha.shape}; give one number for each of the "
            f"{topics.shape[1]} topics."
        )
    if not np.isfinite(alpha).all() or alpha.min() <= 0.0:
        raise ParameterError(
            f"concentration={alpha} must be positive and finite throughout."
        )
    return topics, alpha
