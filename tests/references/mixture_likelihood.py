"""EM for mixtures, entry by entry, as the equations say it.

Densities: multinomial (paper 000, equation 1), Bernoulli (thesis 001, equation
4.1), Poisson (thesis 001, proposition 1.2.1), spherical Gaussian. Steps: Dempster,
Laird and Rubin (1977).
"""

from __future__ import annotations

import math


def log_density(kind, row, center, variance=None, exposure=1.0):
    total = 0.0
    for x, mu in zip(row, center, strict=True):
        if math.isnan(x):
            continue
        if kind == "multinomial":
            total += x * math.log(mu)
        elif kind == "bernoulli":
            total += math.log(mu) if x == 1.0 else math.log(1.0 - mu)
        elif kind == "poisson":
            mean = exposure * mu
            total += x * math.log(mean) - mean - math.lgamma(x + 1.0)
        else:
            total -= 0.5 * (math.log(2 * math.pi * variance) + (x - mu) ** 2 / variance)
    return total


def posterior(kind, row, centers, weights, variances=None, exposure=1.0):
    """Probabilities of the components and the log-likelihood of a row."""
    logs = []
    for j, weight in enumerate(weights):
        variance = None if variances is None else variances[j]
        center = [line[j] for line in centers]
        density = log_density(kind, row, center, variance, exposure)
        logs.append(math.log(weight) + density)
    highest = max(logs)
    total = sum(math.exp(value - highest) for value in logs)
    shares = [math.exp(value - highest) / total for value in logs]
    return shares, highest + math.log(total)


def step(kind, rows, row_weights, centers, weights, variances=None, exposures=None):
    """One EM step; returns centers, weights, variances and the log-likelihood."""
    n, d, k = len(rows), len(centers), len(weights)
    exposures = exposures if exposures is not None else [1.0] * n
    shares, likelihood = [], 0.0
    for row, mass, exposure in zip(rows, row_weights, exposures, strict=True):
        share, log = posterior(kind, row, centers, weights, variances, exposure)
        shares.append([mass * s for s in share])
        likelihood += mass * log
    mass = [sum(share[j] for share in shares) for j in range(k)]
    new = [[0.0] * k for _ in range(d)]
    for j in range(k):
        tokens = sum(shares[i][j] * sum(rows[i]) for i in range(n))
        exposed = sum(shares[i][j] * exposures[i] for i in range(n))
        for r in range(d):
            seen = [i for i in range(n) if not math.isnan(rows[i][r])]
            top = sum(shares[i][j] * rows[i][r] for i in seen)
            if kind == "multinomial":
                new[r][j] = top / tokens
            elif kind == "poisson":
                new[r][j] = top / exposed
            else:
                new[r][j] = top / sum(shares[i][j] for i in seen)
    spread = None
    if kind == "gaussian":
        spread = [
            sum(
                shares[i][j] * sum((rows[i][r] - new[r][j]) ** 2 for r in range(d))
                for i in range(n)
            )
            / (d * mass[j])
            for j in range(k)
        ]
    return new, [m / sum(mass) for m in mass], spread, likelihood
