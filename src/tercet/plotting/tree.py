"""A tree of clusters with the features that set each node apart."""

from __future__ import annotations

from textwrap import wrap
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import ParameterError
from tercet.hierarchy import Node
from tercet.plotting.axes import pick_colors, prepare_axes

__all__ = ["TreeDisplay"]

# Height of a leaf and width of a level, in inches.
_LEAF_HEIGHT, _LEVEL_WIDTH = 0.62, 2.35


class TreeDisplay:
    """The tree from the left to the right, a box for each node.

    A box tells the number of rows and the most relevant features; a branch is
    as wide as its share of the rows (thesis 001, figures 5.2 and 6.2).

    Parameters
    ----------
    nodes : list of Node
        All nodes of the tree, the root first; see `TopicTree.nodes`.
    n_top : int
        Features in a box.

    Attributes
    ----------
    positions : ndarray of shape (m, 2)
        Level and place of each node.
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> from tercet.plotting import TreeDisplay
    >>> tree = tercet.BisectingMoments(2).fit(np.repeat(np.eye(2), 3, axis=0))
    >>> TreeDisplay(tree.nodes()).plot().positions.tolist()
    [[0.0, 0.5], [1.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, nodes: list[Node], *, n_top: int = 5) -> None:
        if not nodes:
            raise ParameterError("nodes=[] holds no node; give those of a fitted tree.")
        self.nodes = nodes
        self.n_top = n_top
        self.positions = np.array(
            [(node.depth, 0.5 * (node.leaves[0] + node.leaves[-1])) for node in nodes]
        )
        # A parent stands between its children, whatever hangs below them.
        for node in reversed(nodes):
            if node.children:
                below = [self.positions[child, 1] for child in node.children]
                self.positions[node.index, 1] = float(np.mean(below))

    @classmethod
    def from_estimator(
        cls, tree: Any, *, n_top: int = 5, relevance: float = 0.7, ax: Any = None
    ) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        tree : BisectingMoments or TopicTree
            Fitted.
        n_top : int
            Features in a box.
        relevance : float
            Weight of the frequency of a feature against how much it sets the
            node apart from all rows.
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        TreeDisplay
            Drawn.
        """
        check_is_fitted(tree)
        if not hasattr(tree, "nodes"):
            raise ParameterError(
                f"tree={type(tree).__name__} has no nodes; give a fitted TopicTree or "
                "BisectingMoments."
            )
        return cls(tree.nodes(n_top=n_top, relevance=relevance), n_top=n_top).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        TreeDisplay
            Itself, drawn.
        """
        depth = int(self.positions[:, 0].max())
        n_leaves = len(self.nodes[0].leaves)
        size = (
            max(4.0, _LEVEL_WIDTH * (depth + 1)),
            max(2.2, _LEAF_HEIGHT * (n_leaves + 0.4)),
        )
        self.ax_ = prepare_axes(ax, size=size)
        self.figure_ = self.ax_.figure
        for node in self.nodes:
            for child in node.children:
                self._draw_branch(node, self.nodes[child])
        colors = pick_colors(n_leaves)
        for node in self.nodes:
            self._draw_box(node, colors[node.leaves[0]] if node.is_leaf else "#555555")
        self.ax_.set(xlim=(-0.05, depth + 0.95), ylim=(n_leaves - 0.4, -0.6))
        self.ax_.set_axis_off()
        return self

    def _draw_branch(self, node: Node, child: Node) -> None:
        """Draw a curve as wide as the share of the rows, from behind one box to the next."""
        start, end = self.positions[node.index], self.positions[child.index]
        t = np.linspace(0.0, 1.0, 30)
        x = start[0] + 0.3 + t * (end[0] - start[0] - 0.25)
        y = start[1] + (end[1] - start[1]) * (3.0 - 2.0 * t) * t * t
        width = 1.0 + 9.0 * child.weight
        self.ax_.plot(
            x, y, color="#c9d3dc", linewidth=width, solid_capstyle="round", zorder=1
        )

    def _draw_box(self, node: Node, color: Any) -> None:
        words = ", ".join(name for name, _ in node.features[: self.n_top])
        lines = wrap(words, 30)[:3]
        name = f"leaf {node.label}: " if node.is_leaf else ""
        head = f"{name}{node.size:,} rows, {node.weight:.0%}"
        self.ax_.text(
            *self.positions[node.index],
            "\n".join([head, *lines]),
            ha="left",
            va="center",
            fontsize=7.5,
            linespacing=1.25,
            zorder=2,
            bbox={
                "boxstyle": "round,pad=0.35",
                "facecolor": "white",
                "edgecolor": color,
                "linewidth": 1.4,
            },
        )
