"""The rooms put together: from sums to parameters, and estimators."""

from tercet.models.decomposing import Solution, decompose, solve_equations

__all__ = ["Solution", "decompose", "solve_equations"]
