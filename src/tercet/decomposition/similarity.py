"""Joint diagonalisation by similarity as a decomposition."""

from __future__ import annotations

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.joint import choose_targets
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.similarity_diagonalization import diagonalize_by_similarity
from tercet.decomposition.targets import off_diagonal_ratio
from tercet.flow import Factors, Problem

__all__ = ["solve_similarity"]


def solve_similarity(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,
    variant: str = "sh-rt",
    targets: str = "basis",
    n_targets: int | None = None,
    max_sweeps: int = 200,
    tolerance: float = 1e-10,
) -> Factors:
    """Decompose by non-orthogonal joint diagonalisation by similarity.

    Exact whitened targets are `O diag(a) O'`, and `O' = O^-1` makes them similar
    to diagonal matrices. Noise may then bend the vectors away from
    orthogonality, which the rotations of `joint` do not allow.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the directions of `targets="random"` and the combination of
        `variant="eigen"`; None takes fixed ones.
    variant : {"sh-rt", "just", "jdtm", "eigen"}, default="sh-rt"
        The published rule for shears, or the eigenvectors of one combination.
    targets : {"basis", "random", "slices"}, default="basis"
        What is diagonalised, as in `joint`.
    n_targets : int or None
        How many random directions; None takes as many as components.
    max_sweeps : int, default=200
        Budget of sweeps.
    tolerance : float, default=1e-10
        Largest sine or hyperbolic sine of a converged sweep.

    Returns
    -------
    Factors
        Vectors that need not be orthonormal; `notes["off_diagonal"]` is the
        off-diagonal share of the targets that is left.

    References
    ----------
    A. Podosinnikova, On the method of moments for estimation in latent linear
    models, 2016, algorithm 3; see `diagonalize_by_similarity` for the variants.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.ones(2), np.ones(2), np.eye(2))
    >>> np.sort(solve_similarity(problem).eigenvalues).round(12)
    array([2., 3.])
    """
    stack = choose_targets(problem, targets, n_targets, rng)
    vectors, inverse, outcome = diagonalize_by_similarity(
        stack, variant, max_sweeps=max_sweeps, tolerance=tolerance, rng=rng
    )
    notes = {"off_diagonal": off_diagonal_ratio(inverse @ stack @ vectors)}
    return assemble_factors(
        problem.third, vectors, outcome, orthogonal=False, notes=notes
    )


add_decomposition(
    "similarity",
    solve_similarity,
    reference="Fu and Gao 2006; Podosinnikova 2016, algorithm 3",
    cost="k^4 a sweep (m k^3 for m targets)",
    orthogonal=False,
    draws=True,
)
