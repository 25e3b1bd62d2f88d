"""Documents about one topic each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from tercet.datasets.arguments import (
    check_range,
    check_sizes,
    draw_lengths,
    order_given,
    tell_settings,
)
from tercet.datasets.samples import Sample
from tercet.datasets.truths import (
    lay_out_hierarchy,
    spread_weights,
)
from tercet.families.settings import check_count, check_positive
from tercet.families.topics import SingleTopic
from tercet.flow import Parameters
from tercet.recovery import order_by_weight

__all__ = ["make_hierarchical_topics", "make_single_topic"]


def make_single_topic(
    n_rows: int = 1000,
    *,
    n_features: int = 100,
    n_components: int = 5,
    lengths: ArrayLike | None = None,
    length_range: Sequence[int] = (3, 100),
    parameters: Parameters | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw documents about one topic each (paper 000, section 4).

    The entries of the topics and the weights are uniform numbers between zero
    and one, normalised to sum to one; each document has a uniform random
    number of tokens.

    Parameters
    ----------
    n_rows : int
        Number of documents.
    n_features : int
        Number of words d.
    n_components : int
        Number of topics k.
    lengths : int, array-like of shape (n,) or None
        Tokens of each document; None draws them from `length_range`.
    length_range : pair of int
        Least and largest number of tokens.
    parameters : Parameters or None
        Topics and weights; None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Counts, the truth, and the topic of each document.

    Examples
    --------
    >>> from tercet.datasets import make_single_topic
    >>> sample = make_single_topic(50, n_features=10, n_components=2)
    >>> bool(sample.rows.sum(axis=1).min() >= 3)
    True
    """
    rng = np.random.default_rng(random_state)
    if parameters is None:
        check_sizes(n_rows, n_features, n_components)
        topics = rng.random((n_features, n_components))
        weights = rng.random(n_components)
        truth = Parameters(topics / topics.sum(axis=0), weights / weights.sum())
    else:
        truth = parameters
    truth = order_given(truth)
    if lengths is None:
        check_range("length_range", length_range, 0)
        low, high = length_range
        lengths = rng.integers(low, high, size=n_rows, endpoint=True)
    tokens = draw_lengths(lengths, 1.0, n_rows, rng)
    rows, labels = SingleTopic().sample(truth, n_rows, rng, lengths=tokens)
    asked = tell_settings(n_rows, truth, random_state, length_range=tuple(length_range))
    return Sample(rows, truth, labels=labels, settings=asked)


def make_hierarchical_topics(
    n_rows: int = 400,
    *,
    n_features: int = 100,
    length: int = 100,
    contrast: float = 10.0,
    weights: ArrayLike | None = None,
    random_state: int | Generator | None = 0,
) -> Sample:
    """Draw documents from eight topics that form a tree (paper 004, section 4.1).

    Figure 1a of the paper shows the topics but not their numbers; its text is
    read so that they form a tree: the first four topics live in the first half
    of the vocabulary, the first two of them high on the first and third fourth
    of that half, the other two on its first and last, each on half of the
    second; the last four topics mirror the first four. A high probability is
    `contrast` times a low one.

    Parameters
    ----------
    n_rows : int
        Number of documents; the paper has 400.
    n_features : int
        Number of words d, at least sixteen; the paper has 100.
    length : int
        Tokens of every document.
    contrast : float
        A high probability over a low one.
    weights : array-like of shape (8,) or None
        Weights of the topics; None for equal ones.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each
        time.

    Returns
    -------
    Sample
        Counts, the truth, and the topic of each document.

    Examples
    --------
    >>> from tercet.datasets import make_hierarchical_topics
    >>> make_hierarchical_topics(16).parameters.centers.shape
    (100, 8)
    """
    check_count("n_rows", n_rows, 1)
    check_count("n_features", n_features, 16)
    check_count("length", length, 0)
    check_positive("contrast", contrast)
    rng = np.random.default_rng(random_state)
    topics = lay_out_hierarchy(n_features, contrast)
    truth = order_by_weight(Parameters(topics, spread_weights(weights, 8)))
    rows, labels = SingleTopic().sample(truth, n_rows, rng, lengths=length)
    asked = tell_settings(n_rows, truth, random_state, length=length, contrast=contrast)
    return Sample(rows, truth, labels=labels, settings=asked)
