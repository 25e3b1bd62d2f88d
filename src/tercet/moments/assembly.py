"""From sums to moments inside a basis: corrections, shifts, symmetric sums.

`B` is the basis (d x p), `g = B' M1`. Every correction that sits on a diagonal
of the d x d x d tensor is a sum over features, `sum_j b_j (x) b_j (x) t_j` over
the three orders of the indices, for some table `t` (d x p); corrections are
therefore added up as tables first and contracted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import FloatArray, Moments

__all__ = [
    "CenteredSums",
    "contract_table",
    "fill_symmetric",
    "normalize_slices",
    "normalize_sums",
    "shift_pair",
    "shift_third",
    "spread_pair",
]

# Features whose p x p products are in flight at once.
_FEATURE_ROWS = 512
# Up to so many products (0.2 MB of pairs) are formed at once: one call instead of p.
_FEW_PRODUCTS = 48_000


def fill_symmetric(corner: FloatArray) -> FloatArray:
    """Return the symmetric tensor whose entries with a <= b, a <= c are given.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments.assembly import fill_symmetric
    >>> corner = np.zeros((2, 2, 2))
    >>> corner[0, 1, 1] = 3.0
    >>> float(fill_symmetric(corner)[1, 0, 1])
    3.0
    """
    full = np.empty_like(corner)
    for a in range(corner.shape[0]):
        part = (corner[a, a:, a:] + corner[a, a:, a:].T) / 2.0
        full[a, a:, a:] = part
        full[a:, a, a:] = part
        full[a:, a:, a] = part
    return full


def contract_table(basis: FloatArray, table: FloatArray) -> FloatArray:
    """Return `sum_j b_j (x) b_j (x) t_j` summed over the three index orders.

    Parameters
    ----------
    basis : ndarray of shape (d, p)
        Rows b_j.
    table : ndarray of shape (d, p)
        Rows t_j.

    Returns
    -------
    ndarray of shape (p, p, p)
        Symmetric tensor, in `d p^3 / 2` multiply-adds.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments.assembly import contract_table
    >>> contract_table(np.array([[2.0]]), np.array([[5.0]]))
    array([[[60.]]])
    """
    d, p = basis.shape
    half = np.zeros((p, p, p))
    if d * p * p <= _FEW_PRODUCTS:
        left, right = np.triu_indices(p)
        half[left, right] = (basis[:, left] * basis[:, right]).T @ table
        half[right, left] = half[left, right]
        return _sum_orders(half)
    for start in range(0, d, _FEATURE_ROWS):
        columns = np.ascontiguousarray(basis[start : start + _FEATURE_ROWS].T)
        values = table[start : start + _FEATURE_ROWS]
        for a in range(p):
            half[a, a:] += (columns[a:] * columns[a]) @ values
    for a in range(p):
        half[a:, a] = half[a, a:]
    return _sum_orders(half)


def _sum_orders(half: FloatArray) -> FloatArray:
    """Sum `A_abc` over the orders of its indices, the first two of which commute."""
    return half + half.transpose(0, 2, 1) + half.transpose(2, 1, 0)


def spread_pair(pair: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the symmetric sum `A_ab v_c + A_ac v_b + A_bc v_a` (method section 1).

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments.assembly import spread_pair
    >>> spread_pair(np.array([[2.0]]), np.array([5.0]))
    array([[[30.]]])
    """
    outer = pair[:, :, None] * vector
    return outer + outer.transpose(0, 2, 1) + outer.transpose(2, 1, 0)


