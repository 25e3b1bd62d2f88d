"""Independent sources by maximum likelihood, whatever their densities are.

The score of each source is fitted along the way in a small space of functions
(Pham and Garat 1997), so that skewed, heavy-tailed and bounded sources are served
alike; the unmixing matrix moves by quasi-Newton steps on the relative gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from tercet.flow import Block, FloatArray, Outcome, Source, Status
from tercet.kernels.scores import N_FUNCTIONS, add_scores
from tercet.moments.separation_passes import choose_chunk
from tercet.moments.view_passes import project_block

__all__ = ["ScorePass", "ScoreState", "Separation", "fit_scores", "refine_unmixing"]

_N_PRODUCTS = N_FUNCTIONS * (N_FUNCTIONS + 1) // 2
# Where products of two functions are in their upper half, row by row.
_PLACES = np.zeros((N_FUNCTIONS, N_FUNCTIONS), dtype=np.intp)
_PLACES[np.triu_indices(N_FUNCTIONS)] = np.arange(_N_PRODUCTS)
_PLACES = np.maximum(_PLACES, _PLACES.T)
_LONGEST_STEP = 0.5
# Two sources that are nearly Gaussian have a Hessian that is nearly singular.
_LEAST_DETERMINANT = 0.05
_RIDGE = 1e-9


@dataclass(eq=False)
class ScoreState:
    """Sums of scores and of what fits them, while they grow."""

    mass: float
    gradient: FloatArray
    grams: FloatArray
    slopes: FloatArray


@dataclass(frozen=True, eq=False)
class ScorePass:
    """Relative gradient of the likelihood at given sources and scores.

    Parameters
    ----------
    directions : ndarray of shape (d, k)
        What rows are multiplied by to give sources.
    shift : ndarray of shape (k,)
        Taken from sources.
    coefficients : ndarray of shape (4, k)
        Scores of the sources, see `tercet.kernels.scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood.separation import ScorePass
    >>> rows = open_source(np.array([[1.0], [-1.0]]), requirement="reals")
    >>> linear = np.array([[1.0], [0.0], [0.0], [0.0]])
    >>> rows.run(ScorePass(np.eye(1), np.zeros(1), linear)).gradient
    array([[2.]])
    """

    directions: FloatArray
    shift: FloatArray
    coefficients: FloatArray

    def initial(self) -> ScoreState:
        """Return zero sums."""
        k = self.directions.shape[1]
        return ScoreState(
            0.0, np.zeros((k, k)), np.zeros((_N_PRODUCTS, k)), np.zeros((4, k))
        )

    def update(self, state: ScoreState, block: Block) -> ScoreState:
        """Take in one block of rows."""
        scale = np.ones(block.n_rows) if block.weights is None else block.weights
        state.mass += float(scale.sum())
        chunk = choose_chunk(self.directions.shape[1])
        for start in range(0, block.n_rows, chunk):
            rows = slice(start, min(start + chunk, block.n_rows))
            # A source lies in one piece: its sums then stay in registers.
            part = self._project(Block(block.rows[rows]))
            scores = np.empty_like(part)
            add_scores(
                part, scale[rows], self.coefficients, scores, state.grams, state.slopes
            )
            state.gradient += scores @ part.T
        return state

    def _project(self, block: Block) -> FloatArray:
        """Return the sources of a few rows, (k, n)."""
        if block.is_sparse:
            projected = np.ascontiguousarray(project_block(block, self.directions).T)
        else:
            projected = self.directions.T @ cast(FloatArray, block.rows).T
        projected -= self.shift[:, None]
        return projected

    def merge(self, left: ScoreState, right: ScoreState) -> ScoreState:
        """Add the right sums to the left."""
        left.mass += right.mass
        left.gradient += right.gradient
        left.grams += right.grams
        left.slopes += right.slopes
        return left


@dataclass(frozen=True, eq=False)
class Separation:
    """Sources told apart.

    Parameters
    ----------
    rotation : ndarray of shape (k, k)
        What whitened rows are multiplied by; its rows have unit length.
    information : ndarray of shape (k,)
        Fisher information of each source less that of a Gaussian.
    outcome : Outcome
        Steps and the size of the last one.
    """

    rotation: FloatArray
    information: FloatArray
    outcome: Outcome


def fit_scores(grams: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the scores nearest to the true ones in mean square.

    Integration by parts makes `E psi g` equal to `E g'` for the true score, so that
    its projection on the span of the functions solves `E[g g'] c = E[g']`.

    Parameters
    ----------
    grams : ndarray of shape (10, k)
        Sums of products of the functions.
    slopes : ndarray of shape (4, k)
        Sums of their derivatives.

    Returns
    -------
    ndarray of shape (4, k)
        Coefficients for each source.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood.separation import fit_scores
    >>> upper = np.eye(4)[np.triu_indices(4)]
    >>> fit_scores(upper[:, None], np.array([[1.0], [0.0], [0.0], [0.0]])).ravel()
    array([1., 0., 0., 0.])
    """
    matrices = grams.T[:, _PLACES]
    ridge = _RIDGE * grams[np.diagonal(_PLACES)].sum(axis=0)
    matrices += ridge[:, None, None] * np.eye(N_FUNCTIONS)
    return np.ascontiguousarray(
        np.linalg.solve(matrices, slopes.T[..., None])[..., 0].T
    )


def refine_unmixing(
    source: Source,
    whitener: FloatArray,
    shift: FloatArray,
    rotation: FloatArray,
    *,
    max_steps: int = 20,
    tolerance: float = 1e-3,
) -> Separation:
    """Improve an unmixing matrix by quasi-Newton steps over the rows.

    Parameters
    ----------
    source : Source
        Rows; read once a step, and once more for the first scores.
    whitener : ndarray of shape (d, k)
        What rows are multiplied by to be white.
    shift : ndarray of shape (k,)
        Mean of the rows, whitened.
    rotation : ndarray of shape (k, k)
        Where to start.
    max_steps : int
        Budget.
    tolerance : float
        Largest entry of the last relative step. Steps converge quadratically, so
        that what is left is about its square.

    Returns
    -------
    Separation
        The matrix and how the steps ended.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_source
    >>> from tercet.likelihood.separation import refine_unmixing
    >>> rows = np.random.default_rng(0).laplace(size=(2000, 2)) / np.sqrt(2.0)
    >>> start = np.array([[0.9, 0.436], [-0.436, 0.9]])
    >>> found = refine_unmixing(
    ...     open_source(rows, requirement="reals"), np.eye(2), np.zeros(2), start
    ... )
    >>> bool(np.abs(found.rotation - np.eye(2)).max() < 0.05)
    True
    """
    k = rotation.shape[0]
    rotation = rotation / np.linalg.norm(rotation, axis=1)[:, None]
    first = np.zeros((N_FUNCTIONS, k))
    state = source.run(_at(whitener, shift, rotation, first))
    largest, steps = np.inf, 0
    information = np.zeros(k)
    while steps < max_steps and largest > tolerance:
        coefficients = fit_scores(state.grams, state.slopes)
        state = source.run(_at(whitener, shift, rotation, coefficients))
        step, information = _find_step(state, coefficients)
        largest = float(np.abs(step).max())
        if largest > _LONGEST_STEP:
            step *= _LONGEST_STEP / largest
        rotation = rotation + step @ rotation
        rotation /= np.linalg.norm(rotation, axis=1)[:, None]
        steps += 1
    return Separation(rotation, information, _describe(steps, largest, tolerance))


def _at(
    whitener: FloatArray,
    shift: FloatArray,
    rotation: FloatArray,
    coefficients: FloatArray,
) -> ScorePass:
    directions = np.ascontiguousarray(whitener @ rotation.T)
    return ScorePass(directions, rotation @ shift, coefficients)


def _find_step(
    state: ScoreState, coefficients: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the relative quasi-Newton step, and information beyond a Gaussian's."""
    gradient = state.gradient / state.mass
    curvature = (coefficients * state.slopes).sum(axis=0) / state.mass
    variances = state.grams[0] / state.mass
    own = (coefficients * state.grams[:N_FUNCTIONS]).sum(axis=0) / state.mass
    # Entries i, j and j, i of the step solve [[h_ij, o_i], [o_j, h_ji]].
    hessian = np.outer(curvature, variances)
    determinant = np.maximum(
        hessian * hessian.T - np.outer(own, own), _LEAST_DETERMINANT
    )
    step = -(hessian.T * gradient - own[:, None] * gradient.T) / determinant
    np.fill_diagonal(step, 0.0)
    return step, curvature * variances - 1.0


def _describe(steps: int, largest: float, tolerance: float) -> Outcome:
    if largest <= tolerance:
        text = (
            f"The relative step fell to {largest:.1e} after {steps} likelihood steps."
        )
        return Outcome(Status.CONVERGED, steps, largest, text)
    text = (
        f"The relative step was still {largest:.1e} (tolerance {tolerance:.0e}) after "
        f"{steps} likelihood steps; raise refine, or ask for fewer components."
    )
    return Outcome(Status.EXHAUSTED, steps, largest, text)
