"""Slow loops for every sum of the room `moments`, from dense rows.

Nothing here knows the package. `rows` is a list of rows (or a 2-d array) with at
most eight columns, `weights` one number for each row.

References
----------
[000] Ruffini, Casanellas, Gavalda, "A New Method of Moments for Latent Variable
Models"; [002] Podosinnikova's thesis, chapter 3 and appendix C; [Zou] as quoted in
[000], remark 3.
"""

from __future__ import annotations

import math

import numpy as np


def falling(value: float, order: int) -> float:
    """Return `value (value - 1) ...` with `order` factors."""
    product = 1.0
    for step in range(order):
        product *= value - step
    return product


def tokens(row) -> float:
    """Return the number of tokens of a row, `c_i` in [000]."""
    total = 0.0
    for count in row:
        total += count
    return total


def row_scales(rows, weights, weighting, order):
    """Return the weight of every row in the moment of an order, and their normaliser.

    "length": [000], theorem 1, every denominator is a sum over documents.
    "document": [000], remark 3: every document is normalised by itself.
    "three-words": the same after three tokens were drawn ([000], remark 3).
    "rows": the plain average over rows.
    """
    scales, mass = [], 0.0
    for row, weight in zip(rows, weights, strict=True):
        tuples = falling(tokens(row), order) if tokens(row) >= order else 0.0
        if weighting == "rows":
            scales.append(weight)
            mass += weight
        elif weighting == "length":
            scales.append(weight)
            mass += weight * tuples
        else:
            scales.append(weight / tuples if tuples > 0.0 else 0.0)
            mass += weight if tuples > 0.0 else 0.0
    return scales, mass


def repeats(*features) -> dict[int, int]:
    """Return how often each feature occurs among the given ones."""
    counted: dict[int, int] = {}
    for feature in features:
        counted[feature] = counted.get(feature, 0) + 1
    return counted


def tuple_count(row, features, factorial: bool) -> float:
    """Return the number of ordered tuples of tokens with the given features.

    [000], theorem 1: each token is used once, so a feature asked for m times
    counts `x (x - 1) .. (x - m + 1)`; raw moments take the product instead.
    """
    product = 1.0
    for feature, times in repeats(*features).items():
        if factorial:
            product *= falling(row[feature], times)
        else:
            product *= row[feature] ** times
    return product


def first_moment(rows, weights, weighting, order=1):
    """Return `F1` ([000], theorem 1), with the scales of the moment of `order`."""
    d = len(rows[0])
    scales, mass = row_scales(rows, weights, weighting, order)
    moment = np.zeros(d)
    for row, scale in zip(rows, scales, strict=True):
        for h in range(d):
            moment[h] += scale * row[h]
    return moment / mass


def pair_moment(rows, weights, weighting, factorial):
    """Return `F2` ([000], theorem 1), or the raw second moment."""
    d = len(rows[0])
    scales, mass = row_scales(rows, weights, weighting, 2)
    moment = np.zeros((d, d))
    for row, scale in zip(rows, scales, strict=True):
        for h in range(d):
            for u in range(d):
                moment[h, u] += scale * tuple_count(row, (h, u), factorial)
    return moment / mass


def third_moment(rows, weights, weighting, factorial):
    """Return `F3` ([000], theorem 1), or the raw third moment."""
    d = len(rows[0])
    scales, mass = row_scales(rows, weights, weighting, 3)
    moment = np.zeros((d, d, d))
    for row, scale in zip(rows, scales, strict=True):
        if scale == 0.0:
            continue
        for h in range(d):
            for u in range(d):
                for m in range(d):
                    moment[h, u, m] += scale * tuple_count(row, (h, u, m), factorial)
    return moment / mass


def contract_pair(matrix, left, right):
    """Return `left' matrix right` entry by entry."""
    d = matrix.shape[0]
    result = np.zeros((left.shape[1], right.shape[1]))
    for a in range(left.shape[1]):
        for b in range(right.shape[1]):
            for h in range(d):
                for u in range(d):
                    result[a, b] += left[h, a] * matrix[h, u] * right[u, b]
    return result


def contract_slice(tensor, basis, feature):
    """Return the slice `B' M3[:, :, r] B` (method section 2)."""
    return contract_pair(tensor[:, :, feature], basis, basis)


def contract_third(tensor, basis):
    """Return `M3(B, B, B)`: the sum over features of slices times `b_r`."""
    p = basis.shape[1]
    result = np.zeros((p, p, p))
    for feature in range(tensor.shape[0]):
        part = contract_slice(tensor, basis, feature)
        for a in range(p):
            for b in range(p):
                for c in range(p):
                    result[a, b, c] += part[a, b] * basis[feature, c]
    return result


def shifted_pair(pair, first, a):
    """Return `M2 = F2 - a F1 (x) F1` (method section 2)."""
    d = len(first)
    moment = np.zeros((d, d))
    for h in range(d):
        for u in range(d):
            moment[h, u] = pair[h, u] - a * first[h] * first[u]
    return moment


def shifted_third(third, pair, first, b, c):
    """Return `M3 = F3 - b s3(F2, F1) + c F1^(x)3` (method section 2)."""
    d = len(first)
    moment = np.zeros((d, d, d))
    for h in range(d):
        for u in range(d):
            for m in range(d):
                spread = (
                    pair[h, u] * first[m]
                    + pair[h, m] * first[u]
                    + pair[u, m] * first[h]
                )
                cube = first[h] * first[u] * first[m]
                moment[h, u, m] = third[h, u, m] - b * spread + c * cube
    return moment


