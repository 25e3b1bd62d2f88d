"""All rows that a small model can give, with their probabilities; planted tensors.

Moments of these rows, weighted by their probabilities, are the expected moments of
the model: no sampling and no integral is needed to test an estimator's expectation.
Nothing here knows the package.

References
----------
[000] Ruffini, Casanellas, Gavalda; [002] Podosinnikova's thesis; [HK] Hsu and Kakade,
"Learning mixtures of spherical Gaussians" (2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

# Tails of infinite distributions are cut below this probability.
TAIL = 1e-17


def planted(centers, first, pair, third):
    """`sum u mu`, `sum v mu mu'`, `sum t mu^(x)3`, entry by entry (method section 2)."""
    d, k = centers.shape
    one, two, three = np.zeros(d), np.zeros((d, d)), np.zeros((d, d, d))
    for j in range(k):
        for h in range(d):
            one[h] += first[j] * centers[h, j]
            for u in range(d):
                two[h, u] += pair[j] * centers[h, j] * centers[u, j]
                for m in range(d):
                    three[h, u, m] += (
                        third[j] * centers[h, j] * centers[u, j] * centers[m, j]
                    )
    return one, two, three


def as_arrays(found):
    """Split a dictionary from rows to probabilities in two arrays."""
    return np.array([list(row) for row in found], dtype=float), np.array(
        list(found.values())
    )


def count_words(words, d):
    row = [0] * d
    for word in words:
        row[word] += 1
    return tuple(row)


def single_topic(centers, weights, lengths):
    """Documents about one topic each ([000], section 2); `lengths` maps to shares."""
    d, found = centers.shape[0], {}
    for length, share in lengths.items():
        for words in product(range(d), repeat=length):
            chance = sum(
                weight * math.prod(centers[word, j] for word in words)
                for j, weight in enumerate(weights)
            )
            row = count_words(words, d)
            found[row] = found.get(row, 0.0) + share * chance
    return as_arrays(found)


def dirichlet_moment(alpha, topics):
    """`E[prod theta_z]` for a list of topics: rising factorials over alpha0's."""
    moment, seen = 1.0, [0] * len(alpha)
    for place, topic in enumerate(topics):
        moment *= (alpha[topic] + seen[topic]) / (sum(alpha) + place)
        seen[topic] += 1
    return moment


def latent_dirichlet(centers, alpha, lengths):
    """Documents of latent Dirichlet allocation; sums over all topic assignments."""
    (d, k), found = centers.shape, {}
    for length, share in lengths.items():
        for words in product(range(d), repeat=length):
            chance = 0.0
            for topics in product(range(k), repeat=length):
                chance += dirichlet_moment(alpha, topics) * math.prod(
                    centers[w, z] for w, z in zip(words, topics, strict=True)
                )
            row = count_words(words, d)
            found[row] = found.get(row, 0.0) + share * chance
    return as_arrays(found)


def poisson_mixture(centers, weights):
    """Rows of independent Poisson counts given the component."""
    d, found = centers.shape[0], {}
    most = 1
    while centers.max() ** most / math.factorial(most) > TAIL:
        most += 1
    for row in product(range(most), repeat=d):
        found[row] = sum(
            weight
            * math.prod(
                math.exp(-centers[h, j]) * centers[h, j] ** x / math.factorial(x)
                for h, x in enumerate(row)
            )
            for j, weight in enumerate(weights)
        )
    return as_arrays(found)


def gamma_poisson(centers, shape, rate):
    """Two words of the gamma-Poisson model ([002], 3.4), topic by topic.

    The counts that one topic gives are negative multinomial; counts of different
    topics add up, so that their distributions are convolved.
    """
    assert centers.shape[0] == 2
    most, total = 40, np.zeros((40, 40))
    total[0, 0] = 1.0
    for j in range(centers.shape[1]):
        c, b = shape[j], rate[j]
        scale = b + centers[:, j].sum()
        own = np.zeros((most, most))
        for x, y in product(range(most), repeat=2):
            log = math.lgamma(c + x + y) - math.lgamma(c)
            log -= math.lgamma(x + 1) + math.lgamma(y + 1)
            log += c * math.log(b / scale)
            log += x * math.log(centers[0, j] / scale)
            log += y * math.log(centers[1, j] / scale)
            own[x, y] = math.exp(log)
        joined = np.zeros((most, most))
        for x, y in product(range(most), repeat=2):
            joined[x:, y:] += own[x, y] * total[: most - x, : most - y]
        total = joined
    return as_arrays({(x, y): total[x, y] for x, y in product(range(most), repeat=2)})


def bernoulli_mixture(centers, weights):
    """All binary rows."""
    d, found = centers.shape[0], {}
    for row in product((0, 1), repeat=d):
        found[row] = sum(
            weight
            * math.prod(
                centers[h, j] if x else 1.0 - centers[h, j] for h, x in enumerate(row)
            )
            for j, weight in enumerate(weights)
        )
    return as_arrays(found)


def gaussian_mixture(centers, weights, variances):
    """Nodes with the moments of spherical Gaussians up to the fifth order.

    Three Gauss-Hermite nodes for each coordinate: 0 and plus, minus sqrt(3).
    """
    d = centers.shape[0]
    nodes = ((0.0, 2 / 3), (math.sqrt(3.0), 1 / 6), (-math.sqrt(3.0), 1 / 6))
    rows, chances = [], []
    for j, weight in enumerate(weights):
        for chosen in product(nodes, repeat=d):
            noise = math.sqrt(variances[j]) * np.array([node for node, _ in chosen])
            rows.append(centers[:, j] + noise)
            chances.append(weight * math.prod(share for _, share in chosen))
    return np.array(rows), np.array(chances)


def two_points(mean, variance, skewness) -> Iterator[tuple[float, float]]:
    """Yield the values and chances of the two-point variable with three moments."""
    # With chance p of the upper value: skewness (1 - 2p) / sqrt(p (1 - p)).
    p = 0.5 * (1.0 - skewness / math.sqrt(4.0 + skewness**2))
    spread = math.sqrt(variance)
    yield mean + spread * math.sqrt((1 - p) / p), p
    yield mean - spread * math.sqrt(p / (1 - p)), 1 - p


def independent_components(centers, means, variances, skewness):
    """Rows that mix independent two-point sources."""
    rows, chances = [], []
    sources = [
        list(two_points(*moments))
        for moments in zip(means, variances, skewness, strict=True)
    ]
    for chosen in product(*sources):
        rows.append(centers @ np.array([value for value, _ in chosen]))
        chances.append(math.prod(chance for _, chance in chosen))
    return np.array(rows), np.array(chances)
