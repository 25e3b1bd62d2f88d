"""Splits of a set of rows in two, by the closed form of SIDIWO.

`DataSplitter` is D-SIDIWO (thesis 001, algorithm 5): raw moments and two
discriminators. `ModelSplitter` is paper 004, algorithm 2: the moments of a
mixture, two pseudo-centers, and the more likely one for each row. Both can be
followed by EM on the rows of the node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tercet.decomposition import diagonalize_by_norms
from tercet.flow import FloatArray, IntArray, Outcome
from tercet.hierarchy.coordinates import Coordinates
from tercet.hierarchy.pairs import find_leading_pair
from tercet.hierarchy.rows import Table
from tercet.kernels.tree_splits import TIE, add_members, score_members
from tercet.likelihood import Density, RowSubset, refine_mixture
from tercet.likelihood.expectation import express_scores
from tercet.recovery import project_simplex

__all__ = [
    "DataSplitter",
    "ModelSplitter",
    "NodeRows",
    "Refinement",
    "Refusal",
    "Split",
    "Splitter",
    "sum_sides",
]

# Eigenvalues below this share of the largest one are rounding errors.
_NOISE = 1e-10

# A difference of sums below this share of them is a rounding error.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class NodeRows:
    """Rows of a node.

    Parameters
    ----------
    members : ndarray of int
        Which rows of the table.
    weights : ndarray
        Their weights, all positive.
    total : ndarray of shape (d,)
        `sum_i w_i x_i`.
    """

    members: IntArray
    weights: FloatArray
    total: FloatArray


@dataclass(frozen=True)
class Refusal:
    """Why a node cannot be split.

    Parameters
    ----------
    reason : str
        A clause that goes on from "this node is a leaf because".
    """

    reason: str


@dataclass(frozen=True, eq=False)
class Split:
    """Two sides of the rows of a node.

    Parameters
    ----------
    second : ndarray of bool
        Which members go to the second side.
    discriminators : ndarray of shape (d, 2)
        What an entry of value one adds to the score of each side.
    offsets, slopes : ndarray of shape (2,)
        What a score has from the start and for each unit of squared length.
    absolute : bool
        Whether the sizes of the scores are compared.
    separation : float
        Mean over rows of how much clearer one side is than the other: one if
        every row is sure of its side, zero if none is.
    outcome : Outcome or None
        How EM ended, if it was to go on until convergence.
    """

    second: NDArray[np.bool_]
    discriminators: FloatArray
    offsets: FloatArray
    slopes: FloatArray
    absolute: bool
    separation: float
    outcome: Outcome | None = None


class Splitter(Protocol):
    """What grows a tree: splits the rows of a node, or says why not."""

    def split(self, rows: NodeRows) -> Split | Refusal:
        """Return two sides of the rows."""
        ...


@dataclass(frozen=True)
class Refinement:
    """EM after a split.

    Parameters
    ----------
    density : Density
        Of both sides.
    steps : int or None
        Number of steps; None goes on until the rule is met.
    settings : mapping
        More arguments of `tercet.likelihood.refine_mixture`.
    """

    density: Density
    steps: int | None
    settings: dict[str, Any] = field(default_factory=dict)


class DataSplitter:
    """D-SIDIWO: discriminators of the raw moments (thesis 001, algorithm 5).

    Parameters
    ----------
    table : Table
        Rows.
    coordinates : Coordinates
        Where moments are taken.
    refinement : Refinement or None
        EM from the two sides.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.coordinates import FeatureCoordinates
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.hierarchy.splitting import DataSplitter, NodeRows
    >>> from tercet.intake import open_source
    >>> X = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> table = gather_rows(open_source(X))
    >>> splitter = DataSplitter(table, FeatureCoordinates(table))
    >>> rows = NodeRows(np.arange(3), np.ones(3), X.sum(axis=0).astype(float))
    >>> splitter.split(rows).second
    array([False, False,  True])
    """

    def __init__(
        self,
        table: Table,
        coordinates: Coordinates,
        refinement: Refinement | None = None,
    ) -> None:
        self.table = table
        self.coordinates = coordinates
        self.refinement = refinement

    def split(self, rows: NodeRows) -> Split | Refusal:
        """Return the sides of the larger discriminator (thesis 001, equation 6.11)."""
        mass = rows.weights.sum()
        pairs = self.coordinates.sum_pairs(rows.members, rows.weights) / mass
        found = _whiten(pairs)
        if isinstance(found, Refusal):
            return found
        projected, slices = self.coordinates.sum_slices(
            rows.members, rows.weights, found
        )
        rotation = _rotate(slices / mass)
        shares = projected @ rotation
        means = rows.weights @ shares / mass
        # The heavier side comes first, discriminators point at their mean.
        order = np.argsort(-np.abs(means), kind="stable")
        turn = rotation[:, order] * np.where(means[order] < 0.0, -1.0, 1.0)
        sizes = np.abs(shares[:, order])
        second = sizes[:, 1] > (1.0 + TIE) * sizes[:, 0]
        total = sizes.sum(axis=1)
        margins = np.abs(sizes[:, 0] - sizes[:, 1]) / np.where(total > 0.0, total, 1.0)
        split = Split(
            second,
            self.coordinates.lift(found @ turn),
            np.zeros(2),
            np.zeros(2),
            absolute=True,
            separation=float(rows.weights @ margins / mass),
        )
        if self.refinement is None or second.all() or not second.any():
            return split
        masses = np.array([rows.weights[~second].sum(), rows.weights[second].sum()])
        centers = (sum_sides(self.table, rows, second) / masses[:, None]).T
        return _refine(self.table, rows, self.refinement, centers, masses / mass)


class ModelSplitter:
    """SIDIWO pseudo-centers and the more likely one (paper 004, algorithm 2).

    Parameters
    ----------
    table : Table
        Rows.
    coordinates : Coordinates
        Where moments are taken.
    density : Density
        Of the mixture: multinomial, Bernoulli or Poisson.
    by_tokens : bool
        Whether moments are those of a token, as in topic models, or of a row.
    refinement : Refinement or None
        EM from the pseudo-centers.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.hierarchy.coordinates import FeatureCoordinates
    >>> from tercet.hierarchy.rows import gather_rows
    >>> from tercet.hierarchy.splitting import ModelSplitter, NodeRows
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import Multinomial
    >>> X = np.array([[3, 3, 0], [2, 3, 0], [0, 1, 4]])
    >>> table = gather_rows(open_source(X))
    >>> splitter = ModelSplitter(
    ...     table, FeatureCoordinates(table), Multinomial(), by_tokens=True
    ... )
    >>> rows = NodeRows(np.arange(3), np.ones(3), X.sum(axis=0).astype(float))
    >>> splitter.split(rows).second
    array([False, False,  True])
    """

    def __init__(
        self,
        table: Table,
        coordinates: Coordinates,
        density: Density,
        *,
        by_tokens: bool,
        refinement: Refinement | None = None,
    ) -> None:
        self.table = table
        self.coordinates = coordinates
        self.density = density
        self.by_tokens = by_tokens
        self.refinement = refinement

    def split(self, rows: NodeRows) -> Split | Refusal:
        """Return the sides of the more likely pseudo-center."""
        found = self._find_centers(rows)
        if isinstance(found, Refusal):
            return found
        centers, weights = found
        if self.refinement is not None:
            return _refine(self.table, rows, self.refinement, centers, weights)
        centers = self.density.begin(self.density.admit(centers), weights)
        return _part(self.table, rows, self.density, centers, weights, None)

    def _find_centers(self, rows: NodeRows) -> tuple[FloatArray, FloatArray] | Refusal:
        """Return the pseudo-centers (d, 2) and their weights (paper 004, algorithm 1)."""
        first, second, third = self._count(rows)
        if not (second > 0.0 and third > 0.0):
            return Refusal("its rows are too short for moments of pairs and triples")
        pairs = self.coordinates.sum_pairs(rows.members, rows.weights)
        scaled = rows.total[:, None] * self.coordinates.lift(np.eye(pairs.shape[0]))
        factorial = pairs - self.coordinates.lower(scaled)
        whitener = _whiten(factorial / second)
        if isinstance(whitener, Refusal):
            return whitener
        slices = self._sum_slices(rows, pairs, whitener)
        rotation = _rotate(slices / third)
        # E O c = M1 in the least squares sense; c is the root of the weights.
        lifted = self.coordinates.lift(whitener @ rotation)
        roots = lifted.T @ rows.total / first
        roots, rotation = np.abs(roots), rotation * np.where(roots < 0.0, -1.0, 1.0)
        if roots.min() <= _NOISE * roots.max():
            return Refusal("one of its two pseudo-centers has no weight")
        values = np.linalg.inv(whitener.T @ whitener)
        centers = self.coordinates.lift(whitener @ (values @ rotation)) / roots
        order = np.argsort(-roots, kind="stable")
        weights = roots[order] ** 2
        return self._project(centers[:, order]), weights / weights.sum()

    def _sum_slices(
        self, rows: NodeRows, pairs: FloatArray, whitener: FloatArray
    ) -> FloatArray:
        """Return the slices of the factorial third moment (method, section 2)."""
        at = self.coordinates
        raw = at.sum_slices(rows.members, rows.weights, whitener)[1]
        w = at.lift(whitener)
        squares = np.stack([w[:, 0] ** 2, w[:, 0] * w[:, 1], w[:, 1] ** 2], axis=1)
        both = at.multiply(pairs, rows.total, np.hstack([w, squares]))
        c = both[:, :2]
        mixed = np.stack(
            [
                2.0 * w[:, 0] * c[:, 0],
                w[:, 0] * c[:, 1] + w[:, 1] * c[:, 0],
                2.0 * w[:, 1] * c[:, 1],
            ],
            axis=1,
        )
        correction = both[:, 2:] + mixed - 2.0 * rows.total[:, None] * squares
        return np.asarray(raw - at.lower(correction))

    def _count(self, rows: NodeRows) -> tuple[float, float, float]:
        """Return what the sums of rows, pairs and triples are divided by."""
        if not self.by_tokens:
            mass = float(rows.weights.sum())
            return mass, mass, mass
        t = self.table.lengths[rows.members]
        one = rows.weights * t
        two = one * np.maximum(t - 1.0, 0.0)
        return (
            float(one.sum()),
            float(two.sum()),
            float(two @ np.maximum(t - 2.0, 0.0)),
        )

    def _project(self, centers: FloatArray) -> FloatArray:
        """Return pseudo-centers in the range of the model."""
        return project_simplex(centers) if self.by_tokens else np.maximum(centers, 0.0)


def _whiten(pairs: FloatArray) -> FloatArray | Refusal:
    """Return `W` with `W' M2 W = I` on the two leading directions."""
    if pairs.shape[0] < 2:
        return Refusal("there is one feature only")
    values, vectors = find_leading_pair(0.5 * (pairs + pairs.T))
    if not (values[0] > 0.0 and values[1] > _NOISE * values[0]):
        return Refusal("its rows show one direction only")
    return vectors / np.sqrt(values)


def _rotate(slices: FloatArray) -> FloatArray:
    """Return the rotation of the least sum of norms, given packed slices (p, 3)."""
    stack = np.ascontiguousarray(slices[:, [0, 1, 1, 2]]).reshape(-1, 2, 2)
    return diagonalize_by_norms(stack)[0]


def sum_sides(table: Table, rows: NodeRows, second: NDArray[np.bool_]) -> FloatArray:
    """Return `sum_i w_i x_i` of both sides of a split.

    The smaller side is added up, the other one is what is left of the whole.

    Parameters
    ----------
    table : Table
        Rows.
    rows : NodeRows
        Which of them.
    second : ndarray of bool
        The second side.

    Returns
    -------
    ndarray of shape (2, d)
        Sums of the first and of the second side.
    """
    small = int(2 * np.count_nonzero(second) <= second.size)
    chosen = second if small else ~second
    sums = np.zeros((2, table.n_features))
    add_members(*table.entries, rows.members[chosen], rows.weights[chosen], sums[small])
    rest = rows.total - sums[small]
    # What rounding leaves of a feature that the other side has all of is nothing.
    rest[np.abs(rest) <= _ROUNDING * np.abs(rows.total)] = 0.0
    sums[1 - small] = rest
    return sums


def _refine(
    table: Table,
    rows: NodeRows,
    refinement: Refinement,
    centers: FloatArray,
    weights: FloatArray,
) -> Split:
    """Take EM steps on the rows of a node and part them by the result."""
    subset = RowSubset(table.matrix, rows.members, rows.weights)
    found = refine_mixture(
        subset,
        refinement.density,
        centers,
        weights,
        steps=refinement.steps,
        **refinement.settings,
    )
    return _part(
        table,
        rows,
        refinement.density,
        found.centers,
        found.weights,
        found.variances,
        found.outcome if refinement.steps is None else None,
    )


def _part(
    table: Table,
    rows: NodeRows,
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    variances: FloatArray | None,
    outcome: Outcome | None = None,
) -> Split:
    """Assign every row to the more probable of two components."""
    scores, shift = express_scores(density, centers, weights, variances)
    discriminators, offsets, slopes = scores.table, scores.offsets, scores.slopes
    if shift is not None:
        # Scores of shifted rows as scores of rows: a square is multiplied out.
        offsets = offsets - shift @ discriminators + slopes * (shift @ shift)
        discriminators = discriminators - 2.0 * np.outer(shift, slopes)
    if not density.has_variances:
        # The exposure of a count is one.
        offsets, slopes = offsets + slopes * _count_exposure(density), np.zeros(2)
    scored = np.empty(rows.members.size)
    difference = discriminators[:, 1] - discriminators[:, 0]
    score_members(*table.entries, rows.members, difference, scored)
    scored += offsets[1] - offsets[0]
    if slopes.any():
        scored += (slopes[1] - slopes[0]) * table.squares[rows.members]
    sure = np.abs(np.tanh(0.5 * scored))
    return Split(
        scored > TIE,
        discriminators,
        offsets,
        slopes,
        absolute=False,
        separation=float(rows.weights @ sure / rows.weights.sum()),
        outcome=outcome,
    )


def _count_exposure(density: Density) -> float:
    """Return the exposure of every row: one for rates, none for shares."""
    return 1.0 if density.has_exposure else 0.0
