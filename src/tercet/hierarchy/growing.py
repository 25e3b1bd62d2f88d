"""Growing a tree split by split, on one array of row numbers.

The rows of a node are a stretch of `order`, which a split parts in place, as
quicksort does: a tree of any depth needs one number for each row.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from tercet.flow import FloatArray, IntArray, Outcome, Status
from tercet.hierarchy.losses import Loss
from tercet.hierarchy.rows import Table
from tercet.hierarchy.splitting import (
    NodeRows,
    Refusal,
    Split,
    Splitter,
    sum_sides,
)
from tercet.hierarchy.trees import Hierarchy
from tercet.kernels.tree_splits import add_members

__all__ = ["SPLIT_ORDERS", "Limits", "grow_tree"]

SPLIT_ORDERS = ("size", "gain", "level")

# Share of the loss of all rows below which a gain is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Limits:
    """When a tree is grown enough.

    Parameters
    ----------
    n_leaves : int or None
        Leaves wanted.
    max_depth : int or None
        Most splits above a leaf.
    min_samples : float
        Least weight of the rows of a leaf.
    min_gain : float
        Least gain of a split, as a share of the loss of all rows.
    split_order : {"size", "gain", "level"}
        Which leaf is split next: the heaviest, the one that gains the most, or
        the one nearest to the root.
    """

    n_leaves: int | None = None
    max_depth: int | None = None
    min_samples: float = 1.0
    min_gain: float = 0.0
    split_order: str = "gain"


@dataclass(eq=False)
class _Side:
    """Sums over the rows of one side of a split."""

    mass: float
    total: FloatArray
    squares: float


@dataclass(eq=False)
class _Node:
    """A node while the tree grows."""

    start: int
    stop: int
    parent: int
    depth: int
    mass: float
    total: FloatArray
    squares: float
    loss: float
    gain: float = 0.0
    order: int = -1
    children: tuple[int, int] | None = None
    split: Split | None = None
    sides: list[_Side] = field(default_factory=list)
    reason: str = ""


@dataclass(eq=False)
class _Growth:
    """A tree while it grows."""

    table: Table
    splitter: Splitter
    loss: Loss
    limits: Limits
    order: IntArray
    nodes: list[_Node] = field(default_factory=list)
    waiting: list[tuple[float, int]] = field(default_factory=list)
    splits: list[int] = field(default_factory=list)

    def rows_of(self, node: _Node) -> NodeRows:
        """Return the rows of a node."""
        members = self.order[node.start : node.stop]
        return NodeRows(members, self.table.weights[members], node.total)

    def add(self, span: tuple[int, int], parent: int, sums: _Side) -> int:
        """Add a node and queue it."""
        depth = self.nodes[parent].depth + 1 if parent >= 0 else 0
        node = _Node(
            *span,
            parent,
            depth,
            sums.mass,
            sums.total,
            sums.squares,
            self.measure(sums),
        )
        index = len(self.nodes)
        self.nodes.append(node)
        node.reason = self._find_limit(node)
        if not node.reason:
            self._queue(index, node)
        return index

    def measure(self, sums: _Side) -> float:
        """Return the loss of rows about their own center."""
        center = self.loss.center(sums.mass, sums.total)
        return self.loss.measure(sums.mass, sums.total, sums.squares, center)

    def _find_limit(self, node: _Node) -> str:
        limits = self.limits
        if limits.max_depth is not None and node.depth >= limits.max_depth:
            return f"max_depth={limits.max_depth} was reached"
        if node.stop - node.start < 2:
            return "it holds one row only"
        if node.mass < 2.0 * limits.min_samples:
            return f"it is too light to be split by min_samples={limits.min_samples:g}"
        return ""

    def _queue(self, index: int, node: _Node) -> None:
        # By gain, what was not tried yet comes first; `run` tries it in its turn.
        keys = {"size": node.mass, "gain": np.inf, "level": -node.depth}
        heapq.heappush(self.waiting, (-float(keys[self.limits.split_order]), index))

    def try_split(self, node: _Node) -> None:
        """Find a split of a node, or the reason why there is none."""
        found = self.splitter.split(self.rows_of(node))
        if isinstance(found, Refusal):
            node.reason = found.reason
            return
        node.reason = self._judge(node, found)
        if not node.reason:
            node.split = found

    def _judge(self, node: _Node, split: Split) -> str:
        """Return what speaks against a split, and keep its gain."""
        if split.second.all() or not split.second.any():
            return "all its rows fall on one side"
        rows = self.rows_of(node)
        sides = self._sum(node, rows, split)
        if min(side.mass for side in sides) < self.limits.min_samples:
            return (
                "its split would leave less than "
                f"min_samples={self.limits.min_samples:g} on one side"
            )
        node.sides = sides
        node.gain = node.loss - sum(self.measure(side) for side in sides)
        least = max(self.limits.min_gain, _ROUNDING) * abs(self.nodes[0].loss)
        if node.gain <= least:
            return f"its split gains no more than min_gain={self.limits.min_gain:g}"
        return ""

    def _sum(self, node: _Node, rows: NodeRows, split: Split) -> list[_Side]:
        """Return the sums of both sides: those of the second, and what is left."""
        sums = sum_sides(self.table, rows, split.second)
        chosen = rows.members[split.second]
        weights = self.table.weights[chosen]
        mass = float(weights.sum())
        squares = float(weights @ self.table.squares[chosen])
        return [
            _Side(node.mass - mass, sums[0], max(0.0, node.squares - squares)),
            _Side(mass, sums[1], squares),
        ]

    def part(self, index: int, split: Split) -> None:
        """Carry out the split of a node."""
        node = self.nodes[index]
        members = self.order[node.start : node.stop]
        first = members[~split.second]
        middle = node.start + first.size
        self.order[node.start : node.stop] = np.concatenate(
            [first, members[split.second]]
        )
        node.order = len(self.splits)
        self.splits.append(index)
        spans = ((node.start, middle), (middle, node.stop))
        one, two = (
            self.add(span, index, side)
            for span, side in zip(spans, node.sides, strict=True)
        )
        node.children = (one, two)

    def run(self) -> None:
        """Split until a limit is met or nothing can be split."""
        wanted = self.limits.n_leaves
        while self.waiting and (wanted is None or len(self.splits) + 1 < wanted):
            index = heapq.heappop(self.waiting)[1]
            node = self.nodes[index]
            known = node.split is not None
            if not known:
                self.try_split(node)
            if node.split is None:
                continue
            if known or self.limits.split_order != "gain":
                self.part(index, node.split)
            else:
                heapq.heappush(self.waiting, (-node.gain, index))
        for _, index in self.waiting:
            node = self.nodes[index]
            node.split, node.gain = None, 0.0
            node.reason = "the tree has the leaves that were asked for"


def grow_tree(
    table: Table, splitter: Splitter, loss: Loss, limits: Limits
) -> tuple[Hierarchy, IntArray, Outcome]:
    """Grow a tree over the rows of positive weight.

    Parameters
    ----------
    table : Table
        Rows.
    splitter : Splitter
        Splits the rows of a node.
    loss : Loss
        By which gains are measured.
    limits : Limits
        When to stop, and which leaf is next.

    Returns
    -------
    hierarchy : Hierarchy
        The tree.
    labels : ndarray of shape (n,)
        Leaf of each row, -1 for rows of weight zero.
    outcome : Outcome
        Whether the tree has as many leaves as were asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.coordinates import FeatureCoordinates
    >>> from tercet.hierarchy.growing import Limits, grow_tree
    >>> from tercet.hierarchy.losses import LOSSES
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.hierarchy.splitting import DataSplitter
    >>> from tercet.intake import open_source
    >>> table = gather_rows(open_source(np.eye(4)[[0, 0, 1, 2]]))
    >>> splitter = DataSplitter(table, FeatureCoordinates(table))
    >>> grow_tree(table, splitter, LOSSES["scatter"], Limits(n_leaves=3))[1].size
    4
    """
    order = np.flatnonzero(table.weights > 0.0)
    growth = _Growth(table, splitter, loss, limits, order)
    total = np.zeros(table.n_features)
    weights = table.weights[order]
    add_members(*table.entries, order, weights, total)
    squares = float(weights @ table.squares[order])
    growth.add((0, order.size), -1, _Side(float(weights.sum()), total, squares))
    growth.run()
    hierarchy = _freeze(growth)
    labels = np.full(table.n_rows, -1, dtype=np.int64)
    for label, leaf in enumerate(hierarchy.leaves):
        node = growth.nodes[leaf]
        labels[growth.order[node.start : node.stop]] = label
    return hierarchy, labels, _conclude(growth)


def _freeze(growth: _Growth) -> Hierarchy:
    """Return the tree as arrays."""
    nodes, d = growth.nodes, growth.table.n_features
    done = [nodes[v].split for v in growth.splits]
    splits = [split for split in done if split is not None]
    children = np.array([node.children or (-1, -1) for node in nodes], dtype=np.int64)
    root = growth.loss.center(nodes[0].mass, nodes[0].total)
    about_root = [
        growth.loss.measure(node.mass, node.total, node.squares, root) for node in nodes
    ]
    losses = np.array([node.loss for node in nodes])
    # The least number guards a loss of zero: such a node saves nothing.
    bounds = np.maximum(np.abs(about_root), np.finfo(float).tiny)
    return Hierarchy(
        parents=np.array([node.parent for node in nodes], dtype=np.int64),
        firsts=np.ascontiguousarray(children[:, 0]),
        seconds=np.ascontiguousarray(children[:, 1]),
        depths=np.array([node.depth for node in nodes], dtype=np.int64),
        sizes=np.array([node.stop - node.start for node in nodes], dtype=np.int64),
        masses=np.array([node.mass for node in nodes]),
        centers=np.stack([growth.loss.center(n.mass, n.total) for n in nodes]),
        losses=losses,
        qualities=np.clip((about_root - losses) / bounds, 0.0, 1.0),
        gains=np.array([node.gain if node.children else 0.0 for node in nodes]),
        separations=np.array(
            [node.split.separation if node.split else 0.0 for node in nodes]
        ),
        orders=np.array([node.order for node in nodes], dtype=np.int64),
        reasons=["" if node.children else node.reason for node in nodes],
        tables=np.array([s.discriminators for s in splits]).reshape(-1, d, 2),
        offsets=np.array([s.offsets for s in splits]).reshape(-1, 2),
        slopes=np.array([s.slopes for s in splits]).reshape(-1, 2),
        absolute=np.array([s.absolute for s in splits], dtype=np.bool_),
    )


def _conclude(growth: _Growth) -> Outcome:
    """Say whether the tree has the leaves that were asked for."""
    n_leaves = len(growth.splits) + 1
    wanted = growth.limits.n_leaves
    if wanted is None or n_leaves == wanted:
        short = sum(not outcome.converged for outcome in _list_refinements(growth))
        if short:
            message = (
                f"EM ended on its budget, before convergence, after {short} of "
                f"{len(growth.splits)} splits; give `refine` a number of steps, or "
                "another `rule`."
            )
            return Outcome(Status.EXHAUSTED, len(growth.splits), float(short), message)
        message = f"Grew {n_leaves} leaves by {len(growth.splits)} splits."
        return Outcome(Status.EXACT, len(growth.splits), 0.0, message)
    told: dict[str, int] = {}
    for node in growth.nodes:
        if node.children is None:
            told[node.reason] = told.get(node.reason, 0) + 1
    listed = "; ".join(
        f"{count} {'leaf' if count == 1 else 'leaves'}: {reason}"
        for reason, count in sorted(told.items(), key=lambda item: -item[1])
    )
    message = (
        f"Found {n_leaves} {'leaf' if n_leaves == 1 else 'leaves'} of the {wanted} that "
        f"were asked for, as no other can be split ({listed})."
    )
    return Outcome(
        Status.EXHAUSTED, len(growth.splits), float(wanted - n_leaves), message
    )


def _list_refinements(growth: _Growth) -> list[Outcome]:
    splits = [growth.nodes[v].split for v in growth.splits]
    return [s.outcome for s in splits if s is not None and s.outcome is not None]
