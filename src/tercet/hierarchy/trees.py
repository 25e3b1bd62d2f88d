"""A grown tree as arrays, one entry for each node, and what can be read off it.

Node 0 is the root; children come after their parents. Leaves are numbered from
left to right, the first child of a node being on the left, so that leaves of
one branch have neighbouring numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, IntArray

__all__ = ["Hierarchy", "rank_relevance"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A binary tree with what is known of its nodes.

    Parameters
    ----------
    parents, firsts, seconds : ndarray of shape (m,)
        Parent and children of each node, -1 where there is none.
    depths : ndarray of shape (m,)
        Splits above each node.
    sizes : ndarray of shape (m,)
        Rows of positive weight.
    masses : ndarray of shape (m,)
        Weights of the rows, summed.
    centers : ndarray of shape (m, d)
        Mean rows, or shares of tokens.
    losses : ndarray of shape (m,)
        Loss of the rows about the center of the node.
    qualities : ndarray of shape (m,)
        Share of the loss about the center of all rows that the own center saves.
    gains : ndarray of shape (m,)
        Loss that the split saves; zero for leaves.
    separations : ndarray of shape (m,)
        How sure rows are of their side of the split; zero for leaves.
    orders : ndarray of shape (m,)
        Position of a node's split among all splits and in `tables`, -1 for
        leaves.
    reasons : list of str
        Why each leaf was not split; empty for the others.
    tables : ndarray of shape (s, d, 2)
        Discriminators of each split.
    offsets, slopes : ndarray of shape (s, 2)
        What scores have from the start and for each unit of squared length.
    absolute : ndarray of shape (s,)
        Whether the sizes of scores are compared.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 5, axis=0)
    >>> tercet.BisectingMoments(2).fit(X).hierarchy_.leaves
    array([1, 2])
    """

    parents: IntArray
    firsts: IntArray
    seconds: IntArray
    depths: IntArray
    sizes: IntArray
    masses: FloatArray
    centers: FloatArray
    losses: FloatArray
    qualities: FloatArray
    gains: FloatArray
    separations: FloatArray
    orders: IntArray
    reasons: list[str]
    tables: FloatArray
    offsets: FloatArray
    slopes: FloatArray
    absolute: NDArray[np.bool_]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.parents.size)

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return int(self.tables.shape[0])

    @property
    def leaves(self) -> IntArray:
        """Nodes that are leaves, from left to right."""
        return np.array([v for v in self.walk() if self.firsts[v] < 0], dtype=np.int64)

    @property
    def labels(self) -> IntArray:
        """Number of each leaf from left to right, -1 for other nodes."""
        numbers = np.full(self.n_nodes, -1, dtype=np.int64)
        leaves = self.leaves
        numbers[leaves] = np.arange(leaves.size)
        return numbers

    def walk(self) -> list[int]:
        """Return all nodes, each before its children, the first child first."""
        found: list[int] = []
        waiting = [0]
        while waiting:
            node = waiting.pop()
            found.append(node)
            if self.firsts[node] >= 0:
                waiting += [int(self.seconds[node]), int(self.firsts[node])]
        return found

    def spans(self) -> IntArray:
        """Return the first leaf below each node and the one after the last (m, 2)."""
        labels = self.labels
        spans = np.stack([labels, labels + 1], axis=1)
        for node in range(self.n_nodes - 1, -1, -1):
            if self.firsts[node] >= 0:
                spans[node] = (
                    spans[self.firsts[node], 0],
                    spans[self.seconds[node], 1],
                )
        return spans

    def to_arrays(self) -> dict[str, Any]:
        """Return the fields, for a file."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def cut(self, n_leaves: int) -> IntArray:
        """Return the group of each leaf when only the first splits are kept.

        Parameters
        ----------
        n_leaves : int
            Groups wanted, from one to the number of leaves.

        Returns
        -------
        ndarray of shape (n_leaves_of_the_tree,)
            Groups, numbered from left to right.
        """
        self._check_groups(n_leaves)
        kept = (self.orders >= 0) & (self.orders < n_leaves - 1)
        spans = self.spans()
        groups = np.zeros(self.leaves.size, dtype=np.int64)
        number = 0
        for node in self.walk():
            parent = self.parents[node]
            if kept[node] or (parent >= 0 and not kept[parent]):
                continue
            groups[slice(*spans[node])] = number
            number += 1
        return groups

    def link(self, heights: str = "order") -> FloatArray:
        """Return the linkage matrix of the leaves, as SciPy's dendrograms take it.

        Parameters
        ----------
        heights : {"order", "loss"}
            "order": the last split is one high, the first as high as there are
            splits, so that cuts are those of `cut`. "loss": the gains of a
            split and of all splits below it.

        Returns
        -------
        ndarray of shape (n_splits, 4)
            Two clusters, height and number of leaves of each merger, from the
            lowest to the highest.
        """
        if heights not in ("order", "loss"):
            raise ParameterError(
                f"heights={heights!r} is not known; choose 'order' or 'loss'."
            )
        splits = np.flatnonzero(self.orders >= 0)
        if heights == "order":
            levels = {int(v): float(splits.size - self.orders[v]) for v in splits}
        else:
            levels = self._add_gains(splits)
        ordered = sorted(splits.tolist(), key=lambda v: (levels[v], -v))
        numbers = {int(v): i for i, v in enumerate(self.leaves)}
        first, last = self.spans().T
        sizes = last - first
        table = np.empty((splits.size, 4))
        for row, node in enumerate(ordered):
            pair = sorted(
                (numbers[int(self.firsts[node])], numbers[int(self.seconds[node])])
            )
            table[row] = (*pair, levels[node], sizes[node])
            numbers[node] = splits.size + 1 + row
        return table

    def _add_gains(self, splits: IntArray) -> dict[int, float]:
        below = np.maximum(self.gains, 0.0)
        for node in range(self.n_nodes - 1, 0, -1):
            below[self.parents[node]] += below[node]
        return {int(v): float(below[v]) for v in splits}

    def _check_groups(self, n_leaves: Any) -> None:
        whole = isinstance(n_leaves, Integral) and not isinstance(n_leaves, bool)
        if not whole or not 1 <= n_leaves <= self.n_splits + 1:
            raise ParameterError(
                f"n_leaves={n_leaves!r} must be an integer from 1 to {self.n_splits + 1}, "
                "the number of leaves of this tree."
            )


def rank_relevance(
    center: FloatArray, corpus: FloatArray, *, weight: float = 0.7
) -> tuple[IntArray, FloatArray]:
    """Rank features by relevance to a node (paper 004, section 4.2; thesis 4.12).

    `weight log p + (1 - weight) log (p / q)`, where p is the frequency in the
    node and q that in all rows. Features that never occur in the node are left
    out. Centers with negative entries have no frequencies; their features are
    ranked by how far the node lies from all rows.

    Parameters
    ----------
    center : ndarray of shape (d,)
        Frequencies in the node.
    corpus : ndarray of shape (d,)
        Frequencies in all rows.
    weight : float
        What frequency counts against distinction, from 0 to 1.

    Returns
    -------
    features : ndarray of int
        The most relevant first.
    values : ndarray
        Their relevance.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.trees import rank_relevance
    >>> rank_relevance(np.array([0.5, 0.4, 0.0]), np.array([0.5, 0.1, 0.2]))[0]
    array([1, 0])
    """
    if not 0.0 <= weight <= 1.0:
        raise ParameterError(f"relevance={weight!r} must be a number from 0 to 1.")
    if (corpus < 0.0).any() or (center < 0.0).any():
        values = np.abs(center - corpus)
        features = np.argsort(-values, kind="stable")
        return features, values[features]
    present = np.flatnonzero((center > 0.0) & (corpus > 0.0))
    logs = np.log(center[present])
    values = logs - (1.0 - weight) * np.log(corpus[present])
    order = np.argsort(-values, kind="stable")
    return present[order], values[order]
