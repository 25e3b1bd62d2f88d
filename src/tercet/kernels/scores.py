"""Score functions of independent sources and the sums that fit them.

The score of a density, `-(log f)'`, is looked for in the span of four functions of
a source y of unit variance,

    y,  s = y q,  q = 1 / sqrt(1/2 + y^2),  y q^3:

linear, bounded and odd, bounded and even (for skewed sources), redescending. They
cost one root and one division.
"""

from __future__ import annotations

import math

from numba import njit

from tercet.flow import FloatArray

__all__ = ["N_FUNCTIONS", "add_scores"]

N_FUNCTIONS = 4
_SOFTNESS = 0.5
_REORDER = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def add_scores(
    sources: FloatArray,
    scale: FloatArray,
    coefficients: FloatArray,
    scores: FloatArray,
    grams: FloatArray,
    slopes: FloatArray,
) -> None:
    """Write scores, and add what fits their coefficients.

    Parameters
    ----------
    sources : ndarray of shape (n, k)
        Sources y of each row.
    scale : ndarray of shape (n,)
        Row weights.
    coefficients : ndarray of shape (4, k)
        Coefficients of the four functions for each source.
    scores : ndarray of shape (n, k)
        Written: `w_i sum_a c_a g_a(y)`.
    grams : ndarray of shape (10, k)
        Added to: weighted sums of `g_a g_b` for a <= b, row by row.
    slopes : ndarray of shape (4, k)
        Added to: weighted sums of the derivatives `g_a'`.
    """
    n, k = sources.shape
    for i in range(n):
        w = scale[i]
        for j in range(k):
            y = sources[i, j]
            q = 1.0 / math.sqrt(_SOFTNESS + y * y)
            q2 = q * q
            s = y * q
            f = s * q2
            wy = w * y
            ws = w * s
            wq = w * q
            wf = w * f
            scores[i, j] = (
                coefficients[0, j] * wy
                + coefficients[1, j] * ws
                + coefficients[2, j] * wq
                + coefficients[3, j] * wf
            )
            grams[0, j] += wy * y
            grams[1, j] += wy * s
            grams[2, j] += wy * q
            grams[3, j] += wy * f
            grams[4, j] += ws * s
            grams[5, j] += ws * q
            grams[6, j] += ws * f
            grams[7, j] += wq * q
            grams[8, j] += wq * f
            grams[9, j] += wf * f
            cube = q2 * q
            slopes[0, j] += w
            slopes[1, j] += w * _SOFTNESS * cube
            slopes[2, j] -= wy * cube
            slopes[3, j] += w * cube * (1.0 - 3.0 * s * s)
