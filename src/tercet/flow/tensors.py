"""The small problem, from the equations of a model to its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tercet.flow.arrays import FloatArray, IntArray
from tercet.flow.outcomes import Outcome

__all__ = [
    "Equations",
    "Factors",
    "Parameters",
    "Problem",
    "Verdict",
    "Whitening",
]


@dataclass(frozen=True, eq=False)
class Equations:
    """The moments of a model in the coordinates of a basis B (d x p).

    Every moment method starts from these: `first = M1`, `lift = M2 B`,
    `pair = B' M2 B` and `third = M3(B, B, B)`.

    Parameters
    ----------
    first : ndarray of shape (d,)
        First moment of the model.
    lift : ndarray of shape (d, p)
        Pair moment applied to the basis.
    pair : ndarray of shape (p, p)
        Pair moment inside the basis, symmetric.
    third : ndarray of shape (p, p, p)
        Third moment inside the basis, symmetric.
    basis : ndarray of shape (d, p)
        The basis itself.
    orthonormal : bool
        Whether the columns of the basis are orthonormal. If they are not
        (a one-pass sketch), whitening uses the Nystrom form.
    slices : ndarray of shape (m, p, p) or None
        Slices of the third moment for the features in `slice_features`.
    slice_features : ndarray of shape (m,) or None
        Which features these are.
    hollow : bool
        Whether entries with a repeated feature are missing: zero here, another
        number in the model (factorial moments of binary rows).
    energy : ndarray of shape (p,) or None
        `B' E[x (v.(x - E x))^2]` for directions v of nothing but noise
        (spherical Gaussian).
    """

    first: FloatArray
    lift: FloatArray
    pair: FloatArray
    third: FloatArray
    basis: FloatArray
    orthonormal: bool = True
    slices: FloatArray | None = None
    slice_features: IntArray | None = None
    hollow: bool = False
    energy: FloatArray | None = None

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.lift.shape[0])

    @property
    def width(self) -> int:
        """Number of basis columns p."""
        return int(self.lift.shape[1])


@dataclass(frozen=True)
class Verdict:
    """What the spectrum of the pair moment says about the number of components.

    Parameters
    ----------
    supported : int
        Number of eigenvalues clearly above zero.
    gap : float
        `(e_k - e_{k+1}) / e_k`, NaN when the next eigenvalue is not known.
    next_eigenvalue : float
        The eigenvalue next to the k-th (NaN when not known).
    negative_part : float
        Sum of the negative eigenvalues seen, as a share of the positive ones.
    condition : float
        Largest over smallest eigenvalue kept.
    """

    supported: int
    gap: float
    next_eigenvalue: float
    negative_part: float
    condition: float


@dataclass(frozen=True, eq=False)
class Whitening:
    """Whitening of the pair moment: `W' M2 W = I`, `E = M2 W`.

    Parameters
    ----------
    coordinates : ndarray of shape (p, k)
        W in the coordinates of the basis, `W = B @ coordinates`.
    unwhitening : ndarray of shape (d, k)
        E, which brings whitened vectors back to the features.
    eigenvalues : ndarray of shape (k,)
        Eigenvalues kept, descending.
    spectrum : ndarray
        All eigenvalues that were seen, descending by algebraic value.
    verdict : Verdict
        Rank, gap and negative part.
    """

    coordinates: FloatArray
    unwhitening: FloatArray
    eigenvalues: FloatArray
    spectrum: FloatArray
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class Problem:
    """The small problem that a decomposition solves.

    In the exact case `third = sum_j lambda_j o_j (x) o_j (x) o_j` with
    orthonormal `o_j`, and every slice is `O diag(m_r) O'`.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Whitened third moment, symmetric.
    eigenvalues : ndarray of shape (k,)
        Eigenvalues of the pair moment that were kept. The third moment in the
        orthonormal (not whitened) coordinates of the same subspace is `third`
        with every mode multiplied by their square roots.
    first : ndarray of shape (k,)
        Whitened first moment.
    unwhitening : ndarray of shape (d, k)
        E, from which slices can be formed when none were collected:
        `H_r = sum_a E[r, a] third[:, :, a]`.
    slices : ndarray of shape (m, k, k) or None
        Whitened slices collected from the data.
    slice_features : ndarray of shape (m,) or None
        Features of the collected slices.
    basis_third : ndarray of shape (p, p, p) or None
        Third moment in the coordinates of the basis, before whitening.
    coordinates : ndarray of shape (p, k) or None
        Whitener in those coordinates; `coordinates.T @ a` whitens a vector a.
    """

    third: FloatArray
    eigenvalues: FloatArray
    first: FloatArray
    unwhitening: FloatArray
    slices: FloatArray | None = None
    slice_features: IntArray | None = None
    basis_third: FloatArray | None = None
    coordinates: FloatArray | None = None

    @property
    def n_components(self) -> int:
        """Number of components k."""
        return int(self.third.shape[0])


@dataclass(frozen=True, eq=False)
class Factors:
    """Result of a decomposition, in whitened coordinates.

    Parameters
    ----------
    vectors : ndarray of shape (k, k)
        Columns of unit length, with the sign that makes `eigenvalues`
        non-negative; orthonormal unless `orthogonal` is False.
    eigenvalues : ndarray of shape (k,)
        `lambda_j` with `third ~ sum_j lambda_j v_j (x) v_j (x) v_j`.
    outcome : Outcome
        How the solver ended.
    residual : float
        Norm of the third moment minus its reconstruction, relative.
    orthogonal : bool
        Whether the vectors are orthonormal by construction.
    rows : ndarray of shape (d, k) or None
        Centres read row by row from the slices (SVTD), else None.
    notes : mapping
        Anything a solver wants to add (chosen feature, complex pairs ...).
    """

    vectors: FloatArray
    eigenvalues: FloatArray
    outcome: Outcome
    residual: float
    orthogonal: bool = True
    rows: FloatArray | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Parameters:
    """Parameters of a latent variable model, components by falling weight.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        One column for each component: topic, centre or mixing direction.
    weights : ndarray of shape (k,)
        Weights of the components, summing to one.
    concentration : ndarray of shape (k,) or None
        Dirichlet parameters (LDA) or gamma shapes (gamma-Poisson).
    rate : ndarray of shape (k,) or None
        Gamma rates (gamma-Poisson).
    variances : ndarray of shape (k,) or None
        Variances of the components (spherical Gaussian) or of sources (ICA).
    details : mapping
        Diagnostics of the recovery.
    """

    centers: FloatArray
    weights: FloatArray
    concentration: FloatArray | None = None
    rate: FloatArray | None = None
    variances: FloatArray | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_components(self) -> int:
        """Number of components k."""
        return int(self.centers.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.centers.shape[0])
