"""Collapsed variational rounds of latent Dirichlet allocation over sparse rows.

A round asks of every token which topic it is from, given the *other* tokens of its
document, and topics that have not learned from this document: with `n` the expected
topic counts of the document, `x` the count of the word in it and
`r_j ~ topics[w, j] (alpha_j + n_j)` the answer that its own trace leads to,

    r'_j ~ (topics[w, j] - e x r_j / N_j) (alpha_j + n_j - r_j)

where `N_j` are the tokens of topic j in the corpus and e, between zero and one, is
how much of the trace in the topics is taken out. With `e x = 1` this is collapsed
variational Bayes to order zero (Asuncion, Welling, Smyth and Teh 2009); words come in
bursts, so that all of a document's tokens of a word are taken out together here. The
shares r are worked out on the way instead of being kept for every token.

Topics come as single precision in rows that are padded with zeros to whole vector
registers; half the bytes and twice the lanes are what makes a round as cheap as a
plain variational one. Sums over documents have double precision.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tercet.kernels.digamma import digamma
from tercet.kernels.variational import log_mass, longest_row

__all__ = ["blend_topics", "measure_climb", "pad_width", "step_collapsed_rows"]

_FAST = {"reassoc", "contract", "nsz", "arcp", "nnan", "ninf"}
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
# A word with less mass counts as unknown: a reciprocal of it would overflow.
_LEAST_MASS = np.float32(1e-30)
# Documents of less in all count as empty: a reciprocal would overflow.
_LEAST_LENGTH = 1e-200
# Going on, nothing falls below this part of where it is.
_LEAST_KEPT = 0.2
# Below this expected count a few terms of series are exact enough.
_FEW = 0.5
_LANES = 8
_GUARD = 64


def pad_width(k: int) -> int:
    """Return the columns of a padded table of k topics.

    Parameters
    ----------
    k : int
        Number of topics.

    Returns
    -------
    int
        The next multiple of eight.

    Examples
    --------
    >>> from tercet.kernels.collapsed import pad_width
    >>> [pad_width(k) for k in (3, 10, 20, 50)]
    [8, 16, 24, 56]
    """
    return -(-k // _LANES) * _LANES


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def blend_topics(
    topics: NDArray[np.float64],
    before: NDArray[np.float32],
    momentum: float,
    table: NDArray[np.float32],
) -> None:
    """Write `topics + momentum (topics - before)` to the padded table.

    Parameters
    ----------
    topics : ndarray of shape (d, k)
        Topics after the last step, as columns.
    before : ndarray of shape (d, k)
        Topics after the step before.
    momentum : float
        How far to go on in the same direction.
    table : ndarray of shape (d, p)
        Result, p >= k: columns sum to one; the others are left alone.
    """
    d, k = topics.shape
    sums = np.zeros(k)
    for w in range(d):
        for j in range(k):
            here = topics[w, j]
            value = here + momentum * (here - before[w, j])
            low = _LEAST_KEPT * here
            value = value if value > low else low
            table[w, j] = value
            sums[j] += value
    for j in range(k):
        sums[j] = 1.0 / sums[j] if sums[j] > 0.0 else 0.0
    for w in range(d):
        for j in range(k):
            table[w, j] *= sums[j]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def measure_climb(count, certainty, alpha, psi, slope, bend):  # type: ignore[no-untyped-def]
    """Return the expectation of `psi(alpha + n) - psi(alpha)` over topic counts n.

    The tokens of a topic in a document are taken as independent, `count` of them
    expected, each with probability `certainty`; n is zero with the probability that
    these leave, and near its mean otherwise (Teh, Newman and Welling 2007).

    Parameters
    ----------
    count : float
        Expected number of tokens.
    certainty : float
        Mean probability of a token that counts, weighted by itself.
    alpha : float
        Dirichlet parameter.
    psi, slope, bend : float
        `psi(alpha)`, `psi'(alpha + 1)` and `psi''(alpha + 1) / 2`.

    Examples
    --------
    >>> from scipy.special import polygamma
    >>> from tercet.kernels.collapsed import measure_climb
    >>> terms = polygamma(0, 0.5), polygamma(1, 1.5), polygamma(2, 1.5) / 2
    >>> round(measure_climb(2.0, 1.0, 0.5, *terms), 4)  # 1 / 0.5 + 1 / 1.5
    2.6667
    >>> round(measure_climb(0.001, 0.001, 0.5, *terms), 4)
    0.002
    """
    sure = min(max(certainty, 1e-9), 1.0 - 1e-9)
    if count < _FEW:
        # Series of -log(1 - s)/s, of 1 - exp(-e) and of psi(alpha + 1 + excess).
        sure = min(sure, count)
        e = count * (1.0 + sure * (1 / 2 + sure * (1 / 3 + sure * (1 / 4 + sure / 5))))
        present = e * (1.0 - e / 2 * (1.0 - e / 3 * (1.0 - e / 4 * (1.0 - e / 5))))
        present = min(present, count)
        excess = count / present - 1.0
        return present * (1.0 / alpha + excess * (slope + excess * bend))
    present = min(1.0 - math.exp(count * math.log(1.0 - sure) / sure), count)
    return present * (digamma(alpha + count / present) - psi)


@njit(cache=True, nogil=True)
def _make_room(width: int) -> NDArray[np.float32]:
    """Return zeros with some room around them.

    Compiled loops ask whether arrays overlap, and leave some slack in asking. Among
    neighbours they would fall back to slow loops that round otherwise, so that
    results depended on where memory happened to be free.
    """
    return np.zeros(width + 2 * _GUARD, np.float32)[_GUARD : _GUARD + width]


@njit(fastmath=_FAST, error_model="numpy", inline="always")
def _weigh_topics(  # type: ignore[no-untyped-def]
    concentration, own, length, total, shares, weights, shared, floors
):
    """Write what a document makes of every topic before its words are looked at."""
    for j in range(concentration.shape[0]):
        here = concentration[j] + length * shares[j]
        weights[j] = here / total
        shared[j] = own[j] * here / total
        floors[j] = concentration[j] / here


@njit(fastmath=_FAST, error_model="numpy", inline="always")
def _split_word(row, x, weights, shared, floors, scale, least, parts):  # type: ignore[no-untyped-def]
    """Write the shares of a word's topics up to scale, and return their sum."""
    mass = _ZERO
    for j in range(row.shape[0]):
        mass += row[j] * weights[j]
    if mass <= _LEAST_MASS:
        return _ZERO
    count = np.float32(x)
    in_all = count / mass
    in_one = (count if count < _ONE else _ONE) * scale / mass
    rest = _ZERO
    for j in range(row.shape[0]):
        in_topic = _ONE - in_all * shared[j]
        in_topic = in_topic if in_topic > least else least
        in_document = _ONE - in_one * row[j]
        in_document = in_document if in_document > floors[j] else floors[j]
        part = row[j] * weights[j] * in_topic * in_document
        parts[j] = part
        rest += part
    return rest


