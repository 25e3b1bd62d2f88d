"""Frozen values that pass from room to room.

Nothing here computes a model: these are the nouns (`Block`, `Equations`,
`Whitening`, `Problem`, `Factors`, `Parameters`, `Outcome`) by which the rooms
speak to one another, and the one `Registry` class that gives names to choices.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tercet.exceptions import ParameterError

__all__ = [
    "Block",
    "Equations",
    "Factors",
    "FloatArray",
    "IntArray",
    "Outcome",
    "Parameters",
    "Pass",
    "Problem",
    "Registry",
    "Source",
    "Status",
    "Verdict",
    "Whitening",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

State = TypeVar("State")
Entry = TypeVar("Entry")


class Status(StrEnum):
    """How an iterative routine ended."""

    EXACT = "exact"
    CONVERGED = "converged"
    EXHAUSTED = "exhausted"
    FELL_BACK = "fell back"


@dataclass(frozen=True)
class Outcome:
    """What an iterative routine reports about its end.

    Parameters
    ----------
    status : Status
        `EXACT` for a closed form, `CONVERGED` when the stopping rule was met,
        `EXHAUSTED` when the budget ran out first, `FELL_BACK` when another
        method had to be used.
    iterations : int
        Iterations (or sweeps) that were made.
    residual : float
        The quantity that the stopping rule looks at, at the end.
    message : str
        One sentence for a person.

    Examples
    --------
    >>> from tercet.flow import Outcome, Status
    >>> Outcome(Status.EXACT, 0, 0.0, "Closed form.").converged
    True
    """

    status: Status
    iterations: int
    residual: float
    message: str

    @property
    def converged(self) -> bool:
        """Whether the result satisfies the routine's own stopping rule."""
        return self.status in (Status.EXACT, Status.CONVERGED)


@dataclass(frozen=True, eq=False)
class Block:
    """A run of consecutive rows.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n, d)
        Float64 values; CSR with sorted, unique column indices, or C-ordered.
    start : int
        Index of the first row in the whole source.
    weights : ndarray of shape (n,) or None
        Row weights; None means one each.
    """

    rows: sparse.csr_array | FloatArray
    start: int = 0
    weights: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows in the block."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are kept in compressed sparse row form."""
        return sparse.issparse(self.rows)


@runtime_checkable
class Pass(Protocol[State]):
    """Work over rows as a commutative monoid.

    `update` and `merge` may change and return their first argument; `initial`
    gives a fresh identity each time.
    """

    def initial(self) -> State:
        """Return the identity of `merge`."""
        ...

    def update(self, state: State, block: Block) -> State:
        """Return the state with one block of rows taken in."""
        ...

    def merge(self, left: State, right: State) -> State:
        """Return the state of both halves together."""
        ...


@runtime_checkable
class Source(Protocol):
    """Rows that a pass can be run over."""

    n_features: int
    feature_names: tuple[str, ...] | None
    rereadable: bool

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        ...


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
    """

    first: FloatArray
    lift: FloatArray
    pair: FloatArray
    third: FloatArray
    basis: FloatArray
    orthonormal: bool = True
    slices: FloatArray | None = None
    slice_features: IntArray | None = None

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


class Registry(Generic[Entry]):
    """Names for choices, with an error that lists the valid ones.

    Parameters
    ----------
    argument : str
        Name of the argument by which users choose, for error messages.

    Examples
    --------
    >>> from tercet.flow import Registry
    >>> shapes = Registry[int]("shape")
    >>> shapes.add("square", 4)
    >>> shapes["square"]
    4
    """

    def __init__(self, argument: str) -> None:
        self.argument = argument
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Add an entry; names are unique."""
        if name in self._entries:
            raise ParameterError(f"{self.argument} {name!r} is registered twice.")
        self._entries[name] = entry

    def __getitem__(self, name: str) -> Entry:
        """Return the entry, or say which names there are."""
        if name not in self._entries:
            known = ", ".join(repr(known) for known in self._entries)
            close = difflib.get_close_matches(str(name), self._entries, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ParameterError(
                f"{self.argument}={name!r} is not known; choose one of {known}.{hint}"
            )
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Whether the name is known."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in order of registration."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._entries)
