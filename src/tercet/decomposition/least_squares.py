"""Symmetric, if wanted non-negative, decomposition by Gauss-Newton steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tercet.decomposition.assembly import assemble_factors, measure_cubes
from tercet.decomposition.pencil import solve_pencil
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.targets import unwhitened_third
from tercet.decomposition.validation import require_count, require_positive
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status

__all__ = ["SymmetricFit", "fit_symmetric", "solve_nls"]


class SymmetricFit(NamedTuple):
    """Where the Gauss-Newton steps ended.

    Parameters
    ----------
    components : ndarray of shape (p, r)
        Columns c with `T ~ sum_j c_j (x) c_j (x) c_j`.
    misfit : float
        Norm of the tensor minus its reconstruction, relative.
    gradient : float
        Largest entry of the gradient, relative to the tensor.
    iterations : int
        Steps tried.
    """

    components: FloatArray
    misfit: float
    gradient: float
    iterations: int


class _Model:
    """Half the squared misfit of `sum_j c_j (x) c_j (x) c_j`.

    With a basis Q (p x r) the tensor is that of r coordinates, the columns have
    p; nothing of size p^3 is formed. With `G = C' C`, the squared misfit is
    `|T|^2 - 2 sum_j T(c_j, c_j, c_j) + sum_ij G_ij^3`.
    """

    def __init__(self, third: FloatArray, basis: FloatArray | None) -> None:
        self.third = third
        self.basis = basis
        self.whole = float(np.vdot(third, third))

    def evaluate(self, columns: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost and its gradient."""
        inner = columns if self.basis is None else self.basis.T @ columns
        size = len(self.third)
        once = (self.third.reshape(size * size, size) @ inner).reshape(size, size, -1)
        image = np.einsum("ijr,jr->ir", once, inner)
        gram = columns.T @ columns
        cross = float((inner * image).sum())
        cost = 0.5 * (self.whole - 2.0 * cross + float((gram**3).sum()))
        outer = image if self.basis is None else self.basis @ image
        return max(cost, 0.0), np.asarray(3.0 * (columns @ gram**2 - outer))

    def apply(self, columns: FloatArray, step: FloatArray) -> FloatArray:
        """Return the Gauss-Newton matrix `J'J` times a step."""
        gram = columns.T @ columns
        mixed = step.T @ columns
        return np.asarray(3.0 * (step @ gram**2 + 2.0 * columns @ (gram * mixed)))


def _bounded_step(
    model: _Model,
    columns: FloatArray,
    gradient: FloatArray,
    free: FloatArray,
    radius: float,
) -> FloatArray:
    """Minimise the quadratic model inside a ball by truncated conjugate gradients."""
    step = np.zeros_like(columns)
    rest = -gradient * free
    direction = rest.copy()
    energy = float(np.vdot(rest, rest))
    # Superlinear convergence asks for more digits the nearer the solution is.
    goal = energy * min(0.1, np.sqrt(energy)) ** 2
    for _ in range(min(columns.size, 200)):
        image = model.apply(columns, direction) * free
        curvature = float(np.vdot(direction, image))
        if curvature <= 0.0:
            return _to_border(step, direction, radius)
        length = energy / curvature
        following = step + length * direction
        if np.linalg.norm(following) >= radius:
            return _to_border(step, direction, radius)
        step = following
        rest = rest - length * image
        before, energy = energy, float(np.vdot(rest, rest))
        if energy <= goal:
            break
        direction = rest + energy / before * direction
    return step


def _to_border(step: FloatArray, direction: FloatArray, radius: float) -> FloatArray:
    """Go along a direction until the step has the length of the radius."""
    a = float(np.vdot(direction, direction))
    if a == 0.0:
        return step
    b = float(np.vdot(step, direction))
    c = float(np.vdot(step, step)) - radius**2
    root = np.sqrt(max(b * b - a * c, 0.0))
    return np.asarray(step + (root - b) / a * direction)


def _split(
    columns: FloatArray, gradient: FloatArray, bounded: bool
) -> tuple[FloatArray, float]:
    """Return which entries may move (1 or 0), and the largest slope of these.

    An entry at its bound that the gradient holds there does not move.
    """
    if not bounded:
        return np.ones_like(columns), float(np.abs(gradient).max())
    low = 1e-9 * float(columns.max())
    free = np.where((columns <= low) & (gradient > 0.0), 0.0, 1.0)
    return free, float(np.abs(gradient * free).max())


