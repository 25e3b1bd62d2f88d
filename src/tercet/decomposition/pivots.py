"""The order in which a sweep visits the pairs of indices."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tercet.flow import IntArray

__all__ = ["pivot_order"]


@lru_cache(maxsize=32)
def pivot_order(size: int) -> IntArray:
    """Round-robin order of the pairs of `size` indices.

    Each round pairs every index once, so that a sweep mixes all indices evenly
    instead of finishing the first one before it looks at the last.

    Parameters
    ----------
    size : int
        Number of indices k.

    Returns
    -------
    ndarray of shape (k (k - 1) / 2, 2)
        Pairs p < q, round by round; the same array every time.

    Examples
    --------
    >>> pivot_order(4).tolist()
    [[0, 3], [1, 2], [0, 2], [1, 3], [0, 1], [2, 3]]
    """
    players = size + size % 2
    pairs = []
    circle = list(range(1, players))
    for shift in range(players - 1):
        seats = [0, *circle[-shift:], *circle[:-shift]] if shift else [0, *circle]
        for place in range(players // 2):
            low, high = sorted((seats[place], seats[players - 1 - place]))
            if high < size:
                pairs.append((low, high))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
