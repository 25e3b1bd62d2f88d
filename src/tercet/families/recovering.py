"""Recovery that several families share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from tercet.flow import Equations, Factors, FloatArray, Parameters, Whitening
from tercet.recovery import (
    Scales,
    clean_columns,
    order_by_weight,
    recover_scales,
    recover_signs,
    recover_weights,
)

__all__ = ["Topics", "keep_from_zero", "recover_mixture", "recover_topics"]

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Topics:
    """Probability vectors with what the moments say of their scales.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Topics.
    scales : Scales
        Un-normalised columns and their coefficients.
    sums : ndarray of shape (k,)
        Sums of the un-normalised columns, positive where the signs agree;
        negative entries included.
    details : dict
        Diagnostics: `negative_mass`, `sign_disagreement`.
    """

    centers: FloatArray
    scales: Scales
    sums: FloatArray
    details: dict[str, Any]


def recover_topics(
    factors: Factors, whitening: Whitening, equations: Equations, negative: str
) -> Topics:
    """Recover centers that are probability vectors.

    Parameters
    ----------
    factors : Factors
        Solution of the whitened problem; centers that were read row by row
        (SVTD) are taken as they are.
    whitening : Whitening
        Of the same equations.
    equations : Equations
        Moments of the model.
    negative : {"truncate", "simplex"}
        What is done to negative entries.

    Returns
    -------
    Topics
        Topics in the order of the factors.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.decomposition import solve
    >>> from tercet.families import SingleTopic
    >>> from tercet.families.recovering import recover_topics
    >>> from tercet.flow import Parameters
    >>> from tercet.whitening import whiten_pair, whiten_third
    >>> truth = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.8, 0.2]))
    >>> moments = SingleTopic().population(truth)
    >>> whitening = whiten_pair(moments, 2)
    >>> factors = solve(whiten_third(moments, whitening), "joint")
    >>> topics = recover_topics(factors, whitening, moments, "truncate")
    >>> topics.centers.round(6).max(axis=0).tolist()
    [0.9, 0.8]
    """
    scales = recover_scales(factors, whitening, equations)
    signs = recover_signs(scales.columns, scales.third)
    columns = scales.columns * signs.by_mass
    shown = columns if factors.rows is None else _upright(factors.rows)
    cleaned = clean_columns(shown, negative)
    return Topics(
        centers=cleaned.columns,
        scales=scales,
        sums=columns.sum(axis=0),
        details={
            "negative_mass": cleaned.removed,
            "sign_disagreement": signs.disagree,
        },
    )


def keep_from_zero(values: FloatArray) -> FloatArray:
    """Return numbers that can be divided by, and squared before: zeros are moved.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.recovering import keep_from_zero
    >>> bool(np.isfinite(1.0 / keep_from_zero(np.zeros(1)) ** 2).all())
    True
    """
    least = _TINY**0.25
    return np.where(np.abs(values) < least, least, values)


def _upright(columns: FloatArray) -> FloatArray:
    """Turn columns so that the entries with more mass are positive."""
    return columns * recover_signs(columns, np.ones(columns.shape[1])).by_mass


def recover_mixture(
    factors: Factors,
    whitening: Whitening,
    equations: Equations,
    *,
    least: float = -np.inf,
    most: float = np.inf,
) -> Parameters:
    """Recover centers of any scale and their weights, `M_r = sum omega mu^(x)r`.

    The weight is `c_j^2` with `E O c = M1`, and again `1 / lambda_j^2`;
    `details` has both. The center is `E o_j / c_j`, so that the mean of the
    mixture is that of the data. Where the moments have `energy`, the sum of
    `omega_j sigma_j^2 mu_j`, variances come out as well.

    Parameters
    ----------
    factors : Factors
        Solution of the whitened problem; centers that were read row by row
        (SVTD) are taken as they are.
    whitening : Whitening
        Of the same equations.
    equations : Equations
        Moments of the model.
    least, most : float
        Range of the entries of a center; those outside are brought to its
        ends, and `details["clipped_mass"]` says how much that changed.

    Returns
    -------
    parameters : Parameters
        Centers and weights by falling weight.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.decomposition import solve
    >>> from tercet.families import Poisson
    >>> from tercet.families.recovering import recover_mixture
    >>> from tercet.flow import Parameters
    >>> from tercet.whitening import whiten_pair, whiten_third
    >>> truth = Parameters(np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([0.8, 0.2]))
    >>> moments = Poisson().population(truth)
    >>> whitening = whiten_pair(moments, 2)
    >>> factors = solve(whiten_third(moments, whitening), "joint")
    >>> recover_mixture(factors, whitening, moments).weights.round(6)
    array([0.8, 0.2])
    """
    scales = recover_scales(factors, whitening, equations)
    # Where noise made a squared length negative, that of unit vectors serves.
    pair = np.where(scales.pair > 0.0, scales.pair, 1.0)
    by_first = scales.first**2 / pair
    # A component without a third moment has no weight that could be told.
    with np.errstate(divide="ignore"):
        by_third = pair**3 / keep_from_zero(scales.third) ** 2
    weights = recover_weights(by_first)
    # The column is s_j mu_j with s_j = c_j / g_j; where noise made c vanish
    # the weight's root stands in for it.
    length = np.sqrt(weights / pair)
    centers = scales.columns / length if factors.rows is None else factors.rows
    inside = np.clip(centers, least, most)
    moved = np.abs(inside - centers).sum(axis=0)
    total = np.abs(centers).sum(axis=0)
    details = {
        "weights_by_first": by_first,
        "weights_by_third": by_third,
        "sign_disagreement": (scales.first < 0.0) | (scales.third < 0.0),
        "clipped_mass": np.divide(
            moved, total, out=np.zeros_like(moved), where=total > 0
        ),
    }
    variances = _recover_variances(scales.first, factors, whitening, equations)
    return order_by_weight(
        Parameters(inside, weights, variances=variances, details=details)
    )


def _recover_variances(
    first: FloatArray, factors: Factors, whitening: Whitening, equations: Equations
) -> FloatArray | None:
    """Return `sigma_j^2 = r_j / c_j` with `V r` the whitened energy, or None."""
    if equations.energy is None:
        return None
    whitened = whitening.coordinates.T @ equations.energy
    coefficients = linalg.lstsq(factors.vectors, whitened)[0]
    # A component without weight takes the mean variance.
    overall = float(np.abs(coefficients).sum() / max(np.abs(first).sum(), _TINY))
    variances = np.divide(
        coefficients,
        first,
        out=np.full_like(first, overall),
        where=np.abs(first) > 1e-8 * np.abs(first).max(),
    )
    return np.asarray(np.maximum(variances, 0.0))
