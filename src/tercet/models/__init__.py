"""The rooms put together: from sums to parameters, and estimators.

Estimators are public names of the package itself; each is loaded when it is
first asked for, so that who only decomposes sums does not pay for all models.
"""

from tercet.models.decomposing import Solution, decompose, solve_equations

__all__ = ["Solution", "decompose", "solve_equations"]
