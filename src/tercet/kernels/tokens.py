"""Token by token: Gibbs sweeps and left-to-right particles for one document.

The topics are fixed. A token of word w, the others of its document having the
topics counted in n, is of topic j with probability proportional to
`topics[w, j] (n_j + alpha_j)` (paper 000, remark 4, equation 2). Every draw uses
up one number in [0, 1) that the caller hands over.
"""

from __future__ import annotations

from numba import njit

__all__ = ["run_particle", "sweep_tokens"]


@njit(cache=True, nogil=True)
def _draw_topic(row, concentration, counts, uniform, weights):  # type: ignore[no-untyped-def]
    """Return a topic for a token of a word, -1 if no topic knows the word."""
    total = 0.0
    for j in range(counts.shape[0]):
        total += row[j] * (counts[j] + concentration[j])
        weights[j] = total
    if total <= 0.0:
        return -1
    place = uniform * total
    for j in range(counts.shape[0] - 1):
        if place < weights[j]:
            return j
    # Rounding must not choose a topic that cannot emit the word.
    j = counts.shape[0] - 1
    while j > 0 and row[j] <= 0.0:
        j -= 1
    return j


@njit(cache=True, nogil=True)
def sweep_tokens(  # type: ignore[no-untyped-def]
    words, topics, concentration, uniforms, burn_in, assigned, counts, weights, shares
):
    """Run Gibbs sweeps over a document and average its topic shares.

    The first row of `uniforms` draws a topic for every token in turn, given the
    tokens before it; every further row is a sweep. Sweeps after the first
    `burn_in` add `(n_j + alpha_j) / (c + alpha0)` to the average.

    Parameters
    ----------
    words : ndarray of shape (c,)
        Features of the tokens.
    topics : ndarray of shape (d, k)
        Probabilities of words under topics.
    concentration : ndarray of shape (k,)
        Dirichlet parameters.
    uniforms : ndarray of shape (1 + sweeps, c)
        Numbers in [0, 1).
    burn_in : int
        Sweeps that are not averaged.
    assigned : ndarray of shape (c,)
        Scratch: topics of the tokens.
    counts, weights : ndarray of shape (k,)
        Scratch.
    shares : ndarray of shape (k,)
        Result.
    """
    counts[:] = 0.0
    shares[:] = 0.0
    kept = 0
    prior = concentration.sum()
    for sweep in range(uniforms.shape[0]):
        for place in range(words.shape[0]):
            row = topics[words[place]]
            if sweep > 0 and assigned[place] >= 0:
                counts[assigned[place]] -= 1.0
            chosen = _draw_topic(
                row, concentration, counts, uniforms[sweep, place], weights
            )
            assigned[place] = chosen
            if chosen >= 0:
                counts[chosen] += 1.0
        if sweep > burn_in:
            kept += 1
            total = counts.sum() + prior
            for j in range(counts.shape[0]):
                shares[j] += (counts[j] + concentration[j]) / total
    for j in range(counts.shape[0]):
        shares[j] /= max(kept, 1)


@njit(cache=True, nogil=True)
def run_particle(  # type: ignore[no-untyped-def]
    words, topics, concentration, sweeps, uniforms, assigned, counts, weights, predicted
):
    """Add one particle's probabilities of each token given those before it.

    Wallach, Murray, Salakhutdinov and Mimno (2009), algorithm 3: before a token
    is predicted, the topics of all earlier ones are drawn anew, in order.

    Parameters
    ----------
    words : ndarray of shape (c,)
        Features of the tokens, each known to a topic.
    topics : ndarray of shape (d, k)
        Probabilities of words under topics.
    concentration : ndarray of shape (k,)
        Dirichlet parameters.
    sweeps : int
        How often they are drawn anew.
    uniforms : ndarray of shape (sweeps c (c - 1) / 2 + c,)
        Numbers in [0, 1).
    assigned : ndarray of shape (c,)
        Scratch: topics of the tokens.
    counts, weights : ndarray of shape (k,)
        Scratch.
    predicted : ndarray of shape (c,)
        Probabilities are added here.
    """
    counts[:] = 0.0
    prior = concentration.sum()
    used = 0
    for place in range(words.shape[0]):
        for step in range(sweeps * place):
            earlier = step % place
            counts[assigned[earlier]] -= 1.0
            chosen = _draw_topic(
                topics[words[earlier]], concentration, counts, uniforms[used], weights
            )
            used += 1
            assigned[earlier] = chosen
            counts[chosen] += 1.0
        row = topics[words[place]]
        chosen = _draw_topic(row, concentration, counts, uniforms[used], weights)
        used += 1
        predicted[place] += weights[counts.shape[0] - 1] / (place + prior)
        assigned[place] = chosen
        counts[chosen] += 1.0