def fit_symmetric(
    third: FloatArray,
    start: FloatArray,
    *,
    basis: FloatArray | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-12,
) -> SymmetricFit:
    """Fit `T ~ sum_j c_j (x) c_j (x) c_j` by Gauss-Newton steps in a trust region.

    Parameters
    ----------
    third : ndarray of shape (r, r, r)
        Symmetric tensor.
    start : ndarray of shape (r, k) or (p, k)
        Columns to start from; (p, k), not negative, with a basis.
    basis : ndarray of shape (p, r) or None
        Orthonormal columns. When given, components have p entries of which none
        is negative, and the tensor is that of their r coordinates.
    max_iterations : int
        Budget of steps.
    tolerance : float
        Largest entry of the gradient, relative to the tensor, at the end.

    Returns
    -------
    SymmetricFit
        Components, misfit and how the steps ended.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 8.0, 1.0
    >>> fit = fit_symmetric(third, np.array([[1.5, 0.2], [0.1, 0.7]]))
    >>> fit.components.round(6) + 0.0
    array([[2., 0.],
           [0., 1.]])
    """
    size = float(np.linalg.norm(third)) or 1.0
    # At scale one, tolerances mean the same for every tensor.
    model = _Model(third / size, basis)
    shrink = size ** (1.0 / 3.0)
    bounded = basis is not None
    columns = start / shrink
    cost, gradient = model.evaluate(columns)
    free, steepness = _split(columns, gradient, bounded)
    radius = max(0.3 * float(np.linalg.norm(columns)), 1e-3)
    count = 0
    while count < max_iterations and steepness > tolerance:
        count += 1
        step = _bounded_step(model, columns, gradient, free, radius)
        following = columns + step
        if bounded:
            following = np.maximum(following * free, 0.0)
            step = following - columns
        promised = -float(np.vdot(gradient, step)) - 0.5 * float(
            np.vdot(step, model.apply(columns, step))
        )
        reached, turned = model.evaluate(following)
        moved, flatness = _split(following, turned, bounded)
        # Below the rounding error of the cost only the gradient can judge.
        blurred = promised <= 1e-14
        gain = (cost - reached) / promised if promised > 0.0 else 0.0
        if gain > 1e-3 or (blurred and flatness < steepness):
            columns, cost, gradient = following, reached, turned
            free, steepness = moved, flatness
            if gain > 0.75:
                radius = max(radius, 2.5 * float(np.linalg.norm(step)))
        elif blurred:
            break
        else:
            radius = 0.25 * min(radius, float(np.linalg.norm(step)) or radius)
    misfit = float(np.sqrt(2.0 * cost))
    return SymmetricFit(columns * shrink, misfit, steepness, count)


def solve_nls(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,
    nonnegative: bool = False,
    max_iterations: int = 200,
    tolerance: float = 1e-11,
) -> Factors:
    """Decompose by nonlinear least squares, started from a pencil.

    Minimises the misfit of `T = sum_j c_j (x) c_j (x) c_j` in orthonormal, not
    whitened, coordinates by Gauss-Newton steps in a trust region. The three
    modes are the same columns by construction.

    Parameters
    ----------
    problem : Problem
        The small problem.
    rng : numpy.random.Generator or None
        Draws the pencil to start from; None takes a fixed choice.
    nonnegative : bool, default=False
        Whether components must have no negative entry among the features, as
        topics, rates and probabilities have none. It costs d x k unknowns
        instead of k x k.
    max_iterations : int, default=200
        Budget of steps.
    tolerance : float, default=1e-11
        Largest entry of the gradient, relative to the tensor, at the end.

    Returns
    -------
    Factors
        Vectors that need not be orthonormal. `notes["misfit"]` is the relative
        misfit that was minimised, `notes["gradient"]` the gradient at the end.

    References
    ----------
    L. Sorber, M. Van Barel and L. De Lathauwer, Structured data fusion, IEEE J.
    Sel. Top. Signal Process. 9 (2015) 586-600; Takemura 2018, section 3.3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> factors = solve_nls(Problem(third, np.ones(2), np.ones(2), np.eye(2)))
    >>> np.sort(factors.eigenvalues).round(9), factors.outcome.converged
    (array([2., 3.]), True)
    """
    require_count("max_iterations", max_iterations)
    require_positive("tolerance", tolerance)
    third, scale = unwhitened_third(problem)
    fit = fit_symmetric(
        third,
        _scaled_pencil(third, rng),
        max_iterations=max_iterations,
        tolerance=tolerance,
    )
    components = fit.components
    if nonnegative:
        # E = Q R gives Q = E R^-1; the free fit is where the bounded one starts.
        basis = np.asarray(
            np.linalg.lstsq(scale.T, problem.unwhitening.T, rcond=None)[0].T
        )
        fit = fit_symmetric(
            third,
            np.maximum(basis @ components, 0.0),
            basis=basis,
            max_iterations=max_iterations,
            tolerance=tolerance,
        )
        components = basis.T @ fit.components
    vectors = np.asarray(np.linalg.lstsq(scale, components, rcond=None)[0])
    return assemble_factors(
        problem.third,
        vectors,
        _describe(fit, max_iterations, tolerance),
        orthogonal=False,
        notes={"misfit": fit.misfit, "gradient": fit.gradient},
    )


def _scaled_pencil(third: FloatArray, rng: np.random.Generator | None) -> FloatArray:
    """Return the components of a pencil with the lengths of least squares."""
    columns, _ = solve_pencil(third, rng)
    columns = columns / np.linalg.norm(columns, axis=0)
    gram = (columns.T @ columns) ** 3
    cubes = np.linalg.lstsq(gram, measure_cubes(third, columns), rcond=None)[0]
    return np.asarray(columns * np.cbrt(cubes))


def _describe(fit: SymmetricFit, max_iterations: int, tolerance: float) -> Outcome:
    """Say whether the gradient vanished."""
    count, gradient = fit.iterations, fit.gradient
    if gradient <= tolerance:
        text = f"The gradient fell to {gradient:.1e} after {count} steps."
        return Outcome(Status.CONVERGED, count, gradient, text)
    if count < max_iterations:
        # The steps end when what they promise is below the rounding of the misfit.
        text = f"Nothing is left to gain but rounding; the gradient is {gradient:.1e}."
        return Outcome(Status.CONVERGED, count, gradient, text)
    text = f"The budget of {count} steps ended at a gradient of {gradient:.1e}."
    return Outcome(Status.EXHAUSTED, count, gradient, text)


add_decomposition(
    "nls",
    solve_nls,
    reference="Sorber, Van Barel and De Lathauwer 2015; Takemura 2018, section 3.3.3",
    cost="k^4 a step and k^3 for each of its products (d k^2 if non-negative)",
    takes="unwhitened",
    orthogonal=False,
    draws=True,
)
