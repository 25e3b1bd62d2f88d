"""Divisive trees of mixtures: topics, binary records, counts."""

from __future__ import annotations

from typing import Any

from tercet.exceptions import ParameterError
from tercet.hierarchy.base import TreeEstimator
from tercet.hierarchy.coordinates import choose_coordinates
from tercet.hierarchy.losses import LOSSES, Loss
from tercet.hierarchy.rows import Table
from tercet.hierarchy.splitting import ModelSplitter, Refinement, Splitter
from tercet.intake import Requirement
from tercet.likelihood import STOPPING_RULES, Bernoulli, Density, Multinomial, Poisson

__all__ = ["TopicTree"]

# Family, its density and its loss.
_FAMILIES = {
    "single-topic": (Multinomial, "multinomial"),
    "bernoulli": (Bernoulli, "bernoulli"),
    "poisson": (Poisson, "poisson"),
}


class TopicTree(TreeEstimator):
    """Tree of topics: two pseudo-centers at each node by SIDIWO.

    A node learns a mixture of two components from the moments of its rows.
    Where there are more than two topics, each pseudo-center stands for some of
    them. The pseudo-centers are projected on the simplex, each row goes to the
    more likely one, and both sides are split in their turn (paper 004,
    algorithm 2).

    Parameters
    ----------
    n_leaves : int or None, default=8
        Leaves wanted; None leaves the end to `max_depth`.
    max_depth : int or None, default=None
        Most splits above a leaf: 3 gives 8 leaves.
    family : {"single-topic", "bernoulli", "poisson"}, default="single-topic"
        Rows of a topic are bags of tokens, zeros and ones, or counts with a
        rate each.
    min_samples : float, default=1
        Least number of rows (sum of their weights) in a leaf.
    min_gain : float, default=0
        Least gain of a split: the share of the loss of all rows (minus their
        log-likelihood about their common center) that it removes. Splits that
        gain nothing are never made.
    split_order : {"size", "gain", "level"}, default="gain"
        The leaf that is split next: the heaviest, the one whose split gains
        the most (which looks one split ahead), or level by level.
    refine : int or "auto", default=0
        EM steps from the pseudo-centers of each node; "auto" goes on until
        convergence.
    rule : str, default="likelihood"
        Rule of `refine="auto"`, one of `tercet.likelihood.STOPPING_RULES`.
    membership : {"leaf", "path"}, default="leaf"
        What `transform` returns.
    verbose : int, default=0
        Whether to speak.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Leaf of each row; leaves are numbered from left to right.
    components_ : ndarray of shape (n_leaves, d)
        Topic of each leaf: shares of the tokens of its rows, or their mean.
    weights_ : ndarray of shape (n_leaves,)
        Share of the rows in each leaf.
    hierarchy_ : tercet.hierarchy.Hierarchy
        The tree as arrays.
    n_leaves_ : int
        Number of leaves.
    outcome_ : Outcome
        Whether there are as many leaves as were asked for.
    diagnostics_ : dict
        Depth, rows without entries, share of the loss explained, separation.

    References
    ----------
    M. Ruffini, G. Rabusseau and B. Balle, Hierarchical methods of moments, NIPS
    2017.

    Examples
    --------
    >>> import tercet
    >>> sample = tercet.datasets.make_hierarchical_topics(400)
    >>> tree = tercet.TopicTree(8).fit(sample.rows)
    >>> from sklearn.metrics import adjusted_rand_score
    >>> adjusted_rand_score(sample.labels, tree.labels_) > 0.95
    True
    """

    @property
    def requirement(self) -> Requirement:  # type: ignore[override]
        """Values that rows may hold."""
        binary = self.family == "bernoulli"
        return Requirement.BINARY if binary else Requirement.COUNTS

    def __init__(
        self,
        n_leaves: int | None = 8,
        *,
        max_depth: int | None = None,
        family: str = "single-topic",
        min_samples: float = 1,
        min_gain: float = 0.0,
        split_order: str = "gain",
        refine: int | str = 0,
        rule: str = "likelihood",
        membership: str = "leaf",
        verbose: int = 0,
    ) -> None:
        self.n_leaves = n_leaves
        self.max_depth = max_depth
        self.family = family
        self.min_samples = min_samples
        self.min_gain = min_gain
        self.split_order = split_order
        self.refine = refine
        self.rule = rule
        self.membership = membership
        self.verbose = verbose

    def _wanted(self) -> tuple[str, int | None]:
        return "n_leaves", self.n_leaves

    def _loss(self) -> Loss:
        return LOSSES[_FAMILIES[self.family][1]]

    def _splitter(self, table: Table) -> Splitter:
        coordinates = choose_coordinates(
            table, self._n_leaves_at_most(), factorial=True
        )
        density: Density = _FAMILIES[self.family][0]()
        refinement = None
        if self.refine != 0:
            steps = None if self.refine == "auto" else int(self.refine)
            refinement = Refinement(density, steps, {"rule": self.rule})
        return ModelSplitter(
            table,
            coordinates,
            density,
            by_tokens=self.family == "single-topic",
            refinement=refinement,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.family not in _FAMILIES:
            raise ParameterError(
                f"family={self.family!r} is not known; choose one of "
                f"{', '.join(repr(name) for name in _FAMILIES)}."
            )
        STOPPING_RULES[self.rule]

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may give: no negative values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
