"""Documents drawn from the gamma-Poisson model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.datasets.arguments import (
    check_sizes,
    order_topics,
    tell_settings,
)
from tercet.datasets.samples import Sample
from tercet.datasets.truths import (
    Frequencies,
    draw_topics,
    join_topics,
)
from tercet.exceptions import ParameterError
from tercet.families.draws import draw_poisson_counts
from tercet.families.settings import check_count, check_positive
from tercet.flow import FloatArray, IntArray, Parameters

__all__ = ["make_gamma_poisson"]


def make_gamma_poisson(
    n_rows: int = 1000,
    *,
    n_features: int = 1000,
    n_components: int = 10,
    concentration: ArrayLike = 0.1,
    topic_prior: float = 0.1,
    frequencies: Frequencies = "flat",
    mean_length: float = 100.0,
    shortest: int = 0,
    parameters: Parameters | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw documents from the gamma-Poisson model (paper 002, equation 3.4).

    The intensity of topic j in a document is a gamma number of shape `c_j` and
    rate b, the count of a word a Poisson number. With `b = sum(c) / L` the
    expected length is L (section 3.5.1).

    Parameters
    ----------
    n_rows : int
        Number of documents.
    n_features : int
        Number of words d.
    n_components : int
        Number of topics k.
    concentration : float or array-like of shape (k,)
        Gamma shape of each topic, c; a number is shared by all of them.
    topic_prior : float
        Dirichlet parameter of the topics for each word.
    frequencies : {"flat", "falling"}
        Expected frequency of the words, see `make_lda`.
    mean_length : float
        Expected number of tokens of a document, L.
    shortest : int
        Documents with fewer tokens are drawn again (the paper takes 3).
    parameters : Parameters or None
        Topics and gamma shapes (`concentration`), or weights; None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Counts, the truth (with `rate`), and the share of each topic in the
        intensities of each document.

    Examples
    --------
    >>> from tercet.datasets import make_gamma_poisson
    >>> sample = make_gamma_poisson(50, n_features=30, n_components=2, shortest=3)
    >>> bool(sample.rows.sum(axis=1).min() >= 3)
    True
    """
    rng = np.random.default_rng(random_state)
    check_positive("mean_length", mean_length)
    check_count("shortest", shortest, 0)
    if shortest > mean_length:
        raise ParameterError(
            f"shortest={shortest} exceeds mean_length={mean_length:g}; nearly all "
            "documents would be drawn again. Ask for longer ones."
        )
    if parameters is None:
        check_sizes(n_rows, n_features, n_components)
        check_positive("topic_prior", topic_prior)
        topics = draw_topics(n_features, n_components, topic_prior, frequencies, rng)
        truth = join_topics(topics, concentration)
    else:
        truth = order_topics(parameters, concentration)
    shapes = np.asarray(truth.concentration)
    rate = np.full(shapes.size, shapes.sum() / mean_length)
    truth = replace(truth, rate=rate)
    rows, intensities = _draw_gamma_poisson(truth, n_rows, shortest, rng)
    asked = tell_settings(
        n_rows,
        truth,
        random_state,
        concentration=concentration,
        topic_prior=topic_prior,
        frequencies=frequencies,
        mean_length=mean_length,
        shortest=shortest,
    )
    total = intensities.sum(axis=1, keepdims=True)
    # A document without intensity has no tokens, whatever its topics.
    shares = np.where(total > 0, intensities / np.where(total > 0, total, 1.0), 0.0)
    return Sample(rows, truth, proportions=shares, settings=asked)


def _draw_gamma_poisson(
    truth: Parameters, n_rows: int, shortest: int, rng: Generator
) -> tuple[sparse.csr_array, FloatArray]:
    """Draw counts and intensities; short documents are drawn again."""
    shapes, rate = np.asarray(truth.concentration), np.asarray(truth.rate)
    intensities = rng.gamma(shapes, 1.0 / rate, size=(n_rows, shapes.size))
    rows = draw_poisson_counts(intensities, truth.centers, rng)
    short = np.flatnonzero(rows.sum(axis=1) < shortest)
    while short.size:
        again = rng.gamma(shapes, 1.0 / rate, size=(short.size, shapes.size))
        drawn = draw_poisson_counts(again, truth.centers, rng)
        good = np.flatnonzero(drawn.sum(axis=1) >= shortest)
        intensities[short[good]] = again[good]
        rows = _replace_rows(rows, short[good], drawn[good])
        short = np.delete(short, good)
    return rows, intensities


def _replace_rows(
    rows: sparse.csr_array, places: IntArray, others: sparse.csr_array
) -> sparse.csr_array:
    """Put other rows in some places."""
    order = np.arange(rows.shape[0])
    order[places] = rows.shape[0] + np.arange(places.size)
    return sparse.vstack([rows, others], format="csr")[order]
