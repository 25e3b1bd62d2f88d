"""Which reader an object in memory needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tercet.exceptions import DataError
from tercet.flow import Block
from tercet.intake.frames import is_frame, read_frame
from tercet.intake.tables import Table, read_array, read_sparse

__all__ = ["is_sequence_of_blocks", "is_table", "read_table"]


def read_table(X: Any) -> Table:
    """Read an object that holds rows in memory.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, d)
        Rows of numbers.

    Returns
    -------
    Table
        The rows; converted later, a block at a time.

    Examples
    --------
    >>> from tercet.intake.readers import read_table
    >>> read_table([[1, 2, 3]]).n_features
    3
    """
    if sparse.issparse(X):
        table: Table = read_sparse(X)
    elif is_frame(X):
        table = read_frame(X)
    else:
        table = read_array(X)
    if table.n_features == 0:
        raise DataError(
            f"X has 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is "
            "required. Check the vocabulary or the columns that were selected."
        )
    return table


def is_table(X: Any) -> bool:
    """Return whether an object is a matrix: sparse, dense or a data frame.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    bool
        False for plain lists, whose meaning depends on what they hold.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.readers import is_table
    >>> is_table(np.eye(2)), is_table([[1, 2]])
    (True, False)
    """
    if sparse.issparse(X) or is_frame(X) or isinstance(X, np.ndarray):
        return True
    # A class is no array, though it may define what its instances give.
    return hasattr(X, "__array__") and not isinstance(X, type)


def is_sequence_of_blocks(X: Any) -> bool:
    """Return whether a list or tuple holds blocks rather than rows of numbers.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    bool
        True if the first entry is a `Block`, a matrix of two dimensions, or a pair of
        such a matrix and the weights of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake.readers import is_sequence_of_blocks
    >>> is_sequence_of_blocks([np.eye(2), np.eye(2)])
    True
    >>> is_sequence_of_blocks([[1, 2], [3, 4]])
    False
    """
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0]
    if isinstance(first, Block):
        return True
    if isinstance(first, tuple) and len(first) == 2 and is_table(first[0]):
        first = first[0]
    return is_table(first) and len(np.shape(first)) == 2
