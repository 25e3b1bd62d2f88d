"""The expectation step of a mixture, and its scores, as passes over rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.flow import Block, FloatArray, IntArray, Source
from tercet.kernels.mixture_steps import (
    normalize_scores,
    score_linear_rows,
    step_linear_rows,
)
from tercet.likelihood.densities import Density, LinearScores, MixtureSums

__all__ = [
    "ExpectationPass",
    "RowSubset",
    "Rows",
    "ScorePass",
    "ScoreState",
    "express_scores",
]

# Rows of a subset that are gathered at once where they must be.
_GATHERED_ROWS = 2048


@dataclass(frozen=True, eq=False)
class RowSubset:
    """Some rows of a matrix, in any order, which is not copied.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n, d)
        The whole matrix, float64.
    members : ndarray of int
        Which rows belong to the subset.
    weights : ndarray or None
        Weights of these rows, in the order of `members`; None means one each.
    exposure : ndarray or None
        Exposures of these rows; None asks the density.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from tercet.likelihood import RowSubset
    >>> rows = sparse.csr_array(np.eye(4))
    >>> RowSubset(rows, np.array([3, 1])).n_rows
    2
    """

    rows: Any
    members: IntArray
    weights: FloatArray | None = None
    exposure: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows in the subset."""
        return int(self.members.size)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    def run(self, work: ExpectationPass | ScorePass) -> Any:
        """Run a pass over the subset and return its final state."""
        subset = self.expose(work.density)
        if isinstance(work, ExpectationPass):
            return work.take(work.initial(), subset)
        return work.take(work.initial(), subset)

    def expose(self, density: Density) -> RowSubset:
        """Return the subset with the exposures that a density sees in its rows."""
        if self.exposure is not None:
            return self
        if not density.has_exposure:
            return replace(self, exposure=np.zeros(self.n_rows))
        pieces = [
            density.expose(self.rows[part], part) for part in self.parts(self.members)
        ]
        return replace(self, exposure=np.concatenate(pieces))

    def parts(self, values: Any) -> Iterator[Any]:
        """Yield an array of something for each row, some rows at a time."""
        for start in range(0, max(self.n_rows, 1), _GATHERED_ROWS):
            yield values[start : start + _GATHERED_ROWS]


Rows: TypeAlias = Source | Block | RowSubset


@dataclass(frozen=True, eq=False)
class _Flat:
    """Sparse rows as flat arrays: entries between starts and stops."""

    starts: IntArray
    stops: IntArray
    indices: IntArray
    values: FloatArray

    def score(self, exposure: FloatArray, scores: LinearScores) -> FloatArray:
        """Return the scores (n, k) of the rows."""
        result = np.empty((self.starts.size, scores.offsets.size))
        score_linear_rows(
            self.starts,
            self.stops,
            self.indices,
            self.values,
            exposure,
            scores.table,
            scores.offsets,
            scores.slopes,
            result,
        )
        return result


def _flatten(rows: Any, members: IntArray | None = None) -> _Flat:
    starts, stops = rows.indptr[:-1], rows.indptr[1:]
    if members is not None:
        starts, stops = starts[members], stops[members]
    return _Flat(starts, stops, rows.indices, rows.data)


