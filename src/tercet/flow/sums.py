"""Sums over rows: what is kept of the data once the rows have gone by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from tercet.exceptions import ParameterError
from tercet.flow.arrays import FloatArray, IntArray
from tercet.flow.registry import Registry
from tercet.flow.tensors import Equations, Factors, Parameters, Whitening

__all__ = ["FAMILIES", "Family", "MomentPlan", "Moments", "Weighting"]

Weighting: TypeAlias = Literal["length", "document", "three-words", "rows"]


@dataclass(frozen=True)
class MomentPlan:
    """Which sums a family needs.

    Parameters
    ----------
    weighting : {"length", "document", "three-words", "rows"}
        How rows are weighted (method section 2): by their number of token
        pairs and triples, equally, equally after three tokens were drawn, or
        equally without looking at tokens at all.
    energy : bool
        Whether the squared length of a row outside the basis is summed, too
        (spherical Gaussian).
    """

    weighting: Weighting = "rows"
    energy: bool = False

    @property
    def by_tokens(self) -> bool:
        """Whether the normalisers count tokens instead of rows."""
        return self.weighting != "rows"


@runtime_checkable
class Family(Protocol):
    """The equations of a model."""

    @property
    def name(self) -> str:
        """Name under which the family is registered."""
        ...

    @property
    def requirement(self) -> str:
        """What values the family accepts (see `tercet.intake`)."""
        ...

    @property
    def plan(self) -> MomentPlan:
        """Which sums the family needs."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        ...

    @property
    def factorial(self) -> bool:
        """Whether pairs and triples of one token with itself are taken out."""
        ...

    def equations(self, moments: Moments) -> Equations:
        """Turn sums into the moments of the model."""
        ...

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Turn factors into parameters."""
        ...


# Families by name. The room `families` fills it when somebody first asks for one;
# each entry builds a family from its settings, loading its module on first use.
FAMILIES = Registry[Callable[..., Family]]("family", filled_by="tercet.families")


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of rows against a basis B (d x p), ready to be merged.

    Two `Moments` of the same family and basis add up with `+`, in any order;
    the result is that of all rows in one pass. Nothing here is normalised.

    Parameters
    ----------
    family : Family
        The model whose moments these are.
    basis : ndarray of shape (d, p)
        Directions in which pairs and triples were contracted.
    orthonormal : bool
        Whether the basis is orthonormal (a subspace), or a random sketch.
    n_rows : int
        Rows seen.
    total_weight : float
        Sum of the row weights.
    masses : ndarray of shape (3,)
        Normalisers of the first, pair and third sums.
    lengths : ndarray of shape (5,)
        Sums over rows of `t`, `t(t-1)`, `t(t-1)(t-2)` and of the squares of
        the last two, `t` being the tokens of a row.
    longest : float
        Largest number of tokens in a row.
    short : ndarray of shape (3,)
        Rows with no token, with fewer than two and with fewer than three.
    first : ndarray of shape (3, d)
        `sum_i s_i x_i` with the scales of first, pair and third moments.
    pair : ndarray of shape (d, p)
        `sum_i s2_i x_i (B' x_i)'`, without diagonal correction.
    cross : ndarray of shape (d, p) or None
        The same with the scale of the third moment; None if they agree.
    third : ndarray of shape (p, p, p)
        `sum_i s3_i z_i (x) z_i (x) z_i` with `z_i = B' x_i`.
    energy : ndarray of shape (d,) or None
        `sum_i r_i x_i (|x_i|^2 - |z_i|^2)`.
    power : float
        `sum_i r_i |x_i|^2` (zero unless the plan asks for it).
    slices : ndarray of shape (m, p, p) or None
        `sum_i s3_i x_ir Q_i` for the features in `slice_features`.
    slice_features : ndarray of shape (m,) or None
        Features whose slices were collected.
    feature_names : tuple of str or None
        Names of the features.
    """

    family: Family
    basis: FloatArray
    orthonormal: bool
    n_rows: int
    total_weight: float
    masses: FloatArray
    lengths: FloatArray
    longest: float
    short: IntArray
    first: FloatArray
    pair: FloatArray
    cross: FloatArray | None
    third: FloatArray
    energy: FloatArray | None = None
    power: float = 0.0
    slices: FloatArray | None = None
    slice_features: IntArray | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.basis.shape[0])

    @property
    def width(self) -> int:
        """Number of basis columns p."""
        return int(self.basis.shape[1])

    def equations(self) -> Equations:
        """Return the model's moments in the basis."""
        return self.family.equations(self)

    def with_family(self, family: Family) -> Moments:
        """Return the same sums read by another family that needs the same sums.

        Parameters
        ----------
        family : Family
            For instance latent Dirichlet allocation with another concentration.
        """
        if family.plan != self.family.plan:
            raise ParameterError(
                f"family={family.name!r} needs other sums ({family.plan}) than those "
                f"collected for {self.family.name!r} ({self.family.plan}); collect again."
            )
        return replace(self, family=family)

    def __add__(self, other: Moments) -> Moments:
        """Return the sums of both sets of rows together."""
        self._check_mergeable(other)

        def both(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
            return None if a is None or b is None else a + b

        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            total_weight=self.total_weight + other.total_weight,
            masses=self.masses + other.masses,
            lengths=self.lengths + other.lengths,
            longest=max(self.longest, other.longest),
            short=self.short + other.short,
            first=self.first + other.first,
            pair=self.pair + other.pair,
            cross=both(self.cross, other.cross),
            third=self.third + other.third,
            energy=both(self.energy, other.energy),
            power=self.power + other.power,
            slices=both(self.slices, other.slices),
        )

    def __radd__(self, other: object) -> Moments:
        """Let `sum` start from its zero."""
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def _check_mergeable(self, other: Moments) -> None:
        """Refuse sums that do not belong together."""
        if not isinstance(other, Moments):
            raise ParameterError(f"other={other!r} is not a Moments; only sums add up.")
        if self.n_features != other.n_features:
            raise ParameterError(
                f"Moments of {self.n_features} and of {other.n_features} features "
                "cannot be merged; use one vocabulary for all parts."
            )
        if self.feature_names != other.feature_names:
            raise ParameterError(
                "The two Moments name their features differently and cannot be "
                "merged; bring the columns into one order first."
            )
        if (self.family.name, dict(self.family.settings)) != (
            other.family.name,
            dict(other.family.settings),
        ):
            raise ParameterError(
                f"Moments of family {self.family.name!r} {dict(self.family.settings)} and "
                f"{other.family.name!r} {dict(other.family.settings)} cannot be merged."
            )
        if not np.array_equal(self.basis, other.basis):
            raise ParameterError(
                "The two Moments were collected against different bases; collect the "
                "second with basis=first.basis (and the same orthonormal flag)."
            )
        same_slices = (self.slices is None) == (other.slices is None) and (
            self.slice_features is None
            or other.slice_features is None
            or np.array_equal(self.slice_features, other.slice_features)
        )
        if not same_slices:
            raise ParameterError(
                "The two Moments hold slices of different features; collect both "
                "with the same `slices`."
            )
