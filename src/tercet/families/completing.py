"""Filling in the entries of moments in which a feature is repeated.

Rows of ones and zeros show every pair and triple of distinct features; where a
feature is repeated they show nothing of what a mixture has there. But a moment of
low rank is determined by its other entries (method section 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, gmres

from tercet.flow import Equations, FloatArray
from tercet.moments.assembly import contract_table
from tercet.moments.subspace import orthonormalize

__all__ = [
    "RepeatedEntries",
    "add_diagonal",
    "add_repeated",
    "find_hollow_subspace",
    "fit_repeated",
    "iterate_diagonal",
]

# The diagonal is iterated until it moves by less than this share of itself; the
# cap is far above what samples need.
_TOLERANCE = 1e-12
_MOST_STEPS = 1000
_MOST_PRODUCTS = 100
# Products round, so that a fit cannot get closer.
_LEAST_RESIDUAL = 1e-11
# While the subspace still moves the diagonal need not stand still.
_STEPS_ON_THE_WAY = 10


def add_diagonal(
    equations: Equations, diagonal: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return `(M2 B, B' M2 B)` with a diagonal added to M2.

    Parameters
    ----------
    equations : Equations
        Moments in a basis B.
    diagonal : ndarray of shape (d,)
        What is added.

    Returns
    -------
    lift : ndarray of shape (d, p)
        `M2 B`.
    pair : ndarray of shape (p, p)
        `B' M2 B`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.completing import add_diagonal
    >>> from tercet.families.population import plant_equations
    >>> one = np.ones(1)
    >>> planted = plant_equations(np.array([[2.0]]), one, one, one)
    >>> add_diagonal(planted, one)[1]
    array([[5.]])
    """
    basis = equations.basis
    product = diagonal[:, None] * basis
    lift = equations.lift + product
    pair = equations.pair + basis.T @ product
    return lift, (pair + pair.T) / 2.0


def iterate_diagonal(
    equations: Equations,
    n_components: int,
    start: FloatArray | None = None,
    *,
    most_steps: int = _MOST_STEPS,
    tolerance: float = _TOLERANCE,
) -> FloatArray:
    """Return the diagonal that the best approximation of rank k has itself.

    A model's `sum omega mu^2` lies between the square of the mean and the mean,
    and so is every step kept.

    Parameters
    ----------
    equations : Equations
        Moments whose M2 has no diagonal.
    n_components : int
        Rank k.
    start : ndarray of shape (d,) or None
        Where to begin; None is the square of the mean.
    most_steps : int
        Budget of steps.
    tolerance : float
        Steps end when the diagonal moves by less than this share of the mean.

    Returns
    -------
    ndarray of shape (d,)
        Diagonal of M2.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import Bernoulli
    >>> from tercet.families.completing import iterate_diagonal
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.array([[0.5], [0.2], [0.1]]), np.ones(1))
    >>> hollow = Bernoulli("factorial").expectation(truth)
    >>> iterate_diagonal(hollow, 1).round(6)
    array([0.25, 0.04, 0.01])
    """
    least, most = equations.first**2, np.maximum(equations.first, 0.0)
    diagonal = least if start is None else start
    scale = float(np.linalg.norm(most))
    gram = None if equations.orthonormal else equations.basis.T @ equations.basis
    ahead = _Extrapolation()
    for _ in range(most_steps):
        lift, pair = add_diagonal(equations, diagonal)
        values, vectors = _decompose(pair, gram)
        # The k leading ones, of which rank may be lacking.
        kept = values[-n_components:]
        above = kept > 1e-12 * max(float(kept[-1]), 0.0)
        columns = lift @ vectors[:, -n_components:][:, above]
        # With E = M2 U S^(-1/2), E E' is the approximation; U is unit in the
        # metric of the basis.
        approximation = (columns**2) @ (1.0 / kept[above])
        following = np.minimum(np.maximum(approximation, least), most)
        moved = float(np.linalg.norm(following - diagonal))
        if moved <= tolerance * scale or most_steps == 1:
            return following
        diagonal = np.minimum(np.maximum(ahead.look(diagonal, following), least), most)
    return diagonal


