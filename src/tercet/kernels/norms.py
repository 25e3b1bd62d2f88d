"""Jacobi rotations that lower a sum of norms, targets contiguous.

The measure of a stack of symmetric matrices is the sum, over the pairs i < j, of
the norm over the targets of entry (i, j). A rotation of one pair changes the
entry of the pair itself and every entry that shares one index with it, and each of
these norms is that of `cos(f t) a + sin(f t) b`, with f = 2 for the pair itself and
f = 1 for the others. Three inner products for each make a pair a problem in one
variable; they are not rewritten as waves, which would cancel near a solution.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tercet.flow import FloatArray, IntArray
from tercet.kernels.jacobi import rotate_pair

__all__ = ["sum_norms", "sum_pair", "sweep_norms"]

_REORDER = {"reassoc", "contract", "nsz", "arcp"}
_QUARTER = 0.25 * math.pi
_GRID = 16


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _square(left: FloatArray) -> float:
    total = 0.0
    for t in range(left.shape[0]):
        total += left[t] * left[t]
    return total


@njit(cache=True, nogil=True, fastmath=_REORDER)
def sum_pair(stack: FloatArray) -> tuple[float, float, float]:
    """Sum over 2 x 2 targets what their best rotation follows from.

    Parameters
    ----------
    stack : ndarray of shape (m, 2, 2)
        Targets; their symmetric parts count.

    Returns
    -------
    own, gaps, cross : float
        Sums of `h^2`, `g^2` and `h g` for `h = a_12` and `g = (a_11 - a_22) / 2`.
    """
    own = 0.0
    gaps = 0.0
    cross = 0.0
    for t in range(stack.shape[0]):
        off = 0.5 * (stack[t, 0, 1] + stack[t, 1, 0])
        half = 0.5 * (stack[t, 0, 0] - stack[t, 1, 1])
        own += off * off
        gaps += half * half
        cross += off * half
    return own, gaps, cross


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _products(left: FloatArray, right: FloatArray) -> tuple[float, float, float]:
    """Return the three inner products of two vectors."""
    first = 0.0
    second = 0.0
    mixed = 0.0
    for t in range(left.shape[0]):
        first += left[t] * left[t]
        second += right[t] * right[t]
        mixed += left[t] * right[t]
    return first, second, mixed


@njit(cache=True, nogil=True)
def _fill_terms(stack: FloatArray, p: int, q: int, terms: FloatArray) -> float:
    """Write the coefficients of the norms of a pair; return their squares at zero."""
    size, count = stack.shape[0], stack.shape[2]
    own = 0.0
    gaps = 0.0
    cross = 0.0
    for t in range(count):
        off = stack[p, q, t]
        half = 0.5 * (stack[p, p, t] - stack[q, q, t])
        own += off * off
        gaps += half * half
        cross += off * half
    terms[0, 0] = own
    terms[0, 1] = gaps
    terms[0, 2] = -cross
    total = own
    index = 1
    for j in range(size):
        if j in (p, q):
            continue
        left = stack[min(j, p), max(j, p)]
        right = stack[min(j, q), max(j, q)]
        first, second, mixed = _products(left, right)
        total += first + second
        terms[index, 0] = first
        terms[index, 1] = second
        terms[index, 2] = mixed
        index += 1
    return total


@njit(cache=True, nogil=True)
def _norm(
    first: float, second: float, mixed: float, cosine: float, sine: float
) -> float:
    """Norm of `cosine a + sine b`, from the inner products of a and b."""
    along = cosine * first + sine * mixed
    across = cosine * mixed + sine * second
    return math.sqrt(max(cosine * along + sine * across, 0.0))


@njit(cache=True, nogil=True)
def _bend(
    first: float, second: float, mixed: float, cosine: float, sine: float
) -> tuple[float, float]:
    """Return two derivatives of that norm by the angle; none where it vanishes."""
    norm = _norm(first, second, mixed, cosine, sine)
    scale = cosine * cosine * first + sine * sine * second
    if norm * norm <= 1e-15 * scale:
        return 0.0, 0.0
    twice, both = cosine * cosine - sine * sine, cosine * sine
    slope = ((second - first) * both + mixed * twice) / norm
    turn = ((second - first) * twice - 4.0 * mixed * both) / norm
    return slope, turn - slope * slope / norm


@njit(cache=True, nogil=True)
def _measure(terms: FloatArray, angle: float) -> float:
    """Sum the norms at an angle."""
    cosine, sine = math.cos(2.0 * angle), math.sin(2.0 * angle)
    total = _norm(terms[0, 0], terms[0, 1], terms[0, 2], cosine, sine)
    cosine, sine = math.cos(angle), math.sin(angle)
    for i in range(1, terms.shape[0]):
        first, second, mixed = terms[i, 0], terms[i, 1], terms[i, 2]
        total += _norm(first, second, mixed, cosine, sine)
        total += _norm(first, second, mixed, -sine, cosine)
    return total


@njit(cache=True, nogil=True)
def _derivatives(terms: FloatArray, angle: float) -> tuple[float, float]:
    """Return the first two derivatives of the sum of norms."""
    cosine, sine = math.cos(2.0 * angle), math.sin(2.0 * angle)
    slope, bend = _bend(terms[0, 0], terms[0, 1], terms[0, 2], cosine, sine)
    slope *= 2.0
    bend *= 4.0
    cosine, sine = math.cos(angle), math.sin(angle)
    for i in range(1, terms.shape[0]):
        first, second, mixed = terms[i, 0], terms[i, 1], terms[i, 2]
        one, one_bend = _bend(first, second, mixed, cosine, sine)
        two, two_bend = _bend(first, second, mixed, -sine, cosine)
        slope += one + two
        bend += one_bend + two_bend
    return slope, bend


@njit(cache=True, nogil=True)
def _best_angle(terms: FloatArray) -> float:
    """Angle of the least sum: the best of a grid, then Newton steps in a bracket."""
    here = _measure(terms, 0.0)
    least = here * (1.0 - 1e-9)
    step = 2.0 * _QUARTER / _GRID
    center = 0.0
    for i in range(_GRID):
        angle = -_QUARTER + i * step
        value = _measure(terms, angle)
        if value < least:
            least = value
            center = angle
    low = center - step
    high = center + step
    angle = center
    for _ in range(80):
        slope, bend = _derivatives(terms, angle)
        if slope > 0.0:
            high = angle
        else:
            low = angle
        following = angle - slope / bend if bend > 0.0 else 0.5 * (low + high)
        if not low < following < high:
            following = 0.5 * (low + high)
        moved = abs(following - angle)
        angle = following
        if moved <= 1e-16 + 1e-14 * abs(angle):
            break
    # Values do not tell small turns apart; slopes do.
    if abs(angle) > 1e-5 and _measure(terms, angle) >= here:
        return 0.0
    return angle


@njit(cache=True, nogil=True)
def sweep_norms(
    stack: FloatArray, rotation: FloatArray, pivots: IntArray, floor: float
) -> float:
    """Turn every pivot pair to its least sum of norms, in place.

    Parameters
    ----------
    stack : ndarray of shape (k, k, m)
        Targets with the target index last; only the upper triangle is used.
    rotation : ndarray of shape (k, k)
        Transpose of the accumulated rotation: its rows are rotated.
    pivots : ndarray of shape (pairs, 2)
        Pairs p < q in the order in which they are visited.
    floor : float
        Pairs whose squares sum to less are left alone.

    Returns
    -------
    float
        Largest absolute sine that was applied.
    """
    terms = np.empty((stack.shape[0] - 1, 3))
    largest = 0.0
    for index in range(pivots.shape[0]):
        p = pivots[index, 0]
        q = pivots[index, 1]
        if _fill_terms(stack, p, q, terms) <= floor:
            continue
        angle = _best_angle(terms)
        sine = math.sin(angle)
        largest = max(largest, abs(sine))
        if sine != 0.0:
            rotate_pair(stack, rotation, p, q, math.cos(angle), sine)
    return largest


@njit(cache=True, nogil=True)
def sum_norms(stack: FloatArray) -> float:
    """Sum over the pairs i < j of the norm of their entries over the targets.

    Parameters
    ----------
    stack : ndarray of shape (k, k, m)
        Symmetric targets with the target index last; the upper triangle is read.

    Returns
    -------
    float
        Half of the cost of SIDIWO.
    """
    total = 0.0
    for i in range(stack.shape[0]):
        for j in range(i + 1, stack.shape[0]):
            total += math.sqrt(_square(stack[i, j]))
    return total
