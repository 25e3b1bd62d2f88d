"""Two views: target matrices, processing points, and loadings from their solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.families.two_view import TwoViewParameters, ViewEquations
from tercet.flow import FloatArray, IntArray
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
# Decided by experiments/discrete_cca: longer points rest on few rows.
REACH = (1e-3, 0.1)
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
    groups : ndarray of shape (m,)
        Number of the group of each target: those of one view and one order.
    """

    stack: FloatArray
    scales: FloatArray
    n_rows: FloatArray
    groups: IntArray


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
    groups = np.repeat([0, 1], len(own))
    return ViewTargets(stack / scales[:, None, None], scales, n_rows, groups)


def _contract(third: FloatArray, twice: FloatArray, once: FloatArray) -> FloatArray:
    """Return `T (C, C, D)`."""
    partly = np.tensordot(third, once, (2, 0))
    partly = np.tensordot(twice, partly, (0, 0))
    return np.asarray(np.tensordot(partly, twice, (1, 0)).transpose(0, 2, 1))


def choose_points(
    moments: TwoViewMoments,
    equations: ViewEquations,
    whitening: ViewWhitening,
    delta: float = 0.1,
    reach: tuple[float, float] = REACH,
) -> Pair:
    """Choose processing points `t = delta_j W_j' e_p` (paper 002, 4.47).

    The rule divides `delta` by the mean absolute entry of the view, which depends on
    the unit that the view is measured in. A point where `t'x` would vary by more
    than `reach` allows - on sparse text it would, and a handful of rows would carry
    all the weight - is shortened, one where it would vary by less than that - its
    covariance would differ from that at zero by rounding errors - is lengthened.

    Parameters
    ----------
    moments : TwoViewMoments
        Sums, for the mean absolute entries.
    equations : ViewEquations
        Cumulants, for the spread of the exponents.
    whitening : ViewWhitening
        The whitening pair.
    delta : float
        The paper's delta.
    reach : pair of float
        Least and largest standard deviation of an exponent.

    Returns
    -------
    pair of ndarray, (P1, d1) and (P2, d2)
        Points: k in a view of counts; 2 k in a view of real numbers, the second
        half opposite to the first.
    """
    points = []
    for j in (0, 1):
        size = moments.bases[j].shape[0]
        mean = float(moments.magnitudes[j]) / (moments.total_weight * size)
        directions = whitening.coordinates[j]
        rule = delta / max(mean, _TINY)
        spread = np.einsum("ak,ab,bk->k", directions, equations.within[j], directions)
        unit = 1.0 / np.sqrt(np.maximum(spread, _TINY))
        rays = (moments.bases[j] @ directions).T
        largest = np.maximum(np.abs(rays).max(axis=1), _TINY)
        factors = np.clip(rule, reach[0] * unit, reach[1] * unit)
        factors = np.minimum(factors, _LARGEST_ENTRY / largest)
        ahead = np.ascontiguousarray(rays * factors[:, None])
        counted = moments.kinds[j] == "counts"
        points.append(ahead if counted else np.concatenate([ahead, -ahead]))
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
    """Return `W1 (S12(t) - S12) W2'` for all points (4.48), sorted by order.

    `W1 S12 W2'` is the identity, which every similarity leaves alone; without it
    the targets have the size of what is new in them. Of a point and its opposite
    the half difference and the half sum are taken: the first is led by third
    cumulants, the second by fourth ones. For small points the second are much the
    smaller, and would drown in the sampling errors of the first.

    Parameters
    ----------
    tilted : ndarray of shape (P, p1, p2)
        Generalised covariances inside the bases.
    points : pair of ndarray, (P1, d1) and (P2, d2)
        Where they were taken, as `choose_points` gives them.
    n_rows : ndarray of shape (P,)
        Rows that each of them rests on.
    equations : ViewEquations
        Covariances at zero.
    whitening : ViewWhitening
        The whitening pair.
    standardize : bool
        Whether targets are divided by the spread of what makes them: that of the
        exponent, or of its square.

    Returns
    -------
    ViewTargets
        One target a point.
    """
    first, second = whitening.coordinates
    # Generalised covariances are plug-in ones; so must be the one at zero.
    plugged = (1.0 - 1.0 / equations.n_rows) * equations.cross
    stack = first.T @ (tilted - plugged) @ second
    count = points[0].shape[0]
    parts, scales, rows = [], [], []
    for j, own in enumerate((slice(None, count), slice(count, None))):
        targets, mine = stack[own], n_rows[own]
        paired = equations.kinds[j] != "counts"
        half = len(targets) // 2 if paired else len(targets)
        inside = _inside(points[j][:half], equations.bases[j])
        spread = np.einsum("pa,ab,pb->p", inside, equations.within[j], inside)
        spread = np.maximum(spread, _TINY)
        scales.append(np.sqrt(spread))
        if not paired:
            parts.append(targets)
            rows.append(mine)
            continue
        parts.append((targets[:half] - targets[half:]) / 2.0)
        parts.append((targets[:half] + targets[half:]) / 2.0)
        # The square of a Gaussian exponent varies by the root of two of its variance.
        scales.append(spread / np.sqrt(2.0))
        rows += [np.minimum(mine[:half], mine[half:])] * 2
    used = np.concatenate(scales) if standardize else np.ones(len(stack))
    together = np.concatenate(parts) / used[:, None, None]
    groups = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return ViewTargets(together, used, np.concatenate(rows), groups)


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

    In the limit these are `pinv(W1) Q` and `pinv(W2) Q^-T` of the paper, for rows of W1
    and W2 in the spans of the loadings. A column keeps its length out of the model: columns of a
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