class _Extrapolation:
    """Anderson's acceleration of an iteration, from the last two steps of it.

    The iteration converges linearly, slowly where components are hard to tell.
    """

    _MOST = 4.0  # steps ahead

    def __init__(self) -> None:
        self._known: tuple[FloatArray, FloatArray] | None = None

    def look(self, point: FloatArray, following: FloatArray) -> FloatArray:
        """Return a better point than the one that follows, once there are two."""
        move, known = following - point, self._known
        self._known = move, following
        if known is None:
            return following
        change = move - known[0]
        size = float(change @ change)
        share = float(move @ change) / size if size > 0.0 else 0.0
        share = min(max(share, -self._MOST), 1.0)
        return np.asarray(following - share * (following - known[1]))


def _decompose(
    pair: FloatArray, gram: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues, rising, and vectors that are unit in the metric of `gram`."""
    if gram is None:  # NumPy's costs half of SciPy's where matrices are this small
        values, vectors = np.linalg.eigh(pair)
    else:
        values, vectors = linalg.eigh(pair, gram)
    return values, vectors


def find_hollow_subspace(
    read: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    start: FloatArray,
    n_components: int,
    n_iterations: int,
    *,
    most_steps: int = _MOST_STEPS,
    tolerance: float = _TOLERANCE,
) -> FloatArray:
    """Return the leading subspace of a pair moment whose diagonal is missing.

    Subspace iteration on `F2 + diag(m)`, where m begins at the square of the
    mean and becomes the diagonal of the approximation of rank k at each step.

    Parameters
    ----------
    read : callable
        Gives the mean and `F2 V` for a block V.
    start : ndarray of shape (d, p)
        Orthonormal starting block.
    n_components : int
        Rank k.
    n_iterations : int
        Most products beyond the first one.
    most_steps : int
        Most steps of the diagonal for each product. Many save readings of the
        rows; where products are cheap, one is enough.
    tolerance : float
        Products end when the diagonal moves by less than this share.

    Returns
    -------
    ndarray of shape (d, p)
        Orthonormal columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.completing import find_hollow_subspace
    >>> mean = np.array([0.5, 0.2, 0.1, 0.1])
    >>> hollow = np.outer(mean, mean) - np.diag(mean**2)
    >>> start = np.linalg.qr(np.ones((4, 1)))[0]
    >>> found = find_hollow_subspace(lambda v: (mean, hollow @ v), start, 1, 50)
    >>> bool(np.allclose(found[:, 0] ** 2, (mean / np.linalg.norm(mean)) ** 2))
    True
    """
    basis, diagonal = start, np.zeros(start.shape[0])
    for step in range(n_iterations + 1):
        first, lift = read(basis)
        if step == 0:
            following = first**2
        else:
            seen = Equations(first, lift, basis.T @ lift, np.zeros(0), basis)
            following = iterate_diagonal(
                seen, n_components, diagonal, most_steps=most_steps
            )
        moved = float(np.linalg.norm(following - diagonal))
        diagonal = following
        basis = orthonormalize(lift + diagonal[:, None] * basis)
        if moved <= tolerance * float(np.linalg.norm(first)):
            break
    return basis


@dataclass(frozen=True, eq=False)
class RepeatedEntries:
    """Entries (i, i, l) of a symmetric tensor `core(U, U, U)`.

    Parameters
    ----------
    frame : ndarray of shape (d, r)
        U.
    core : ndarray of shape (r, r, r)
        Symmetric; for a model in its own coordinates `sum omega e^(x)3`.
    """

    frame: FloatArray
    core: FloatArray

    def rows(self) -> FloatArray:
        """Return `core(U_i, U_i, .)`, shape (d, r)."""
        r = self.core.shape[0]
        once = (self.frame @ self.core.reshape(r, r * r)).reshape(-1, r, r)
        return np.asarray(np.einsum("iab,ia->ib", once, self.frame))

    def table(self, basis: FloatArray) -> FloatArray:
        """Return what `contract_table` must get, in the coordinates of a basis."""
        rows = self.rows()
        cubes = np.einsum("ia,ia->i", rows, self.frame)
        # (i, i, i) is met in all three orders but is one entry.
        inside = rows @ (self.frame.T @ basis)
        return np.asarray(inside - (2.0 / 3.0) * cubes[:, None] * basis)


def add_repeated(
    equations: Equations, entries: RepeatedEntries, *, sign: float = 1.0
) -> Equations:
    """Add entries with a repeated feature to a third moment and its slices.

    Parameters
    ----------
    equations : Equations
        Moments in a basis.
    entries : RepeatedEntries
        What is added.
    sign : float
        -1 takes them away.

    Returns
    -------
    Equations
        With another `third` and other `slices`; the rest as it was.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.completing import RepeatedEntries, add_repeated
    >>> from tercet.families.population import plant_equations
    >>> one = np.ones(1)
    >>> planted = plant_equations(np.array([[2.0]]), one, one, one)
    >>> own = RepeatedEntries(np.array([[2.0]]), np.ones((1, 1, 1)))
    >>> add_repeated(planted, own, sign=-1.0).third
    array([[[0.]]])
    """
    basis = equations.basis
    third = equations.third + sign * contract_table(basis, entries.table(basis))
    slices = equations.slices
    if slices is not None and equations.slice_features is not None:
        features = equations.slice_features
        rows = entries.rows()
        # (i, i, r): a diagonal; (r, l, r) and (l, r, r): a row and a column.
        diagonals = np.stack([basis.T @ (basis * row[:, None]) for row in rows.T])
        spread = np.tensordot(entries.frame[features], diagonals, axes=(1, 0))
        cross = rows[features] @ (entries.frame.T @ basis)
        cubes = np.einsum("ia,ia->i", rows[features], entries.frame[features])
        own = basis[features]
        outer = own[:, :, None] * cross[:, None, :]
        cubed = cubes[:, None, None] * own[:, :, None] * own[:, None, :]
        slices = slices + sign * (
            spread + outer + outer.transpose(0, 2, 1) - 2.0 * cubed
        )
    return replace(equations, third=third, slices=slices)


def fit_repeated(
    equations: Equations, n_components: int, *, tolerance: float = _TOLERANCE
) -> RepeatedEntries:
    """Fit a tensor in the leading subspace of M2 to the entries that are there.

    A third moment of the model is `core(U, U, U)` with U the k leading
    eigenvectors of M2; its entries with distinct features are linear in the
    core. The core whose own repeated entries, filled in, give the core back is
    their least-squares solution; it solves a linear equation whose operator
    costs `d k^3`, and no decomposition is needed on the way.

    Parameters
    ----------
    equations : Equations
        Moments with a complete M2 and a third moment that has no entry with a
        repeated feature.
    n_components : int
        Rank k.
    tolerance : float
        Largest residual of the equation, as a share of its right side.

    Returns
    -------
    RepeatedEntries
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from tercet.families import Bernoulli
    >>> from tercet.families.completing import add_repeated, fit_repeated
    >>> from tercet.flow import Parameters
    >>> centers = np.random.default_rng(0).random((12, 2))
    >>> truth = Parameters(centers, np.array([0.7, 0.3]))
    >>> full = Bernoulli().population(truth)
    >>> hollow = Bernoulli("factorial").expectation(truth)
    >>> given = replace(full, third=hollow.third)
    >>> filled = add_repeated(given, fit_repeated(given, 2))
    >>> bool(np.allclose(filled.third, full.third))
    True
    """
    basis = equations.basis
    gram = None if equations.orthonormal else basis.T @ basis
    vectors = _decompose(equations.pair, gram)[1][:, ::-1][:, :n_components]
    frame = orthonormalize(equations.lift @ vectors)
    # A sketch does not hold the frame; `seen` turns its coordinates into the
    # frame's, `(B seen)' U = I`.
    seen = linalg.pinv(basis.T @ frame).T
    directions = basis @ seen
    k = frame.shape[1]
    known = _contract(equations.third, seen)

    def fill(core: FloatArray) -> FloatArray:
        entries = RepeatedEntries(frame, core.reshape(k, k, k))
        return contract_table(directions, entries.table(directions)).ravel()

    operator = LinearOperator(
        (k**3, k**3), matvec=lambda core: core.ravel() - fill(core), dtype=np.float64
    )
    core, _ = gmres(
        operator,
        known.ravel(),
        rtol=max(tolerance, _LEAST_RESIDUAL),
        restart=20,
        maxiter=_MOST_PRODUCTS // 20,
    )
    return RepeatedEntries(frame, core.reshape(k, k, k))


def _contract(third: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return a symmetric tensor in other coordinates."""
    for _ in range(3):  # contracts the first index, and puts the new one last
        third = np.tensordot(third, vectors, axes=(0, 0))
    return third
