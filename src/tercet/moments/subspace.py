"""Which directions to collect against: exact, iterated or drawn at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from tercet.flow import FloatArray, MomentPlan, Source
from tercet.moments.passes import PairPass, PairState

__all__ = [
    "GRAM_LIMIT",
    "apply_pair",
    "draw_sketch",
    "find_subspace",
    "iterate_subspace",
    "orthonormalize",
]

# Up to this many features the d x d Gram matrix is cheaper than iterating, and
# small enough to be no burden (0.5 MB).
GRAM_LIMIT = 256


def orthonormalize(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis (d, p) of the span of the columns, C-ordered.

    Deficient columns are completed by arbitrary directions, so that the width
    never changes. The signs are fixed, which makes the result a continuous
    function of the columns.
    """
    q, r = linalg.qr(columns, mode="economic", overwrite_a=True, check_finite=False)
    signs = np.where(np.diag(r) < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(q * signs)


def apply_pair(state: PairState, vectors: FloatArray, *, factorial: bool) -> FloatArray:
    """Return `F2 V` from the state of a `PairPass` over V (d, p)."""
    mass = state.tally.masses[1]
    if mass <= 0.0:
        return np.zeros_like(vectors)
    product = state.pair / mass
    if factorial:
        product -= (state.tally.first[1] / mass)[:, None] * vectors
    return np.asarray(product)


def iterate_subspace(
    apply: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    n_iterations: int,
) -> FloatArray:
    """Return an orthonormal basis of the dominant subspace of a symmetric operator.

    Parameters
    ----------
    apply : callable
        Maps a block (d, p) to the operator times the block.
    start : ndarray of shape (d, p)
        Starting block, usually Gaussian.
    n_iterations : int
        Products beyond the first one.

    Returns
    -------
    ndarray of shape (d, p)
        Orthonormal columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments.subspace import iterate_subspace
    >>> matrix = np.diag([9.0, 4.0, 1e-3, 1e-3])
    >>> start = np.random.default_rng(0).standard_normal((4, 2))
    >>> basis = iterate_subspace(lambda block: matrix @ block, start, 2)
    >>> bool(np.allclose(np.abs(basis[2:]), 0.0, atol=1e-6))
    True
    """
    basis = orthonormalize(apply(start))
    for _ in range(n_iterations):
        basis = orthonormalize(apply(basis))
    return basis


def draw_sketch(n_features: int, width: int, rng: np.random.Generator) -> FloatArray:
    """Return a Gaussian sketch (d, width) with columns of unit expected length."""
    return np.asarray(rng.standard_normal((n_features, width)) / np.sqrt(n_features))


def find_subspace(
    source: Source,
    plan: MomentPlan,
    width: int,
    rng: np.random.Generator,
    *,
    factorial: bool,
    exact: bool,
    n_iterations: int,
) -> FloatArray:
    """Return an orthonormal basis of the dominant subspace of the pair moment F2.

    Parameters
    ----------
    source : Source
        Rows; read once (exact) or `n_iterations + 1` times.
    plan : MomentPlan
        Weighting of the rows.
    width : int
        Number of basis columns wanted.
    rng : numpy.random.Generator
        Draws the starting block.
    factorial : bool
        Whether the diagonal correction is taken.
    exact : bool
        Form the d x d Gram matrix and take its eigenvectors (small d only).
    n_iterations : int
        Subspace iterations after the first product.

    Returns
    -------
    ndarray of shape (d, width)
        Orthonormal basis.
    """
    d = source.n_features
    if width >= d:
        return np.eye(d)

    def apply(vectors: FloatArray) -> FloatArray:
        state = source.run(PairPass(vectors, plan))
        return apply_pair(state, vectors, factorial=factorial)

    if exact:
        gram = apply(np.eye(d))
        _, vectors = linalg.eigh(
            (gram + gram.T) / 2.0, subset_by_index=[d - width, d - 1]
        )
        return np.ascontiguousarray(vectors[:, ::-1])
    return iterate_subspace(apply, rng.standard_normal((d, width)), n_iterations)
