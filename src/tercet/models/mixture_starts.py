"""Where EM starts when the moments do not support all components: split by split.

A group of rows is split in two by the pseudo-centers that SIDIWO finds from its
moments (paper 004; thesis 001, figure 6.5), a few EM steps sharpen the split, and
the group with most scatter is split next. Each split asks for two components
only, so that there may be more of them than features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from tercet.exceptions import RankError
from tercet.flow import Block, Family, FloatArray, IntArray, Parameters, Source
from tercet.likelihood import Density, infer_mixture, refine_mixture
from tercet.models.decomposing import solve_equations
from tercet.models.mapped_rows import MappedSource, weigh_block
from tercet.moments import collect

__all__ = ["SpreadPass", "SpreadState", "start_by_splits"]

# EM steps that sharpen a split.
_STEPS = 20

# Scatter below this share of that of all rows is rounding.
_ROUNDING = 1e-12


@dataclass(eq=False)
class _Group:
    """Rows of one group: which they are, their weight, center and scatter."""

    members: FloatArray
    weight: float
    center: FloatArray
    spread: FloatArray
    splittable: bool = field(default=True)

    @property
    def scatter(self) -> float:
        """Sum over rows of the squared distance to the center."""
        return float(self.weight * self.spread.sum())


@dataclass(eq=False)
class SpreadState:
    """Weight, sums and sums of squares of the rows of each group.

    Parameters
    ----------
    weight : ndarray of shape (g,)
        Weights of the groups.
    first, second : ndarray of shape (g, d)
        Sums of the rows and of their squares.
    """

    weight: FloatArray
    first: FloatArray
    second: FloatArray

    @property
    def variance(self) -> float:
        """Mean variance of a feature, over the rows of all groups."""
        total = max(float(self.weight.sum()), np.finfo(float).tiny)
        mean = self.first.sum(axis=0) / total
        return float(np.maximum(self.second.sum(axis=0) / total - mean**2, 0.0).mean())


@dataclass(frozen=True, eq=False)
class SpreadPass:
    """Weights, sums and sums of squares of the rows of each group.

    Parameters
    ----------
    n_features : int
        Number of columns.
    labels : ndarray of int or None
        Group of each row of the source; None is one group.
    n_groups : int
        Number of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.models.mixture_starts import SpreadPass
    >>> rows = open_source(np.array([[1.0], [3.0]]), requirement="reals")
    >>> rows.run(SpreadPass(1)).variance
    1.0
    """

    n_features: int
    labels: IntArray | None = None
    n_groups: int = 1

    def initial(self) -> SpreadState:
        """Return zero sums."""
        shape = (self.n_groups, self.n_features)
        return SpreadState(np.zeros(self.n_groups), np.zeros(shape), np.zeros(shape))

    def update(self, state: SpreadState, block: Block) -> SpreadState:
        """Take in one block."""
        labels = np.zeros(block.n_rows, dtype=np.int64)
        if self.labels is not None:
            labels = self.labels[block.start : block.start + block.n_rows]
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        for group in np.unique(labels[weights > 0.0]):
            inside = weights * (labels == group)
            state.weight[group] += inside.sum()
            state.first[group] += block.rows.T @ inside
            state.second[group] += (block.rows * block.rows).T @ inside
        return state

    def merge(self, left: SpreadState, right: SpreadState) -> SpreadState:
        """Add the right sums to the left."""
        left.weight += right.weight
        left.first += right.first
        left.second += right.second
        return left


def start_by_splits(
    source: Source,
    n_rows: int,
    n_components: int,
    family: Family,
    density: Density,
) -> Parameters:
    """Find centers by splitting the rows in two, again and again.

    Parameters
    ----------
    source : Source
        Rows that can be read again.
    n_rows : int
        Number of rows.
    n_components : int
        Number of groups wanted.
    family : Family
        Equations by which a group is split.
    density : Density
        Likelihood by which a split is sharpened.

    Returns
    -------
    parameters : Parameters
        Means of the groups, their shares, and (for Gaussians) variances.

    Raises
    ------
    RankError
        If the rows fall into fewer groups than are wanted, however they are split.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import SphericalGaussian
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood import SphericalGaussian as Density
    >>> from tercet.models.mixture_starts import start_by_splits
    >>> rows = np.repeat([[0.0], [1.0], [5.0]], 20, axis=0)
    >>> source = open_source(rows, requirement="reals")
    >>> start = start_by_splits(source, 60, 3, SphericalGaussian(), Density())
    >>> np.sort(start.centers.round(2).ravel())
    array([0., 1., 5.])
    """
    [whole] = _measure(source, np.zeros(n_rows, dtype=np.int64), 1)
    least = _ROUNDING * whole.weight * float((whole.spread + whole.center**2).sum())
    groups = [whole]
    while len(groups) < n_components:
        open_groups = [g for g in groups if g.splittable and g.scatter > least]
        if not open_groups:
            raise _refuse(n_components, len(groups))
        group = max(open_groups, key=lambda g: g.scatter)
        parts = _split(source, group, family, density)
        if parts is None:
            group.splittable = False
            continue
        # The two stand where their parent stood: nothing else moves.
        place = next(i for i, g in enumerate(groups) if g is group)
        groups[place : place + 1] = parts
    return _conclude(groups, density)


def _refuse(wanted: int, found: int) -> RankError:
    """Return an error for rows that cannot be split any more."""
    groups = "are all alike" if found == 1 else f"fall into {found} groups only"
    most = f"{found} component{'s' if found > 1 else ''}"
    return RankError(
        f"n_components={wanted}, but the rows {groups}, however they are split; ask for "
        f"{most} at most.",
        found,
    )


def _conclude(groups: list[_Group], density: Density) -> Parameters:
    weights = np.array([group.weight for group in groups])
    centers = np.column_stack([group.center for group in groups])
    variances = None
    if density.has_variances:
        overall = sum(group.scatter for group in groups) / weights.sum()
        mean = float(overall) / centers.shape[0]
        # A group of equal rows would start as a point, which nothing can leave.
        own = np.array([group.spread.mean() for group in groups])
        variances = np.maximum(own, 0.1 * mean)
    return Parameters(centers, weights / weights.sum(), variances=variances)


def _split(
    source: Source, group: _Group, family: Family, density: Density
) -> list[_Group] | None:
    """Return the two parts of a group, or None if its rows are all alike."""
    own = MappedSource(source, lambda block: weigh_block(block, group.members))
    start = _find_by_moments(own, group, family)
    if start is not None:
        parts = _divide_by_likelihood(source, own, group, start, density)
        if parts is not None:
            return parts
    return _divide_by_feature(source, group)


def _find_by_moments(own: Source, group: _Group, family: Family) -> Parameters | None:
    """Return two pseudo-centers, or None if the moments do not support two."""
    if group.center.size < 2:
        return None
    try:
        moments = collect(own, family, 2, random_state=0)
        return solve_equations(moments.equations(), family, 2, "sidiwo").parameters
    except RankError:
        return None


@dataclass(frozen=True, eq=False)
class _ColumnPass:
    """The values of one feature, by the first row of each block."""

    feature: int

    def initial(self) -> list[tuple[int, FloatArray]]:
        return []

    def update(
        self, state: list[tuple[int, FloatArray]], block: Block
    ) -> list[tuple[int, FloatArray]]:
        column: Any = block.rows[:, [self.feature]]
        values = column.toarray() if sparse.issparse(column) else column
        state.append((block.start, np.ravel(values)))
        return state

    def merge(
        self, left: list[tuple[int, FloatArray]], right: list[tuple[int, FloatArray]]
    ) -> list[tuple[int, FloatArray]]:
        return left + right


def _divide_by_feature(source: Source, group: _Group) -> list[_Group] | None:
    """Return the rows below and above the mean of the feature that varies most."""
    feature = int(np.argmax(group.spread))
    pieces = source.run(_ColumnPass(feature))
    values = np.concatenate([part for _, part in sorted(pieces, key=lambda p: p[0])])
    return _part(source, group, values > group.center[feature])


def _divide_by_likelihood(
    source: Source,
    own: Source,
    group: _Group,
    start: Parameters,
    density: Density,
) -> list[_Group] | None:
    """Return the parts of a group on either side, unless one of them is empty."""
    variances = None
    if density.has_variances:
        variances = np.full(2, max(float(group.spread.mean()), np.finfo(float).tiny))
    refined = refine_mixture(
        own, density, start.centers, start.weights, variances=variances, steps=_STEPS
    )
    posterior = infer_mixture(
        own, density, refined.centers, refined.weights, variances=refined.variances
    )
    return _part(source, group, posterior[:, 1] > 0.5)


def _part(source: Source, group: _Group, second: Any) -> list[_Group] | None:
    """Return the rows of a group on either side, unless one side is empty."""
    labels = np.where(group.members > 0.0, second, 2).astype(np.int64)
    parts = _measure(source, labels, 3)[:2]
    return parts if all(part.weight > 0.0 for part in parts) else None


def _measure(source: Source, labels: IntArray, n_groups: int) -> list[_Group]:
    state = source.run(SpreadPass(source.n_features, labels, n_groups))
    groups = []
    for group in range(n_groups):
        weight = float(state.weight[group])
        center = state.first[group] / max(weight, np.finfo(float).tiny)
        second = state.second[group] / max(weight, np.finfo(float).tiny)
        spread = np.maximum(second - center**2, 0.0)
        # What is left of equal values is rounding of their squares.
        spread[spread <= 1e-13 * second] = 0.0
        members = (labels == group).astype(np.float64)
        groups.append(_Group(members, weight, center, spread))
    return groups
