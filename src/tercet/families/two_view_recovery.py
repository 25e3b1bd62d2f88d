"""Two views: target matrices, processing points, and loadings from their solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.families.two_view import TwoViewParameters, ViewEquations
from tercet.flow import FloatArray
from tercet.moments.views import Pair, TwoViewMoments
from tercet.recovery import clean_columns
from tercet.whitening import ViewWhitening

__all__ = [
    "ViewTargets",
    "choose_points",
    "cumulant_targets",
    "measure_visibility",
    "recover_loadings",
    "tilted_targets",
]

# Entries of a processing point: exp(30) is far from any overflow.
_LARGEST_ENTRY = 30.0
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class ViewTargets:
    """Matrices to be diagonalised by similarity, and their sampling errors.

    Parameters
    ----------
    stack : ndarray of shape (m, k, k)
        Targets `Q diag(.) Q^-1`, each divided by its scale.
    scales : ndarray of shape (m,)
        What they were divided by: standard deviations of the variable that makes
        the target.
    n_rows : ndarray of shape (m,)
        Rows that each target rests on.
    """

    stack: FloatArray
    scales: FloatArray
    n_rows: FloatArray


def cumulant_targets(
    equations: ViewEquations, whitening: ViewWhitening, *, standardize: bool = True
) -> ViewTargets:
    """Return `W1 T12j(W_j' e_p) W2'` for both views and all p (4.46).

    Parameters
    ----------
    equations : ViewEquations
        Cumulants.
    whitening : ViewWhitening
        The whitening pair.
    standardize : bool
        Whether each target is divided by the standard deviation of the whitened
        variable that makes it, so that all have sampling errors of one size.

    Returns
    -------
    ViewTargets
        2 k targets.
    """
    first, second = whitening.coordinates
    own = _contract(equations.thirds[0], first, second).transpose(1, 0, 2)
    other = _contract(equations.thirds[1], second, first).transpose(1, 2, 0)
    stack = np.concatenate([own, other])
    scales = np.ones(len(stack))
    if standardize:
        variances = [
            np.einsum("ak,ab,bk->k", c, w, c)
            for c, w in zip(whitening.coordinates, equations.within, strict=True)
        ]
        scales = np.sqrt(np.maximum(np.concatenate(variances), _TINY))
    n_rows = np.full(len(stack), equations.n_rows)
    return ViewTargets(stack / scales[:, None, None], scales, n_rows)


def _contract(third: FloatArray, twice: FloatArray, once: FloatArray) -> FloatArray:
    """Return `T (C, C, D)`."""
    partly = np.tensordot(third, once, (2, 0))
    partly = np.tensordot(twice, partly, (0, 0))
    return np.asarray(np.tensordot(partly, twice, (1, 0)).transpose(0, 2, 1))


def choose_points(
    moments: TwoViewMoments,
    equations: ViewEquations,
    whitening: ViewWhitening,
    delta: float | None = 0.1,
    reach: float = 0.5,
) -> Pair:
    """Choose processing points `t = delta_j W_j' e_p` (paper 002, 4.47).

    The rule divides `delta` by the mean absolute entry of the view. Where that
    would let `t'x` vary by more than `reach` standard deviations - on sparse text
    it does, and a handful of rows would carry all the weight - the point is
    shortened to it.

    Parameters
    ----------
    moments : TwoViewMoments
        Sums, for the mean absolute entries.
    equations : ViewEquations
        Cumulants, for the spread of the exponents.
    whitening : ViewWhitening
        The whitening pair.
    delta : float or None
        The paper's delta; None stretches every point to `reach`.
    reach : float
        Largest standard deviation of an exponent.

    Returns
    -------
    pair of ndarray, (k, d1) and (k, d2)
        Points of each view.
    """
    points = []
    for j in (0, 1):
        size = moments.bases[j].shape[0]
        mean = float(moments.magnitudes[j]) / (moments.total_weight * size)
        directions = whitening.coordinates[j]
        rule = np.inf if delta is None else delta / max(mean, _TINY)
        spread = np.einsum("ak,ab,bk->k", directions, equations.within[j], directions)
        limit = reach / np.sqrt(np.maximum(spread, _TINY))
        rays = (moments.bases[j] @ directions).T
        largest = np.maximum(np.abs(rays).max(axis=1), _TINY)
        factors = np.minimum(np.minimum(rule, limit), _LARGEST_ENTRY / largest)
        points.append(np.ascontiguousarray(rays * factors[:, None]))
    return points[0], points[1]


def tilted_targets(
    tilted: FloatArray,
    points: Pair,
    n_rows: FloatArray,
    equations: ViewEquations,
    whitening: ViewWhitening,
    *,
    standardize: bool = True,
) -> ViewTargets:
    """Return `W1 (S12(t) - S12) W2'` for all points (4.48).

    `W1 S12 W2'` is the identity, which every similarity leaves alone; without it
    the targets have the size of what is new in them.

    Parameters
    ----------
    tilted : ndarray of shape (P, p1, p2)
        Generalised covariances inside the bases.
    points : pair of ndarray, (P1, d1) and (P2, d2)
        Where they were taken.
    n_rows : ndarray of shape (P,)
        Rows that each of them rests on.
    equations : ViewEquations
        Covariances at zero.
    whitening : ViewWhitening
        The whitening pair.
    standardize : bool
        Whether each target is divided by the standard deviation of its exponent.

    Returns
    -------
    ViewTargets
        One target a point.
    """
    first, second = whitening.coordinates
    stack = first.T @ (tilted - equations.cross) @ second
    scales = np.ones(len(stack))
    if standardize:
        spreads = []
        for j in (0, 1):
            inside = _inside(points[j], equations.bases[j])
            spreads.append(
                np.einsum("pa,ab,pb->p", inside, equations.within[j], inside)
            )
        scales = np.sqrt(np.maximum(np.concatenate(spreads), _TINY))
    return ViewTargets(stack / scales[:, None, None], scales, n_rows)


def _inside(points: FloatArray, basis: FloatArray) -> FloatArray:
    """Return coordinates of points that lie in the span of a basis."""
    return np.asarray(np.linalg.lstsq(basis, points.T, rcond=None)[0].T)


def measure_visibility(
    targets: ViewTargets,
    vectors: FloatArray,
    inverse: FloatArray,
    equations: ViewEquations,
    whitening: ViewWhitening,
) -> FloatArray:
    """Return how far the diagonals of each source stand out of sampling noise.

    A source that is Gaussian has none but noise there, and two such sources
    cannot be told apart (paper 002, theorem 4.3.1). The noise is that of Gaussian
    rows with the covariances at hand.

    Parameters
    ----------
    targets : ViewTargets
        Targets.
    vectors, inverse : ndarray of shape (k, k)
        Q and its inverse.
    equations : ViewEquations
        Covariances.
    whitening : ViewWhitening
        The whitening pair.

    Returns
    -------
    ndarray of shape (k,)
        Root of the mean square of the standardised diagonals.
    """
    turned = (inverse @ targets.stack @ vectors).diagonal(axis1=1, axis2=2)
    frames = (whitening.coordinates[0] @ inverse.T, whitening.coordinates[1] @ vectors)
    a, b = (
        np.einsum("ak,ab,bk->k", frame, within, frame)
        for frame, within in zip(frames, equations.within, strict=True)
    )
    squares = turned**2 * targets.n_rows[:, None] / (a * b + 1.0)
    return np.asarray(np.sqrt(squares.mean(axis=0)))


def recover_loadings(
    vectors: FloatArray,
    inverse: FloatArray,
    equations: ViewEquations,
    whitening: ViewWhitening,
    *,
    negative: str = "simplex",
) -> TwoViewParameters:
    """Return aligned loadings `D1 = S12 W2' Q` and `D2 = S21 W1' Q^-T`.

    With the basis of the leading singular vectors these are `pinv(W1) Q` and
    `pinv(W2) Q^-T`. A column keeps its length out of the model: columns of a
    view of counts sum to one, others have unit length, and `strengths` hold the
    product of both lengths. The sign makes a view of counts positive; with two
    views of real numbers it makes the largest loading of the first view positive.

    Parameters
    ----------
    vectors, inverse : ndarray of shape (k, k)
        Q and its inverse.
    equations : ViewEquations
        Cumulants, for the kinds of the views.
    whitening : ViewWhitening
        The whitening pair.
    negative : {"simplex", "truncate"}
        What is done to negative loadings of counts.

    Returns
    -------
    TwoViewParameters
        By falling strength; `details` has `negative_mass`, what was removed from
        the columns of each view of counts, and `sign_disagreement`, where the two
        views want opposite signs.
    """
    columns = (
        whitening.unwhitening[0] @ vectors,
        whitening.unwhitening[1] @ inverse.T,
    )
    counted = [j for j in (0, 1) if equations.kinds[j] == "counts"]
    votes = [_vote(columns[j]) for j in counted] or [_vote_of_largest(columns[0])]
    signs = np.where(sum(votes) >= 0.0, 1.0, -1.0)
    shapes = [
        _shape_column(columns[j] * signs, equations.kinds[j], negative) for j in (0, 1)
    ]
    strengths = shapes[0].lengths * shapes[1].lengths
    order = np.argsort(-strengths, kind="stable")
    details: dict[str, NDArray[np.generic]] = {"order": order}
    if counted:
        removed = np.vstack([shapes[j].removed for j in counted])
        details["negative_mass"] = removed[:, order]
    if len(counted) == 2:
        details["sign_disagreement"] = (votes[0] * votes[1] < 0.0)[order]
    strengths = strengths[order]
    return TwoViewParameters(
        loadings=(
            np.ascontiguousarray(shapes[0].columns[:, order]),
            np.ascontiguousarray(shapes[1].columns[:, order]),
        ),
        strengths=strengths,
        weights=strengths / max(float(strengths.sum()), _TINY),
        details=details,
    )


class _Shape(NamedTuple):
    """Columns brought to their form, their lengths, and what was removed."""

    columns: FloatArray
    lengths: FloatArray
    removed: FloatArray


def _shape_column(upright: FloatArray, kind: str, negative: str) -> _Shape:
    """Bring columns to sum one (counts) or to unit length."""
    if kind != "counts":
        lengths = np.maximum(np.linalg.norm(upright, axis=0), _TINY)
        return _Shape(upright / lengths, lengths, np.zeros(lengths.size))
    cleaned = clean_columns(upright, negative)
    positive = np.maximum(upright, 0.0).sum(axis=0)
    # A sum that nearly cancels says nothing about the length.
    lengths = np.maximum(upright.sum(axis=0), 0.5 * positive)
    return _Shape(cleaned.columns, np.maximum(lengths, _TINY), cleaned.removed)


def _vote(columns: FloatArray) -> FloatArray:
    """Return the share of positive entries in the squares, less one half."""
    squares = columns**2
    positive = np.where(columns > 0.0, squares, 0.0).sum(axis=0)
    return np.asarray(positive / np.maximum(squares.sum(axis=0), _TINY) - 0.5)


def _vote_of_largest(columns: FloatArray) -> FloatArray:
    """Return the sign of the largest entry."""
    heaviest = np.abs(columns).argmax(axis=0)
    return np.asarray(np.sign(columns[heaviest, np.arange(columns.shape[1])]))
