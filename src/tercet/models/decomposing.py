"""From sums to parameters: equations, whitening, decomposition, recovery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tercet.decomposition import solve
from tercet.exceptions import ParameterError
from tercet.flow import (
    Equations,
    Factors,
    Family,
    Moments,
    Parameters,
    Problem,
    Whitening,
)
from tercet.intake import make_generator
from tercet.whitening import whiten_pair, whiten_third

__all__ = ["CompletingFamily", "Solution", "decompose", "solve_equations"]


@runtime_checkable
class CompletingFamily(Protocol):
    """A family that fills unobserved entries of its moments from an estimate."""

    rounds: int

    def complete(
        self, equations: Equations, parameters: Parameters | None, n_components: int
    ) -> Equations:
        """Return the equations with their diagonals filled in."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters and everything on the way to them.

    Parameters
    ----------
    parameters : Parameters
        What was recovered.
    equations : Equations
        Moments of the model in the basis.
    whitening : Whitening
        Of the pair moment.
    problem : Problem
        The small problem.
    factors : Factors
        Its solution.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import SingleTopic
    >>> from tercet.flow import Parameters
    >>> from tercet.models import solve_equations
    >>> truth = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.8, 0.2]))
    >>> solution = solve_equations(SingleTopic().population(truth), SingleTopic(), 2)
    >>> solution.whitening.verdict.supported, solution.factors.outcome.converged
    (2, True)
    """

    parameters: Parameters
    equations: Equations
    whitening: Whitening
    problem: Problem
    factors: Factors


def solve_equations(
    equations: Equations,
    family: Family,
    n_components: int,
    method: str = "joint",
    *,
    rng: np.random.Generator | None = None,
    **solver_parameters: Any,
) -> Solution:
    """Go from the moments of a model to its parameters.

    Parameters
    ----------
    equations : Equations
        Moments in a basis, from `Moments.equations` or exact.
    family : Family
        The model.
    n_components : int
        Number of components k.
    method : str
        Name of a decomposition.
    rng : numpy.random.Generator or None
        For methods that draw; None takes their fixed choices.
    **solver_parameters
        Handed to the decomposition.

    Returns
    -------
    Solution
        Parameters and every value on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import Poisson
    >>> from tercet.flow import Parameters
    >>> from tercet.models.decomposing import solve_equations
    >>> truth = Parameters(np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([0.8, 0.2]))
    >>> exact = Poisson().population(truth)
    >>> solve_equations(exact, Poisson(), 2).parameters.weights.round(6)
    array([0.8, 0.2])
    """

    def solve_once(current: Equations) -> Solution:
        whitening = whiten_pair(current, n_components)
        problem = whiten_third(current, whitening)
        factors = solve(problem, method, rng=rng, **solver_parameters)
        parameters = family.recover(factors, whitening, current)
        return Solution(parameters, current, whitening, problem, factors)

    if not isinstance(family, CompletingFamily):
        return solve_once(equations)
    return _solve_in_rounds(equations, family, n_components, solve_once)


def _solve_in_rounds(
    equations: Equations,
    family: CompletingFamily,
    n_components: int,
    solve_once: Callable[[Equations], Solution],
) -> Solution:
    """Fill, solve, fill from the solution, and again."""
    filled = family.complete(equations, None, n_components)
    solution = solve_once(filled)
    if filled is equations:  # nothing was missing
        return solution
    for _ in range(family.rounds):
        filled = family.complete(equations, solution.parameters, n_components)
        solution = solve_once(filled)
    return solution


def decompose(
    moments: Moments,
    n_components: int,
    method: str = "joint",
    *,
    random_state: int | np.random.Generator | None = None,
    **solver_parameters: Any,
) -> Parameters:
    """Learn the parameters of a model from collected sums; no row is read.

    Parameters
    ----------
    moments : Moments
        Sums from `tercet.moments.collect`, added up or loaded from a file.
    n_components : int
        Number of components k, at most the one that the sums were collected for.
    method : str
        Name of a decomposition; see `tercet.decomposition.DECOMPOSITIONS`.
    random_state : int, Generator or None
        For methods that draw; None takes fixed choices, so that the same sums
        always give the same answer.
    **solver_parameters
        Parameters of the decomposition.

    Returns
    -------
    parameters : Parameters
        Centers, weights and what else the family has, by falling weight.
        `details` holds the whitening's verdict and the solver's outcome.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(
    ...     np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 1.0]])[rng.integers(2, size=500)]
    ... )
    >>> sums = tercet.moments.collect(X, "poisson", n_components=2)
    >>> tercet.decompose(sums, 2).centers.round(0).max(axis=1)
    array([9., 9., 1.])
    """
    if not isinstance(moments, Moments):
        raise ParameterError(
            f"moments={type(moments).__name__} is not a Moments; collect it from rows with "
            "tercet.moments.collect(X, family, n_components)."
        )
    rng = None if random_state is None else make_generator(random_state)
    solution = solve_equations(
        moments.equations(),
        moments.family,
        n_components,
        method,
        rng=rng,
        **solver_parameters,
    )
    details = dict(solution.parameters.details) | {
        "verdict": solution.whitening.verdict,
        "outcome": solution.factors.outcome,
        "residual": solution.factors.residual,
    }
    return replace(solution.parameters, details=details)
