"""Splits in two by plain loops and a search over angles: slow and simple.

Thesis 001, algorithm 5 (D-SIDIWO), and paper 004, algorithms 1 and 2 (SIDIWO).
"""

import numpy as np

from references.moments_tensors import first_moment, pair_moment, third_moment


def raw_moments(rows, weights):
    """Thesis 001, equations 6.5 and 6.6, with weighted rows."""
    second = np.array(pair_moment(rows, weights, "rows", False))
    third = np.array(third_moment(rows, weights, "rows", False))
    return second, third


def search_rotation(second, third, steps=20001):
    """Whiten to two directions and try every angle of a grid (paper 004, theorem 3.3)."""
    values, vectors = np.linalg.eigh(second)
    top = np.argsort(values)[::-1][:2]
    whitener = vectors[:, top] / np.sqrt(values[top])
    unwhitener = vectors[:, top] * np.sqrt(values[top])
    slices = np.einsum("abr,ai,bj->rij", third, whitener, whitener)
    best, rotation = np.inf, None
    for angle in np.linspace(0.0, np.pi / 2.0, steps):
        turn = np.array(
            [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        )
        off = turn[:, 0] @ slices @ turn[:, 1]
        cost = np.sqrt((off**2).sum())
        if cost < best:
            best, rotation = cost, turn
    return whitener, unwhitener, rotation, best


def split_by_data(rows, weights):
    """Thesis 001, algorithm 5: which of two discriminators is larger."""
    second, third = raw_moments(rows, weights)
    whitener, _, rotation, _ = search_rotation(second, third)
    discriminators = whitener @ rotation
    sizes = np.abs(rows @ discriminators)
    return np.argmax(sizes, axis=1), discriminators


def find_pseudo_centers(rows, weights, *, by_tokens):
    """Paper 004, algorithm 1, for tokens (single topic) or rows (Poisson, binary)."""
    weighting = "length" if by_tokens else "rows"
    first = np.array(first_moment(rows, weights, weighting))
    second = np.array(pair_moment(rows, weights, weighting, True))
    third = np.array(third_moment(rows, weights, weighting, True))
    _, unwhitener, rotation, cost = search_rotation(second, third)
    scaled = unwhitener @ rotation
    roots = np.linalg.lstsq(scaled, first, rcond=None)[0]
    return scaled / roots, roots**2 / (roots**2).sum(), cost
