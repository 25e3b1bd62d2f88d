"""Two views with shared independent sources: moments in, loadings out.

The model (paper 002, section 4.3): `x1 = D1 a + e1` and `x2 = D2 a + e2`, or
Poisson counts with these means, where the sources a are independent and the
noises e1, e2 belong to one view each, whatever they are. Cross-cumulants do not
see them: `cov(x1, x2) = D1 cov(a) D2'`, and third cross-cumulants, freed of the
counts' own noise, are `sum_k cum3(a_k) d_1k (x) d_2k (x) d_jk` (4.24 - 4.27).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray
from tercet.moments.views import Pair, TwoViewMoments

__all__ = [
    "TwoViewParameters",
    "ViewEquations",
    "form_cumulants",
    "form_tilted",
    "unpack_pairs",
]


@dataclass(frozen=True, eq=False)
class TwoViewParameters:
    """Loadings of both views, column k of the one belonging to column k of the other.

    Parameters
    ----------
    loadings : pair of ndarray, (d1, k) and (d2, k)
        Columns that sum to one in a view of counts, of unit length otherwise.
    strengths : ndarray of shape (k,)
        Covariance of a source as the two views see it:
        `cov(x1, x2) = loadings[0] diag(strengths) loadings[1]'`.
    weights : ndarray of shape (k,)
        Shares of the strengths.
    details : mapping
        What was found on the way.
    """

    loadings: Pair
    strengths: FloatArray
    weights: FloatArray
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_components(self) -> int:
        """Number of shared sources k."""
        return int(self.strengths.size)


@dataclass(frozen=True, eq=False)
class ViewEquations:
    """Cross-moments of two views inside their bases.

    Parameters
    ----------
    kinds : pair of {"counts", "reals"}
        Whether a view carries Poisson noise.
    bases : pair of ndarray, (d1, p1) and (d2, p2)
        Bases B1 and B2.
    cross : ndarray of shape (p1, p2)
        `B1' S12 B2`.
    lifts : pair of ndarray, (d1, p2) and (d2, p1)
        `S12 B2` and `S21 B1`.
    thirds : pair of ndarray, (p1, p1, p2) and (p2, p2, p1)
        `T121` against (B1, B1, B2) and `T122` against (B2, B2, B1): the view
        that comes twice first.
    within : pair of ndarray, (p1, p1) and (p2, p2)
        Covariances of the projected views, the views' own noise included.
    spreads : pair of float
        Traces of the full covariances.
    means : pair of ndarray, (d1,) and (d2,)
        Means of the views.
    n_rows : float
        Sum of the row weights; infinite for exact moments.
    """

    kinds: tuple[str, str]
    bases: Pair
    cross: FloatArray
    lifts: Pair
    thirds: Pair
    within: Pair
    spreads: tuple[float, float]
    means: Pair
    n_rows: float


def form_cumulants(moments: TwoViewMoments) -> ViewEquations:
    """Return unbiased S- and T-cumulants (paper 002, 4.24 - 4.27 and C.6).

    Parameters
    ----------
    moments : TwoViewMoments
        Sums; row weights count repetitions of rows.

    Returns
    -------
    ViewEquations
        Cumulants freed of the Poisson noise of views of counts.

    Raises
    ------
    DataError
        For fewer than three rows, or a view that is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.two_view import form_cumulants
    >>> from tercet.moments import collect_views
    >>> rng = np.random.default_rng(0)
    >>> X1, X2 = rng.normal(size=(2, 50, 3))
    >>> sums = collect_views(X1, X2, 1, kinds=("reals", "reals"))
    >>> np.allclose(form_cumulants(sums).cross, np.cov(X1.T, X2.T)[:3, 3:])
    True
    """
    n = moments.total_weight
    if not n > 2.0:
        raise DataError(
            f"X1 and X2 have {n:g} rows (sum of the weights), but unbiased cumulants "
            "need more than two; give more rows, or weights that count rows."
        )
    centers = [center / n for center in moments.centers]
    once = 1.0 / (n - 1.0)
    lifts = [
        once * (moments.lifts[j] - np.outer(moments.totals[j], centers[1 - j]))
        for j in (0, 1)
    ]
    cross = once * (moments.cross - n * np.outer(centers[0], centers[1]))
    within = [
        once * (moments.within[j] - n * np.outer(centers[j], centers[j]))
        for j in (0, 1)
    ]
    thirds = [_form_third(moments, j, centers, lifts[j]) for j in (0, 1)]
    return ViewEquations(
        kinds=moments.kinds,
        bases=moments.bases,
        cross=cross,
        lifts=(lifts[0], lifts[1]),
        thirds=(thirds[0], thirds[1]),
        within=(within[0], within[1]),
        spreads=_measure_spreads(moments),
        means=(moments.totals[0] / n, moments.totals[1] / n),
        n_rows=n,
    )


def _form_third(
    moments: TwoViewMoments, j: int, centers: list[FloatArray], lift: FloatArray
) -> FloatArray:
    """Return the third cross-cumulant in which view j comes twice."""
    n = moments.total_weight
    mine, other = centers[j], centers[1 - j]
    cross = moments.cross if j == 0 else moments.cross.T
    width = mine.size
    central = unpack_pairs(moments.thirds[j], width)
    central -= moments.within[j][:, :, None] * other
    mixed = mine[:, None, None] * cross
    central -= mixed + mixed.transpose(1, 0, 2)
    central += 2.0 * n * mine[:, None, None] * mine[:, None] * other
    third = n / ((n - 1.0) * (n - 2.0)) * central
    if moments.kinds[j] == "counts":
        third -= contract_diagonal(moments.bases[j], lift)
    return third


def contract_diagonal(basis: FloatArray, lift: FloatArray) -> FloatArray:
    """Return `sum_m b_ma b_mc s_mb`, what Poisson noise adds to a third cumulant.

    Parameters
    ----------
    basis : ndarray of shape (d, p)
        Basis of the view that comes twice.
    lift : ndarray of shape (d, q)
        Cross-covariance against the basis of the other view.

    Returns
    -------
    ndarray of shape (p, p, q)
        Symmetric in its first two indices.

    Examples
    --------
    >>> import numpy as np
    >>> contract_diagonal(np.eye(2), np.array([[1.0], [2.0]]))[:, :, 0]
    array([[1., 0.],
           [0., 2.]])
    """
    first, last = np.triu_indices(basis.shape[1])
    return unpack_pairs((basis[:, first] * basis[:, last]).T @ lift, basis.shape[1])


def unpack_pairs(packed: FloatArray, width: int) -> FloatArray:
    """Return a tensor that is symmetric in two indices from its upper half.

    Parameters
    ----------
    packed : ndarray of shape (p (p + 1) / 2, q)
        Entries for a <= c, row by row.
    width : int
        The p.

    Returns
    -------
    ndarray of shape (p, p, q)
        All entries.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_pairs(np.array([[1.0], [2.0], [3.0]]), 2)[:, :, 0]
    array([[1., 2.],
           [2., 3.]])
    """
    first, last = np.triu_indices(width)
    tensor = np.empty((width, width, packed.shape[1]))
    tensor[first, last] = packed
    tensor[last, first] = packed
    return tensor


def _measure_spreads(moments: TwoViewMoments) -> tuple[float, float]:
    """Return the traces of both covariances; a constant view is refused."""
    n = moments.total_weight
    spreads = []
    for j in (0, 1):
        squares = float(moments.squares[j].sum()) / n
        spread = squares - float(((moments.totals[j] / n) ** 2).sum())
        # What is left of equal numbers after the subtraction is rounding.
        if not spread > 1e-13 * squares:
            raise DataError(
                f"X{j + 1} is constant: all its rows are the same, so it says nothing "
                "about the other view. Check that the right columns were passed."
            )
        spreads.append(spread * n / (n - 1.0))
    return spreads[0], spreads[1]


def form_tilted(moments: TwoViewMoments) -> FloatArray:
    """Return generalised covariances inside the bases (paper 002, 4.37).

    Parameters
    ----------
    moments : TwoViewMoments
        Sums with `tilts`.

    Returns
    -------
    ndarray of shape (P1 + P2, p1, p2)
        `B1' S12(t) B2` for each point, rows of a view of counts divided by
        `exp(t)`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.two_view import form_tilted
    >>> from tercet.intake import open_pair
    >>> from tercet.moments import collect_tilts, collect_views
    >>> rng = np.random.default_rng(0)
    >>> pair = open_pair(rng.poisson(1.0, (50, 3)), rng.poisson(1.0, (50, 2)))
    >>> points = np.zeros((1, 3)), np.zeros((1, 2))
    >>> sums = collect_tilts(pair, collect_views(pair, None, 1), points)
    >>> plain = form_cumulants(sums).cross * 49 / 50
    >>> np.allclose(form_tilted(sums), plain)
    True
    """
    tilts = moments.tilts
    if tilts is None:
        raise ParameterError(
            "moments hold no tilted sums; add them with tercet.moments.collect_tilts."
        )
    firsts = [first / tilts.masses[:, None] for first in tilts.firsts]
    products = firsts[0][:, :, None] * firsts[1][:, None, :]
    return np.asarray(tilts.crosses / tilts.masses[:, None, None] - products)
