"""Robust tensor power iteration with deflation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import random_directions
from tercet.decomposition.validation import require_count, require_positive
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status

__all__ = ["Deflated", "iterate_power", "solve_power"]


class Deflated(NamedTuple):
    """A symmetric tensor with the components found so far taken away.

    They are subtracted from every product, not from the tensor, so that nothing
    of the size of the tensor is written again.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        The tensor.
    vectors : ndarray of shape (k, r)
        Components found.
    values : ndarray of shape (r,)
        Their eigenvalues.
    """

    third: FloatArray
    vectors: FloatArray
    values: FloatArray

    def apply(self, columns: FloatArray) -> FloatArray:
        """Return `T(I, v, v)` of what is left for every column v."""
        size = len(self.third)
        once = (self.third.reshape(size * size, size) @ columns).reshape(size, size, -1)
        image = np.einsum("ijs,js->is", once, columns)
        cosines = self.vectors.T @ columns
        return np.asarray(image - self.vectors @ (self.values[:, None] * cosines**2))


def iterate_power(
    tensor: Deflated, columns: FloatArray, n_iterations: int, tolerance: float
) -> tuple[FloatArray, float, int]:
    """Map unit columns v to `T(I, v, v)`, normalised, again and again.

    Parameters
    ----------
    tensor : Deflated
        What is left of the tensor.
    columns : ndarray of shape (k, s)
        Unit columns to start from.
    n_iterations : int
        Budget.
    tolerance : float
        Stop when no column moves by more.

    Returns
    -------
    columns : ndarray of shape (k, s)
        Unit columns.
    moved : float
        Largest move of the last iteration.
    iterations : int
        How many were made.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> whole = Deflated(third, np.zeros((2, 0)), np.zeros(0))
    >>> columns, moved, count = iterate_power(whole, np.array([[0.8], [0.6]]), 20, 1e-9)
    >>> columns.round(9).ravel().tolist(), moved < 1e-9
    ([1.0, 0.0], True)
    """
    moved = np.inf
    count = 0
    while count < n_iterations and moved > tolerance:
        image = tensor.apply(columns)
        lengths = np.linalg.norm(image, axis=0)
        # A column that the tensor sends to zero stays where it is.
        image = np.where(lengths > 0.0, image / np.maximum(lengths, 1e-300), columns)
        moved = float(np.linalg.norm(image - columns, axis=0).max())
        columns = image
        count += 1
    return columns, moved, count


def solve_power(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,
    n_starts: int = 25,
    n_iterations: int = 20,
    max_refinements: int = 200,
    tolerance: float = 1e-12,
) -> Factors:
    """Decompose by the robust tensor power method.

    For one component after the other, iterations `v <- T(I, v, v)` are run from
    starts that are uniform on the whole sphere; the one with the largest
    `T(v, v, v)` is refined until it rests, and its component is taken away from
    all products that follow.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the starts; None takes fixed ones.
    n_starts : int, default=25
        Starts for each component.
    n_iterations : int, default=20
        Iterations of every start. Paper 000 uses 25 starts of 20 iterations,
        paper 002 uses 10 of 100.
    max_refinements : int, default=200
        Budget of iterations of the best start.
    tolerance : float, default=1e-12
        Move of a unit vector at which it rests.

    Returns
    -------
    Factors
        Vectors that are orthonormal as far as the tensor allows. The outcome is
        exhausted if a component did not come to rest; `notes["moves"]` has the
        last move of each.

    References
    ----------
    A. Anandkumar, R. Ge, D. Hsu, S. M. Kakade and M. Telgarsky, Tensor
    decompositions for learning latent variable models, JMLR 15 (2014) 2773-2832,
    algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> factors = solve_power(Problem(third, np.ones(2), np.ones(2), np.eye(2)))
    >>> np.sort(factors.eigenvalues).round(9), factors.outcome.converged
    (array([2., 3.]), True)
    """
    require_count("n_starts", n_starts)
    require_count("n_iterations", n_iterations)
    require_count("max_refinements", max_refinements)
    require_positive("tolerance", tolerance)
    generator = np.random.default_rng(0) if rng is None else rng
    size = problem.n_components
    vectors = np.zeros((size, 0))
    values = np.zeros(0)
    moves = np.empty(size)
    most = 0
    for component in range(size):
        tensor = Deflated(problem.third, vectors, values)
        starts = np.ascontiguousarray(random_directions(size, n_starts, generator).T)
        found, _, _ = iterate_power(tensor, starts, n_iterations, tolerance)
        heights = (tensor.apply(found) * found).sum(axis=0)
        best = found[:, [int(np.argmax(heights))]]
        best, moves[component], count = iterate_power(
            tensor, best, max_refinements, tolerance
        )
        value = (tensor.apply(best) * best).sum(axis=0)
        vectors = np.hstack([vectors, best])
        values = np.hstack([values, value])
        most = max(most, n_iterations + count)
    return assemble_factors(
        problem.third,
        vectors,
        _describe(moves, tolerance, most),
        orthogonal=False,
        notes={"moves": moves},
    )


def _describe(moves: FloatArray, tolerance: float, most: int) -> Outcome:
    """Say whether every component came to rest."""
    largest = float(moves.max())
    restless = int(np.count_nonzero(moves > tolerance))
    if restless == 0:
        text = f"All components came to rest within {most} iterations."
        return Outcome(Status.CONVERGED, most, largest, text)
    text = (
        f"{restless} of {len(moves)} components still moved by up to {largest:.1e} "
        f"after {most} iterations."
    )
    return Outcome(Status.EXHAUSTED, most, largest, text)


add_decomposition(
    "power",
    solve_power,
    reference="Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014",
    cost="k^4 s i for s starts of i iterations",
    orthogonal=False,
    draws=True,
)
