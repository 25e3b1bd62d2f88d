"""A tree as text, as nested dictionaries, and as records of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tercet.flow import FloatArray
from tercet.hierarchy.trees import Hierarchy, rank_relevance

__all__ = ["Node", "nest_nodes", "read_node", "write_text"]


@dataclass(frozen=True, eq=False)
class Node:
    """What is known of one node.

    Parameters
    ----------
    index : int
        Position among all nodes; the root is 0.
    parent : int or None
        Position of the parent.
    children : tuple of int
        Positions of both children, or nothing.
    depth : int
        Splits above the node.
    size : int
        Rows of positive weight.
    weight : float
        Share of the weight of all rows.
    center : ndarray of shape (d,)
        Mean row, or shares of tokens.
    discriminators : ndarray of shape (d, 2) or None
        What an entry of value one adds to the score of each child.
    features : list of (str, float)
        The most relevant features with their relevance.
    quality : float
        Share of the loss about the center of all rows that the own center saves.
    gain : float
        Loss that the split saves, as a share of the loss of all rows.
    separation : float
        How sure rows are of their side of the split, from 0 to 1.
    label : int or None
        Number of the leaf.
    leaves : tuple of int
        Numbers of the leaves below, or the own one.
    reason : str
        Why a leaf was not split.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [6, 4], axis=0)
    >>> root, left, right = tercet.BisectingMoments(2).fit(X).nodes()
    >>> root.children, left.size, right.weight, right.is_leaf
    ((1, 2), 6, 0.4, True)
    """

    index: int
    parent: int | None
    children: tuple[int, ...]
    depth: int
    size: int
    weight: float
    center: FloatArray
    discriminators: FloatArray | None
    features: list[tuple[str, float]]
    quality: float
    gain: float
    separation: float
    label: int | None
    leaves: tuple[int, ...]
    reason: str

    @property
    def is_leaf(self) -> bool:
        """Whether the node was not split."""
        return not self.children


def read_node(
    hierarchy: Hierarchy,
    index: int,
    names: list[str],
    *,
    n_top: int = 10,
    relevance: float = 0.7,
) -> Node:
    """Return the record of a node.

    Parameters
    ----------
    hierarchy : Hierarchy
        The tree.
    index : int
        Position of the node.
    names : list of str
        Names of the features.
    n_top : int
        Features listed.
    relevance : float
        Weight of frequency against distinction.

    Returns
    -------
    Node
        Its record.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [6, 4], axis=0)
    >>> tercet.BisectingMoments(2).fit(X).node(2).features[0][0]
    'x2'
    """
    h = hierarchy
    leaf = bool(h.firsts[index] < 0)
    features, values = rank_relevance(h.centers[index], h.centers[0], weight=relevance)
    top = [
        (names[j], float(value))
        for j, value in zip(features[:n_top], values[:n_top], strict=True)
    ]
    first, last = h.spans()[index].tolist()
    return Node(
        index=int(index),
        parent=int(h.parents[index]) if index else None,
        children=() if leaf else (int(h.firsts[index]), int(h.seconds[index])),
        depth=int(h.depths[index]),
        size=int(h.sizes[index]),
        weight=float(h.masses[index] / h.masses[0]),
        center=h.centers[index],
        discriminators=None if leaf else h.tables[h.orders[index]],
        features=top,
        quality=float(h.qualities[index]),
        gain=float(h.gains[index] / max(abs(h.losses[0]), np.finfo(float).tiny)),
        separation=float(h.separations[index]),
        label=first if leaf else None,
        leaves=tuple(range(first, last)),
        reason=h.reasons[index],
    )


def write_text(nodes: list[Node], n_top: int) -> str:
    """Return a tree as indented lines.

    Parameters
    ----------
    nodes : list of Node
        All of them, by index.
    n_top : int
        Features on a line.

    Returns
    -------
    str
        One line for each node, children below their parent.
    """
    lines: list[str] = []

    def write(index: int, stem: str, branch: str, onward: str) -> None:
        node = nodes[index]
        words = ", ".join(name for name, _ in node.features[:n_top])
        mark = f"leaf {node.label}: " if node.is_leaf else ""
        lines.append(f"{stem}{branch}{mark}{node.size:,} rows  {words}".rstrip())
        for child, last in zip(node.children, (False, True), strict=False):
            ends = ("└── ", "    ") if last else ("├── ", "│   ")
            write(child, stem + onward, *ends)

    write(0, "", "", "")
    return "\n".join(lines)


def nest_nodes(nodes: list[Node], index: int = 0) -> dict[str, Any]:
    """Return a node and all below it as nested dictionaries of plain values.

    Parameters
    ----------
    nodes : list of Node
        All of them, by index.
    index : int
        Where to begin.

    Returns
    -------
    dict
        Ready for JSON; `children` holds two more of the kind, or none.
    """
    node = nodes[index]
    found: dict[str, Any] = {
        "index": node.index,
        "size": node.size,
        "weight": node.weight,
        "quality": node.quality,
        "features": [[name, value] for name, value in node.features],
        "children": [nest_nodes(nodes, child) for child in node.children],
    }
    if node.is_leaf:
        return found | {"label": node.label, "reason": node.reason}
    return found | {"gain": node.gain, "separation": node.separation}
