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


@njit(cache=True, nogil=True, fastmath=_REORDER, error_model="numpy")
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
    sources : ndarray of shape (k, n)
        Sources y, a row each.
    scale : ndarray of shape (n,)
        Row weights.
    coefficients : ndarray of shape (4, k)
        Coefficients of the four functions for each source.
    scores : ndarray of shape (k, n)
        Written: `w_i sum_a c_a g_a(y)`.
    grams : ndarray of shape (10, k)
        Added to: weighted sums of `g_a g_b` for a <= b, row by row.
    slopes : ndarray of shape (4, k)
        Added to: weighted sums of the derivatives `g_a'`.
    """
    k, n = sources.shape
    for j in range(k):
        values = sources[j]
        written = scores[j]
        c0, c1 = coefficients[0, j], coefficients[1, j]
        c2, c3 = coefficients[2, j], coefficients[3, j]
        mass = yy = ys = yq = yf = ss = sq = sf = qq = qf = ff = 0.0
        cubes = odd_cubes = mixed = 0.0
        for i in range(n):
            w = scale[i]
            y = values[i]
            q = 1.0 / math.sqrt(_SOFTNESS + y * y)
            q2 = q * q
            s = y * q
            f = s * q2
            wy, ws, wq, wf = w * y, w * s, w * q, w * f
            written[i] = c0 * wy + c1 * ws + c2 * wq + c3 * wf
            mass += w
            yy += wy * y
            ys += wy * s
            yq += wy * q
            yf += wy * f
            ss += ws * s
            sq += ws * q
            sf += ws * f
            qq += wq * q
            qf += wq * f
            ff += wf * f
            cube = wq * q2
            cubes += cube
            odd_cubes += cube * y
            mixed += cube * s * s
        added = (yy, ys, yq, yf, ss, sq, sf, qq, qf, ff)
        for a in range(10):
            grams[a, j] += added[a]
        slopes[0, j] += mass
        slopes[1, j] += _SOFTNESS * cubes
        slopes[2, j] -= odd_cubes
        slopes[3, j] += cubes - 3.0 * mixed
