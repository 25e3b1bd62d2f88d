"""Checks of the parameters of decompositions and of stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, Problem

__all__ = [
    "check_problem",
    "check_stack",
    "require_choice",
    "require_count",
    "require_positive",
]


def require_count(name: str, value: object, smallest: int = 1) -> None:
    """Demand a whole number of at least `smallest`.

    Examples
    --------
    >>> require_count("max_sweeps", 3)
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(str(value)) < smallest:
        raise ParameterError(
            f"{name}={value!r} must be a whole number of at least {smallest}."
        )


def require_positive(name: str, value: object) -> None:
    """Demand a finite number above zero.

    Examples
    --------
    >>> require_positive("tolerance", 1e-8)
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0.0 < float(str(value)) < float("inf"):
        raise ParameterError(f"{name}={value!r} must be a finite number above zero.")


def require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Demand one of the named choices.

    Examples
    --------
    >>> require_choice("targets", "basis", ("basis", "random"))
    """
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name}={value!r} is not known; choose one of {known}.")


def check_stack(targets: FloatArray) -> FloatArray:
    """Return a stack of square matrices as float64, or say what is wrong.

    Parameters
    ----------
    targets : array of shape (m, k, k)
        Matrices that shall be diagonalised together.

    Returns
    -------
    ndarray of shape (m, k, k)
        The same, C-ordered.

    Examples
    --------
    >>> import numpy as np
    >>> check_stack(np.zeros((2, 3, 3))).shape
    (2, 3, 3)
    """
    stack = np.ascontiguousarray(targets, dtype=np.float64)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or 0 in stack.shape:
        raise DataError(
            f"targets has the shape {stack.shape}; pass at least one square matrix "
            "as an array of shape (m, k, k)."
        )
    if not np.isfinite(stack).all():
        raise DataError("targets holds NaN or infinite entries; remove them first.")
    return stack


def check_problem(problem: Problem) -> None:
    """Demand a cubic, finite third moment with matching eigenvalues.

    Parameters
    ----------
    problem : Problem
        What a solver is asked to decompose.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> check_problem(
    ...     Problem(np.ones((1, 1, 1)), np.ones(1), np.ones(1), np.ones((2, 1)))
    ... )
    """
    size = problem.third.shape[0]
    if size < 1 or problem.third.shape != (size, size, size):
        raise DataError(
            f"third has the shape {problem.third.shape}; it must be (k, k, k)."
        )
    if problem.eigenvalues.shape != (size,) or not (problem.eigenvalues > 0).all():
        raise DataError(
            f"eigenvalues={problem.eigenvalues!r} must be {size} numbers above zero, "
            "one for each side of the third moment."
        )
    if not (
        np.isfinite(problem.third).all() and np.isfinite(problem.unwhitening).all()
    ):
        raise DataError("The whitened moments hold NaN or infinite entries.")
