"""Documents drawn from latent Dirichlet allocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from tercet.datasets.arguments import (
    check_range,
    check_sizes,
    draw_lengths,
    order_topics,
    tell_settings,
)
from tercet.datasets.samples import Sample
from tercet.datasets.truths import (
    Frequencies,
    draw_conditioned_topics,
    draw_topics,
    join_topics,
)
from tercet.exceptions import ParameterError
from tercet.families.settings import check_count, check_positive
from tercet.families.topics import LatentDirichlet
from tercet.flow import IntArray, Parameters

__all__ = ["make_lda", "make_lda_conditioned", "make_lda_fixed", "make_lda_two_lengths"]


def make_lda(
    n_rows: int = 1000,
    *,
    n_features: int = 1000,
    n_components: int = 10,
    concentration: ArrayLike = 0.1,
    topic_prior: float = 0.1,
    frequencies: Frequencies = "flat",
    mean_length: float = 100.0,
    lengths: ArrayLike | None = None,
    parameters: Parameters | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw documents from latent Dirichlet allocation.

    Parameters
    ----------
    n_rows : int
        Number of documents.
    n_features : int
        Number of words d.
    n_components : int
        Number of topics k.
    concentration : float or array-like of shape (k,)
        Dirichlet parameter of each topic; a number is shared by all of them.
    topic_prior : float
        Dirichlet parameter of the topics for each word.
    frequencies : {"flat", "falling"}
        Expected frequency of the words: all the same, or falling like
        `1 / (rank + 10)` with ranks from zero. The Dirichlet parameters of the
        topics are then proportional to it, with mean `topic_prior`.
    mean_length : float
        Mean of the Poisson distribution of the number of tokens.
    lengths : int, array-like of shape (n,) or None
        Tokens of each document; None draws them.
    parameters : Parameters or None
        Topics and Dirichlet parameters (or weights, which are then scaled to
        the sum of `concentration`); None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Counts, the truth, and the topic proportions of each document.

    Examples
    --------
    >>> from tercet.datasets import make_lda
    >>> sample = make_lda(50, n_features=30, n_components=3, frequencies="falling")
    >>> sample.proportions.shape
    (50, 3)
    >>> sample.parameters.concentration
    array([0.1, 0.1, 0.1])
    """
    rng = np.random.default_rng(random_state)
    if parameters is None:
        check_sizes(n_rows, n_features, n_components)
        check_positive("topic_prior", topic_prior)
        topics = draw_topics(n_features, n_components, topic_prior, frequencies, rng)
        truth = join_topics(topics, concentration)
    else:
        truth = order_topics(parameters, concentration)
    tokens = draw_lengths(lengths, mean_length, n_rows, rng)
    asked = tell_settings(
        n_rows,
        truth,
        random_state,
        concentration=concentration,
        topic_prior=topic_prior,
        frequencies=frequencies,
        mean_length=mean_length,
    )
    return _draw_lda(truth, tokens, rng, asked)


def make_lda_fixed(n_rows: int = 1000, *, length: int = 200, **options: Any) -> Sample:
    """Draw documents of one length: LDA-fix(L) of paper 002, section 3.5.1.

    Parameters
    ----------
    n_rows : int
        Number of documents.
    length : int
        Tokens of every document, L.
    **options : object
        Other arguments of `make_lda`.

    Returns
    -------
    Sample
        Counts, the truth, and the topic proportions of each document.

    Examples
    --------
    >>> from tercet.datasets import make_lda_fixed
    >>> sample = make_lda_fixed(2, length=20, n_features=9, n_components=3)
    >>> sample.rows.sum(axis=1)
    array([20, 20])
    """
    check_count("length", length, 0)
    sample = make_lda(n_rows, lengths=length, **options)
    return _with_lengths(sample, length=length)


