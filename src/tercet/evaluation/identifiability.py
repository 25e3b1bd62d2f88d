"""Whether the third moment determines the components (method section 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from scipy import linalg

from tercet.evaluation.matching import Components, read_components
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray

__all__ = [
    "KruskalRank",
    "count_identifiable_components",
    "find_kruskal_rank",
    "is_generically_identifiable",
    "is_uniquely_decomposable",
]

# Symmetric cubic tensors of this dimension and rank have two decompositions
# (thesis 003, equation 4.16; Chiantini, Ottaviani and Vannieuwenhoven 2017).
_EXCEPTION = (6, 9)

# Sets of components whose ranks are computed in one call.
_SETS_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class KruskalRank:
    """The largest r such that any r components are linearly independent.

    Parameters
    ----------
    rank : int
        The Kruskal rank, or a lower bound.
    exact : bool
        Whether the search came to an end; it tries all sets of components, and
        there can be too many.

    Examples
    --------
    >>> from tercet.evaluation import KruskalRank
    >>> KruskalRank(rank=3, exact=True).rank
    3
    """

    rank: int
    exact: bool


def find_kruskal_rank(
    components: Components, *, tolerance: float = 1e-10, most_sets: int = 200_000
) -> KruskalRank:
    """Find the Kruskal rank of components (thesis 003, theorem 1).

    Linearly independent components have Kruskal rank k. Otherwise sets of
    growing size are tried until one is dependent. Two equal components make
    it one, a zero component makes it zero.

    Parameters
    ----------
    components : array-like of shape (k, d) or Parameters
        Components as rows; their lengths do not matter.
    tolerance : float
        A set is dependent when the smallest singular value of its components,
        scaled to length one, is at most this.
    most_sets : int
        Sets to try before the search is given up.

    Returns
    -------
    KruskalRank
        The rank, and whether the search came to an end.

    Examples
    --------
    The examples of thesis 003, equation 3.24:

    >>> from tercet.evaluation import find_kruskal_rank
    >>> find_kruskal_rank([[1, 0, 0], [0, 1, 0], [1, 1, 0]]).rank
    2
    >>> find_kruskal_rank([[1, 0, 0], [1, 0, 0], [0, 1, 0]]).rank
    1
    >>> find_kruskal_rank([[1, 0, 0], [0, 1, 0], [1, 1, 1]]).rank
    3
    """
    rows = read_components("components", components)
    lengths = np.linalg.norm(rows, axis=1)
    if lengths.min() == 0.0:
        return KruskalRank(0, exact=True)
    unit = rows / lengths[:, None]
    if unit.shape[1] > unit.shape[0]:
        # k coordinates tell all the angles; the Q of the decomposition is not needed.
        unit = linalg.qr(unit.T, mode="economic")[1].T
    k, width = unit.shape
    if k <= width and _smallest(unit[None])[0] > tolerance:
        return KruskalRank(k, exact=True)
    tried = 0
    for size in range(2, min(k, width) + 1):
        if tried + comb(k, size) > most_sets:
            return KruskalRank(size - 1, exact=False)
        tried += comb(k, size)
        for sets in _split(combinations(range(k), size)):
            if _smallest(unit[sets]).min() <= tolerance:
                return KruskalRank(size - 1, exact=True)
    return KruskalRank(min(k, width), exact=True)


def _split(sets: Iterator[tuple[int, ...]]) -> Iterator[np.ndarray]:
    """Yield sets in batches."""
    while batch := list(islice(sets, _SETS_AT_ONCE)):
        yield np.array(batch)


def _smallest(stacks: FloatArray) -> FloatArray:
    """Return the smallest singular value of each matrix."""
    return np.asarray(np.linalg.svd(stacks, compute_uv=False)[..., -1])


def is_uniquely_decomposable(components: Components) -> bool:
    """Whether Kruskal's condition holds, `3 rank >= 2 k + 2` (thesis 003, theorem 2).

    It is sufficient: where it holds, these components are the only ones with
    their third moment, up to order. Where it does not, they may still be.
    A single component that is not zero always is.

    Parameters
    ----------
    components : array-like of shape (k, d) or Parameters
        Components as rows.

    Returns
    -------
    bool
        Whether the condition holds for sure.

    Examples
    --------
    >>> from tercet.evaluation import is_uniquely_decomposable
    >>> is_uniquely_decomposable([[1, 0, 0], [0, 1, 0], [1, 1, 0]])
    False
    >>> is_uniquely_decomposable([[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    True
    """
    rows = read_components("components", components)
    found = find_kruskal_rank(rows)
    if rows.shape[0] == 1:
        return found.rank == 1
    return bool(3 * found.rank >= 2 * rows.shape[0] + 2)


def is_generically_identifiable(n_features: int, n_components: int) -> bool:
    """Whether almost all components are determined by their third moment.

    That is so for `k < binom(d + 2, 3) / d`, with one exception, d = 6 and
    k = 9 (thesis 003, equation 4.16). One feature determines one component.

    Parameters
    ----------
    n_features, n_components : int
        Sizes d and k.

    Returns
    -------
    bool
        Whether components drawn at random are identifiable with chance one.

    Examples
    --------
    >>> from tercet.evaluation import is_generically_identifiable
    >>> is_generically_identifiable(6, 8), is_generically_identifiable(6, 9)
    (True, False)
    """
    for name, value in (("n_features", n_features), ("n_components", n_components)):
        if value < 1:
            raise ParameterError(f"{name}={value!r} must be at least 1.")
    if n_features == 1:
        return n_components == 1
    if (n_features, n_components) == _EXCEPTION:
        return False
    return n_components * n_features < comb(n_features + 2, 3)


def count_identifiable_components(n_features: int) -> int:
    """Return the largest k up to which all numbers of components are identifiable.

    Parameters
    ----------
    n_features : int
        Number of features d.

    Returns
    -------
    int
        Largest number of components.

    Examples
    --------
    >>> from tercet.evaluation import count_identifiable_components
    >>> [count_identifiable_components(d) for d in (2, 5, 6, 100)]
    [1, 6, 8, 1716]
    """
    k = 1
    if n_features > 1:
        k = max((comb(n_features + 2, 3) - 1) // n_features, 1)
    while not is_generically_identifiable(n_features, k):
        k -= 1
    return k
