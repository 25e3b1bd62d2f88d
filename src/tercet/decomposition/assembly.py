"""From directions to factors: signs, eigenvalues and the residual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tercet.flow import Factors, FloatArray, Outcome

__all__ = ["assemble_factors", "measure_cubes", "measure_residual"]


def assemble_factors(
    third: FloatArray,
    vectors: FloatArray,
    outcome: Outcome,
    *,
    orthogonal: bool = True,
    rows: FloatArray | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Factors:
    """Give directions their length, their sign and their eigenvalues.

    Eigenvalues are `T(v, v, v)` for orthonormal directions, and otherwise
    those of least squares, `T ~ sum_j lambda_j v_j (x) v_j (x) v_j`. The order
    of the tensor is odd, so that the sign of a direction is known: it is the
    one that makes its eigenvalue positive.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Whitened third moment.
    vectors : ndarray of shape (k, k)
        Directions in its columns, of any sign and length.
    outcome : Outcome
        How the solver ended.
    orthogonal : bool
        Whether the directions are orthonormal.
    rows : ndarray of shape (d, k) or None
        Centres that were read row by row; they follow no sign.
    notes : mapping or None
        What the solver wants to add.

    Returns
    -------
    Factors
        Ready for recovery.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Outcome, Status
    >>> done = Outcome(Status.EXACT, 0, 0.0, "Closed form.")
    >>> factors = assemble_factors(np.full((1, 1, 1), -2.0), np.eye(1), done)
    >>> factors.eigenvalues, factors.vectors
    (array([2.]), array([[-1.]]))
    """
    lengths = np.linalg.norm(vectors, axis=0)
    directions = vectors / np.where(lengths > 0.0, lengths, 1.0)
    if not lengths.all():
        directions = _replace_zeros(directions, lengths == 0.0)
    values: FloatArray = measure_cubes(third, directions)
    if not orthogonal:
        gram = (directions.T @ directions) ** 3
        values = np.asarray(np.linalg.lstsq(gram, values, rcond=None)[0])
    signs = np.where(values < 0.0, -1.0, 1.0)
    directions = directions * signs
    values = np.asarray(values * signs)
    return Factors(
        vectors=directions,
        eigenvalues=values,
        outcome=outcome,
        residual=measure_residual(third, directions, values),
        orthogonal=orthogonal,
        rows=rows,
        notes=dict(notes or {}),
    )


def _replace_zeros(
    directions: FloatArray, dead: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> FloatArray:
    """Point columns without a direction to where no other column does."""
    replaced = directions.copy()
    left = np.linalg.svd(directions)[0]
    replaced[:, dead] = left[:, left.shape[1] - np.count_nonzero(dead) :]
    return replaced


def measure_cubes(third: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return `T(v, v, v)` for every column v.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor.
    vectors : ndarray of shape (k, r)
        Columns.

    Returns
    -------
    ndarray of shape (r,)
        The values.

    Examples
    --------
    >>> import numpy as np
    >>> measure_cubes(np.ones((2, 2, 2)), np.ones((2, 1)))
    array([8.])
    """
    size = len(third)
    once = (third.reshape(size * size, size) @ vectors).reshape(size, size, -1)
    paired = np.einsum("ijr,ir->jr", once, vectors)
    return np.asarray((paired * vectors).sum(axis=0))


def measure_residual(
    third: FloatArray, vectors: FloatArray, values: FloatArray
) -> float:
    """Norm of the tensor minus its reconstruction, relative to its own.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor.
    vectors : ndarray of shape (k, r)
        Unit columns.
    values : ndarray of shape (r,)
        Their eigenvalues.

    Returns
    -------
    float
        Zero for a perfect reconstruction (and for a tensor of zeros).

    Examples
    --------
    >>> import numpy as np
    >>> measure_residual(np.ones((1, 1, 1)), np.ones((1, 1)), np.array([0.75]))
    0.25
    """
    size = len(third)
    pairs = (vectors[:, None, :] * vectors[None, :, :]).reshape(size * size, -1)
    rebuilt = pairs @ (vectors * values).T
    whole = float(np.linalg.norm(third))
    rest = float(np.linalg.norm(third.reshape(size * size, size) - rebuilt))
    return rest / whole if whole else 0.0
