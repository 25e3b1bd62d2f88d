"""Shears and rotations of a stack of square matrices, targets contiguous.

A pair of indices is treated at once: the shear `[[cosh y, sinh y], [sinh y,
cosh y]]` brings the targets nearer to normal matrices, the rotation that follows
brings them nearer to diagonal ones. What a shear does to the norm of all
targets is known beforehand from a few sums,

    f(y) = G cosh 2y - 2 K sinh 2y + w (D cosh 4y + 2 E sinh 4y) + const,

w being 1/2 for the whole norm and 1/4 for its off-diagonal part. Both are convex
in y, so that an exact minimiser is at hand whenever a rule of thumb fails.
"""

from __future__ import annotations

import math

from numba import njit

from tercet.flow import FloatArray, IntArray

__all__ = ["SHEAR_RULES", "sweep_similarity"]

SHEAR_RULES = {"sh-rt": 0, "just": 1, "jdtm": 2}
"""Rules for the shear by the number that the compiled loop knows them by."""

_REORDER = {"reassoc", "contract", "nsz", "arcp"}
_LONGEST_SHEAR = 1.0


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _sum_outside(stack: FloatArray, p: int, q: int) -> tuple[float, float]:
    """Return the sums G and K over the entries that share one index with the pair."""
    size, count = stack.shape[0], stack.shape[2]
    squares = 0.0
    products = 0.0
    for j in range(size):
        if j in (p, q):
            continue
        above = stack[p, j]
        below = stack[q, j]
        left = stack[j, p]
        right = stack[j, q]
        for t in range(count):
            squares += above[t] * above[t] + below[t] * below[t]
            squares += left[t] * left[t] + right[t] * right[t]
            products += above[t] * below[t] - left[t] * right[t]
    return squares, products


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _sum_inside(
    top: FloatArray, bottom: FloatArray, upper: FloatArray, lower: FloatArray
) -> tuple[float, float, float, float, float, float]:
    """Sum squares and products of gap, skew and symmetric parts of a block."""
    gap2 = 0.0
    skew2 = 0.0
    even2 = 0.0
    gap_skew = 0.0
    gap_even = 0.0
    skew_even = 0.0
    for t in range(top.shape[0]):
        gap = top[t] - bottom[t]
        skew = upper[t] - lower[t]
        even = upper[t] + lower[t]
        gap2 += gap * gap
        skew2 += skew * skew
        even2 += even * even
        gap_skew += gap * skew
        gap_even += gap * even
        skew_even += skew * even
    return gap2, skew2, even2, gap_skew, gap_even, skew_even


@njit(cache=True, nogil=True)
def _change(
    y: float, squares: float, products: float, both: float, mixed: float, share: float
) -> float:
    """Change of the measure that a shear makes, free of cancellation."""
    once = math.sinh(y)
    twice = math.sinh(2.0 * y)
    outside = 2.0 * squares * once * once - 2.0 * products * twice
    inside = 2.0 * both * twice * twice + 2.0 * mixed * math.sinh(4.0 * y)
    return outside + share * inside


@njit(cache=True, nogil=True)
def _minimize_measure(
    squares: float, products: float, both: float, mixed: float, share: float
) -> float:
    """Shear at which the convex measure is least, by Newton steps in a bracket."""
    low = -_LONGEST_SHEAR
    high = _LONGEST_SHEAR
    y = 0.0
    for _ in range(60):
        slope = 2.0 * squares * math.sinh(2.0 * y) - 4.0 * products * math.cosh(2.0 * y)
        slope += share * (
            4.0 * both * math.sinh(4.0 * y) + 8.0 * mixed * math.cosh(4.0 * y)
        )
        curvature = 4.0 * squares * math.cosh(2.0 * y) - 8.0 * products * math.sinh(
            2.0 * y
        )
        curvature += share * (
            16.0 * both * math.cosh(4.0 * y) + 32.0 * mixed * math.sinh(4.0 * y)
        )
        if slope > 0.0:
            high = y
        else:
            low = y
        following = y - slope / curvature if curvature > 0.0 else 0.5 * (low + high)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - y) <= 1e-15 + 1e-12 * abs(y):
            return following
        y = following
    return y