def energy_sums(rows, weights, basis):
    """Return `sum_i r_i x_i (|x_i|^2 - |B' x_i|^2)` and `sum_i r_i |x_i|^2`.

    What `E[x (v.(x - mean))^2]` of a spherical Gaussian mixture needs when the
    directions v span the complement of an orthonormal basis (Hsu and Kakade 2013,
    theorem 1).
    """
    d, p = basis.shape
    energy, power = np.zeros(d), 0.0
    for row, weight in zip(rows, weights, strict=True):
        square = 0.0
        for h in range(d):
            square += row[h] ** 2
        inside = 0.0
        for a in range(p):
            z = 0.0
            for h in range(d):
                z += basis[h, a] * row[h]
            inside += z**2
        power += weight * square
        for h in range(d):
            energy[h] += weight * row[h] * (square - inside)
    return energy, power


def length_sums(rows):
    """Return sums of `t`, `t(t-1)`, `t(t-1)(t-2)`, squares of the last two.

    [000], theorem 2: `C1`, `C2`, `C3` and the numerators of `W2`, `W3`.
    """
    sums = [0.0] * 5
    for row in rows:
        t = tokens(row)
        sums[0] += t
        sums[1] += falling(t, 2)
        sums[2] += falling(t, 3)
        sums[3] += falling(t, 2) ** 2
        sums[4] += falling(t, 3) ** 2
    return sums


def bounds_of_lengths(lengths, delta, version, pair_norm=0.0, third_norm=0.0):
    """Return the two bounds of [000], theorem 2 or of thesis 001, theorem 3.2.2."""
    total = sum(lengths)
    pairs = sum(falling(t, 2) for t in lengths)
    triples = sum(falling(t, 3) for t in lengths)
    w2 = sum(falling(t, 2) ** 2 for t in lengths) / pairs**2
    w3 = sum(falling(t, 3) ** 2 for t in lengths) / triples**2
    surprise = math.log(1.0 / delta)
    pair = math.sqrt(w2 * (1.0 - pair_norm**2))
    third = math.sqrt(w3 * (1.0 - third_norm**2))
    if version == "thesis":
        pair += math.sqrt(2.0 * w2 * surprise)
        third += math.sqrt(2.0 * w3 * surprise)
    else:
        # Appendix A.2: the root covers the logarithm alone.
        longest = max(lengths)
        pair += math.sqrt(surprise) * longest * math.sqrt(total) / pairs
        third += (
            math.sqrt(surprise) * longest * (longest - 1) * math.sqrt(total) / triples
        )
    return pair, third


def unbiased_covariance(rows):
    """Return the unbiased covariance, [002] formula (3.21)."""
    n, d = len(rows), len(rows[0])
    mean = first_moment(rows, [1.0] * n, "rows")
    covariance = np.zeros((d, d))
    for row in rows:
        for h in range(d):
            for u in range(d):
                covariance[h, u] += (row[h] - mean[h]) * (row[u] - mean[u])
    return covariance / (n - 1)


def unbiased_cumulant(rows):
    """Return the unbiased third cumulant, [002] formula (3.21)."""
    n, d = len(rows), len(rows[0])
    mean = first_moment(rows, [1.0] * n, "rows")
    cumulant = np.zeros((d, d, d))
    for row in rows:
        for h in range(d):
            for u in range(d):
                for m in range(d):
                    cumulant[h, u, m] += (
                        (row[h] - mean[h]) * (row[u] - mean[u]) * (row[m] - mean[m])
                    )
    return cumulant * n / ((n - 1) * (n - 2))


def discrete_ica_pair(rows):
    """Return `S`, the covariance without the variance of the counts ([002], 3.19)."""
    mean = first_moment(rows, [1.0] * len(rows), "rows")
    moment = unbiased_covariance(rows)
    for h in range(len(mean)):
        moment[h, h] -= mean[h]
    return moment


def discrete_ica_third(rows):
    """Return `T`, the third cumulant without count noise ([002], 3.20)."""
    mean = first_moment(rows, [1.0] * len(rows), "rows")
    covariance = unbiased_covariance(rows)
    moment = unbiased_cumulant(rows)
    d = len(mean)
    for h in range(d):
        for u in range(d):
            for m in range(d):
                if h == u == m:
                    moment[h, u, m] += 2.0 * mean[h]
                if u == m:
                    moment[h, u, m] -= covariance[h, u]
                if h == m:
                    moment[h, u, m] -= covariance[h, u]
                if h == u:
                    moment[h, u, m] -= covariance[h, m]
    return moment


def discrete_ica_projected(rows, whitener, direction):
    """Return `W T(v) W'` by the matrix formula (C.5) of [002]; whitener is d x k."""
    X = np.asarray(rows, dtype=float).T
    n = X.shape[1]
    W, v = whitener.T, direction
    mean = X.sum(axis=1) / n
    Z = W @ X
    t1 = Z @ np.diag(X.T @ v) @ Z.T
    t2 = 2.0 * n * np.outer(W @ mean, W @ mean)
    t3 = Z @ Z.T
    t4 = np.outer(W @ X @ (X.T @ v), W @ mean)
    t5 = Z @ (W @ np.diag(v) @ X).T
    t6 = n * np.outer(W @ np.diag(v) @ mean, W @ mean)
    # The diagonal that the last term carries: see the expression above (C.5).
    t = 2.0 * (n - 1) * v * mean + n * (v @ mean) * mean - X @ (X.T @ v)
    first = t1 + (v @ mean) * (t2 - t3) - (t4 + t4.T)
    second = -(t5 + t5.T) + (t6 + t6.T) + W @ np.diag(t) @ W.T
    return n / ((n - 1) * (n - 2)) * first + second / (n - 1)
