"""Mixtures of independent Bernoulli features: binary rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.families.completing import (
    RepeatedEntries,
    add_diagonal,
    add_repeated,
    find_hollow_subspace,
    fit_repeated,
    iterate_diagonal,
)
from tercet.families.draws import draw_bernoulli, draw_labels
from tercet.families.population import (
    SliceChoice,
    check_components,
    plant_equations,
)
from tercet.families.recovering import recover_mixture
from tercet.families.settings import check_count, check_positive
from tercet.families.shifting import shift_moments
from tercet.flow import (
    Equations,
    Factors,
    FloatArray,
    IntArray,
    MomentPlan,
    Moments,
    Parameters,
    Registry,
    Source,
    Whitening,
)
from tercet.moments.assembly import contract_table
from tercet.moments.passes import PairPass
from tercet.moments.subspace import apply_pair, orthonormalize

__all__ = ["Bernoulli"]

# Products with a Gram matrix in memory cost next to nothing.
_GRAM_ITERATIONS = 100
# A basis with columns to spare need not be found to the last digit.
_GRAM_TOLERANCE = 1e-3
_TINY = float(np.finfo(np.float64).tiny)
_KINDS = Registry[str]("moments")
for _name in ("completed", "factorial", "raw"):
    _KINDS.add(_name, _name)


@dataclass(frozen=True)
class Bernoulli:
    """A mixture of binary rows with independent features.

    `M2 = sum_j omega_j mu_j mu_j'` and `M3 = sum_j omega_j mu_j^(x)3` hold for
    distinct features only, as a one times itself is one. Raw moments keep what
    rows show there, `mu` in place of `mu^2` (thesis 001, theorem 4.3.1, bounds
    the bias); factorial moments are zero there, which is nearer for sparse
    rows; completed moments fill in what the model says (method section 2).
    `ThreeViews("bernoulli")` learns the same model from moments across three
    views of the features, where no feature is repeated.

    Parameters
    ----------
    moments : {"completed", "factorial", "raw"}
        What stands where a feature is repeated.
    rounds : int
        How often completed third moments are filled again from the parameters
        that came out; zero fits them to the other entries alone.
    tolerance : float
        Share of itself to which what is filled in is found; 0.001 will do for a
        start.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import Bernoulli
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.8, 0.2]))
    >>> Bernoulli().population(truth).first
    array([0.76, 0.24])
    >>> rows, label = Bernoulli().sample(truth, 3, np.random.default_rng(0))
    >>> rows.shape, label.shape
    ((3, 2), (3,))
    """

    moments: str = "completed"
    rounds: int = 1
    tolerance: float = 1e-12

    name: ClassVar[str] = "bernoulli"
    requirement: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        _KINDS[self.moments]
        check_count("rounds", self.rounds, 0)
        check_positive("tolerance", self.tolerance)

    @property
    def factorial(self) -> bool:
        """Whether entries with a repeated feature are taken out."""
        return self.moments != "raw"

    @property
    def plan(self) -> MomentPlan:
        """Sums by rows."""
        return MomentPlan("rows")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {
            "moments": self.moments,
            "rounds": self.rounds,
            "tolerance": self.tolerance,
        }

    def choose_basis(
        self,
        source: Source,
        n_components: int,
        *,
        strategy: str,
        extra: int,
        n_iterations: int,
        rng: np.random.Generator,
    ) -> FloatArray | None:
        """Return the leading subspace of M2 with its diagonal filled in on the way.

        Without its diagonal M2 spans another space than the centers, and has
        negative eigenvalues of the size of its smaller positive ones, which
        subspace iteration, looking at absolute values, would run after.

        Parameters
        ----------
        source : Source
            Rows; read `n_iterations + 1` times, or once if the Gram matrix is
            formed.
        n_components : int
            Number of components k.
        strategy : str
            "exact" forms the Gram matrix; a "sketch" needs nothing of this.
        extra : int
            Basis columns beyond k.
        n_iterations : int
            Subspace iterations.
        rng : numpy.random.Generator
            Draws the starting block.

        Returns
        -------
        ndarray of shape (d, p) or None
            Orthonormal basis; None where any one will do.
        """
        d, width = source.n_features, n_components + extra
        if not self.factorial or strategy == "sketch" or width >= d:
            return None

        def read(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
            state = source.run(PairPass(vectors, self.plan))
            first = state.tally.first[0] / max(state.tally.masses[0], _TINY)
            return first, apply_pair(state, vectors, factorial=True)

        start = orthonormalize(rng.standard_normal((d, width)))
        if strategy != "exact":
            return find_hollow_subspace(read, start, n_components, n_iterations)
        first, gram = read(np.eye(d))
        return find_hollow_subspace(
            lambda vectors: (first, gram @ vectors),
            start,
            n_components,
            _GRAM_ITERATIONS,
            most_steps=1,
            tolerance=_GRAM_TOLERANCE,
        )

    def equations(self, moments: Moments) -> Equations:
        """Return raw or factorial moments; `complete` fills the latter."""
        shifted = shift_moments(moments, 0.0, 0.0, 0.0, factorial=self.factorial)
        return replace(shifted, hollow=self.factorial)

    def complete(
        self, equations: Equations, parameters: Parameters | None, n_components: int
    ) -> Equations:
        """Fill the entries in which a feature is repeated, inside the basis.

        The diagonal of M2 becomes that of its best approximation of rank k,
        which is iterated. The entries (i, i, l) of M3 are fitted to the others
        by least squares, or become `sum_j omega_j mu_ij^2 mu_lj` once there are
        parameters; they are a sum over features of `b_i (x) b_i (x) t_i`, so
        that nothing larger than p^3 is formed.

        Parameters
        ----------
        equations : Equations
            Factorial moments; others are returned as they are.
        parameters : Parameters or None
            Estimate from which M3 is filled; None fits it to what is there.
        n_components : int
            Rank k of the model.

        Returns
        -------
        Equations
            Completed moments.
        """
        if self.moments != "completed" or not equations.hollow:
            return equations
        start = (
            None if parameters is None else parameters.centers**2 @ parameters.weights
        )
        diagonal = iterate_diagonal(
            equations, n_components, start, tolerance=self.tolerance
        )
        lift, pair = add_diagonal(equations, diagonal)
        paired = replace(equations, lift=lift, pair=pair, hollow=False)
        entries = (
            fit_repeated(paired, n_components, tolerance=self.tolerance)
            if parameters is None
            else _entries_of(parameters)
        )
        return add_repeated(paired, entries)

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return probabilities of a one, and weights."""
        return recover_mixture(factors, whitening, equations, least=0.0, most=1.0)

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the moments of the model, with nothing missing.

        Parameters
        ----------
        parameters : Parameters
            Probabilities as columns, and weights.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            `sum omega mu`, `sum omega mu mu'`, `sum omega mu^(x)3`, whatever
            `moments` says.
        """
        self._check(parameters)
        w = parameters.weights
        return plant_equations(parameters.centers, w, w, w, basis=basis, slices=slices)

    def expectation(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return what `equations` tends to as rows grow in number.

        Parameters
        ----------
        parameters : Parameters
            Probabilities as columns, and weights.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Moments that are hollow, or raw, where a feature is repeated.
        """
        full = self.population(parameters, basis=basis, slices=slices)
        squares = parameters.centers**2 @ parameters.weights
        if self.factorial:
            lift, pair = add_diagonal(full, -squares)
            hollow = replace(full, lift=lift, pair=pair, hollow=True)
            return add_repeated(hollow, _entries_of(parameters), sign=-1.0)
        # Raw rows have E x_i x_l at (i, i, l) and E x_i at (i, i, i).
        lift, pair = add_diagonal(full, full.first - squares)
        return replace(
            full,
            lift=lift,
            pair=pair,
            third=full.third + _raw_third(full, parameters),
            slices=_raw_slices(full, parameters),
        )

    def sample(
        self, parameters: Parameters, n_rows: int, rng: np.random.Generator
    ) -> tuple[sparse.csr_array, IntArray]:
        """Draw rows and the component of each.

        Parameters
        ----------
        parameters : Parameters
            Probabilities and weights.
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        rows : csr_array of shape (n_rows, d)
            Zeros and ones.
        labels : ndarray of shape (n_rows,)
            Component of each row.
        """
        self._check(parameters)
        labels = draw_labels(parameters.weights, n_rows, rng)
        return draw_bernoulli(labels, parameters.centers, rng), labels

    def _check(self, parameters: Parameters) -> None:
        check_components(parameters)
        if parameters.centers.max() > 1.0:
            raise ParameterError(
                f"parameters.centers has the entry {parameters.centers.max():g}; "
                "probabilities end at 1."
            )


