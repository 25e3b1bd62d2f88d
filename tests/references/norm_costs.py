"""Slow forms of the costs of joint diagonalisation, entry by entry."""

from __future__ import annotations

import math

import numpy as np


def cost_of_norms(D: np.ndarray, slices: np.ndarray) -> float:
    """Problem (5) of paper 004: sum over i != j of the norm over r of (D H_r D')_ij."""
    total = 0.0
    for i in range(len(D)):
        for j in range(len(D)):
            if i == j:
                continue
            squares = 0.0
            for slice_ in slices:
                entry = 0.0
                for a in range(D.shape[1]):
                    for b in range(D.shape[1]):
                        entry += D[i, a] * slice_[a, b] * D[j, b]
                squares += entry * entry
            total += math.sqrt(squares)
    return total


def cost_of_supports(D: np.ndarray, centers: np.ndarray, weights: np.ndarray) -> float:
    """Problem (6) of paper 004, theorem 3.2, with the supremum over v in closed form.

    `sup_a sum_h <d_i, mu_h> <d_j, mu_h> omega_h <a, mu_h>` over |a| <= 1 is the
    norm of `sum_h <d_i, mu_h> <d_j, mu_h> omega_h mu_h`.
    """
    total = 0.0
    for i in range(len(D)):
        for j in range(len(D)):
            if i == j:
                continue
            vector = np.zeros(len(centers))
            for h in range(len(weights)):
                left = float(D[i] @ centers[:, h])
                right = float(D[j] @ centers[:, h])
                vector += left * right * weights[h] * centers[:, h]
            total += math.sqrt(float(vector @ vector))
    return total


def squared_off_diagonal(rotation: np.ndarray, stack: np.ndarray) -> float:
    """Sum of the squared off-diagonal entries of `O' A O` (paper 002, formula 2.58)."""
    total = 0.0
    for target in stack:
        turned = rotation.T @ target @ rotation
        for i in range(len(turned)):
            for j in range(len(turned)):
                if i != j:
                    total += turned[i, j] ** 2
    return total


def best_angle_by_grid(stack: np.ndarray, n_angles: int = 20001) -> float:
    """Least value of problem (4) of paper 004 for l = 2, by a grid (theorem 3.3)."""
    least = math.inf
    for angle in np.linspace(-math.pi / 2.0, math.pi / 2.0, n_angles):
        cosine, sine = math.cos(angle), math.sin(angle)
        off = (
            cosine * sine * (stack[:, 0, 0] - stack[:, 1, 1])
            + (cosine * cosine - sine * sine) * stack[:, 0, 1]
        )
        least = min(least, 2.0 * math.sqrt(float(off @ off)))
    return least
