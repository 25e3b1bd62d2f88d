"""What is worth knowing about the way from sums to parameters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tercet.exceptions import DataError
from tercet.flow import Moments
from tercet.models.decomposing import Solution
from tercet.moments import bound_errors

__all__ = ["diagnose_solution"]


def diagnose_solution(solution: Solution, moments: Moments) -> dict[str, Any]:
    """Return the diagnostics of a solution.

    Parameters
    ----------
    solution : Solution
        Parameters and everything on the way to them.
    moments : Moments
        The sums that it came from.

    Returns
    -------
    dict
        `spectrum` of the pair moment with `gap`, `supported`, `next_eigenvalue`,
        `negative_part` and `condition` (the verdict on it); `residual` of the
        decomposition and `off_diagonal`, its share outside the diagonals;
        `decomposition`, how it ended; `sample_bound`, on the errors of `F2` and
        `F3` at 95 % confidence, where tokens are counted; `short_documents`,
        rows with no token, fewer than two, fewer than three; and what recovery
        found: `negative_mass` removed from each component,
        `sign_disagreement`, and the estimates by each formula.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.models import solve_equations
    >>> from tercet.models.diagnosing import diagnose_solution
    >>> from tercet.moments import collect
    >>> X = np.random.default_rng(0).poisson(1.0, size=(50, 6))
    >>> sums = collect(X, "single-topic", 1)
    >>> solution = solve_equations(sums.equations(), sums.family, 1)
    >>> sorted(diagnose_solution(solution, sums))[:3]
    ['condition', 'decomposition', 'gap']
    """
    whitening, factors = solution.whitening, solution.factors
    found: dict[str, Any] = {"spectrum": whitening.spectrum}
    found |= asdict(whitening.verdict)
    found["residual"] = factors.residual
    if "off_diagonal" in factors.notes:
        found["off_diagonal"] = float(factors.notes["off_diagonal"])
    found["decomposition"] = factors.outcome
    if moments.family.plan.by_tokens:
        found["short_documents"] = moments.short
        found["sample_bound"] = _bound(moments)
    return found | dict(solution.parameters.details)


def _bound(moments: Moments) -> dict[str, float] | None:
    """Return the bounds on the errors of the moments, if there are triples."""
    try:
        return asdict(bound_errors(moments))
    except DataError:
        return None