@njit(cache=True, nogil=True)
def _propose_shear(
    rule: int, squares: float, products: float, both: float, mixed: float
) -> float:
    """Shear that a rule asks for; zero where its formula would divide by zero."""
    if rule == 0:
        denominator = squares + 2.0 * both
        ratio = (products - mixed) / denominator if denominator > 0.0 else 0.0
        reach = math.tanh(_LONGEST_SHEAR)
        return math.atanh(min(max(ratio, -reach), reach))
    ratio = -2.0 * mixed / both if both > 0.0 else 0.0
    reach = math.tanh(4.0 * _LONGEST_SHEAR)
    return 0.25 * math.atanh(min(max(ratio, -reach), reach))


@njit(cache=True, nogil=True)
def _choose_shear(
    rule: int, squares: float, products: float, both: float, mixed: float
) -> float:
    """Shear that lowers the measure of a rule, or none."""
    share = 0.5 if rule == 0 else 0.25
    if rule != 1:
        y = _propose_shear(rule, squares, products, both, mixed)
        if _change(y, squares, products, both, mixed, share) < 0.0:
            return y
    y = _minimize_measure(squares, products, both, mixed, share)
    lowers = _change(y, squares, products, both, mixed, share) < 0.0
    return y if lowers else 0.0


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _mix(
    left: FloatArray,
    right: FloatArray,
    first_left: float,
    first_right: float,
    second_left: float,
    second_right: float,
) -> None:
    """Replace two vectors by two combinations of them."""
    for t in range(left.shape[0]):
        first = left[t]
        second = right[t]
        left[t] = first_left * first + first_right * second
        right[t] = second_left * first + second_right * second


@njit(cache=True, nogil=True)
def sweep_similarity(
    stack: FloatArray,
    transposed: FloatArray,
    inverse: FloatArray,
    pivots: IntArray,
    rule: int,
    floor: float,
) -> float:
    """Shear and rotate every pivot pair once, in place.

    Parameters
    ----------
    stack : ndarray of shape (k, k, m)
        Targets with the target index last.
    transposed : ndarray of shape (k, k)
        Transpose of the accumulated Q.
    inverse : ndarray of shape (k, k)
        Its inverse, updated along with it.
    pivots : ndarray of shape (pairs, 2)
        Pairs p < q in the order in which they are visited.
    rule : int
        See `SHEAR_RULES`.
    floor : float
        Sums of squares that are rounding errors.

    Returns
    -------
    float
        Largest hyperbolic sine or sine that was applied.
    """
    size = stack.shape[0]
    largest = 0.0
    for index in range(pivots.shape[0]):
        p = pivots[index, 0]
        q = pivots[index, 1]
        squares, products = _sum_outside(stack, p, q)
        gap2, skew2, even2, mixed, gap_even, skew_even = _sum_inside(
            stack[p, p], stack[q, q], stack[p, q], stack[q, p]
        )
        y = 0.0
        if skew2 + squares > floor:
            y = _choose_shear(rule, squares, products, gap2 + skew2, mixed)
        # What the shear makes of gap and skew; the symmetric part stays.
        wide, tall = math.cosh(2.0 * y), math.sinh(2.0 * y)
        gaps = wide * wide * gap2 + 2.0 * wide * tall * mixed + tall * tall * skew2
        cross = wide * gap_even + tall * skew_even
        angle = 0.0
        if even2 > floor:
            angle = 0.25 * math.atan2(2.0 * cross, gaps - even2)
        if y == 0.0 and angle == 0.0:
            continue
        sine, cosine = math.sin(angle), math.cos(angle)
        shear, stretch = math.sinh(y), math.cosh(y)
        largest = max(largest, abs(sine), abs(shear))
        # Columns of S G, with S the shear and G the rotation; determinant one.
        pp = stretch * cosine + shear * sine
        qp = shear * cosine + stretch * sine
        pq = shear * cosine - stretch * sine
        qq = stretch * cosine - shear * sine
        for i in range(size):
            _mix(stack[i, p], stack[i, q], pp, qp, pq, qq)
        for i in range(size):
            _mix(stack[p, i], stack[q, i], qq, -pq, -qp, pp)
        _mix(transposed[p], transposed[q], pp, qp, pq, qq)
        _mix(inverse[p], inverse[q], qq, -pq, -qp, pp)
    return largest