@dataclass(frozen=True, eq=False)
class _Scorer:
    """Scores of rows under the components, whatever form the rows have.

    Parameters
    ----------
    density : Density
        Of the components.
    scores : LinearScores
        Of shifted rows.
    shift : ndarray of shape (d,) or None
        What is taken from every row.
    """

    density: Density
    scores: LinearScores
    shift: FloatArray | None = None

    def _move_sparse(
        self, flat: _Flat, exposure: FloatArray
    ) -> tuple[FloatArray, LinearScores]:
        """Return exposures and scores of sparse rows that are not shifted."""
        if self.shift is None:
            return exposure, self.scores
        shift, table = self.shift, self.scores.table
        zero = np.zeros(1)
        along = flat.score(exposure, LinearScores(shift[:, None].copy(), zero, zero))
        moved = exposure - 2.0 * along[:, 0] + shift @ shift
        offsets = self.scores.offsets - shift @ table
        return moved, replace(self.scores, offsets=offsets)

    def _score_dense(
        self, rows: FloatArray, exposure: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
        """Return shifted rows, exposures, scores, and where entries are missing."""
        if self.shift is not None:
            rows = rows - self.shift
            exposure = self.density.expose(rows, slice(0, rows.shape[0]))
        missing = None
        if self.scores.absences is not None:
            gaps = np.isnan(rows)
            if gaps.any():
                rows, missing = np.where(gaps, 0.0, rows), gaps.astype(np.float64)
        scores = rows @ self.scores.table
        scores += self.scores.offsets + np.outer(exposure, self.scores.slopes)
        if missing is not None:
            scores += missing @ cast(FloatArray, self.scores.absences)
        return rows, exposure, scores, missing


@dataclass(frozen=True, eq=False)
class ExpectationPass(_Scorer):
    """Responsibilities of the components, summed over rows: `2 nnz k` a pass.

    Build it with `express_scores`.

    Parameters
    ----------
    density : Density
        Of the components.
    scores : LinearScores
        Of shifted rows.
    shift : ndarray of shape (d,) or None
        What is taken from every row; the sums are those of shifted rows.
    with_base : bool
        Whether the terms that no parameter has a part in are summed, too.
    """

    with_base: bool = False

    def initial(self) -> MixtureSums:
        """Return zero sums."""
        d, k = self.scores.table.shape
        return MixtureSums(np.zeros(k), np.zeros(k), np.zeros((d, k)))

    def update(self, state: MixtureSums, block: Block) -> MixtureSums:
        """Take in one block."""
        where = slice(block.start, block.start + block.n_rows)
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        exposure = self.density.expose(block.rows, where)
        return self._add(state, block.rows, weights, exposure)

    def merge(self, left: MixtureSums, right: MixtureSums) -> MixtureSums:
        """Add the right sums to the left."""
        left.absorb(right)
        return left

    def take(self, state: MixtureSums, subset: RowSubset) -> MixtureSums:
        """Take in a subset of rows that has its exposures."""
        weights = np.ones(subset.n_rows) if subset.weights is None else subset.weights
        exposure = cast(FloatArray, subset.exposure)
        if sparse.issparse(subset.rows) and not self.with_base:
            flat = _flatten(subset.rows, subset.members)
            self._add_sparse(state, flat, weights, exposure)
            return state
        pieces = (subset.parts(each) for each in (subset.members, weights, exposure))
        for members, some_weights, some_exposure in zip(*pieces, strict=True):
            self._add(state, subset.rows[members], some_weights, some_exposure)
        return state

    def _add(
        self, state: MixtureSums, rows: Any, weights: FloatArray, exposure: FloatArray
    ) -> MixtureSums:
        if self.with_base:
            base = self.density.base(rows, exposure)
            state.base += float(np.sum(weights * base))
        if sparse.issparse(rows):
            self._add_sparse(state, _flatten(rows), weights, exposure)
        else:
            self._add_dense(state, rows, weights, exposure)
        return state

    def _add_sparse(
        self,
        state: MixtureSums,
        flat: _Flat,
        weights: FloatArray,
        exposure: FloatArray,
    ) -> None:
        exposure, scores = self._move_sparse(flat, exposure)
        mass = np.zeros_like(state.mass)
        state.log_likelihood += step_linear_rows(
            flat.starts,
            flat.stops,
            flat.indices,
            flat.values,
            weights,
            exposure,
            scores.table,
            scores.offsets,
            scores.slopes,
            mass,
            state.exposed,
            state.sums,
        )
        state.mass += mass
        if self.shift is not None:
            state.sums -= np.outer(self.shift, mass)

    def _add_dense(
        self,
        state: MixtureSums,
        rows: FloatArray,
        weights: FloatArray,
        exposure: FloatArray,
    ) -> None:
        rows, exposure, shares, missing = self._score_dense(rows, exposure)
        state.log_likelihood += normalize_scores(shares, weights, state.mass)
        state.exposed += exposure @ shares
        state.sums += rows.T @ shares
        if missing is not None:
            state.miss(missing.T @ shares)


@dataclass(eq=False)
class ScoreState:
    """Scores of blocks of rows, by the first row of each."""

    pieces: list[tuple[int, FloatArray]] = field(default_factory=list)

    def join(self, n_components: int) -> FloatArray:
        """Return the scores of all rows in order."""
        ordered = [scores for _, scores in sorted(self.pieces, key=lambda p: p[0])]
        return np.concatenate([np.empty((0, n_components)), *ordered])


@dataclass(frozen=True, eq=False)
class ScorePass(_Scorer):
    """Log of weight times density of every row under every component.

    Build it with `express_scores`.

    Parameters
    ----------
    density : Density
        Of the components.
    scores : LinearScores
        Of shifted rows.
    shift : ndarray of shape (d,) or None
        What is taken from every row.
    """

    def initial(self) -> ScoreState:
        """Return no scores."""
        return ScoreState()

    def update(self, state: ScoreState, block: Block) -> ScoreState:
        """Score one block."""
        where = slice(block.start, block.start + block.n_rows)
        exposure = self.density.expose(block.rows, where)
        state.pieces.append((block.start, self._score(block.rows, exposure)))
        return state

    def merge(self, left: ScoreState, right: ScoreState) -> ScoreState:
        """Put the blocks of both together."""
        left.pieces.extend(right.pieces)
        return left

    def take(self, state: ScoreState, subset: RowSubset) -> ScoreState:
        """Score a subset of rows that has its exposures."""
        pieces = (subset.parts(each) for each in (subset.members, subset.exposure))
        start = 0
        for members, exposure in zip(*pieces, strict=True):
            state.pieces.append((start, self._score(subset.rows[members], exposure)))
            start += members.size
        return state

    def _score(self, rows: Any, exposure: FloatArray) -> FloatArray:
        base = self.density.base(rows, exposure)
        if sparse.issparse(rows):
            flat = _flatten(rows)
            scores = flat.score(*self._move_sparse(flat, exposure))
        else:
            _, _, scores, _ = self._score_dense(rows, exposure)
        return np.asarray(scores + np.reshape(base, (-1, 1)))


def express_scores(
    density: Density,
    centers: FloatArray,
    weights: FloatArray,
    variances: FloatArray | None = None,
) -> tuple[LinearScores, FloatArray | None]:
    """Return the scores of shifted rows, and the shift, for either pass.

    Parameters
    ----------
    density : Density
        Of the components.
    centers : ndarray of shape (d, k)
        Inside the range of the density.
    weights : ndarray of shape (k,)
        Positive weights.
    variances : ndarray of shape (k,) or None
        Variances, where the density has them.

    Returns
    -------
    scores : LinearScores
        What makes up the scores.
    shift : ndarray of shape (d,) or None
        What is taken from every row.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.likelihood import Bernoulli
    >>> from tercet.likelihood.expectation import ExpectationPass, express_scores
    >>> centers = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> scores = express_scores(Bernoulli(), centers, np.array([0.5, 0.5]))
    >>> work = ExpectationPass(Bernoulli(), *scores)
    >>> work.update(work.initial(), Block(np.eye(2))).sums.round(2)
    array([[0.99, 0.01],
           [0.01, 0.99]])
    """
    if density.has_variances and variances is None:
        raise ParameterError(
            f"variances=None, but {type(density).__name__} components have variances; "
            "give one for each component."
        )
    shift = density.shift(centers)
    moved = centers if shift is None else centers - shift[:, None]
    return density.express(moved, weights, variances), shift