# What raw rows show ---------------------------------------------------------------


def _entries_of(parameters: Parameters) -> RepeatedEntries:
    """Return the entries of a model in which a feature is repeated."""
    k = parameters.n_components
    core = np.zeros((k, k, k))
    core[range(k), range(k), range(k)] = parameters.weights
    return RepeatedEntries(parameters.centers, core)


def _weigh_products(basis: FloatArray, columns: FloatArray) -> FloatArray:
    """Return `B' diag(c_j) B` for every column c_j, shape (k, p, p)."""
    return np.stack([basis.T @ (basis * column[:, None]) for column in columns.T])


def _join_slices(
    rows: FloatArray, spread: FloatArray, cross: FloatArray, cubes: FloatArray
) -> FloatArray:
    outer = rows[:, :, None] * cross[:, None, :]
    own = cubes[:, None, None] * rows[:, :, None] * rows[:, None, :]
    return np.asarray(spread + outer + outer.transpose(0, 2, 1) - 2.0 * own)


def _raw_third(full: Equations, parameters: Parameters) -> FloatArray:
    """Return what raw moments add where a feature is repeated."""
    centers, weights, basis = parameters.centers, parameters.weights, full.basis
    inside = centers.T @ basis
    bent = centers - centers**2
    # (i, i, i): mu in place of mu^3, where the table puts three times
    # mu (mu - mu^2).
    own = (centers - centers**3) @ weights - 3.0 * (bent * centers) @ weights
    table = (bent * weights) @ inside + own[:, None] * basis / 3.0
    return contract_table(basis, table)


def _raw_slices(full: Equations, parameters: Parameters) -> FloatArray | None:
    """Return the slices of raw moments."""
    if full.slices is None or full.slice_features is None:
        return None
    basis, features = full.basis, full.slice_features
    centers, weights = parameters.centers, parameters.weights
    bent = centers - centers**2
    diagonals = _weigh_products(basis, bent * weights)
    spread = np.tensordot(centers[features], diagonals, axes=(1, 0))
    cross = (bent[features] * weights) @ (centers.T @ basis)
    own = (centers - centers**3 - 3.0 * bent * centers)[features] @ weights
    return np.asarray(
        full.slices + _join_slices(basis[features], spread, cross, -own / 2.0)
    )
