"""Variational rounds of latent Dirichlet allocation over sparse rows.

A round takes a document's expected topic counts n to
`n_j <- e_j sum_w x_w topics[w, j] / (topics[w] . e)`, `e = exp(psi(alpha + n))`:
coordinate ascent on the evidence lower bound (method notes, section 6).
Topics are stored (d, k), so that the k numbers of a word are neighbours.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tercet.kernels.digamma import digamma, log_gamma, scaled_exp_digamma

__all__ = [
    "absorb_and_scatter",
    "absorb_words",
    "bound_rows",
    "infer_map_rows",
    "infer_variational_rows",
    "log_mass",
    "longest_row",
    "predict_rows",
    "step_variational_rows",
]

# A word with less mass counts as unknown: a reciprocal of it would overflow.
LEAST_MASS = 1e-300

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True)
def longest_row(indptr: NDArray[np.int64]) -> int:
    """Return the largest number of entries of a row."""
    longest = 0
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest


@njit(cache=True, nogil=True, fastmath=_FAST)
def absorb_words(data, indices, lo, hi, topics, weights, mass, pull):  # type: ignore[no-untyped-def]
    """Set `mass_w = topics[w] . weights` and `pull = sum_w x_w topics[w] / mass_w`.

    Words that no topic knows have mass zero and pull nothing. Four words are
    taken at a time, which halves the traffic of `weights` and `pull`.

    Parameters
    ----------
    data, indices : ndarray of shape (nnz,)
        Counts and features of a CSR matrix.
    lo, hi : int
        The document's entries.
    topics : ndarray of shape (d, k)
        Probabilities of words under topics.
    weights : ndarray of shape (k,)
        Weights of the topics in the document, up to scale.
    mass : ndarray of shape (hi - lo,) or longer
        Result: mass of each word.
    pull : ndarray of shape (k,)
        Result: times `weights`, the expected topic counts.
    """
    k = weights.shape[0]
    pull[:] = 0.0
    p = lo
    while p + 3 < hi:
        row0 = topics[indices[p]]
        row1 = topics[indices[p + 1]]
        row2 = topics[indices[p + 2]]
        row3 = topics[indices[p + 3]]
        mass0 = 0.0
        mass1 = 0.0
        mass2 = 0.0
        mass3 = 0.0
        for j in range(k):
            mass0 += row0[j] * weights[j]
            mass1 += row1[j] * weights[j]
            mass2 += row2[j] * weights[j]
            mass3 += row3[j] * weights[j]
        ratio0 = data[p] / mass0 if mass0 > LEAST_MASS else 0.0
        ratio1 = data[p + 1] / mass1 if mass1 > LEAST_MASS else 0.0
        ratio2 = data[p + 2] / mass2 if mass2 > LEAST_MASS else 0.0
        ratio3 = data[p + 3] / mass3 if mass3 > LEAST_MASS else 0.0
        mass[p - lo] = mass0
        mass[p - lo + 1] = mass1
        mass[p - lo + 2] = mass2
        mass[p - lo + 3] = mass3
        for j in range(k):
            pull[j] += (ratio0 * row0[j] + ratio1 * row1[j]) + (
                ratio2 * row2[j] + ratio3 * row3[j]
            )
        p += 4
    while p < hi:
        row0 = topics[indices[p]]
        mass0 = 0.0
        for j in range(k):
            mass0 += row0[j] * weights[j]
        ratio0 = data[p] / mass0 if mass0 > LEAST_MASS else 0.0
        mass[p - lo] = mass0
        for j in range(k):
            pull[j] += ratio0 * row0[j]
        p += 1


@njit(cache=True, nogil=True, fastmath=_FAST)
def absorb_and_scatter(  # type: ignore[no-untyped-def]
    data, indices, lo, hi, topics, weights, scaled, mass, pull, expected
):
    """Do what `absorb_words` does, and add `x_w scaled / mass_w` to row w of `expected`.

    Times the topics, entry by entry, `expected` becomes the expected number of
    times that a topic emitted a word. In one loop the quotients are at hand, and
    two rows of topics and two of sums are waited for together.

    Parameters
    ----------
    data, indices, lo, hi, topics, weights
        As in `absorb_words`.
    scaled : ndarray of shape (k,)
        Weights of the topics times that of the document.
    mass, pull
        As in `absorb_words`.
    expected : ndarray of shape (d, k)
        The sums.
    """
    k = weights.shape[0]
    pull[:] = 0.0
    p = lo
    while p + 1 < hi:
        word0, word1 = indices[p], indices[p + 1]
        row0, row1 = topics[word0], topics[word1]
        mass0 = 0.0
        mass1 = 0.0
        for j in range(k):
            mass0 += row0[j] * weights[j]
            mass1 += row1[j] * weights[j]
        ratio0 = data[p] / mass0 if mass0 > LEAST_MASS else 0.0
        ratio1 = data[p + 1] / mass1 if mass1 > LEAST_MASS else 0.0
        mass[p - lo] = mass0
        mass[p - lo + 1] = mass1
        for j in range(k):
            pull[j] += ratio0 * row0[j] + ratio1 * row1[j]
        sums0, sums1 = expected[word0], expected[word1]
        for j in range(k):
            sums0[j] += ratio0 * scaled[j]
        for j in range(k):
            sums1[j] += ratio1 * scaled[j]
        p += 2
    if p < hi:
        row0 = topics[indices[p]]
        mass0 = 0.0
        for j in range(k):
            mass0 += row0[j] * weights[j]
        ratio0 = data[p] / mass0 if mass0 > LEAST_MASS else 0.0
        mass[p - lo] = mass0
        sums0 = expected[indices[p]]
        for j in range(k):
            pull[j] += ratio0 * row0[j]
            sums0[j] += ratio0 * scaled[j]


@njit(cache=True, nogil=True)
def log_mass(data, lo, hi, mass):  # type: ignore[no-untyped-def]
    """Return `sum_w x_w log(mass_w)` over words with positive mass.

    Words seen once are multiplied together before the logarithm is taken.
    """
    total = 0.0
    product = 1.0
    for p in range(lo, hi):
        here = mass[p - lo]
        if here <= LEAST_MASS:
            continue
        if data[p] == 1.0 and 1e-150 < here < 1e100:
            product *= here
            if not 1e-150 < product < 1e150:
                total += math.log(product)
                product = 1.0
        else:
            total += data[p] * math.log(here)
    return total + math.log(product)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _document_bound(concentration, dirichlet, psi_total, row_weight, log_sums):  # type: ignore[no-untyped-def]
    """Return the bound's Dirichlet terms of a document and add to `log_sums`.

    `sum_j (alpha_j - gamma_j)(psi(gamma_j) - psi(gamma_0)) + log Gamma(gamma_j)`,
    without the terms of gamma_0 and alpha that the caller knows.
    """
    value = 0.0
    for j in range(dirichlet.shape[0]):
        mean_log = digamma(dirichlet[j]) - psi_total
        log_sums[j] += row_weight * mean_log
        value += (concentration[j] - dirichlet[j]) * mean_log
        value += log_gamma(dirichlet[j])
    return value


@njit(cache=True, nogil=True, fastmath=_FAST)
def step_variational_rows(  # type: ignore[no-untyped-def]
    data,
    indices,
    indptr,
    row_weights,
    topics,
    concentration,
    rounds,
    counts,
    expected,
    log_sums,
    totals,
):
    """Run variational rounds over a block and add its sums.

    Parameters
    ----------
    data, indices, indptr : ndarray
        CSR rows.
    row_weights : ndarray of shape (n,)
        Weights of the documents.
    topics : ndarray of shape (d, k)
        Probabilities of words under topics.
    concentration : ndarray of shape (k,)
        Dirichlet parameters alpha.
    rounds : int
        Rounds for each document, at least one.
    counts : ndarray of shape (n, k)
        Expected topic counts of the documents, updated.
    expected : ndarray of shape (d, k)
        Sums of `absorb_and_scatter`, at the last round's responsibilities.
    log_sums : ndarray of shape (k,)
        Sum over documents of `psi(gamma_j) - psi(gamma_0)`.
    totals : ndarray of shape (4,)
        Sums over documents: evidence lower bound without the terms in alpha
        alone, known tokens, `psi(gamma_0)`, number of non-empty documents.
    """
    k = concentration.shape[0]
    mass = np.empty(longest_row(indptr))
    dirichlet = np.empty(k)
    weights = np.empty(k)
    pull = np.empty(k)
    scaled = np.empty(k)
    for i in range(indptr.shape[0] - 1):
        lo = indptr[i]
        hi = indptr[i + 1]
        row_weight = row_weights[i]
        shift = 0.0
        for still in range(rounds, 0, -1):
            for j in range(k):
                dirichlet[j] = concentration[j] + counts[i, j]
            shift = scaled_exp_digamma(dirichlet, weights)
            if still > 1:
                absorb_words(data, indices, lo, hi, topics, weights, mass, pull)
            else:
                for j in range(k):
                    scaled[j] = row_weight * weights[j]
                absorb_and_scatter(
                    data, indices, lo, hi, topics, weights, scaled, mass, pull, expected
                )
            for j in range(k):
                counts[i, j] = pull[j] * weights[j]
        tokens = counts[i].sum()
        if tokens <= 0.0:
            continue
        total = dirichlet.sum()
        psi_total = digamma(total)
        bound = log_mass(data, lo, hi, mass) - tokens * (shift + psi_total)
        bound += _document_bound(
            concentration, dirichlet, psi_total, row_weight, log_sums
        )
        totals[0] += row_weight * (bound - log_gamma(total))
        totals[1] += row_weight * tokens
        totals[2] += row_weight * psi_total
        totals[3] += row_weight


@njit(cache=True, nogil=True, fastmath=_FAST)
def infer_variational_rows(  # type: ignore[no-untyped-def]
    data, indices, indptr, topics, concentration, tolerance, max_rounds, counts
):
    """Repeat variational rounds with fixed topics until the counts stand still.

    Parameters
    ----------
    data, indices, indptr, topics, concentration
        As in `step_variational_rows`.
    tolerance : float
        A document is done when its counts move by less than this share of its
        tokens in a round.
    max_rounds : int
        Most rounds for a document.
    counts : ndarray of shape (n, k)
        Start and result.

    Returns
    -------
    rounds : int
        Most rounds that a document took.
    residual : float
        Largest last move of a document, as a share of its tokens.
    """
    k = concentration.shape[0]
    mass = np.empty(longest_row(indptr))
    dirichlet = np.empty(k)
    weights = np.empty(k)
    pull = np.empty(k)
    most = 0
    residual = 0.0
    for i in range(indptr.shape[0] - 1):
        done = 0
        move = 0.0
        while done < max_rounds:
            for j in range(k):
                dirichlet[j] = concentration[j] + counts[i, j]
            scaled_exp_digamma(dirichlet, weights)
            absorb_words(
                data, indices, indptr[i], indptr[i + 1], topics, weights, mass, pull
            )
            done += 1
            move = 0.0
            tokens = 0.0
            for j in range(k):
                fresh = pull[j] * weights[j]
                move += abs(fresh - counts[i, j])
                tokens += fresh
                counts[i, j] = fresh
            move = move / tokens if tokens > 0.0 else 0.0
            if move <= tolerance:
                break
        most = max(most, done)
        residual = max(residual, move)
    return most, residual


@njit(cache=True, nogil=True, fastmath=_FAST)
def infer_map_rows(  # type: ignore[no-untyped-def]
    data, indices, indptr, topics, concentration, tolerance, max_rounds, counts
):
    """Climb to the most probable proportions of each document, by EM.

    The same loop as `infer_variational_rows` with weights `alpha + n` in place
    of `exp(psi(alpha + n))`: it maximises the likelihood times
    `prod_j theta_j^alpha_j`, the Dirichlet density in the softmax basis (MacKay
    1998), which has its mode inside the simplex for every positive alpha.

    Parameters
    ----------
    data, indices, indptr, topics, concentration, tolerance, max_rounds, counts
        As in `infer_variational_rows`.
    """
    k = concentration.shape[0]
    mass = np.empty(longest_row(indptr))
    weights = np.empty(k)
    pull = np.empty(k)
    for i in range(indptr.shape[0] - 1):
        for _ in range(max_rounds):
            for j in range(k):
                weights[j] = concentration[j] + counts[i, j]
            absorb_words(
                data, indices, indptr[i], indptr[i + 1], topics, weights, mass, pull
            )
            move = 0.0
            tokens = 0.0
            for j in range(k):
                fresh = pull[j] * weights[j]
                move += abs(fresh - counts[i, j])
                tokens += fresh
                counts[i, j] = fresh
            if move <= tolerance * tokens:
                break


@njit(cache=True, nogil=True, fastmath=_FAST)
def bound_rows(data, indices, indptr, topics, concentration, counts, bounds, tokens):  # type: ignore[no-untyped-def]
    """Write the evidence lower bound and the known tokens of each document.

    Parameters
    ----------
    data, indices, indptr, topics, concentration
        As in `step_variational_rows`.
    counts : ndarray of shape (n, k)
        Expected topic counts.
    bounds : ndarray of shape (n,)
        Result: lower bounds on the log-likelihoods.
    tokens : ndarray of shape (n,)
        Result: tokens of words that some topic knows.
    """
    k = concentration.shape[0]
    mass = np.empty(longest_row(indptr))
    dirichlet = np.empty(k)
    weights = np.empty(k)
    pull = np.empty(k)
    unused = np.zeros(k)
    constant = log_gamma(concentration.sum())
    for j in range(k):
        constant -= log_gamma(concentration[j])
    for i in range(indptr.shape[0] - 1):
        lo = indptr[i]
        hi = indptr[i + 1]
        for j in range(k):
            dirichlet[j] = concentration[j] + counts[i, j]
        shift = scaled_exp_digamma(dirichlet, weights)
        absorb_words(data, indices, lo, hi, topics, weights, mass, pull)
        known = 0.0
        for p in range(lo, hi):
            if mass[p - lo] > LEAST_MASS:
                known += data[p]
        tokens[i] = known
        if known <= 0.0:
            bounds[i] = 0.0
            continue
        total = dirichlet.sum()
        psi_total = digamma(total)
        bound = log_mass(data, lo, hi, mass) - known * (shift + psi_total)
        bound += _document_bound(concentration, dirichlet, psi_total, 0.0, unused)
        bounds[i] = bound - log_gamma(total) + constant


@njit(cache=True, nogil=True, fastmath=_FAST)
def predict_rows(data, indices, indptr, topics, shares, values, tokens):  # type: ignore[no-untyped-def]
    """Write `sum_w x_w log(topics[w] . shares)` and the known tokens of each row.

    Parameters
    ----------
    data, indices, indptr : ndarray
        CSR rows.
    topics : ndarray of shape (d, k)
        Probabilities of words under topics.
    shares : ndarray of shape (n, k)
        Topic proportions.
    values : ndarray of shape (n,)
        Result: log-probabilities.
    tokens : ndarray of shape (n,)
        Result: tokens of words that some topic knows.
    """
    k = shares.shape[1]
    for i in range(indptr.shape[0] - 1):
        value = 0.0
        known = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            row = topics[indices[p]]
            mass = 0.0
            for j in range(k):
                mass += row[j] * shares[i, j]
            if mass > LEAST_MASS:
                value += data[p] * math.log(mass)
                known += data[p]
        values[i] = value
        tokens[i] = known