@dataclass(frozen=True, eq=False)
class CenteredSums:
    """Normalised sums inside a basis, before a model's own coefficients.

    Parameters
    ----------
    first : ndarray of shape (d,)
        `F1`.
    pair_diagonal, third_diagonal : ndarray of shape (d,)
        `sum_i w2_i x_i` and `sum_i w3_i x_i`.
    lift : ndarray of shape (d, p)
        `F2 B`, factorial or raw.
    pair : ndarray of shape (p, p)
        `B' F2 B`.
    cross : ndarray of shape (d, p)
        `sum_i w3_i x_i z_i'`, never corrected.
    triples : ndarray of shape (p, p, p)
        `sum_i w3_i z_i (x) z_i (x) z_i`, never corrected.
    table : ndarray of shape (d, p)
        What `contract_table` must get so that `triples + contract_table(B, table)`
        is `F3(B, B, B)`; zero for raw moments.
    """

    first: FloatArray
    pair_diagonal: FloatArray
    third_diagonal: FloatArray
    lift: FloatArray
    pair: FloatArray
    cross: FloatArray
    triples: FloatArray
    table: FloatArray


def normalize_sums(moments: Moments, *, factorial: bool) -> CenteredSums:
    """Divide sums by their masses and take the diagonal corrections.

    Parameters
    ----------
    moments : Moments
        Sums over rows.
    factorial : bool
        Whether pairs and triples of one token with itself are taken out
        (method section 2); raw moments keep them.

    Returns
    -------
    CenteredSums
        `F1`, `F2 B`, `B' F2 B` and what makes up `F3(B, B, B)`.
    """
    basis = moments.basis
    masses = moments.masses
    if masses.min() <= 0.0:
        raise DataError(
            f"The sums of {moments.n_rows} rows hold no pairs or triples of tokens, so "
            "there are no moments; add the sums of rows with three tokens or more."
        )
    first, pair_diagonal, third_diagonal = (
        moments.first[order] / masses[order] for order in range(3)
    )
    cross = (moments.pair if moments.cross is None else moments.cross) / masses[2]
    lift = moments.pair / masses[1]
    if factorial:
        lift = lift - pair_diagonal[:, None] * basis
        # -[s3 of (B.B)' C] + 2 (B.B)'(f * B): the second is symmetric already,
        # so it is a third of a sum over the three orders.
        table = (2.0 / 3.0) * third_diagonal[:, None] * basis - cross
    else:
        table = np.zeros_like(cross)
    pair = basis.T @ lift
    return CenteredSums(
        first=first,
        pair_diagonal=pair_diagonal,
        third_diagonal=third_diagonal,
        lift=lift,
        pair=(pair + pair.T) / 2.0,
        cross=cross,
        triples=fill_symmetric(moments.third) / masses[2],
        table=table,
    )


def normalize_slices(
    moments: Moments, sums: CenteredSums, *, factorial: bool
) -> FloatArray | None:
    """Return `F3` slices `B' F3[:, :, r] B` of the collected features, or None."""
    if moments.slices is None or moments.slice_features is None:
        return None
    slices = moments.slices / moments.masses[2]
    if factorial:
        rows = moments.basis[moments.slice_features]
        cross = sums.cross[moments.slice_features]
        count = sums.third_diagonal[moments.slice_features]
        outer = rows[:, :, None] * cross[:, None, :]
        slices = slices - outer - outer.transpose(0, 2, 1)
        slices += 2.0 * count[:, None, None] * rows[:, :, None] * rows[:, None, :]
    return np.asarray(slices)


def shift_pair(
    lift: FloatArray, pair: FloatArray, first: FloatArray, g: FloatArray, a: float
) -> tuple[FloatArray, FloatArray]:
    """Return `(M2 B, B' M2 B)` of `M2 = F2 - a F1 (x) F1`, with `g = B' F1`."""
    return lift - a * np.outer(first, g), pair - a * np.outer(g, g)


def shift_third(
    third: FloatArray, pair: FloatArray, g: FloatArray, b: float, c: float
) -> FloatArray:
    """Return `M3 = F3 - b s3(F2, F1) + c F1^(x)3` inside the basis.

    Parameters
    ----------
    third : ndarray of shape (p, p, p)
        `F3(B, B, B)`.
    pair : ndarray of shape (p, p)
        `B' F2 B`, not shifted.
    g : ndarray of shape (p,)
        `B' F1`.
    b, c : float
        Coefficients of the model (method section 2).
    """
    if b == 0.0 and c == 0.0:
        return third
    return third - spread_pair(b * pair - (c / 3.0) * np.outer(g, g), g)
