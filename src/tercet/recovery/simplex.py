"""Columns that must be probability vectors, and what is done to negative entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import FloatArray, Registry

__all__ = [
    "CLEANERS",
    "Cleaned",
    "clean_columns",
    "project_simplex",
    "truncate_negative",
]

# A column whose negative entries nearly cancel its positive ones is not blown
# up by more than the inverse of this when it is brought to sum one.
_LEAST_SHARE = 0.5


def project_simplex(columns: FloatArray) -> FloatArray:
    """Return the nearest probability vector of each column (Duchi et al. 2008).

    Parameters
    ----------
    columns : ndarray of shape (d, k)
        Any finite columns; those that sum to about one move little.

    Returns
    -------
    ndarray of shape (d, k)
        Columns that are non-negative and sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import project_simplex
    >>> project_simplex(np.array([[0.9], [0.3], [-0.2]])).ravel()
    array([0.8, 0.2, 0. ])
    """
    columns = _check_columns(columns)
    # A constant makes no difference, and beside large entries a one would be lost.
    columns = columns - columns.max(axis=0)
    falling = -np.sort(-columns, axis=0)
    # With the r largest entries kept, all of them are lowered by the same
    # amount so that they sum to one; r is the largest for which they stay
    # positive.
    excess = np.cumsum(falling, axis=0) - 1.0
    counts = np.arange(1, columns.shape[0] + 1)[:, None]
    kept = np.count_nonzero(falling * counts > excess, axis=0)
    lowered = excess[kept - 1, np.arange(columns.shape[1])] / kept
    projected = np.maximum(columns - lowered, 0.0)
    return np.asarray(projected / projected.sum(axis=0))


def truncate_negative(columns: FloatArray) -> FloatArray:
    """Return columns with negative entries set to zero, summing to one.

    Parameters
    ----------
    columns : ndarray of shape (d, k)
        Any columns; one without a positive entry becomes uniform.

    Returns
    -------
    ndarray of shape (d, k)
        Columns that are non-negative and sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import truncate_negative
    >>> truncate_negative(np.array([[0.9], [0.3], [-0.2]])).ravel()
    array([0.75, 0.25, 0.  ])
    """
    kept = np.maximum(_check_columns(columns), 0.0)
    totals = kept.sum(axis=0)
    kept[:, totals <= 0.0] = 1.0
    return np.asarray(kept / kept.sum(axis=0))


CLEANERS = Registry[Callable[[FloatArray], FloatArray]]("negative")
CLEANERS.add("truncate", truncate_negative)
CLEANERS.add("simplex", project_simplex)


@dataclass(frozen=True, eq=False)
class Cleaned:
    """Probability vectors, and what it took to make them such.

    Parameters
    ----------
    columns : ndarray of shape (d, k)
        Non-negative columns that sum to one.
    removed : ndarray of shape (k,)
        Negative mass that was there, as a share of the column sum.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import clean_columns
    >>> clean_columns(np.array([[3.0], [-1.0], [2.0]]), "truncate").columns.ravel()
    array([0.6, 0. , 0.4])
    """

    columns: FloatArray
    removed: FloatArray


def clean_columns(columns: FloatArray, negative: str = "simplex") -> Cleaned:
    """Bring columns to sum one and take their negative entries away.

    Parameters
    ----------
    columns : ndarray of shape (d, k)
        Columns with the right sign and any scale.
    negative : {"simplex", "truncate"}
        Nearest probability vector, or negative entries set to zero.

    Returns
    -------
    Cleaned
        Probability vectors and the negative mass removed from each.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import clean_columns
    >>> cleaned = clean_columns(np.array([[4.0, 5.0], [4.0, -1.0]]))
    >>> cleaned.removed
    array([0.  , 0.25])
    """
    cleaner = CLEANERS[negative]
    columns = _check_columns(columns)
    positive = np.maximum(columns, 0.0).sum(axis=0)
    sums = columns.sum(axis=0)
    scale = np.maximum(sums, _LEAST_SHARE * positive)
    scale = np.where(scale > 0.0, scale, 1.0)
    return Cleaned(
        columns=cleaner(columns / scale),
        removed=(positive - sums) / scale,
    )


def _check_columns(columns: FloatArray) -> FloatArray:
    """Return columns as float64, or say what is wrong with them."""
    table = np.asarray(columns, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise DataError(
            f"columns has the shape {table.shape}; give an array (d, k) with at least one "
            "row and one column."
        )
    if not np.isfinite(table).all():
        raise DataError("columns holds NaN or infinite entries; remove them first.")
    return table
