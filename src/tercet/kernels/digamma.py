"""Digamma and log-gamma, written so that loops over topics vectorise.

All three functions shift the argument by eight and use an asymptotic series
there; the shift is undone by a rational function, so that a whole vector costs
a few multiply-adds an entry and no call of a library function.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["digamma", "log_gamma", "scaled_exp_digamma"]

_FAST = {"reassoc", "contract", "nsz", "arcp"}
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
# exp(digamma) relative to the largest entry is never below exp(-345) = 1e-150:
# products with probabilities and their reciprocals stay finite, and a word that
# only unlikely topics know still has topics to go to.
_DEEPEST = 345.0


@njit(cache=True, nogil=True, fastmath=_FAST)
def _shift_by_eight(x: float) -> float:
    """Return sum_{i<8} 1/(x+i), by pairs (x+i)(x+7-i) = x(x+7) + i(7-i)."""
    outer = x * (x + 7.0)
    left = outer * (outer + 6.0)
    right = (outer + 10.0) * (outer + 12.0)
    top = (2.0 * outer + 6.0) * right + (2.0 * outer + 22.0) * left
    return (2.0 * x + 7.0) * top / (left * right)


@njit(cache=True, nogil=True, fastmath=_FAST)
def digamma(x: float) -> float:
    """Return psi(x) for x > 0, to about 1e-14 of max(1, |psi|)."""
    z = x + 7.5
    v = 1.0 / (z * z)
    # psi(z + 1/2) = log z + 1/(24 z^2) - 7/(960 z^4) + 31/(8064 z^6) - ...
    tail = v * (
        1 / 24
        + v * (-7 / 960 + v * (31 / 8064 + v * (-127 / 30720 + v * (511 / 67584))))
    )
    tail -= v * v * v * v * v * v * (1414477 / 67092480)
    return math.log(z) + tail - _shift_by_eight(x)


@njit(cache=True, nogil=True, fastmath=_FAST)
def log_gamma(x: float) -> float:
    """Return the logarithm of the gamma function for 0 < x < 1e30."""
    z = x + 8.0
    v = 1.0 / (z * z)
    series = (
        1 / 12
        + v
        * (
            -1 / 360
            + v * (1 / 1260 + v * (-1 / 1680 + v * (1 / 1188 - v * 691 / 360360)))
        )
    ) / z
    outer = x * (x + 7.0)
    product = outer * (outer + 6.0) * (outer + 10.0) * (outer + 12.0)
    return (z - 0.5) * math.log(z) - z + _HALF_LOG_TWO_PI + series - math.log(product)


@njit(cache=True, nogil=True, fastmath=_FAST)
def scaled_exp_digamma(x: NDArray[np.float64], out: NDArray[np.float64]) -> float:
    """Fill `out` with exp(psi(x_j) + shift) and return the shift.

    The shift makes the entry of the largest x of moderate size whatever the
    scale of x, so that small arguments do not underflow together.

    Parameters
    ----------
    x : ndarray of shape (k,)
        Positive arguments.
    out : ndarray of shape (k,)
        Result, bounded below by 1e-150 times its largest entry or so.

    Returns
    -------
    float
        The shift, `sum_{i<8} 1 / (max(x) + i)`.
    """
    largest = x[0]
    for j in range(x.shape[0]):
        largest = max(largest, x[j])
    shift = _shift_by_eight(largest)
    for j in range(x.shape[0]):
        depth = min(_shift_by_eight(x[j]) - shift, _DEEPEST)
        # exp(-depth) = exp(-depth / 2048) ** 2048, by Taylor and 11 squarings.
        u = -depth * (1.0 / 2048.0)
        power = 1.0 + u / 5 * (
            1.0 + u / 6 * (1.0 + u / 7 * (1.0 + u / 8 * (1.0 + u / 9)))
        )
        power = 1.0 + u * (1.0 + u / 2 * (1.0 + u / 3 * (1.0 + u / 4 * power)))
        for _ in range(11):
            power *= power
        z = x[j] + 7.5
        v = 1.0 / (z * z)
        # exp(psi(z + 1/2)) = z + 1/(24 z) - 37/(5760 z^3) + ...
        tail = 10313 / 2903040 + v * (-5509121 / 1393459200 + v * 0.007365033269308669)
        series = 1.0 + v * (1 / 24 + v * (-37 / 5760 + v * tail))
        out[j] = z * series * power
    return shift
