"""Jacobi rotations of a stack of symmetric matrices, targets contiguous."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tercet.flow import FloatArray, IntArray

__all__ = ["pair_sums", "rotate_pair", "sweep_rotations"]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _rotate(left: FloatArray, right: FloatArray, cosine: float, sine: float) -> None:
    """Rotate two equally long vectors in place."""
    for t in range(left.shape[0]):
        first = left[t]
        second = right[t]
        left[t] = cosine * first + sine * second
        right[t] = cosine * second - sine * first


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _pair_angle(
    top: FloatArray, bottom: FloatArray, off: FloatArray, floor: float
) -> float:
    """Angle that best diagonalises one 2 x 2 block of every target.

    Cardoso and Souloumiac (1996): a quarter of the polar angle of the leading
    eigenvector of the 2 x 2 Gram matrix of `(a_pp - a_qq, 2 a_pq)`, doubled. A
    block whose off-diagonal entries are rounding errors has nothing to gain.
    """
    difference = 0.0
    coupling = 0.0
    cross = 0.0
    for t in range(top.shape[0]):
        gap = top[t] - bottom[t]
        twice = 2.0 * off[t]
        difference += gap * gap
        coupling += twice * twice
        cross += gap * twice
    if coupling <= floor:
        return 0.0
    return 0.25 * math.atan2(2.0 * cross, difference - coupling)


@njit(cache=True, nogil=True)
def sweep_rotations(
    stack: FloatArray, rotation: FloatArray, pivots: IntArray, floor: float
) -> float:
    """Rotate every pivot pair once, in place, and return the largest sine.

    Parameters
    ----------
    stack : ndarray of shape (k, k, m)
        Targets with the target index last; only the upper triangle is used.
    rotation : ndarray of shape (k, k)
        Transpose of the accumulated rotation: its rows are rotated.
    pivots : ndarray of shape (pairs, 2)
        Pairs p < q in the order in which they are visited.
    floor : float
        Pairs with a smaller sum of squares `4 a_pq^2` are left alone.

    Returns
    -------
    float
        Largest absolute sine that was asked for.
    """
    largest = 0.0
    for index in range(pivots.shape[0]):
        p = pivots[index, 0]
        q = pivots[index, 1]
        angle = _pair_angle(stack[p, p], stack[q, q], stack[p, q], floor)
        sine = math.sin(angle)
        largest = max(largest, abs(sine))
        if sine == 0.0:
            continue
        cosine = math.cos(angle)
        rotate_pair(stack, rotation, p, q, cosine, sine)
    return largest


@njit(cache=True, nogil=True)
def rotate_pair(
    stack: FloatArray, rotation: FloatArray, p: int, q: int, cosine: float, sine: float
) -> None:
    """Turn the pair p < q of every target by one angle, in place.

    Parameters
    ----------
    stack : ndarray of shape (k, k, m)
        Targets with the target index last; only the upper triangle is used.
    rotation : ndarray of shape (k, k)
        Transpose of the accumulated rotation: its rows are rotated.
    p, q : int
        The pair.
    cosine, sine : float
        Of the angle.
    """
    for i in range(p):
        _rotate(stack[i, p], stack[i, q], cosine, sine)
    for i in range(p + 1, q):
        _rotate(stack[p, i], stack[i, q], cosine, sine)
    for i in range(q + 1, stack.shape[0]):
        _rotate(stack[p, i], stack[q, i], cosine, sine)
    _rotate_block(stack[p, p], stack[q, q], stack[p, q], cosine, sine)
    _rotate(rotation[p], rotation[q], cosine, sine)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _rotate_block(
    top: FloatArray, bottom: FloatArray, off: FloatArray, cosine: float, sine: float
) -> None:
    """Rotate the 2 x 2 block of a pair from both sides."""
    square_cosine = cosine * cosine
    square_sine = sine * sine
    mixed = cosine * sine
    for t in range(top.shape[0]):
        first = top[t]
        second = bottom[t]
        cross = off[t]
        top[t] = square_cosine * first + square_sine * second + 2.0 * mixed * cross
        bottom[t] = square_sine * first + square_cosine * second - 2.0 * mixed * cross
        off[t] = (square_cosine - square_sine) * cross - mixed * (first - second)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def pair_sums(targets: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sum over the targets what the angle of every pair follows from.

    Parameters
    ----------
    targets : ndarray of shape (m, k, k)
        Symmetric matrices; only the upper triangle is read.

    Returns
    -------
    difference, coupling, cross : ndarray of shape (k, k)
        Sums of `(a_ii - a_jj)^2`, `4 a_ij^2` and `2 a_ij (a_ii - a_jj)` for
        i < j, zero elsewhere.
    """
    count, size, _ = targets.shape
    difference = np.zeros((size, size))
    coupling = np.zeros((size, size))
    cross = np.zeros((size, size))
    diagonal = np.empty(size)
    for t in range(count):
        for i in range(size):
            diagonal[i] = targets[t, i, i]
        for i in range(size):
            own = diagonal[i]
            for j in range(i + 1, size):
                gap = own - diagonal[j]
                twice = 2.0 * targets[t, i, j]
                difference[i, j] += gap * gap
                coupling[i, j] += twice * twice
                cross[i, j] += gap * twice
    return difference, coupling, cross
