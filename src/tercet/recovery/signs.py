"""Which way round a column is meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tercet.flow import FloatArray

__all__ = ["Signs", "recover_signs"]


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs of columns, and whether all evidence agrees on them.

    Parameters
    ----------
    by_mass : ndarray of shape (k,)
        Sign (1 or -1) of the entries with the larger sum of squares.
    disagree : ndarray of shape (k,) of bool
        Where that sign, the sign of the column sum and the sign of the
        eigenvalue (positive, as factors come) are not all the same.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import recover_signs
    >>> recover_signs(np.array([[-0.7], [0.1]]), np.ones(1)).by_mass
    array([-1.])
    """

    by_mass: FloatArray
    disagree: np.ndarray


def recover_signs(columns: FloatArray, eigenvalues: FloatArray) -> Signs:
    """Find the signs of columns that point to non-negative centers.

    The third moment fixes a sign, as its order is odd; the mass of the column
    fixes it once more. With exact moments they agree; where they do not, the
    component is not to be trusted.

    Parameters
    ----------
    columns : ndarray of shape (d, k)
        Columns with the signs that make the eigenvalues non-negative.
    eigenvalues : ndarray of shape (k,)
        Eigenvalues; a negative one counts as disagreement.

    Returns
    -------
    Signs
        Signs by mass, and where the evidence is at odds.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import recover_signs
    >>> columns = np.array([[3.0, -2.0], [-0.1, 0.0]])
    >>> signs = recover_signs(columns, np.ones(2))
    >>> signs.by_mass, signs.disagree
    (array([ 1., -1.]), array([False,  True]))
    """
    squares = columns**2
    positive = np.where(columns > 0.0, squares, 0.0).sum(axis=0)
    by_mass = np.where(2.0 * positive >= squares.sum(axis=0), 1.0, -1.0)
    by_sum = np.where(columns.sum(axis=0) >= 0.0, 1.0, -1.0)
    by_third = np.where(eigenvalues >= 0.0, 1.0, -1.0)
    disagree = (by_mass != by_sum) | (by_mass != by_third)
    return Signs(by_mass=by_mass, disagree=disagree)
