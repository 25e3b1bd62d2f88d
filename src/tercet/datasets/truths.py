"""Parameters of models, drawn at random or laid out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, Parameters, Registry
from tercet.recovery import order_by_weight

__all__ = [
    "FREQUENCIES",
    "Frequencies",
    "draw_conditioned_topics",
    "draw_topics",
    "join_topics",
    "lay_out_hierarchy",
    "spread_concentration",
    "spread_weights",
]

Frequencies = Literal["flat", "falling"]

_HALVINGS = 100


def _flat(n_features: int) -> FloatArray:
    """Give all words the same expected frequency."""
    return np.full(n_features, 1.0 / n_features)


def _falling(n_features: int) -> FloatArray:
    """Let the expected frequency fall like 1 / (rank + 10), ranks from zero."""
    frequency = 1.0 / (np.arange(n_features) + 10.0)
    return np.asarray(frequency / frequency.sum())


FREQUENCIES = Registry[Callable[[int], FloatArray]]("frequencies")
FREQUENCIES.add("flat", _flat)
FREQUENCIES.add("falling", _falling)


def draw_topics(
    n_features: int,
    n_components: int,
    prior: float,
    frequencies: str,
    rng: Generator,
) -> FloatArray:
    """Draw topics from a Dirichlet distribution.

    Parameters
    ----------
    n_features, n_components : int
        Number of words d and of topics k.
    prior : float
        Dirichlet parameter for each word; with falling frequencies it is the
        mean over the words.
    frequencies : {"flat", "falling"}
        Expected frequency of the words over all topics.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (d, k)
        Topics as columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.truths import draw_topics
    >>> topics = draw_topics(50, 3, 0.1, "falling", np.random.default_rng(0))
    >>> topics.sum(axis=0)
    array([1., 1., 1.])
    """
    mean: FloatArray = FREQUENCIES[frequencies](n_features)
    parameters = prior * n_features * mean
    return np.ascontiguousarray(rng.dirichlet(parameters, size=n_components).T)


def draw_conditioned_topics(
    n_features: int,
    n_components: int,
    prior: float,
    bounds: Sequence[float],
    tries: int,
    rng: Generator,
) -> tuple[FloatArray, int]:
    """Draw topics whose smallest singular value lies between two bounds.

    Topics are drawn until one set fits (paper 003, section 5.5). If none of
    `tries` sets does, the last one is bent: all topics are pulled towards their
    mean, which lowers the smallest singular value down to zero, or towards
    words of their own, which raises it up to one, just as far as is needed.

    Parameters
    ----------
    n_features, n_components : int
        Number of words d and of topics k, at most d.
    prior : float
        Dirichlet parameter for each word.
    bounds : pair of float
        Least and greatest singular value.
    tries : int
        Sets drawn before the last is bent.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    topics : ndarray of shape (d, k)
        Topics as columns.
    bent : int
        Which way they were bent: -1 to a smaller singular value, 0 not at all,
        1 to a larger one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.truths import draw_conditioned_topics
    >>> rng = np.random.default_rng(0)
    >>> topics, _ = draw_conditioned_topics(20, 3, 0.1, (0.5, 0.7), 100, rng)
    >>> bool(0.5 <= np.linalg.svd(topics, compute_uv=False)[-1] <= 0.7)
    True
    """
    low, high = bounds
    for _ in range(tries):
        topics = draw_topics(n_features, n_components, prior, "flat", rng)
        smallest = _smallest_singular_value(topics)
        if low <= smallest <= high:
            return topics, 0
    if smallest > high:
        mean = np.broadcast_to(topics.mean(axis=1, keepdims=True), topics.shape)
        return _bend(topics, mean, low, high), -1
    return _bend(topics, _own_words(topics), low, high), 1


def _smallest_singular_value(topics: FloatArray) -> float:
    return float(np.linalg.svd(topics, compute_uv=False)[-1])


def _own_words(topics: FloatArray) -> FloatArray:
    """Give every topic one word of its own, where it is likely."""
    own = np.zeros_like(topics)
    left = topics.copy()
    for _ in range(topics.shape[1]):
        word, topic = np.unravel_index(np.argmax(left), left.shape)
        own[word, topic] = 1.0
        left[word], left[:, topic] = -1.0, -1.0
    return own


def _bend(topics: FloatArray, goal: FloatArray, low: float, high: float) -> FloatArray:
    """Move towards a goal until the smallest singular value is between the bounds.

    It is a continuous function of the way gone, below the bounds at one end
    and above them at the other, so that halving finds a place in between.
    """
    rises = _smallest_singular_value(topics) < low
    near, far = 0.0, 1.0
    for _ in range(_HALVINGS):
        way = (near + far) / 2.0
        bent = np.asarray((1.0 - way) * topics + way * goal)
        smallest = _smallest_singular_value(bent)
        if low <= smallest <= high:
            return bent
        if (smallest < low) == rises:
            near = way
        else:
            far = way
    raise ParameterError(
        f"singular_values=({low}, {high}) is too narrow a range; widen it."
    )


def lay_out_hierarchy(n_features: int, contrast: float) -> FloatArray:
    """Return the eight topics of paper 004, figure 1a.

    The first four topics live in the first half of the vocabulary. The first
    two of them are high on the first and third fourth of that half, the other
    two on its first and last; the two topics of a pair differ in the half of
    the second fourth that they are high on. The last four topics are the
    mirror image of the first four.

    Parameters
    ----------
    n_features : int
        Number of words d, at least sixteen.
    contrast : float
        A high probability over a low one.

    Returns
    -------
    ndarray of shape (d, 8)
        Topics as columns.

    Examples
    --------
    >>> from tercet.datasets.truths import lay_out_hierarchy
    >>> topics = lay_out_hierarchy(16, 4.0)
    >>> (topics[:8, 0] / topics[15, 0]).round(2)
    array([4., 4., 4., 1., 4., 4., 1., 1.])
    """
    part = (16 * np.arange(n_features)) // n_features
    topics = np.empty((n_features, 8))
    for topic in range(4):
        pair, member = divmod(topic, 2)
        high = np.isin(part, [0, 1, 2 + member, 4 + 2 * pair, 5 + 2 * pair])
        topics[:, topic] = np.where(high, contrast, 1.0)
        topics[:, 7 - topic] = topics[::-1, topic]
    return np.asarray(topics / topics.sum(axis=0))


def spread_weights(weights: ArrayLike | None, n_components: int) -> FloatArray:
    """Return weights that sum to one; equal ones if none are given.

    Parameters
    ----------
    weights : array-like of shape (k,) or None
        Positive numbers.
    n_components : int
        Number of components k.

    Returns
    -------
    ndarray of shape (k,)
        Weights.

    Examples
    --------
    >>> from tercet.datasets.truths import spread_weights
    >>> spread_weights([3, 1], 2)
    array([0.75, 0.25])
    """
    if weights is None:
        return np.full(n_components, 1.0 / n_components)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_components,):
        raise ParameterError(
            f"weights has shape {values.shape}; give {n_components} numbers."
        )
    if not (np.isfinite(values).all() and values.min() > 0.0):
        raise ParameterError(f"weights={values} must be positive and finite.")
    return np.asarray(values / values.sum())


def spread_concentration(concentration: ArrayLike, n_components: int) -> FloatArray:
    """Return the Dirichlet parameter of every topic.

    Parameters
    ----------
    concentration : float or array-like of shape (k,)
        One parameter for each topic; a number is shared by all of them.
    n_components : int
        Number of topics k.

    Returns
    -------
    ndarray of shape (k,)
        Dirichlet parameters.

    Examples
    --------
    >>> from tercet.datasets.truths import spread_concentration
    >>> spread_concentration(0.1, 2)
    array([0.1, 0.1])
    """
    values = np.asarray(concentration, dtype=np.float64)
    if values.shape not in ((), (n_components,)):
        raise ParameterError(
            f"concentration has shape {values.shape}; give one number or "
            f"{n_components} of them."
        )
    if not (np.isfinite(values).all() and values.min() > 0.0):
        raise ParameterError(f"concentration={values} must be positive and finite.")
    return np.array(np.broadcast_to(values, n_components))


def join_topics(topics: FloatArray, concentration: ArrayLike) -> Parameters:
    """Put topics and Dirichlet parameters together, by falling weight.

    Parameters
    ----------
    topics : ndarray of shape (d, k)
        Topics as columns.
    concentration : float or array-like of shape (k,)
        Dirichlet parameter of each topic; a number is shared by all of them.

    Returns
    -------
    truth : Parameters
        Topics, Dirichlet parameters and the weights that follow from them.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets.truths import join_topics
    >>> join_topics(np.eye(2), [1.0, 3.0]).weights
    array([0.75, 0.25])
    """
    alpha = spread_concentration(concentration, topics.shape[1])
    return order_by_weight(Parameters(topics, alpha / alpha.sum(), concentration=alpha))
