"""Latent Dirichlet allocation of tiny documents by enumeration of all topics.

Every token of a document of c tokens may be of any of the k topics: k^c terms.
The proportions are integrated out: given the topics of the tokens, with n_j of
topic j, their probability is the Dirichlet-multinomial
`Gamma(a0) / Gamma(a0 + c) prod_j Gamma(a_j + n_j) / Gamma(a_j)`, and the mean of
the proportions is `(n_j + a_j) / (c + a0)` (Griffiths and Steyvers 2004).
"""

from __future__ import annotations

import math
from itertools import product


def weigh_assignment(words, topics, alpha, assigned):
    """Probability of the tokens and of their topics."""
    total, counts = sum(alpha), [0] * len(alpha)
    value = 1.0
    for word, topic in zip(words, assigned, strict=True):
        value *= topics[word][topic]
        counts[topic] += 1
    value *= math.gamma(total) / math.gamma(total + len(words))
    for a, n in zip(alpha, counts, strict=True):
        value *= math.gamma(a + n) / math.gamma(a)
    return value, counts


def enumerate_probability(words, topics, alpha):
    """Probability of a sequence of tokens."""
    return sum(
        weigh_assignment(words, topics, alpha, assigned)[0]
        for assigned in product(range(len(alpha)), repeat=len(words))
    )


def enumerate_proportions(words, topics, alpha):
    """Posterior mean of the proportions."""
    whole, means = 0.0, [0.0] * len(alpha)
    for assigned in product(range(len(alpha)), repeat=len(words)):
        value, counts = weigh_assignment(words, topics, alpha, assigned)
        whole += value
        for j, (a, n) in enumerate(zip(alpha, counts, strict=True)):
            means[j] += value * (n + a) / (len(words) + sum(alpha))
    return [mean / whole for mean in means]


def list_words(row):
    """Tokens of a bag, in the order of the features."""
    return [word for word, count in enumerate(row) for _ in range(int(count))]


def count_together(rows, first, second):
    """Documents with both words."""
    return sum(1 for row in rows if row[first] > 0 and row[second] > 0)


def sum_umass(rows, words):
    """UMass coherence (paper 000, section 4.3.1) of words by falling probability."""
    total = 0.0
    for j in range(1, len(words)):
        for i in range(j):
            both = count_together(rows, words[i], words[j])
            total += math.log((both + 1) / count_together(rows, words[i], words[i]))
    return total


def average_npmi(rows, words):
    """Mean normalised pointwise mutual information of all pairs of words."""
    n, values = len(rows), []
    for j in range(1, len(words)):
        for i in range(j):
            both = count_together(rows, words[i], words[j]) / n
            one = count_together(rows, words[i], words[i]) / n
            other = count_together(rows, words[j], words[j]) / n
            if both == 0.0:
                values.append(-1.0)
            elif both == 1.0:
                values.append(0.0)
            else:
                values.append(math.log(both / (one * other)) / -math.log(both))
    return sum(values) / len(values)
