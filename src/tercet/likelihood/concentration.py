"""Dirichlet parameters from the mean logarithms of proportions."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from tercet.flow import FloatArray

__all__ = ["LARGEST_CONCENTRATION", "SMALLEST_CONCENTRATION", "refine_concentration"]

SMALLEST_CONCENTRATION = 1e-4
"""A topic that no document uses keeps this much, and can come back."""

LARGEST_CONCENTRATION = 1e5
"""Documents that all mix topics alike would drive the parameters to infinity."""


def refine_concentration(
    mean_logs: FloatArray,
    start: FloatArray,
    *,
    tolerance: float = 1e-8,
    max_steps: int = 50,
) -> FloatArray:
    """Maximise `log Gamma(sum alpha) - sum log Gamma(alpha_j) + sum alpha_j l_j`.

    The objective is concave. Newton steps with the diagonal-plus-constant
    Hessian (Minka 2000, section 1) are taken where they raise it, and Minka's
    fixed-point step `psi(alpha_j) = psi(sum alpha) + l_j`, which always does,
    where they do not.

    Parameters
    ----------
    mean_logs : ndarray of shape (k,)
        l: mean over documents of the expected logarithm of each proportion.
    start : ndarray of shape (k,)
        Positive start.
    tolerance : float
        The steps end when no parameter moves by more than this share.
    max_steps : int
        Most steps; the result is never worse than the start.

    Returns
    -------
    ndarray of shape (k,)
        Parameters between `SMALLEST_CONCENTRATION` and `LARGEST_CONCENTRATION`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import digamma
    >>> from tercet.likelihood.concentration import refine_concentration
    >>> alpha = np.array([0.1, 2.0])
    >>> mean_logs = digamma(alpha) - digamma(alpha.sum())
    >>> refine_concentration(mean_logs, np.ones(2)).round(6)
    array([0.1, 2. ])
    """
    logs = np.asarray(mean_logs, dtype=np.float64)
    alpha = _limit(np.asarray(start, dtype=np.float64))
    if alpha.size == 1:
        # One topic has proportion one whatever its parameter is.
        return alpha
    height = _objective(alpha, logs)
    for _ in range(max_steps):
        previous = alpha
        trial = _newton(alpha, logs)
        higher = -np.inf if trial is None else _objective(trial, logs)
        if trial is None or not higher >= height:
            trial = _limit(_invert_digamma(digamma(alpha.sum()) + logs))
            higher = _objective(trial, logs)
        if not higher >= height:
            break
        alpha, height = trial, higher
        if np.all(np.abs(alpha - previous) <= tolerance * previous):
            break
    return alpha


def _limit(alpha: FloatArray) -> FloatArray:
    return np.clip(alpha, SMALLEST_CONCENTRATION, LARGEST_CONCENTRATION)


def _objective(alpha: FloatArray, logs: FloatArray) -> float:
    return float(gammaln(alpha.sum()) - gammaln(alpha).sum() + alpha @ logs)


def _newton(alpha: FloatArray, logs: FloatArray) -> FloatArray | None:
    """Return a Newton step, or None if it leaves the positive numbers."""
    total = alpha.sum()
    gradient = digamma(total) - digamma(alpha) + logs
    diagonal = -polygamma(1, alpha)
    constant = polygamma(1, total)
    shift = (gradient / diagonal).sum() / (1.0 / constant + (1.0 / diagonal).sum())
    step = (gradient - shift) / diagonal
    trial = alpha - step
    if not np.isfinite(trial).all() or trial.min() <= 0.0:
        return None
    return _limit(trial)


def _invert_digamma(values: FloatArray) -> FloatArray:
    """Solve psi(x) = values by Newton from Minka's start (2000, appendix C)."""
    x = np.where(
        values >= -2.22,
        np.exp(np.minimum(values, 50.0)) + 0.5,
        -1.0 / (values - digamma(1.0)),
    )
    for _ in range(5):
        x = x - (digamma(x) - values) / polygamma(1, x)
        x = np.maximum(x, SMALLEST_CONCENTRATION * 1e-3)
    return x
