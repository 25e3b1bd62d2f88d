"""Slow forms of the moments of two views, straight from thesis 002."""

from __future__ import annotations

import itertools

import numpy as np


def unbiased_cross(X1: np.ndarray, X2: np.ndarray) -> np.ndarray:
    """Equation C.6."""
    n = len(X1)
    S = np.zeros((X1.shape[1], X2.shape[1]))
    for i in range(n):
        S += np.outer(X1[i], X2[i])
    return (S - n * np.outer(X1.mean(axis=0), X2.mean(axis=0))) / (n - 1)


def unbiased_projection(
    X1: np.ndarray, X2: np.ndarray, j: int, v: np.ndarray, *, counts: bool
) -> np.ndarray:
    """T_12j(v) without whitening, the expression after C.6 term by term."""
    n = len(X1)
    eta1, eta2 = 1.0 / (n - 1), n / ((n - 1.0) * (n - 2.0))
    m1, m2 = X1.mean(axis=0), X2.mean(axis=0)
    Xj, mj = (X1, m1) if j == 1 else (X2, m2)
    result = np.zeros((X1.shape[1], X2.shape[1]))
    for a, b in np.ndindex(*result.shape):
        value = 0.0
        for i in range(n):
            value += eta2 * X1[i, a] * X2[i, b] * (Xj[i] @ v)
            value -= eta2 * (v @ mj) * X1[i, a] * X2[i, b]
            value -= eta2 * X1[i, a] * (Xj[i] @ v) * m2[b]
            value -= eta2 * m1[a] * X2[i, b] * (Xj[i] @ v)
        value += eta2 * 2 * n * (v @ mj) * m1[a] * m2[b]
        if counts:
            own = v[a] if j == 1 else v[b]
            cross = sum(X1[i, a] * X2[i, b] for i in range(n))
            value -= eta1 * own * (cross - n * m1[a] * m2[b])
        result[a, b] = value
    return result


def tilted_cross(
    X1: np.ndarray, X2: np.ndarray, t1: np.ndarray, t2: np.ndarray
) -> np.ndarray:
    """The generalised covariance 4.37 at (t1, t2), weights as they stand."""
    weights = [np.exp(x @ t1 + y @ t2) for x, y in zip(X1, X2, strict=True)]
    total = sum(weights)
    first = sum(w * x for w, x in zip(weights, X1, strict=True)) / total
    second = sum(w * y for w, y in zip(weights, X2, strict=True)) / total
    both = sum(w * np.outer(x, y) for w, x, y in zip(weights, X1, X2, strict=True))
    return both / total - np.outer(first, second)


def third_cumulant(
    rows: np.ndarray, chances: np.ndarray, others: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """cum(x_a, y_b, z_c) of a finite distribution."""
    parts = [table - chances @ table for table in (rows, others, last)]
    result = np.zeros((rows.shape[1], others.shape[1], last.shape[1]))
    for chance, x, y, z in zip(chances, *parts, strict=True):
        result += chance * x[:, None, None] * y[:, None] * z
    return result


def stacked_cumulants(
    loadings: tuple[np.ndarray, np.ndarray],
    noise: tuple[np.ndarray, np.ndarray],
    variances: np.ndarray,
    thirds: np.ndarray,
    kinds: tuple[str, str],
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Covariance of stacked views with all noise, and T-cumulants 4.26.

    All K + K1 + K2 sources enter, by the stacking trick below equation 4.10; a view
    of counts has its Poisson noise in, by the laws of total covariance and total
    cumulance, and equation 4.26 takes it out again.
    """
    (D1, D2), (F1, F2) = loadings, noise
    d1, d2 = len(D1), len(D2)
    D = np.block(
        [
            [D1, F1, np.zeros((d1, F2.shape[1]))],
            [D2, np.zeros((d2, F1.shape[1])), F2],
        ]
    )
    poisson = np.r_[
        np.full(d1, kinds[0] == "counts"), np.full(d2, kinds[1] == "counts")
    ]
    hidden = D @ np.diag(variances) @ D.T
    means = np.where(poisson, 10.0, 0.0)
    covariance = hidden + np.diag(means * poisson)
    d = d1 + d2
    full = np.einsum("k,ak,bk,ck->abc", thirds, D, D, D)
    for a, b, c in itertools.product(range(d), repeat=3):
        # cum(x_a, x_b, x_c) of Poisson counts given hidden means.
        extra = 0.0
        if a == b and poisson[a]:
            extra += hidden[a, c]
        if a == c and poisson[a]:
            extra += hidden[a, b]
        if b == c and poisson[b]:
            extra += hidden[a, b]
        if a == b == c and poisson[a]:
            extra += means[a]
        full[a, b, c] += extra
    corrected = []
    for start, stop in ((0, d1), (d1, d)):
        T = full[:d1, d1:, start:stop].copy()
        for a, b, c in np.ndindex(*T.shape):
            mine = a if start == 0 else b
            if mine == c and poisson[start]:
                T[a, b, c] -= covariance[a, d1 + b]
        corrected.append(T)
    return covariance, covariance[:d1, d1:], corrected
