"""What both trees share: growing, labels of new rows, nodes, exports, files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, IntArray
from tercet.hierarchy.exporting import Node, nest_nodes, read_node, write_text
from tercet.hierarchy.growing import SPLIT_ORDERS, Limits, grow_tree
from tercet.hierarchy.losses import Loss
from tercet.hierarchy.rows import Table, gather_rows, to_sparse
from tercet.hierarchy.splitting import Splitter
from tercet.hierarchy.trees import Hierarchy
from tercet.kernels.tree_splits import route_rows
from tercet.models.estimators import TercetEstimator, check_number

__all__ = ["TreeEstimator"]

_MEMBERSHIPS = ("leaf", "path")


class TreeEstimator(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    TercetEstimator,
    ABC,
):
    """Base of the trees; a subclass says how a node is split and what a gain is.

    Examples
    --------
    >>> from tercet.hierarchy.base import TreeEstimator
    >>> "labels_" in TreeEstimator.fitted_state
    True
    """

    fitted_state: ClassVar[tuple[str, ...]] = (
        *TercetEstimator.fitted_state,
        "labels_",
        "weights_",
        "components_",
        "n_leaves_",
        "node_arrays_",
    )

    max_depth: int | None
    min_samples: float
    min_gain: float
    split_order: str
    refine: int | str
    membership: str
    verbose: int

    @abstractmethod
    def _splitter(self, table: Table) -> Splitter:
        """Return what splits the rows of a node."""

    @abstractmethod
    def _loss(self) -> Loss:
        """Return by which loss gains are measured."""

    @abstractmethod
    def _wanted(self) -> tuple[str, int | None]:
        """Return the name and the value of the parameter for the number of leaves."""

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows; see `tercet.intake.open_source`. A tree visits its rows in
            every level, so those that come in blocks are put together in memory.
        y : None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        self
            The fitted tree.
        """
        self._check_parameters()
        source = self._open_rows(X, sample_weight, reset=True)
        table = gather_rows(source)
        self._check_rows(table)
        self._say("growing the tree")
        limits = Limits(
            self._wanted()[1],
            self.max_depth,
            float(self.min_samples),
            float(self.min_gain),
            self.split_order,
        )
        hierarchy, labels, outcome = grow_tree(
            table, self._splitter(table), self._loss(), limits
        )
        self._set_hierarchy(hierarchy)
        unseen = np.flatnonzero(labels < 0)
        if unseen.size:
            # Rows of weight zero have no part in the tree, but a place in it.
            labels[unseen] = hierarchy.labels[self._route(table.matrix[unseen])]
        self.labels_ = labels
        self.n_samples_seen_ = table.n_rows
        self.n_iter_ = hierarchy.n_splits
        self.outcome_ = outcome
        self.diagnostics_ = self._diagnose(table)
        self._announce(outcome)
        return self

    def predict(self, X: Any) -> IntArray:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of leaves, from left to right.
        """
        nodes = self.apply(X)
        return np.asarray(self.hierarchy_.labels[nodes])

    def apply(self, X: Any) -> IntArray:
        """Return the node of the leaf that each row reaches.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Positions among all nodes.
        """
        check_is_fitted(self)
        source = self._open_rows(X, reset=False)
        pieces = source.run(_RoutePass(self)).pieces
        ordered = [nodes for _, nodes in sorted(pieces, key=lambda piece: piece[0])]
        return np.concatenate(ordered)

    def transform(self, X: Any) -> Any:
        """Return the membership of each row as zeros and ones.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        csr_array
            Of shape (n, n_leaves) for `membership="leaf"`, with a one for the
            leaf; of shape (n, n_nodes) for `membership="path"`, with a one for
            every node on the way from the root.
        """
        nodes = self.apply(X)
        ways = self._ways()
        return sparse.csr_array(ways[self.hierarchy_.labels[nodes]])

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Any:
        """Grow the tree and return the membership of each row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        csr_array
            See `transform`.
        """
        self.fit(X, y, sample_weight)
        return sparse.csr_array(self._ways()[self.labels_])

    def cut(self, n_leaves: int) -> IntArray:
        """Return the group of each leaf if only the first splits were kept.

        `tree.cut(3)[tree.labels_]` are the labels of the tree with three leaves.

        Parameters
        ----------
        n_leaves : int
            Groups wanted, from one to `n_leaves_`.

        Returns
        -------
        ndarray of shape (n_leaves,)
            Groups, numbered from left to right.
        """
        check_is_fitted(self)
        return self.hierarchy_.cut(n_leaves)

    def linkage(self, heights: str = "order") -> FloatArray:
        """Return the linkage matrix of the leaves, for SciPy's dendrograms.

        Parameters
        ----------
        heights : {"order", "loss"}
            "order": splits made later are lower, so that cuts by SciPy's
            `fcluster` are those of `cut`. "loss": what all splits at and below
            a node gain together.

        Returns
        -------
        ndarray of shape (n_leaves - 1, 4)
            As `scipy.cluster.hierarchy.linkage` returns it; observation i is
            leaf i.
        """
        check_is_fitted(self)
        return self.hierarchy_.link(heights)

    def node(self, index: int, *, n_top: int = 10, relevance: float = 0.7) -> Node:
        """Return what is known of a node.

        Parameters
        ----------
        index : int
            Position among all nodes; the root is 0.
        n_top : int
            Features listed.
        relevance : float
            Weight of the frequency of a feature against how much it sets the
            node apart from all rows (paper 004, section 4.2).

        Returns
        -------
        Node
            Size, weight, center, discriminators, features, quality.
        """
        check_is_fitted(self)
        check_number("index", index, least=0, whole=True)
        check_number("n_top", n_top, least=0, whole=True)
        if index >= self.hierarchy_.n_nodes:
            raise ParameterError(
                f"index={index} is not a node; this tree has nodes 0 to "
                f"{self.hierarchy_.n_nodes - 1}."
            )
        return read_node(
            self.hierarchy_, index, self._names(), n_top=n_top, relevance=relevance
        )

    def nodes(self, *, n_top: int = 10, relevance: float = 0.7) -> list[Node]:
        """Return what is known of every node, the root first.

        Parameters
        ----------
        n_top : int
            Features listed for each.
        relevance : float
            See `node`.

        Returns
        -------
        list of Node
            By position.
        """
        check_is_fitted(self)
        count = self.hierarchy_.n_nodes
        return [self.node(v, n_top=n_top, relevance=relevance) for v in range(count)]

    def export_text(self, *, n_top: int = 6, relevance: float = 0.7) -> str:
        """Return the tree as indented lines with the relevant features of each node.

        Parameters
        ----------
        n_top : int
            Features on a line.
        relevance : float
            See `node`.

        Returns
        -------
        str
            One line for each node.
        """
        return write_text(self.nodes(n_top=n_top, relevance=relevance), n_top)

    def to_dict(self, *, n_top: int = 10, relevance: float = 0.7) -> dict[str, Any]:
        """Return the tree as nested dictionaries of plain values, ready for JSON.

        Parameters
        ----------
        n_top : int
            Features listed for each node.
        relevance : float
            See `node`.

        Returns
        -------
        dict
            The root; `children` holds two more of the kind, or none.
        """
        return nest_nodes(self.nodes(n_top=n_top, relevance=relevance))

    def _set_hierarchy(self, hierarchy: Hierarchy) -> None:
        self.hierarchy_ = hierarchy
        self.node_arrays_ = hierarchy.to_arrays()
        leaves = hierarchy.leaves
        self.n_leaves_ = int(leaves.size)
        self.components_ = hierarchy.centers[leaves]
        self.weights_ = hierarchy.masses[leaves] / hierarchy.masses[0]

    def _restore(self) -> None:
        """Build the tree anew from the arrays of a file."""
        self.hierarchy_ = Hierarchy(**self.node_arrays_)

    @property
    def _n_features_out(self) -> int:
        """Columns of `transform`, by which scikit-learn names them."""
        leaf = self.membership == "leaf"
        return self.n_leaves_ if leaf else self.hierarchy_.n_nodes

    def _ways(self) -> Any:
        """Return the membership of each leaf."""
        h = self.hierarchy_
        if self.membership == "leaf":
            return sparse.csr_array(np.eye(self.n_leaves_))
        ways = np.zeros((self.n_leaves_, h.n_nodes))
        for node, (first, last) in enumerate(h.spans()):
            ways[first:last, node] = 1.0
        return sparse.csr_array(ways)

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in names]

    def _route(self, rows: Any) -> IntArray:
        """Return the node that each row ends in."""
        h = self.hierarchy_
        matrix = to_sparse(rows)
        nodes = np.zeros(matrix.shape[0], dtype=np.int64)
        route_rows(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            h.tables,
            h.offsets,
            h.slopes,
            h.absolute,
            h.orders,
            h.firsts,
            h.seconds,
            nodes,
        )
        return nodes

    def _diagnose(self, table: Table) -> dict[str, Any]:
        h = self.hierarchy_
        heavy = table.weights > 0.0
        return {
            "depth": int(h.depths.max()),
            "empty_rows": int(np.count_nonzero(heavy & (table.squares == 0.0))),
            "loss": self._loss().noun,
            "explained": float(
                h.gains.sum() / max(abs(h.losses[0]), np.finfo(float).tiny)
            ),
            "separation": h.separations[h.orders >= 0],
        }

    def _describe(self) -> dict[str, Any]:
        """Return facts for `describe_model`: the tree, and features by relevance."""
        leaves = [self.node(int(v)) for v in self.hierarchy_.leaves]
        return {
            "n_leaves": self.n_leaves_,
            "tree": self.to_dict(n_top=5),
            "components": [
                {
                    "index": leaf.label,
                    "weight": leaf.weight,
                    "top": [list(pair) for pair in leaf.features],
                }
                for leaf in leaves
            ],
        }

    def _check_rows(self, table: Table) -> None:
        name, wanted = self._wanted()
        heavy = int(np.count_nonzero(table.weights > 0.0))
        if wanted is not None and heavy < wanted:
            raise DataError(
                f"n_samples={heavy} rows of positive weight are fewer than "
                f"{name}={wanted}; ask for {heavy} at most, or give more rows."
            )

    def _check_parameters(self) -> None:
        """Refuse values that cannot be used, before any row is read."""
        name, wanted = self._wanted()
        if wanted is not None:
            check_number(name, wanted, least=1, whole=True)
        if self.max_depth is not None:
            check_number("max_depth", self.max_depth, least=0, whole=True)
        if wanted is None and self.max_depth is None:
            raise ParameterError(
                f"{name}=None and max_depth=None leave the tree without an end; give "
                "one of them."
            )
        check_number("min_samples", self.min_samples, above=0.0)
        check_number("min_gain", self.min_gain, least=0.0)
        _check_choice("split_order", self.split_order, SPLIT_ORDERS)
        _check_choice("membership", self.membership, _MEMBERSHIPS)
        if self.refine != "auto":
            check_number("refine", self.refine, least=0, whole=True)

    def _n_leaves_at_most(self) -> int | None:
        """Return a bound on the number of leaves."""
        wanted = self._wanted()[1]
        bounds = [wanted] if wanted is not None else []
        if self.max_depth is not None and self.max_depth < 20:
            bounds.append(2**self.max_depth)
        return min(bounds) if bounds else None

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may give: dense and sparse rows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name}={value!r} is not known; choose one of {listed}.")


@dataclass(eq=False)
class _Routes:
    """Nodes of blocks of rows, by the first row of each."""

    pieces: list[tuple[int, IntArray]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _RoutePass:
    """Where rows end."""

    tree: TreeEstimator

    def initial(self) -> _Routes:
        return _Routes()

    def update(self, state: _Routes, block: Block) -> _Routes:
        state.pieces.append((block.start, self.tree._route(block.rows)))  # noqa: SLF001
        return state

    def merge(self, left: _Routes, right: _Routes) -> _Routes:
        left.pieces.extend(right.pieces)
        return left
