"""How an iterative routine ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Outcome", "Status"]


class Status(StrEnum):
    """How an iterative routine ended."""

    EXACT = "exact"
    CONVERGED = "converged"
    EXHAUSTED = "exhausted"
    FELL_BACK = "fell back"


@dataclass(frozen=True)
class Outcome:
    """What an iterative routine reports about its end.

    Parameters
    ----------
    status : Status
        `EXACT` for a closed form, `CONVERGED` when the stopping rule was met,
        `EXHAUSTED` when the budget ran out first, `FELL_BACK` when another
        method had to be used.
    iterations : int
        Iterations (or sweeps) that were made.
    residual : float
        The quantity that the stopping rule looks at, at the end.
    message : str
        One sentence for a person.

    Examples
    --------
    >>> from tercet.flow import Outcome, Status
    >>> Outcome(Status.EXACT, 0, 0.0, "Closed form.").converged
    True
    """

    status: Status
    iterations: int
    residual: float
    message: str

    @property
    def converged(self) -> bool:
        """Whether the result satisfies the routine's own stopping rule."""
        return self.status in (Status.EXACT, Status.CONVERGED)
