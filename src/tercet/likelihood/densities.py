"""Densities of mixture components whose scores are linear in the row.

Under component j, a row x with the number e (an exposure, a squared length) has
the log-density

    base(x) + offset_j + e slope_j + sum_r x_r table_rj

for multinomial, Bernoulli, Poisson and spherical Gaussian components alike. A
density says what offset, slope and table are (`express`), and which parameters
maximise the expected likelihood given the sums of an expectation step
(`maximize`). Parameters stay a little inside their range (`floor`), so that no
logarithm is infinite; `maximize` is exact inside that smaller range, hence the
likelihood never falls from one step to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from tercet.flow import FloatArray, IntArray

__all__ = [
    "Density",
    "LinearScores",
    "MixtureSums",
    "project_shares",
]

# A start's center may not be this much rarer in a feature than the mixture as a
# whole: a negative entry that was cut to zero would otherwise rule it out.
_LEAST_PART_OF_POOL = 0.01

NO_MASS = 1e-12
"""Share of all mass below which a component's parameters stay as they are."""


@dataclass(frozen=True, eq=False)
class LinearScores:
    """What makes up the scores of the components.

    Parameters
    ----------
    table : ndarray of shape (d, k)
        What an entry of value one adds.
    offsets : ndarray of shape (k,)
        What every row gets.
    slopes : ndarray of shape (k,)
        What a row gets for each unit of its exposure.
    absences : ndarray of shape (d, k) or None
        What a missing entry adds, None where entries cannot be missing.
    """

    table: FloatArray
    offsets: FloatArray
    slopes: FloatArray
    absences: FloatArray | None = None


@dataclass(eq=False)
class MixtureSums:
    """Sums of an expectation step; `r_ij` are the responsibilities.

    Parameters
    ----------
    mass : ndarray of shape (k,)
        `sum_i w_i r_ij`.
    exposed : ndarray of shape (k,)
        `sum_i w_i r_ij e_i`.
    sums : ndarray of shape (d, k)
        `sum_i w_i r_ij x_i`.
    missed : ndarray of shape (d, k) or None
        `sum_i w_i r_ij` over the rows in which an entry is missing; None where
        no missing entry was seen.
    log_likelihood : float
        Of the rows, weighted, without `base`.
    base : float
        Terms of it that no parameter has a part in, where they were asked for.
    """

    mass: FloatArray
    exposed: FloatArray
    sums: FloatArray
    missed: FloatArray | None = None
    log_likelihood: float = 0.0
    base: float = 0.0

    def absorb(self, other: MixtureSums) -> None:
        """Add the sums of other rows."""
        self.mass += other.mass
        self.exposed += other.exposed
        self.sums += other.sums
        self.log_likelihood += other.log_likelihood
        self.base += other.base
        if other.missed is not None:
            self.miss(other.missed)

    def miss(self, missed: FloatArray) -> None:
        """Add the mass of missing entries."""
        if self.missed is None:
            self.missed = np.zeros_like(self.sums)
        self.missed += missed


@runtime_checkable
class Density(Protocol):
    """What a mixture needs to know of the density of its components."""

    @property
    def has_variances(self) -> bool:
        """Whether components have variances besides centers."""
        ...

    @property
    def has_exposure(self) -> bool:
        """Whether exposures differ from zero."""
        ...

    def shift(self, centers: FloatArray) -> FloatArray | None:
        """Return what is taken from dense rows before they are scored, or None."""
        ...

    def expose(self, rows: Any, where: slice | IntArray) -> FloatArray:
        """Return the exposures e of rows, which are those at `where` in the source."""
        ...

    def base(self, rows: Any, exposure: FloatArray) -> FloatArray | float:
        """Return the terms of the log-density that no parameter has a part in."""
        ...

    def admit(self, centers: FloatArray) -> FloatArray:
        """Return centers brought into the range of the density."""
        ...

    def begin(self, centers: FloatArray, weights: FloatArray) -> FloatArray:
        """Return centers to start from, none of which rules a feature out."""
        ...

    def express(
        self, centers: FloatArray, weights: FloatArray, variances: FloatArray | None
    ) -> LinearScores:
        """Return the scores `log weight + log density` as linear functions."""
        ...

    def maximize(
        self, sums: MixtureSums, centers: FloatArray, variances: FloatArray | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return the centers and variances that maximise the expected likelihood."""
        ...


# Dividing by less may overflow.
_SAFE_MASS = 1e-290


def project_shares(masses: FloatArray, floor: float) -> FloatArray:
    """Return shares of at least `floor` that maximise `sum masses log shares`.

    Parameters
    ----------
    masses : ndarray of shape (d,) or (d, k)
        Non-negative; each column is shared out by itself.
    floor : float
        Least share, at most `1 / d`.

    Returns
    -------
    ndarray
        Columns that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood.densities import project_shares
    >>> project_shares(np.array([0.0, 1.0, 3.0]), 0.1)
    array([0.1  , 0.225, 0.675])
    """
    table = masses if masses.ndim == 2 else masses[:, None]
    floor = min(floor, 1.0 / table.shape[0])
    totals = table.sum(axis=0)
    if totals.min() > _SAFE_MASS:
        shares = masses / (totals if masses.ndim == 2 else totals[0])
        if shares.min() > floor:  # the usual case: nothing is at the floor
            return np.asarray(shares)
    # Scaled to a largest entry of one, so that no mass is too small to divide by.
    largest = table.max(axis=0)
    table = table / np.where(largest > np.finfo(float).tiny, largest, np.inf)
    low = table <= 0.0
    totals = table.sum(axis=0)
    totals = np.where(totals > 0.0, totals, 1.0)
    while True:
        # What is not at the floor shares the rest in proportion; shares that
        # fall below the floor then join those at it, so this ends.
        rest = np.where(low, 0.0, table).sum(axis=0)
        rest = np.where(rest > 0.0, rest, totals)
        shares = table * ((1.0 - floor * low.sum(axis=0)) / rest)
        lower = low | (shares < floor)
        if (lower == low).all():
            break
        low = lower
    shares = np.where(low, floor, shares)
    # A column without mass is shared out evenly.
    shares /= shares.sum(axis=0)
    return np.asarray(shares if masses.ndim == 2 else shares[:, 0])


def has_mass(mass: FloatArray) -> Any:
    """Return which components have enough mass to learn from."""
    return mass > NO_MASS * max(float(mass.sum()), np.finfo(float).tiny)


def lift_centers(centers: FloatArray, weights: FloatArray) -> FloatArray:
    """Return centers of at least a part of the pooled one."""
    pool = centers @ (weights / weights.sum())
    return np.asarray(np.maximum(centers, _LEAST_PART_OF_POOL * pool[:, None]))


def log_weights(weights: FloatArray) -> FloatArray:
    """Return finite logarithms of weights."""
    return np.asarray(np.log(np.maximum(weights, np.finfo(float).tiny)))


def no_exposure(rows: Any) -> FloatArray:
    """Return an exposure of zero for each row."""
    return np.zeros(rows.shape[0])


def sum_entries(rows: Any, function: Any) -> FloatArray:
    """Return `sum_r f(x_ir)` for each row, where f(0) = 0."""
    if sparse.issparse(rows):
        values = sparse.csr_array(
            (function(rows.data), rows.indices, rows.indptr), shape=rows.shape
        )
        return np.asarray(values @ np.ones(rows.shape[1]))
    return np.asarray(function(rows).sum(axis=1))
