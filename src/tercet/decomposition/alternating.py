"""Alternating least squares for the canonical polyadic decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.pencil import solve_pencil
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import random_directions, unwhitened_third
from tercet.decomposition.validation import (
    require_choice,
    require_count,
    require_positive,
)
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status

__all__ = ["Alternation", "alternate", "solve_als"]

SPACES = ("whitened", "unwhitened", "full")
STARTS = ("gevd", "random")

# A misfit below this is rounding; no other start can do better.
_REPRODUCED = 1e-9


class Alternation(NamedTuple):
    """Where one run of alternating least squares ended.

    Parameters
    ----------
    columns : tuple of three ndarray of shape (k, r)
        Unit columns of the three modes.
    misfit : float
        Norm of the tensor minus its reconstruction, relative.
    change : float
        Change of the misfit in the last sweep.
    sweeps : int
        Sweeps made.
    """

    columns: tuple[FloatArray, FloatArray, FloatArray]
    misfit: float
    change: float
    sweeps: int


def alternate(
    third: FloatArray, start: FloatArray, max_sweeps: int, tolerance: float
) -> Alternation:
    """Fit the three modes in turn, each by linear least squares.

    Parameters
    ----------
    third : ndarray of shape (k, k, k)
        Symmetric tensor.
    start : ndarray of shape (k, r)
        Columns to start all modes from.
    max_sweeps : int
        Budget.
    tolerance : float
        Change of the relative misfit at which to stop.

    Returns
    -------
    Alternation
        The modes and how well they fit.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> run = alternate(third, np.array([[0.9, 0.2], [0.1, 0.8]]), 50, 1e-12)
    >>> run.misfit < 1e-6
    True
    """
    size = len(third)
    flat = third.reshape(size, size * size)
    whole = float(np.linalg.norm(third)) or 1.0
    modes = [start.copy(), start.copy(), start.copy()]
    misfit = change = np.inf
    sweeps = 0
    while sweeps < max_sweeps and change > tolerance:
        for mode in range(3):
            first, second = modes[mode - 1], modes[mode - 2]
            # The tensor is symmetric: every mode has the same unfolding.
            pairs = (first[:, None, :] * second[None, :, :]).reshape(size * size, -1)
            image = flat @ pairs
            gram = (first.T @ first) * (second.T @ second)
            fitted = np.asarray(np.linalg.lstsq(gram, image.T, rcond=None)[0].T)
            lengths = np.linalg.norm(fitted, axis=0)
            # A component that died keeps its direction, and may come back.
            alive = lengths > 1e-12 * lengths.max()
            modes[mode] = np.where(
                alive, fitted / np.where(alive, lengths, 1.0), modes[mode]
            )
        before = misfit
        rest = flat - fitted @ pairs.T
        misfit = float(np.linalg.norm(rest)) / whole
        change = abs(before - misfit)
        sweeps += 1
    return Alternation((modes[0], modes[1], modes[2]), misfit, change, sweeps)


def _merge_modes(run: Alternation) -> FloatArray:
    """Return one direction for the three of every component."""
    first, second, third = run.columns
    # Two modes may carry a minus sign each; the first one is the measure.
    second = second * np.where((first * second).sum(axis=0) < 0.0, -1.0, 1.0)
    third = third * np.where((first * third).sum(axis=0) < 0.0, -1.0, 1.0)
    return np.asarray(first + second + third)


def solve_als(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,
    space: str = "whitened",
    start: str = "gevd",
    n_starts: int = 10,
    max_sweeps: int = 250,
    tolerance: float = 1e-13,
) -> Factors:
    """Decompose by alternating least squares.

    The three modes are fitted in turn without regard to symmetry, and merged at
    the end. Runs from random starts, as published, often end with two columns
    on one component, the more so the more components there are; the run of the
    least misfit is returned, and no further start is tried once the tensor is
    reproduced. The default starts from a pencil instead.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the starts; None takes fixed ones.
    space : {"whitened", "unwhitened", "full"}, default="whitened"
        Fit the whitened third moment, or the third moment with its own scales
        in orthonormal coordinates of the span, or, as published, all of the
        third moment that was collected: for few features the basis has as many
        columns, and this is the d x d x d tensor. Without it "full" means
        "unwhitened".
    start : {"gevd", "random"}, default="gevd"
        The components of a pencil of contractions, or random orthonormal
        directions.
    n_starts : int, default=10
        Random starts at most.
    max_sweeps : int, default=250
        Budget of sweeps of each start.
    tolerance : float, default=1e-13
        Change of the relative misfit at which a run stops.

    Returns
    -------
    Factors
        Vectors that need not be orthonormal. `notes["misfit"]` is the relative
        misfit of the three modes before they are merged.

    References
    ----------
    T. G. Kolda and B. W. Bader, Tensor decompositions and applications, SIAM
    Review 51 (2009) 455-500.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> factors = solve_als(Problem(third, np.ones(2), np.ones(2), np.eye(2)))
    >>> np.sort(factors.eigenvalues).round(6)
    array([2., 3.])
    """
    require_choice("space", space, SPACES)
    require_choice("start", start, STARTS)
    require_count("n_starts", n_starts)
    require_count("max_sweeps", max_sweeps)
    require_positive("tolerance", tolerance)
    third, to_whitened = _choose_tensor(problem, space)
    generator = np.random.default_rng(0) if rng is None else rng
    if start == "gevd":
        inner, scale = unwhitened_third(problem)
        found = np.linalg.lstsq(scale, solve_pencil(inner, rng)[0], rcond=None)[0]
        columns: FloatArray = np.asarray(np.linalg.pinv(to_whitened) @ found)
        columns = np.asarray(columns / np.linalg.norm(columns, axis=0))
        best = alternate(third, columns, max_sweeps, tolerance)
    else:
        size = problem.n_components
        best = _best_of(third, size, n_starts, max_sweeps, tolerance, generator)
    vectors = to_whitened @ _merge_modes(best)
    return assemble_factors(
        problem.third,
        vectors,
        _describe(best, tolerance),
        orthogonal=False,
        notes={"misfit": best.misfit},
    )


def _choose_tensor(problem: Problem, space: str) -> tuple[FloatArray, FloatArray]:
    """Return the tensor to fit, and the map from its coordinates to whitened ones."""
    if space == "whitened":
        return problem.third, np.eye(problem.n_components)
    collected, coordinates = problem.basis_third, problem.coordinates
    if space == "full" and collected is not None and coordinates is not None:
        return collected, coordinates.T
    third, scale = unwhitened_third(problem)
    return third, np.asarray(np.linalg.pinv(scale))


def _best_of(
    third: FloatArray,
    n_components: int,
    n_starts: int,
    max_sweeps: int,
    tolerance: float,
    rng: np.random.Generator,
) -> Alternation:
    """Return the run of the least misfit from random orthonormal starts."""
    best: Alternation | None = None
    for _ in range(n_starts):
        drawn = random_directions(len(third), n_components, rng).T
        start = np.linalg.qr(drawn)[0]
        run = alternate(third, start, max_sweeps, tolerance)
        if best is None or run.misfit < best.misfit:
            best = run
        if best.misfit < _REPRODUCED:
            break
    assert best is not None
    return best


def _describe(run: Alternation, tolerance: float) -> Outcome:
    if run.change <= tolerance:
        text = f"The misfit came to rest at {run.misfit:.1e} after {run.sweeps} sweeps."
        return Outcome(Status.CONVERGED, run.sweeps, run.change, text)
    text = (
        f"The budget of {run.sweeps} sweeps ended at a misfit of {run.misfit:.1e} that "
        f"still changed by {run.change:.1e}."
    )
    return Outcome(Status.EXHAUSTED, run.sweeps, run.change, text)


add_decomposition(
    "als",
    solve_als,
    reference="Kolda and Bader 2009, figure 3.3; Takemura 2018, section 3.3.1",
    cost="3 k^4 a sweep of each start",
    orthogonal=False,
    draws=True,
)
