"""Moments of binary rows with missing entries, from what was observed.

Every entry of the moments is divided by the weight of the rows in which all of its
features were observed. Above `MOST_FEATURES` features that would take too long: the
moments are then those of the features that vary most, and one EM step tells what
the components found there say of all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from tercet.exceptions import DataError
from tercet.families import Bernoulli
from tercet.families.completing import find_hollow_subspace
from tercet.flow import Block, Equations, FloatArray, Source
from tercet.likelihood import Bernoulli as Density
from tercet.likelihood import refine_mixture
from tercet.models.decomposing import Solution, solve_equations
from tercet.models.mapped_rows import MappedSource, take_columns
from tercet.moments.subspace import orthonormalize

__all__ = ["MOST_FEATURES", "Observed", "count_observed", "solve_observed"]

MOST_FEATURES = 256
"""Largest number of features for which triples are counted one by one."""

# Numbers in flight while triples are counted.
_MOST_NUMBERS = 1 << 22

# Columns of the basis beyond the number of components.
_EXTRA = 8

# Products with the pair moment until its subspace is found.
_MOST_PRODUCTS = 100


@dataclass(eq=False)
class Observed:
    """How much of each feature was observed.

    Parameters
    ----------
    seen : ndarray of shape (d,)
        Weight of the rows in which a feature was observed.
    ones : ndarray of shape (d,)
        Weight of the rows in which it was one.
    n_rows : int
        Number of rows.
    weight : float
        Weight of all rows.
    """

    seen: FloatArray
    ones: FloatArray
    n_rows: int = 0
    weight: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return bool((self.seen >= self.weight * (1.0 - 1e-12)).all())

    @property
    def missing_share(self) -> float:
        """Share of the entries that are missing."""
        return float(1.0 - self.seen.mean() / max(self.weight, np.finfo(float).tiny))

    @property
    def means(self) -> FloatArray:
        """Mean of the observed entries of each feature."""
        return np.divide(
            self.ones, self.seen, out=np.zeros_like(self.ones), where=self.seen > 0
        )


@dataclass(frozen=True, eq=False)
class _ObservedPass:
    """Weights of observed entries and of ones."""

    n_features: int

    def initial(self) -> Observed:
        return Observed(np.zeros(self.n_features), np.zeros(self.n_features))

    def update(self, state: Observed, block: Block) -> Observed:
        weights = _weigh(block)
        state.n_rows += block.n_rows
        state.weight += float(weights.sum())
        rows: Any = block.rows
        if sparse.issparse(rows):
            if np.isnan(rows.data).any():
                raise DataError(
                    "X is sparse and stores NaN; missing entries need a dense array, "
                    "as a sparse one says zero where it stores nothing."
                )
            state.seen += weights.sum()
            state.ones += rows.T @ weights
        else:
            there = ~np.isnan(rows)
            state.seen += weights @ there
            state.ones += weights @ np.where(there, rows, 0.0)
        return state

    def merge(self, left: Observed, right: Observed) -> Observed:
        left.seen += right.seen
        left.ones += right.ones
        left.n_rows += right.n_rows
        left.weight += right.weight
        return left


def count_observed(source: Source) -> Observed:
    """Count the observed entries of each feature.

    Parameters
    ----------
    source : Source
        Binary rows, NaN where an entry is missing.

    Returns
    -------
    Observed
        Weights of observed entries and of ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.models.observed_rows import count_observed
    >>> rows = np.array([[1.0, np.nan], [0.0, 1.0]])
    >>> count_observed(open_source(rows, requirement="binary-or-missing")).means
    array([0.5, 1. ])
    """
    return source.run(_ObservedPass(source.n_features))


def solve_observed(
    source: Source,
    observed: Observed,
    family: Bernoulli,
    n_components: int,
    method: str,
    rng: np.random.Generator,
) -> Solution:
    """Go from rows with missing entries to parameters.

    Parameters
    ----------
    source : Source
        Binary rows, NaN where an entry is missing.
    observed : Observed
        What was counted of them.
    family : Bernoulli
        Factorial or completed equations.
    n_components : int
        Number of components k.
    method : str
        Name of a decomposition.
    rng : numpy.random.Generator
        For methods that draw.

    Returns
    -------
    Solution
        Parameters and every value on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets import make_bernoulli_mixture
    >>> from tercet.families import Bernoulli
    >>> from tercet.intake import open_source
    >>> from tercet.models.observed_rows import count_observed, solve_observed
    >>> rng = np.random.default_rng(0)
    >>> rows = make_bernoulli_mixture(400, n_features=9, n_components=2).rows.toarray()
    >>> rows = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    >>> source = open_source(rows, requirement="binary-or-missing")
    >>> counted = count_observed(source)
    >>> found = solve_observed(source, counted, Bernoulli(), 2, "joint", rng)
    >>> found.parameters.centers.shape
    (9, 2)
    """
    if source.n_features > MOST_FEATURES:
        return _solve_part(source, observed, family, n_components, method, rng)
    first = observed.means
    pair = _collect_pairs(source, first)
    d = source.n_features
    width = min(n_components + _EXTRA, d)
    basis = find_hollow_subspace(
        lambda vectors: (first, pair @ vectors),
        orthonormalize(rng.standard_normal((d, width))),
        n_components,
        _MOST_PRODUCTS,
        most_steps=1,
    )
    lift = pair @ basis
    inside = basis.T @ lift
    equations = Equations(
        first=first,
        lift=lift,
        pair=(inside + inside.T) / 2.0,
        third=_collect_triples(source, basis, first),
        basis=basis,
        hollow=True,
    )
    return solve_equations(equations, family, n_components, method, rng=rng)


def _solve_part(
    source: Source,
    observed: Observed,
    family: Bernoulli,
    n_components: int,
    method: str,
    rng: np.random.Generator,
) -> Solution:
    """Solve for the features that vary most; one EM step gives the others."""
    means = observed.means
    varying = observed.seen * means * (1.0 - means)
    chosen = np.sort(np.argsort(-varying, kind="stable")[:MOST_FEATURES])
    part = MappedSource(source, partial(take_columns, columns=chosen))
    part.n_features = chosen.size
    solution = solve_observed(
        part, count_observed(part), family, n_components, method, rng
    )
    found = solution.parameters
    # Features of which nothing is known yet tell no component from another.
    centers = np.repeat(means[:, None], n_components, axis=1)
    centers[chosen] = found.centers
    refined = refine_mixture(source, Density(), centers, found.weights, steps=1)
    whole = replace(found, centers=refined.centers, weights=refined.weights)
    return replace(solution, parameters=whole)


def _weigh(block: Block) -> FloatArray:
    return np.ones(block.n_rows) if block.weights is None else block.weights


def _part(block: Block) -> tuple[FloatArray, FloatArray]:
    """Return ones and observed entries as dense zeros and ones."""
    rows: Any = block.rows
    if sparse.issparse(rows):
        dense = rows.toarray()
        return dense, np.ones_like(dense)
    there = ~np.isnan(rows)
    return np.where(there, rows, 0.0), there.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _TuplePass:
    """Weights in which pairs of later features were observed, and were both one.

    For feature r of `features` (None stands for no condition) among the rows that
    have it observed, or one.
    """

    features: tuple[int | None, ...]
    n_features: int

    def initial(self) -> list[FloatArray]:
        d = self.n_features
        left = [d if r is None else d - r - 1 for r in self.features]
        return [np.zeros((2, m, m)) for m in left]

    def update(self, state: list[FloatArray], block: Block) -> list[FloatArray]:
        weights = _weigh(block)
        ones, there = _part(block)
        for tables, r in zip(state, self.features, strict=True):
            for kind, entries in enumerate((there, ones)):
                if r is None:
                    later, mass = entries, weights
                else:
                    chosen = np.flatnonzero(entries[:, r] * weights)
                    later, mass = entries[chosen, r + 1 :], weights[chosen]
                tables[kind] += (later * mass[:, None]).T @ later
        return state

    def merge(
        self, left: list[FloatArray], right: list[FloatArray]
    ) -> list[FloatArray]:
        return [mine + other for mine, other in zip(left, right, strict=True)]


def _divide(tables: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return ones over observed, a stand-in where nothing was observed; hollow."""
    there, ones = tables
    found = np.divide(ones, there, out=otherwise.copy(), where=there > 0.0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def _collect_pairs(source: Source, means: FloatArray) -> FloatArray:
    """Return the pair moment with a diagonal of zeros."""
    [tables] = source.run(_TuplePass((None,), source.n_features))
    return _divide(tables, np.outer(means, means))


def _collect_triples(
    source: Source, basis: FloatArray, means: FloatArray
) -> FloatArray:
    """Return the third moment in the basis, zero where a feature is repeated.

    Each set of three features is met once, with the first of them as condition.
    """
    d, p = basis.shape
    once = np.zeros((p, p, p))
    features = list(range(d - 2))
    while features:
        batch: list[int] = []
        numbers = 0
        while features and (not batch or numbers < _MOST_NUMBERS):
            numbers += 2 * (d - features[0] - 1) ** 2
            batch.append(features.pop(0))
        state = source.run(_TuplePass(tuple(batch), d))
        for r, tables in zip(batch, state, strict=True):
            later, rest = means[r + 1 :], basis[r + 1 :]
            slab = _divide(tables, means[r] * np.outer(later, later))
            once += basis[r][:, None, None] * (rest.T @ slab @ rest)
    return once + once.transpose(1, 0, 2) + once.transpose(1, 2, 0)
