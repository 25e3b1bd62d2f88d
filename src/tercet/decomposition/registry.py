"""The protocol that decompositions share, and their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from tercet.decomposition.validation import check_problem
from tercet.exceptions import ParameterError
from tercet.flow import Factors, Problem, Registry

__all__ = ["DECOMPOSITIONS", "Decomposition", "Takes", "add_decomposition", "solve"]

# `solve(problem, *, rng=None, **parameters)`.
Solver: TypeAlias = Callable[..., Factors]
Takes: TypeAlias = Literal["whitened", "slices", "unwhitened"]


@dataclass(frozen=True)
class Decomposition:
    """A way to decompose, and what one wants to know about it.

    Parameters
    ----------
    name : str
        Name by which users choose it.
    solve : callable
        `solve(problem, rng=..., **parameters)` returns `Factors`.
    reference : str
        Where the method was published.
    cost : str
        Multiply-adds in terms of components k, features d, targets m.
    defaults : mapping
        Parameters and the values that they take when nothing is said.
    takes : {"whitened", "slices", "unwhitened"}
        What it works on: the whitened third moment, whitened slices of single
        features, or the third moment in coordinates that are not whitened.
    orthogonal : bool
        Whether its vectors are orthonormal in whitened coordinates.
    exact : bool
        Whether exact moments give the exact factors.
    draws : bool
        Whether it uses a generator of random numbers when it is given one.

    Examples
    --------
    >>> from tercet.decomposition import DECOMPOSITIONS
    >>> DECOMPOSITIONS["joint"].orthogonal
    True
    """

    name: str
    solve: Solver
    reference: str
    cost: str
    defaults: Mapping[str, Any]
    takes: Takes
    orthogonal: bool
    exact: bool
    draws: bool


DECOMPOSITIONS = Registry[Decomposition]("method")


def add_decomposition(
    name: str,
    solver: Solver,
    *,
    reference: str,
    cost: str,
    takes: Takes = "whitened",
    orthogonal: bool = True,
    exact: bool = True,
    draws: bool = False,
) -> None:
    """Register a decomposition; its parameters are read from its signature.

    Parameters
    ----------
    name : str
        Name by which users choose it.
    solver : callable
        The function; every keyword but `rng` has a default.
    reference, cost : str
        Publication and cost.
    takes : {"whitened", "slices", "unwhitened"}
        What it works on.
    orthogonal, exact, draws : bool
        See `Decomposition`.

    Examples
    --------
    >>> from tercet.decomposition import DECOMPOSITIONS
    >>> sorted(DECOMPOSITIONS["joint"].defaults)
    ['max_sweeps', 'n_targets', 'targets', 'tolerance']
    """
    defaults = {
        parameter.name: parameter.default
        for parameter in inspect.signature(solver).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name != "rng"
    }
    entry = Decomposition(
        name=name,
        solve=solver,
        reference=reference,
        cost=cost,
        defaults=MappingProxyType(defaults),
        takes=takes,
        orthogonal=orthogonal,
        exact=exact,
        draws=draws,
    )
    DECOMPOSITIONS.add(name, entry)


def solve(
    problem: Problem,
    method: str = "joint",
    *,
    rng: np.random.Generator | None = None,
    **parameters: Any,
) -> Factors:
    """Decompose the small problem by the method of a given name.

    Parameters
    ----------
    problem : Problem
        Whitened third moment and what belongs to it.
    method : str, default="joint"
        A name in `DECOMPOSITIONS`.
    rng : numpy.random.Generator or None
        For methods that draw; None takes fixed choices.
    **parameters
        Parameters of the method; `DECOMPOSITIONS[method].defaults` lists them.

    Returns
    -------
    Factors
        Vectors, eigenvalues and how the solver ended.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.decomposition import solve
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> problem = Problem(third, np.ones(2), np.ones(2), np.eye(2))
    >>> solve(problem).eigenvalues
    array([3., 2.])
    """
    entry = DECOMPOSITIONS[method]
    unknown = sorted(set(parameters) - set(entry.defaults))
    if unknown:
        known = ", ".join(entry.defaults) or "none"
        raise ParameterError(
            f"{unknown[0]}={parameters[unknown[0]]!r} is not a parameter of "
            f"method={method!r}; its parameters are: {known}."
        )
    check_problem(problem)
    return entry.solve(problem, rng=rng, **parameters)
