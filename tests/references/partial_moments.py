"""Slow ways to moments that lack entries: three views, least squares, noise outside.

Nothing here knows the package; everything is formed in full (d up to 9).

References
----------
[3V] Anandkumar, Hsu and Kakade (2012b), "A method of moments for mixture models and
hidden Markov models", section 3; symmetric form in Anandkumar et al. (2014), theorem
3.6: `x1 -> P_32 P_12^+ x1` takes one view to another. [HK] Hsu and Kakade (2013),
theorem 1.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations

import numpy as np


def rank_inverse(matrix, k):
    """Pseudo-inverse of the best approximation of rank k."""
    u, s, v = np.linalg.svd(matrix)
    return v[:k].T @ np.diag(1.0 / s[:k]) @ u[:, :k].T


def three_view_moments(rows, labels, k):
    """Symmetric M2 (projected, and with plain rows) and M3 from moments across views.

    Every view is first projected on the k directions that the other two see; maps
    `T_vu = P_vw P_uw^+` are taken between the projected views. M2 is the mean over
    the six ordered pairs of views, M3 the mean over the six orders of the indices.
    """
    n, d = rows.shape
    places = [np.flatnonzero(labels == view) for view in range(3)]
    moment = sum(np.outer(row, row) for row in rows) / n
    shadow = np.zeros((d, d))  # projection on the directions of each view
    for own in places:
        others = np.setdiff1d(np.arange(d), own)
        u = np.linalg.svd(moment[np.ix_(own, others)])[0][:, :k]
        shadow[np.ix_(own, own)] = u @ u.T
    seen = shadow @ moment @ shadow
    spread = []  # from view u to all features
    for u in range(3):
        full = np.zeros((d, d))
        full[np.ix_(places[u], places[u])] = shadow[np.ix_(places[u], places[u])]
        for v in range(3):
            if v != u:
                w = 3 - u - v
                across = seen[np.ix_(places[v], places[w])]
                inverse = rank_inverse(seen[np.ix_(places[u], places[w])], k)
                full[np.ix_(places[v], places[u])] = across @ inverse
        spread.append(full)
    pair = np.zeros((d, d))
    for u, v in permutations(range(3), 2):
        block = np.zeros((d, d))
        block[np.ix_(places[u], places[v])] = seen[np.ix_(places[u], places[v])]
        pair += spread[u] @ block @ spread[v].T / 6.0
    plain = np.zeros((d, d))
    for u, v in permutations(range(3), 2):
        across = np.zeros((d, d))
        across[np.ix_(places[v], places[u])] = moment[np.ix_(places[v], places[u])]
        plain += across @ shadow @ spread[u].T / 2.0
    third = np.zeros((d, d, d))
    for row in rows:
        parts = []
        for u in range(3):
            part = np.zeros(d)
            part[places[u]] = (shadow @ row)[places[u]]
            parts.append(spread[u] @ part)
        for order in permutations(parts):
            third += np.multiply.outer(np.multiply.outer(*order[:2]), order[2])
    return pair, plain, third / (6.0 * n)


def fit_distinct(third, frame):
    """The tensor `core(U, U, U)` nearest to the entries with distinct features.

    One column for each free entry of the symmetric core, one row for each triple of
    distinct features; solved as it stands.
    """
    d, k = frame.shape
    free = list(combinations_with_replacement(range(k), 3))
    basis = []
    for entry in free:
        core = np.zeros((k, k, k))
        for order in permutations(entry):
            core[order] = 1.0
        basis.append(np.einsum("abc,ia,jb,lc->ijl", core, frame, frame, frame))
    triples = [t for t in np.ndindex(d, d, d) if len(set(t)) == 3]
    design = np.array([[tensor[t] for tensor in basis] for t in triples])
    wanted = np.array([third[t] for t in triples])
    solution = np.linalg.lstsq(design, wanted, rcond=None)[0]
    return sum(x * tensor for x, tensor in zip(solution, basis, strict=True))


def noise_outside(rows, basis):
    """Mean noise and `E[x (v.(x - mean))^2]` over the directions outside a basis [HK]."""
    n, d = rows.shape
    u = np.linalg.svd(basis)[0][:, basis.shape[1] :]
    mean = rows.mean(axis=0)
    noise, energy = 0.0, np.zeros(d)
    for direction in u.T:
        for row in rows:
            noise += (direction @ (row - mean)) ** 2 / n
            energy += row * (direction @ row) ** 2 / n
    return noise / u.shape[1], energy / u.shape[1]
