"""Divisive clustering by the raw moments of the rows: D-SIDIWO."""

from __future__ import annotations

from typing import Any, ClassVar

from tercet.exceptions import ParameterError
from tercet.flow import Registry
from tercet.hierarchy.base import TreeEstimator
from tercet.hierarchy.coordinates import choose_coordinates
from tercet.hierarchy.losses import LOSSES, Loss
from tercet.hierarchy.rows import Table
from tercet.hierarchy.splitting import DataSplitter, Refinement, Splitter
from tercet.intake import Requirement
from tercet.likelihood import (
    STOPPING_RULES,
    Bernoulli,
    Density,
    Multinomial,
    Poisson,
    SphericalGaussian,
)

__all__ = ["BisectingMoments"]

# Components of EM after a split.
_DENSITIES = Registry[type[Any]]("density")
_DENSITIES.add("bernoulli", Bernoulli)
_DENSITIES.add("poisson", Poisson)
_DENSITIES.add("multinomial", Multinomial)
_DENSITIES.add("gaussian", SphericalGaussian)

_REQUIREMENTS = {
    "bernoulli": Requirement.BINARY,
    "poisson": Requirement.COUNTS,
    "multinomial": Requirement.COUNTS,
    "gaussian": Requirement.REALS,
}


class BisectingMoments(TreeEstimator):
    """Tree of clusters by discriminators from the raw moments (D-SIDIWO).

    A node takes the raw second and third moments of its rows, finds the two
    directions `d_1`, `d_2` of its leading plane that are the most nearly
    orthogonal to each other's rows, and sends each row x to the larger of
    `|d_1 . x|` and `|d_2 . x|` (thesis 001, algorithm 5). No model is assumed;
    rows count as similar if the angle between them is small, which suits
    sparse binary records.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Leaves wanted; None leaves the end to `max_depth`.
    max_depth : int or None, default=None
        Most splits above a leaf: 4 gives 16 leaves.
    min_samples : float, default=1
        Least number of rows (sum of their weights) in a leaf.
    min_gain : float, default=0
        Least gain of a split: the share of the scatter of all rows (squared
        distances from their mean) that it removes. Splits that gain nothing
        are never made.
    split_order : {"size", "gain", "level"}, default="gain"
        The leaf that is split next: the heaviest, the one whose split gains
        the most (which looks one split ahead), or level by level as in the
        thesis.
    refine : int or "auto", default=0
        EM steps of a mixture of two components after each split, from the means
        of both sides (thesis 001, section 6.3); "auto" goes on until
        convergence.
    density : {"bernoulli", "poisson", "multinomial", "gaussian"}
        Components of that mixture; "bernoulli" by default. Not used if
        `refine=0`.
    rule : str, default="likelihood"
        Rule of `refine="auto"`, one of `tercet.likelihood.STOPPING_RULES`;
        "centers" is that of the thesis.
    membership : {"leaf", "path"}, default="leaf"
        What `transform` returns.
    verbose : int, default=0
        Whether to speak.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Leaf of each row; leaves are numbered from left to right.
    components_ : ndarray of shape (n_leaves, d)
        Mean row of each leaf.
    weights_ : ndarray of shape (n_leaves,)
        Share of the rows in each leaf.
    hierarchy_ : tercet.hierarchy.Hierarchy
        The tree as arrays.
    n_leaves_ : int
        Number of leaves.
    outcome_ : Outcome
        Whether there are as many leaves as were asked for.
    diagnostics_ : dict
        Depth, rows without entries, share of the scatter explained, separation.

    References
    ----------
    M. Ruffini, Models and methods of moments, thesis, 2019, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [6, 5, 4], axis=0)
    >>> tree = tercet.BisectingMoments(3).fit(X)
    >>> tree.weights_.round(2).tolist(), tree.predict([[1, 1, 0, 0]]).tolist()
    ([0.4, 0.27, 0.33], [0])
    """

    requirement: ClassVar[Requirement] = Requirement.REALS

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        max_depth: int | None = None,
        min_samples: float = 1,
        min_gain: float = 0.0,
        split_order: str = "gain",
        refine: int | str = 0,
        density: str = "bernoulli",
        rule: str = "likelihood",
        membership: str = "leaf",
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_depth = max_depth
        self.min_samples = min_samples
        self.min_gain = min_gain
        self.split_order = split_order
        self.refine = refine
        self.density = density
        self.rule = rule
        self.membership = membership
        self.verbose = verbose

    def _wanted(self) -> tuple[str, int | None]:
        return "n_clusters", self.n_clusters

    def _loss(self) -> Loss:
        return LOSSES["scatter"]

    def _splitter(self, table: Table) -> Splitter:
        coordinates = choose_coordinates(
            table, self._n_leaves_at_most(), factorial=False
        )
        return DataSplitter(table, coordinates, self._refinement(table))

    def _refinement(self, table: Table) -> Refinement | None:
        if self.refine == 0:
            return None
        _check_values(table, self.density)
        density: Density = _DENSITIES[self.density]()
        steps = None if self.refine == "auto" else int(self.refine)
        return Refinement(density, steps, {"rule": self.rule})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _DENSITIES[self.density]
        STOPPING_RULES[self.rule]


def _check_values(table: Table, density: str) -> None:
    """Refuse rows that the components of EM cannot have."""
    wanted = _REQUIREMENTS[density]
    values = table.matrix.data
    if wanted is Requirement.BINARY and not (values == 1.0).all():
        raise ParameterError(
            f"density={density!r} with refine needs {wanted.describe()}, but X holds "
            f"{values[values != 1.0][0]:g}; choose 'poisson', 'multinomial' or "
            "'gaussian', or refine=0."
        )
    if wanted is Requirement.COUNTS and not (values > 0.0).all():
        raise ParameterError(
            f"density={density!r} with refine needs {wanted.describe()}, but X holds "
            f"{values.min():g}; choose 'gaussian', or refine=0."
        )
