"""Every pass of the package, with rows to run it over.

A new pass is one entry in `PASSES`; the laws then run on it. An entry draws rows
and builds a pass for them; `cut` makes the block of rows `start` to `stop`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tercet.evaluation.coherence import MeetingPass
from tercet.evaluation.comparing import _WordPass
from tercet.flow import Block, MomentPlan
from tercet.intake import PairedBlock
from tercet.intake.thinning import _ThinningPass
from tercet.likelihood.collapsed import CollapsedPass
from tercet.likelihood.dirichlet import VariationalPass
from tercet.likelihood.separation import ScorePass
from tercet.models.passing import BothPass
from tercet.models.selection import _MaskedPass
from tercet.moments import (
    CrossPass,
    DiagonalPass,
    PairPass,
    SumsPass,
    TallyPass,
    TiltedPass,
    ViewsPass,
)
from tercet.moments.separation_passes import FourthPass, SpreadPass

N_FEATURES, WIDTH = 6, 3


@dataclass(frozen=True)
class PassCase:
    """A pass and the rows it is tried on.

    Parameters
    ----------
    build : callable
        Gives the pass, from a generator.
    draw : callable
        Gives `n` rows of whatever kind the pass takes, from a generator.
    cut : callable
        Gives the block of some of these rows: `cut(rows, start, stop)`.
    """

    build: Callable[[np.random.Generator], Any]
    draw: Callable[[np.random.Generator, int], Any]
    cut: Callable[[Any, int, int], Any]


@dataclass(frozen=True)
class WeightedRows:
    """Rows with a weight each."""

    rows: Any
    weights: np.ndarray | None = None


def draw_counts(rng: np.random.Generator, n_rows: int) -> WeightedRows:
    """Draw sparse counts with empty and short rows among them."""
    rates = rng.choice([0.0, 0.3, 2.0], size=(n_rows, 1))
    counts = rng.poisson(rates, size=(n_rows, N_FEATURES))
    return WeightedRows(sparse.csr_array(counts.astype(np.float64)))


def draw_weighted_counts(rng: np.random.Generator, n_rows: int) -> WeightedRows:
    """Draw sparse counts with weights, zero weights among them."""
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows)
    return WeightedRows(draw_counts(rng, n_rows).rows, weights)


def draw_dense_counts(rng: np.random.Generator, n_rows: int) -> WeightedRows:
    """Draw the same as an array."""
    return WeightedRows(draw_counts(rng, n_rows).rows.toarray())


def draw_values(rng: np.random.Generator, n_rows: int) -> WeightedRows:
    """Draw dense rows of either sign with weights."""
    values = rng.standard_normal((n_rows, N_FEATURES)) + 1.0
    return WeightedRows(values, rng.uniform(0.0, 2.0, size=n_rows))


def cut_rows(data: WeightedRows, start: int, stop: int) -> Block:
    """Cut a block."""
    weights = None if data.weights is None else data.weights[start:stop]
    return Block(data.rows[start:stop], start, weights)


@dataclass(frozen=True)
class WeightedPairs:
    """Pairs of rows with a weight each."""

    first: Any
    second: Any
    weights: np.ndarray | None


def draw_count_pairs(rng: np.random.Generator, n_rows: int) -> WeightedPairs:
    """Draw pairs of sparse counts with weights, zero weights among them."""
    first, second = draw_weighted_counts(rng, n_rows), draw_counts(rng, n_rows)
    return WeightedPairs(first.rows, second.rows, first.weights)


def draw_mixed_pairs(rng: np.random.Generator, n_rows: int) -> WeightedPairs:
    """Draw pairs of dense values and dense counts."""
    values = rng.standard_normal((n_rows, N_FEATURES)) - 1.0
    return WeightedPairs(values, draw_dense_counts(rng, n_rows).rows, None)


def cut_pairs(data: WeightedPairs, start: int, stop: int) -> PairedBlock:
    """Cut a block of pairs."""
    weights = None if data.weights is None else data.weights[start:stop]
    rows = slice(start, stop)
    return PairedBlock(data.first[rows], start, weights, second=data.second[rows])


def tilted_case(kinds: tuple[str, str], draw: Any) -> PassCase:
    """Build a case of `TiltedPass`."""

    def build(rng: np.random.Generator) -> TiltedPass:
        bases = draw_basis(rng), draw_basis(rng)
        points = rng.standard_normal((2, 4, N_FEATURES))
        return TiltedPass(
            (points[0], points[1, :2]),
            bases,
            (np.full(WIDTH, 0.3), np.zeros(WIDTH)),
            kinds,
        )

    return PassCase(build, draw, cut_pairs)


def draw_basis(rng: np.random.Generator) -> np.ndarray:
    """Draw directions that are not orthonormal."""
    return rng.standard_normal((N_FEATURES, WIDTH))


def sums_case(plan: MomentPlan, draw: Any, *, slices: bool = False) -> PassCase:
    """Build a case of `SumsPass`."""
    features = np.array([4, 0, 3]) if slices else None
    return PassCase(
        lambda rng: SumsPass(draw_basis(rng), plan, features), draw, cut_rows
    )


LENGTH, DOCUMENT, ROWS = (
    MomentPlan("length"),
    MomentPlan("document"),
    MomentPlan("rows"),
)

PASSES: dict[str, PassCase] = {
    "tally": PassCase(
        lambda _: TallyPass(N_FEATURES, LENGTH), draw_weighted_counts, cut_rows
    ),
    "pair": PassCase(
        lambda rng: PairPass(draw_basis(rng), LENGTH), draw_counts, cut_rows
    ),
    "pair, dense": PassCase(
        lambda rng: PairPass(draw_basis(rng), ROWS), draw_values, cut_rows
    ),
    "sums by length": sums_case(LENGTH, draw_weighted_counts, slices=True),
    "sums by document": sums_case(DOCUMENT, draw_counts, slices=True),
    "sums by rows, dense": sums_case(
        MomentPlan("rows", energy=True), draw_values, slices=True
    ),
    "sums by rows, sparse": sums_case(
        MomentPlan("rows", energy=True), draw_weighted_counts
    ),
    "diagonals": PassCase(
        lambda rng: DiagonalPass(draw_basis(rng), DOCUMENT),
        draw_weighted_counts,
        cut_rows,
    ),
    "diagonals, dense": PassCase(
        lambda rng: DiagonalPass(draw_basis(rng), LENGTH), draw_dense_counts, cut_rows
    ),
    "products with a cross-covariance": PassCase(
        lambda rng: CrossPass(draw_basis(rng), np.ones(WIDTH), 1, N_FEATURES),
        draw_count_pairs,
        cut_pairs,
    ),
    "pairs of views": PassCase(
        lambda rng: ViewsPass((draw_basis(rng), draw_basis(rng)), (np.ones(3),) * 2),
        draw_count_pairs,
        cut_pairs,
    ),
    "pairs of views, dense": PassCase(
        lambda rng: ViewsPass((draw_basis(rng), draw_basis(rng)), (np.ones(3),) * 2),
        draw_mixed_pairs,
        cut_pairs,
    ),
    "tilted pairs": tilted_case(("counts", "counts"), draw_count_pairs),
    "tilted pairs, mixed": tilted_case(("reals", "counts"), draw_mixed_pairs),
    "fourth sums": PassCase(
        lambda rng: FourthPass(draw_basis(rng), np.ones(WIDTH)), draw_values, cut_rows
    ),
    "fourth sums of some rows": PassCase(
        lambda rng: FourthPass(draw_basis(rng), np.zeros(WIDTH), stride=3),
        draw_weighted_counts,
        cut_rows,
    ),
    "spread": PassCase(
        lambda rng: SpreadPass(rng.standard_normal(N_FEATURES)), draw_values, cut_rows
    ),
    "spread of sparse rows": PassCase(
        lambda rng: SpreadPass(rng.uniform(size=N_FEATURES)), draw_counts, cut_rows
    ),
    "words": PassCase(lambda _: _WordPass(N_FEATURES), draw_dense_counts, cut_rows),
    "meetings of words": PassCase(
        lambda _: MeetingPass(np.array([4, 0, 3]), N_FEATURES), draw_counts, cut_rows
    ),
    "variational step": PassCase(
        lambda rng: VariationalPass(
            np.ascontiguousarray(rng.dirichlet(np.ones(N_FEATURES), size=WIDTH).T),
            np.full(WIDTH, 0.4),
        ),
        draw_weighted_counts,
        cut_rows,
    ),
    "collapsed step": PassCase(
        lambda rng: CollapsedPass(
            np.pad(
                rng.dirichlet(np.ones(N_FEATURES), size=WIDTH).T, ((0, 0), (0, 5))
            ).astype(np.float32),
            np.full(WIDTH, 0.4),
            np.full(WIDTH, 0.05),
        ),
        draw_weighted_counts,
        cut_rows,
    ),
    "two in one reading": PassCase(
        lambda rng: BothPass(
            TallyPass(N_FEATURES, LENGTH), PairPass(draw_basis(rng), LENGTH)
        ),
        draw_weighted_counts,
        cut_rows,
    ),
    "sums of three words": PassCase(
        lambda rng: _ThinningPass(
            SumsPass(draw_basis(rng), MomentPlan("three-words")), n_tokens=3, seed=5
        ),
        draw_weighted_counts,
        cut_rows,
    ),
    "some rows hidden": PassCase(
        lambda rng: _MaskedPass(
            SumsPass(draw_basis(rng), LENGTH), np.array([1, 2, 3, 8, 9])
        ),
        draw_weighted_counts,
        cut_rows,
    ),
    "scores": PassCase(
        lambda rng: ScorePass(
            draw_basis(rng), np.ones(WIDTH), rng.standard_normal((4, WIDTH))
        ),
        draw_values,
        cut_rows,
    ),
}