@njit(fastmath=_FAST, error_model="numpy", inline="always")
def _add_squares(parts, factor, squares):  # type: ignore[no-untyped-def]
    for j in range(parts.shape[0]):
        squares[j] += factor * parts[j] * parts[j]


@njit(fastmath=_FAST, error_model="numpy", inline="always")
def _scatter_word(parts, factor, sums):  # type: ignore[no-untyped-def]
    for j in range(sums.shape[0]):
        sums[j] += factor * parts[j]


@njit(fastmath=_FAST, error_model="numpy", inline="always")
def _carry_on(pull, stride, shares):  # type: ignore[no-untyped-def]
    """Set shares to `pull`, and on in the same direction; return their sum."""
    known = 0.0
    reached = 0.0
    for j in range(shares.shape[0]):
        here = pull[j]
        known += here
        further = here + stride * (here - shares[j])
        shares[j] = further if further > _LEAST_KEPT * here else _LEAST_KEPT * here
        reached += shares[j]
    if reached > 0.0:
        for j in range(shares.shape[0]):
            shares[j] *= known / reached
    return known


@njit(fastmath=_FAST, error_model="numpy", inline="always")
def _add_climbs(  # type: ignore[no-untyped-def]
    pull, squares, length, row_weight, concentration, polygammas, climbs
):
    """Add what a document says of the Dirichlet parameters."""
    for j in range(polygammas.shape[1]):
        if pull[j] > _ZERO:
            climbs[j] += row_weight * measure_climb(
                length * pull[j],
                squares[j] / pull[j],
                concentration[j],
                polygammas[0, j],
                polygammas[1, j],
                polygammas[2, j],
            )


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _sum_counts(data, lo, hi):  # type: ignore[no-untyped-def]
    total = 0.0
    for p in range(lo, hi):
        total += data[p]
    return total


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def step_collapsed_rows(  # type: ignore[no-untyped-def]
    data,
    indices,
    indptr,
    row_weights,
    topics,
    own,
    excluded,
    concentration,
    polygammas,
    rounds,
    stride,
    shares,
    expected,
    climbs,
    totals,
):
    """Run collapsed rounds over a block and add its sums.

    Parameters
    ----------
    data, indices, indptr : ndarray
        CSR rows.
    row_weights : ndarray of shape (n,)
        Weights of the documents.
    topics : ndarray of shape (d, p)
        Probabilities of words under topics, padded with columns of zeros.
    own : ndarray of shape (k,)
        What a token takes out of a topic that it is from: e / N_j, or zero.
    excluded : float
        e, between zero and one.
    concentration : ndarray of shape (k,)
        Dirichlet parameters alpha.
    polygammas : ndarray of shape (3, k)
        `psi(alpha)`, `psi'(alpha + 1)` and `psi''(alpha + 1) / 2`; without
        columns, `climbs` is left alone.
    rounds : int
        Rounds for each document, at least one.
    stride : float
        How far the shares of a document go on after the last round, as a part of
        how far they went.
    shares : ndarray of shape (n, k)
        Topic counts of the documents over their lengths, updated.
    expected : ndarray of shape (d, k)
        Sums of the expected number of times that a topic emitted a word.
    climbs : ndarray of shape (k,)
        Sums of `measure_climb`.
    totals : ndarray of shape (4,)
        Sums over documents: log-probabilities of the tokens given the others of
        their documents, known tokens, `psi(alpha_0 + c) - psi(alpha_0)`, number of
        documents that are not empty.
    """
    k, width = concentration.shape[0], topics.shape[1]
    climbing = polygammas.shape[1] > 0
    alpha_total = concentration.sum()
    psi_total = digamma(alpha_total)
    least = np.float32(1.0 - excluded)
    mass = np.empty(longest_row(indptr))
    weights, shared, floors = _make_room(width), _make_room(width), _make_room(width)
    parts, pull, squares = _make_room(width), _make_room(width), _make_room(width)
    for i in range(indptr.shape[0] - 1):
        lo, hi = indptr[i], indptr[i + 1]
        row_weight = row_weights[i]
        length = _sum_counts(data, lo, hi)
        if not length > _LEAST_LENGTH:
            continue
        total = alpha_total + length
        scale = np.float32(1.0 / total)
        pull[:k] = shares[i]
        for still in range(rounds, 0, -1):
            _weigh_topics(
                concentration, own, length, total, pull, weights, shared, floors
            )
            pull[:] = _ZERO
            squares[:] = _ZERO
            for p in range(lo, hi):
                word, x = indices[p], data[p]
                rest = _split_word(
                    topics[word], x, weights, shared, floors, scale, least, parts
                )
                mass[p - lo] = rest
                if rest <= _ZERO:
                    continue
                ratio = np.float32(x / length) / rest
                for j in range(width):
                    pull[j] += ratio * parts[j]
                if still == 1:
                    if climbing:
                        _add_squares(parts, ratio / rest, squares)
                    _scatter_word(parts, row_weight * x / rest, expected[word])
        known = length * _carry_on(pull, stride, shares[i])
        if not known > _LEAST_LENGTH:
            continue
        _add_climbs(
            pull, squares, length, row_weight, concentration, polygammas, climbs
        )
        others = max(total - 1.0, alpha_total) / total
        value = log_mass(data, lo, hi, mass) - known * math.log(others)
        totals[0] += row_weight * value
        totals[1] += row_weight * known
        totals[2] += row_weight * (digamma(alpha_total + known) - psi_total)
        totals[3] += row_weight
