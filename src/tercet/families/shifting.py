"""The three coefficients of a model applied to normalised sums (method section 2)."""

from __future__ import annotations

import numpy as np

from tercet.flow import Equations, FloatArray, Moments
from tercet.moments.assembly import (
    contract_table,
    normalize_slices,
    normalize_sums,
    shift_pair,
    shift_third,
)

__all__ = ["shift_moments", "shift_slices"]


def shift_moments(
    moments: Moments, a: float, b: float, c: float, *, factorial: bool
) -> Equations:
    """Return the equations with `M2 = F2 - a F1 F1'` and `M3 = F3 - b s3 + c F1^3`.

    Parameters
    ----------
    moments : Moments
        Sums over rows.
    a, b, c : float
        Coefficients of the model.
    factorial : bool
        Whether the diagonal corrections are taken.

    Returns
    -------
    Equations
        Moments of the model in the basis of the sums.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.shifting import shift_moments
    >>> from tercet.moments import collect
    >>> sums = collect(np.array([[3.0, 1.0], [1.0, 3.0]]), "poisson", 1)
    >>> shift_moments(sums, 1.0, 1.0, 2.0, factorial=False).pair
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    sums = normalize_sums(moments, factorial=factorial)
    third = sums.triples
    if factorial:
        third = third + contract_table(moments.basis, sums.table)
    g = moments.basis.T @ sums.first
    lift, pair = shift_pair(sums.lift, sums.pair, sums.first, g, a)
    slices = normalize_slices(moments, sums, factorial=factorial)
    if slices is not None and moments.slice_features is not None:
        slices = shift_slices(
            slices,
            sums.lift[moments.slice_features],
            sums.pair,
            sums.first[moments.slice_features],
            g,
            b,
            c,
        )
    return Equations(
        first=sums.first,
        lift=lift,
        pair=pair,
        third=shift_third(third, sums.pair, g, b, c),
        basis=moments.basis,
        orthonormal=moments.orthonormal,
        slices=slices,
        slice_features=moments.slice_features,
    )


def shift_slices(
    slices: FloatArray,
    lift: FloatArray,
    pair: FloatArray,
    first: FloatArray,
    g: FloatArray,
    b: float,
    c: float,
) -> FloatArray:
    """Return slices `B' M3[:, :, r] B` from those of F3.

    Parameters
    ----------
    slices : ndarray of shape (m, p, p)
        `B' F3[:, :, r] B`.
    lift : ndarray of shape (m, p)
        Rows r of `F2 B`, not shifted.
    pair : ndarray of shape (p, p)
        `B' F2 B`, not shifted.
    first : ndarray of shape (m,)
        Entries r of `F1`.
    g : ndarray of shape (p,)
        `B' F1`.
    b, c : float
        Coefficients of the model.

    Returns
    -------
    ndarray of shape (m, p, p)
        Shifted slices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.shifting import shift_slices
    >>> one = np.ones((1, 1))
    >>> shift_slices(one[None], one, one, one[0], one[0], 1.0, 2.0)
    array([[[0.]]])
    """
    if b == 0.0 and c == 0.0:
        return slices
    mixed = lift[:, :, None] * g
    spread = first[:, None, None] * pair + mixed + mixed.transpose(0, 2, 1)
    return np.asarray(slices - b * spread + c * first[:, None, None] * np.outer(g, g))
