"""All rows of a source at hand, for work that visits some of them again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tercet.flow import Block, FloatArray, IntArray, Source
from tercet.intake.memory import MemorySource
from tercet.kernels.tree_splits import measure_lengths

__all__ = ["Table", "gather_rows", "to_sparse"]


@dataclass(frozen=True, eq=False)
class Table:
    """Sparse rows in memory with their weights.

    Parameters
    ----------
    matrix : csr_array of shape (n, d)
        Float64, with sorted, unique column indices.
    weights : ndarray of shape (n,)
        Row weights.
    lengths, squares : ndarray of shape (n,)
        Sum of the entries of each row, and of their squares.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.intake import open_source
    >>> gather_rows(open_source(np.eye(3), requirement="reals")).lengths
    array([1., 1., 1.])
    """

    matrix: Any
    weights: FloatArray
    lengths: FloatArray
    squares: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def entries(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Flat arrays of the matrix, as kernels take them."""
        return self.matrix.indptr, self.matrix.indices, self.matrix.data


def gather_rows(source: Source) -> Table:
    """Return the rows of a source, without a copy of sparse rows in memory.

    A tree visits its rows in every level, so rows that come in blocks are put
    together in compressed sparse form.

    Parameters
    ----------
    source : Source
        Rows; read once.

    Returns
    -------
    Table
        The rows and their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.intake import open_source
    >>> rows = np.array([[0, 2], [1, 0]])
    >>> gather_rows(open_source(rows)).matrix.toarray()
    array([[0., 2.],
           [1., 0.]])
    """
    whole = source.whole_sparse() if isinstance(source, MemorySource) else None
    matrix: Any
    if whole is not None:
        blocks = [whole]
        matrix = whole.rows
    else:
        blocks, pieces = [], []
        for block in source.blocks():
            # Only the weights are kept of a block that is dense.
            blocks.append(
                Block(np.empty((block.n_rows, 0)), block.start, block.weights)
            )
            pieces.append(to_sparse(block.rows))
        matrix = sparse.csr_array(sparse.vstack(pieces, format="csr"))
    weights = np.concatenate([_weigh(block) for block in blocks])
    lengths, squares = np.empty(weights.size), np.empty(weights.size)
    measure_lengths(matrix.indptr, matrix.data, lengths, squares)
    return Table(matrix, weights, lengths, squares)


def to_sparse(rows: Any) -> Any:
    """Return the rows of a block in compressed sparse form."""
    if sparse.issparse(rows):
        return rows
    found = sparse.csr_array(rows)
    found.sort_indices()
    return found


def _weigh(block: Block) -> FloatArray:
    if block.weights is None:
        return np.ones(block.n_rows)
    return block.weights
