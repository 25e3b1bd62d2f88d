"""Eigenvectors of one random combination of slices, or of the ratio of two."""

from __future__ import annotations

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import feature_direction
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status

__all__ = ["real_columns", "solve_eigen", "solve_svd"]


def solve_svd(problem: Problem, *, rng: np.random.Generator | None = None) -> Factors:
    """Decompose by the singular vectors of one random combination of slices.

    The combination is symmetric, so that its eigenvectors are its singular
    vectors; taken as eigenvectors, two of them are not mixed up when their
    eigenvalues differ in nothing but the sign.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the coefficients; None takes one fixed draw.

    Returns
    -------
    Factors
        Orthonormal vectors; `notes["gap"]` is the least distance between two
        singular values, relative to the largest.

    References
    ----------
    A. Anandkumar, D. P. Foster, D. Hsu, S. M. Kakade and Y.-K. Liu, A spectral
    algorithm for latent Dirichlet allocation, NIPS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.ones(2), np.ones(2), np.eye(2))
    >>> np.sort(solve_svd(problem).eigenvalues)
    array([2., 3.])
    """
    generator = np.random.default_rng(0) if rng is None else rng
    if problem.slices is None:
        combination = problem.third @ feature_direction(problem, generator)
    else:
        coefficients = generator.standard_normal(len(problem.slices))
        combination = np.tensordot(coefficients, problem.slices, 1)
    combination = 0.5 * (combination + combination.T)
    values, vectors = np.linalg.eigh(combination)
    largest = float(np.abs(values).max())
    gaps = np.diff(np.sort(np.abs(values))) if len(values) > 1 else values
    notes = {"gap": float(np.abs(gaps).min() / largest) if largest else 0.0}
    outcome = Outcome(
        Status.EXACT, 0, 0.0, "Eigenvectors of one combination of slices."
    )
    return assemble_factors(problem.third, vectors, outcome, notes=notes)


def solve_eigen(problem: Problem, *, rng: np.random.Generator | None = None) -> Factors:
    """Decompose by the eigenvectors of the ratio of two random combinations.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws both combinations; None takes one fixed draw.

    Returns
    -------
    Factors
        Vectors that need not be orthonormal; `notes["complex_pairs"]` counts
        pairs of complex eigenvectors, each replaced by its real and imaginary
        part.

    References
    ----------
    A. Anandkumar, D. Hsu and S. M. Kakade, A method of moments for mixture
    models and hidden Markov models, COLT 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.ones(2), np.ones(2), np.eye(2))
    >>> np.sort(solve_eigen(problem).eigenvalues).round(12)
    array([2., 3.])
    """
    generator = np.random.default_rng(0) if rng is None else rng
    over = problem.third @ feature_direction(problem, generator)
    under = problem.third @ feature_direction(problem, generator)
    # lstsq stands a singular denominator; the ratio is then that of its range.
    ratio = np.linalg.lstsq(under, over, rcond=None)[0].T
    vectors, pairs = real_columns(*np.linalg.eig(ratio))
    outcome = Outcome(
        Status.EXACT, 0, 0.0, "Eigenvectors of the ratio of two contractions."
    )
    return assemble_factors(
        problem.third,
        vectors,
        outcome,
        orthogonal=False,
        notes={"complex_pairs": pairs},
    )


def real_columns(
    values: np.ndarray[tuple[int, ...], np.dtype[np.complex128]] | FloatArray,
    vectors: np.ndarray[tuple[int, ...], np.dtype[np.complex128]] | FloatArray,
) -> tuple[FloatArray, int]:
    """Replace each pair of complex eigenvectors by its real and imaginary part.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Eigenvalues; complex ones stand in conjugate pairs.
    vectors : ndarray of shape (k, k)
        Eigenvectors in columns.

    Returns
    -------
    columns : ndarray of shape (k, k)
        Real columns that span the same invariant subspaces.
    pairs : int
        How many pairs there were.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> real_columns(*np.linalg.eig(turn))[1]
    1
    """
    upper = np.imag(values) > 0.0
    lower = np.imag(values) < 0.0
    columns = np.real(vectors).copy()
    # The conjugate holds the same real part; it gives way to the imaginary one.
    columns[:, lower] = np.imag(vectors[:, upper])
    return np.ascontiguousarray(columns), int(upper.sum())


add_decomposition(
    "svd",
    solve_svd,
    reference="Anandkumar, Foster, Hsu, Kakade and Liu 2012 (NIPS)",
    cost="k^3",
    draws=True,
)
add_decomposition(
    "eigen",
    solve_eigen,
    reference="Anandkumar, Hsu and Kakade 2012 (COLT)",
    cost="k^3",
    orthogonal=False,
    draws=True,
)
