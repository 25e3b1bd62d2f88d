"""Passes that collect sums: commutative monoids over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from scipy import sparse

from tercet.flow import Block, FloatArray, IntArray, MomentPlan
from tercet.moments.products import (
    add_block_cross,
    add_block_diagonals,
    add_block_pair,
    add_block_slices,
    add_triples,
    row_lengths,
    weighted_total,
)
from tercet.moments.weighting import measure_lengths, scale_rows

__all__ = [
    "DiagonalPass",
    "DiagonalState",
    "PairPass",
    "PairState",
    "SumsPass",
    "SumsState",
    "TallyPass",
    "TallyState",
]


@dataclass(eq=False)
class TallyState:
    """Running counts of rows and tokens, and the first moments (3, d)."""

    first: FloatArray
    n_rows: int = 0
    total_weight: float = 0.0
    masses: FloatArray = field(default_factory=lambda: np.zeros(3))
    lengths: FloatArray = field(default_factory=lambda: np.zeros(5))
    longest: float = 0.0
    short: IntArray = field(default_factory=lambda: np.zeros(3, dtype=np.int64))

    def absorb(self, other: TallyState) -> None:
        """Add another state to this one."""
        self.first += other.first
        self.n_rows += other.n_rows
        self.total_weight += other.total_weight
        self.masses += other.masses
        self.lengths += other.lengths
        self.longest = max(self.longest, other.longest)
        self.short += other.short


def _tally(
    state: TallyState, block: Block, plan: MomentPlan
) -> tuple[FloatArray, FloatArray]:
    """Count a block and return the scales of its pair and third moments."""
    lengths = row_lengths(block) if plan.by_tokens else np.zeros(block.n_rows)
    scales = scale_rows(lengths, block.weights, plan.weighting)
    state.n_rows += block.n_rows
    state.total_weight += (
        float(block.n_rows) if block.weights is None else float(block.weights.sum())
    )
    state.masses += scales.masses
    if plan.by_tokens:
        sums, longest, short = measure_lengths(lengths)
        state.lengths += sums
        state.longest = max(state.longest, longest)
        state.short += short
    total = weighted_total(block, scales.first)
    state.first[0] += total
    for order, scale in ((1, scales.pair), (2, scales.third)):
        state.first[order] += (
            total if scale is scales.first else weighted_total(block, scale)
        )
    return scales.pair, scales.third


@dataclass(frozen=True)
class TallyPass:
    """Rows, tokens and first moments; no basis needed.

    Parameters
    ----------
    n_features : int
        Number of columns d.
    plan : MomentPlan
        Weighting of the rows.

    Examples
    --------
    >>> from tercet.flow import MomentPlan
    >>> from tercet.intake import open_source
    >>> from tercet.moments import TallyPass
    >>> source = open_source([[2, 1], [0, 1]])
    >>> tally = source.run(TallyPass(2, MomentPlan("length")))
    >>> tally.first[0], tally.longest, tally.short
    (array([2., 2.]), 3.0, array([0, 1, 1]))
    """

    n_features: int
    plan: MomentPlan

    def initial(self) -> TallyState:
        """Return an empty tally."""
        return TallyState(np.zeros((3, self.n_features)))

    def update(self, state: TallyState, block: Block) -> TallyState:
        """Count one block."""
        _tally(state, block, self.plan)
        return state

    def merge(self, left: TallyState, right: TallyState) -> TallyState:
        """Add the right tally to the left."""
        left.absorb(right)
        return left


@dataclass(eq=False)
class PairState:
    """A tally and the pair sums (d, p) against a basis."""

    tally: TallyState
    pair: FloatArray


@dataclass(frozen=True, eq=False)
class PairPass:
    """The pair operator on a block of vectors: `sum_i s2_i x_i (B' x_i)'`.

    With the identity as basis it gives the Gram matrix (small d only).

    Parameters
    ----------
    basis : ndarray of shape (d, p)
        C-ordered block of vectors.
    plan : MomentPlan
        Weighting of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import MomentPlan
    >>> from tercet.intake import open_source
    >>> from tercet.moments import PairPass
    >>> source = open_source([[2, 1], [0, 1]])
    >>> source.run(PairPass(np.eye(2), MomentPlan("rows"))).pair
    array([[4., 2.],
           [2., 2.]])
    """

    basis: FloatArray
    plan: MomentPlan

    def initial(self) -> PairState:
        """Return zero sums."""
        d = self.basis.shape[0]
        return PairState(
            TallyState(np.zeros((3, d))), np.zeros(self.basis.shape, dtype=np.float64)
        )

    def update(self, state: PairState, block: Block) -> PairState:
        """Take in one block."""
        scale, _ = _tally(state.tally, block, self.plan)
        add_block_pair(block, scale, self.basis, state.pair)
        return state

    def merge(self, left: PairState, right: PairState) -> PairState:
        """Add the right sums to the left."""
        left.tally.absorb(right.tally)
        left.pair += right.pair
        return left


@dataclass(eq=False)
class SumsState:
    """Everything that `Moments` holds, while it grows."""

    tally: TallyState
    pair: FloatArray
    cross: FloatArray | None
    third: FloatArray
    energy: FloatArray | None
    power: float
    slices: FloatArray | None


def _square_lengths(block: Block) -> FloatArray:
    """Return `|x_i|^2` of the rows of a block."""
    if block.is_sparse:
        rows = cast(sparse.csr_array, block.rows)
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    dense = cast(FloatArray, block.rows)
    return np.asarray(np.einsum("ij,ij->i", dense, dense))


@dataclass(frozen=True, eq=False)
class SumsPass:
    """All sums of method section 2 against a basis, in one pass.

    Parameters
    ----------
    basis : ndarray of shape (d, p)
        C-ordered; a whitener, a subspace that holds one, or a random sketch.
    plan : MomentPlan
        Weighting of the rows and optional sums.
    features : ndarray of shape (m,) or None
        Features whose slices are wanted.
    correction : float
        1 for slices of factorial moments, 0 for raw ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import MomentPlan
    >>> from tercet.intake import open_source
    >>> from tercet.moments import SumsPass
    >>> work = SumsPass(np.array([[1.0], [1.0]]), MomentPlan("rows"))
    >>> state = open_source([[2, 1], [0, 1]]).run(work)
    >>> state.pair.ravel(), state.third.ravel()
    (array([6., 4.]), array([28.]))
    """

    basis: FloatArray
    plan: MomentPlan
    features: IntArray | None = None
    correction: float = 1.0

    @property
    def _separate_cross(self) -> bool:
        """Whether third moments weigh rows otherwise than pair moments do."""
        return self.plan.weighting in ("document", "three-words")

    def initial(self) -> SumsState:
        """Return zero sums."""
        d, p = self.basis.shape
        return SumsState(
            tally=TallyState(np.zeros((3, d))),
            pair=np.zeros((d, p)),
            cross=np.zeros((d, p)) if self._separate_cross else None,
            third=np.zeros((p, p, p)),
            energy=np.zeros(d) if self.plan.energy else None,
            power=0.0,
            slices=None
            if self.features is None
            else np.zeros((self.features.size, p, p)),
        )

    def update(self, state: SumsState, block: Block) -> SumsState:
        """Take in one block."""
        pair_scale, third_scale = _tally(state.tally, block, self.plan)
        projected = add_block_pair(block, pair_scale, self.basis, state.pair)
        if state.cross is not None:
            add_block_cross(block, third_scale, projected, state.cross)
        add_triples(projected, third_scale, state.third)
        if state.energy is not None:
            squares = _square_lengths(block)
            state.power += float(pair_scale @ squares)
            outside = squares - np.einsum("ia,ia->i", projected, projected)
            state.energy += weighted_total(block, pair_scale * outside)
        if self.features is not None and state.slices is not None:
            add_block_slices(
                block,
                third_scale,
                self.basis,
                projected,
                self.correction,
                self.features,
                state.slices,
            )
        return state

    def merge(self, left: SumsState, right: SumsState) -> SumsState:
        """Add the right sums to the left."""
        left.tally.absorb(right.tally)
        left.pair += right.pair
        left.third += right.third
        left.power += right.power
        for mine, other in (
            (left.cross, right.cross),
            (left.energy, right.energy),
            (left.slices, right.slices),
        ):
            if mine is not None and other is not None:
                np.add(mine, other, out=mine)
        return left


@dataclass(eq=False)
class DiagonalState:
    """Masses, pair sums and diagonals of slices, each (d, k)."""

    tally: TallyState
    pair: FloatArray
    diagonals: FloatArray


@dataclass(frozen=True, eq=False)
class DiagonalPass:
    """Diagonals of all rotated slices: `diag(V' M3[:, :, r] V)`, V (d, k).

    Costs `nnz k` and forms no slice (method section 2).

    Parameters
    ----------
    directions : ndarray of shape (d, k)
        `V = W O`, C-ordered.
    plan : MomentPlan
        Weighting of the rows.
    correction : float
        1 for factorial moments, 0 for raw ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import MomentPlan
    >>> from tercet.intake import open_source
    >>> from tercet.moments import DiagonalPass
    >>> work = DiagonalPass(np.array([[1.0], [1.0]]), MomentPlan("rows"))
    >>> open_source([[2, 1], [0, 1]]).run(work).diagonals
    array([[12.],
           [ 6.]])
    """

    directions: FloatArray
    plan: MomentPlan
    correction: float = 1.0

    def initial(self) -> DiagonalState:
        """Return zero sums."""
        shape = self.directions.shape
        return DiagonalState(
            TallyState(np.zeros((3, shape[0]))), np.zeros(shape), np.zeros(shape)
        )

    def update(self, state: DiagonalState, block: Block) -> DiagonalState:
        """Take in one block."""
        _, scale = _tally(state.tally, block, self.plan)
        add_block_diagonals(
            block, scale, self.directions, self.correction, state.pair, state.diagonals
        )
        return state

    def merge(self, left: DiagonalState, right: DiagonalState) -> DiagonalState:
        """Add the right sums to the left."""
        left.tally.absorb(right.tally)
        left.pair += right.pair
        left.diagonals += right.diagonals
        return left