def make_lda_two_lengths(
    n_rows: int = 1000,
    *,
    share: float = 0.5,
    first_length: int = 20,
    second_length: int = 200,
    **options: Any,
) -> Sample:
    """Draw documents of two lengths: LDA-fix2(gamma, L1, L2) of paper 002.

    A share of `1 - gamma` of the documents has L1 tokens, a share of `gamma`
    has L2 (section 3.5.1), rounded to whole documents, in random order.

    Parameters
    ----------
    n_rows : int
        Number of documents.
    share : float
        Share of documents of the second length, gamma.
    first_length, second_length : int
        Tokens of the documents, L1 and L2.
    **options : object
        Other arguments of `make_lda`.

    Returns
    -------
    Sample
        Counts, the truth, and the topic proportions of each document.

    Examples
    --------
    >>> from tercet.datasets import make_lda_two_lengths
    >>> sample = make_lda_two_lengths(10, share=0.3, n_features=9, n_components=3)
    >>> int((sample.rows.sum(axis=1) == 200).sum())
    3
    """
    check_count("n_rows", n_rows, 1)
    check_count("first_length", first_length, 0)
    check_count("second_length", second_length, 0)
    if not 0.0 <= share <= 1.0:
        raise ParameterError(f"share={share!r} must lie between 0 and 1.")
    random_state = options.pop("random_state", 0)
    rng = np.random.default_rng(random_state)
    lengths = np.full(n_rows, first_length)
    lengths[: round(share * n_rows)] = second_length
    rng.shuffle(lengths)
    sample = make_lda(n_rows, lengths=lengths, random_state=rng, **options)
    return _with_lengths(
        sample,
        share=share,
        first_length=first_length,
        second_length=second_length,
        random_state=None if isinstance(random_state, Generator) else random_state,
    )


def make_lda_conditioned(
    n_rows: int = 1000,
    *,
    n_features: int = 20,
    n_components: int = 3,
    singular_values: Sequence[float] = (0.7, 1.1),
    concentration: ArrayLike = 0.1,
    topic_prior: float = 0.1,
    length: int = 100,
    tries: int = 1000,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw documents whose topics are as far from orthogonal as is asked for.

    The smallest singular value of the topic matrix lies in a given range; one
    means orthogonal topics (paper 003, section 5.5, where the ranges are
    0.01-0.05-0.1-0.5-0.7-1.1).

    Parameters
    ----------
    n_rows : int
        Number of documents.
    n_features : int
        Number of words d.
    n_components : int
        Number of topics k, at most d.
    singular_values : pair of float
        Range of the smallest singular value; it begins above zero, below one.
    concentration : float or array-like of shape (k,)
        Dirichlet parameter of each topic; a number is shared by all of them.
    topic_prior : float
        Dirichlet parameter of the topics for each word.
    length : int
        Tokens of every document.
    tries : int
        Sets of topics that are drawn and rejected before one is bent into the
        range, which is noted in `settings` as `bent` (-1 or 1).
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Counts, the truth, and the topic proportions of each document.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets import make_lda_conditioned
    >>> sample = make_lda_conditioned(5, singular_values=(0.05, 0.1))
    >>> singular = np.linalg.svd(sample.parameters.centers, compute_uv=False)
    >>> bool(0.05 <= singular[-1] <= 0.1)
    True
    """
    check_sizes(n_rows, n_features, n_components)
    check_positive("topic_prior", topic_prior)
    check_count("length", length, 0)
    check_count("tries", tries, 1)
    check_range("singular_values", singular_values, 0.0)
    if n_components > n_features or not 0.0 < singular_values[0] < 1.0:
        raise ParameterError(
            f"singular_values={tuple(singular_values)} cannot be had from "
            f"{n_components} topics over {n_features} words; begin above 0 and below "
            "1, with no more topics than words."
        )
    rng = np.random.default_rng(random_state)
    topics, bent = draw_conditioned_topics(
        n_features, n_components, topic_prior, singular_values, tries, rng
    )
    truth = join_topics(topics, concentration)
    asked = tell_settings(
        n_rows,
        truth,
        random_state,
        singular_values=tuple(singular_values),
        concentration=concentration,
        topic_prior=topic_prior,
        length=length,
        tries=tries,
        bent=bent,
    )
    return _draw_lda(truth, np.full(n_rows, length), rng, asked)


def _draw_lda(
    truth: Parameters, tokens: IntArray, rng: Generator, asked: dict[str, Any]
) -> Sample:
    """Draw documents of given lengths."""
    family = LatentDirichlet(float(np.asarray(truth.concentration).sum()))
    rows, proportions = family.sample(truth, tokens.size, rng, lengths=tokens)
    return Sample(rows, truth, proportions=proportions, settings=asked)


def _with_lengths(sample: Sample, **lengths: Any) -> Sample:
    """Tell fixed lengths in place of the mean of random ones."""
    kept = {key: v for key, v in sample.settings.items() if key != "mean_length"}
    return replace(sample, settings=kept | lengths)
