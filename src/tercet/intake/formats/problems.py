"""What was wrong with lines of a file: counted, remembered, and limited."""

from __future__ import annotations

from dataclasses import dataclass, field

from tercet.exceptions import DataError

__all__ = ["BadLine", "Problems"]

_REMEMBERED = 20


@dataclass(frozen=True)
class BadLine:
    """A line that was left out.

    Parameters
    ----------
    line : int or str
        Number of the line, from 1; the name of the file in a folder.
    reason : str
        What is wrong with it.
    """

    line: int | str
    reason: str


@dataclass
class Problems:
    """The lines of one file that were left out.

    Parameters
    ----------
    limit : int or None
        Bad lines that are put up with; None puts up with any number.
    n_bad : int
        Bad lines so far.
    first : list of BadLine
        The first few of them.

    Examples
    --------
    >>> from tercet.intake.formats.problems import Problems
    >>> problems = Problems(limit=1)
    >>> problems.add(3, "not JSON")
    >>> problems.add(9, "no column 'text'")
    Traceback (most recent call last):
    ...
    tercet.exceptions.DataError: 2 bad lines are more than max_bad_lines=1: line 3: not \
JSON; line 9: no column 'text'. Mend the file or raise max_bad_lines.
    """

    limit: int | None = None
    n_bad: int = 0
    first: list[BadLine] = field(default_factory=list)

    def add(self, line: int | str, reason: str) -> None:
        """Count a bad line; past the limit this is an error."""
        self.n_bad += 1
        if len(self.first) < _REMEMBERED:
            self.first.append(BadLine(line, reason))
        if self.limit is not None and self.n_bad > self.limit:
            noun = "bad line is" if self.n_bad == 1 else "bad lines are"
            raise DataError(
                f"{self.n_bad} {noun} more than max_bad_lines={self.limit}: "
                f"{self.describe()}. Mend the file or raise max_bad_lines."
            )

    def describe(self, n_shown: int = 3) -> str:
        """Return the first bad lines and their reasons in a sentence."""
        parts = []
        for bad in self.first[:n_shown]:
            place = f"line {bad.line}" if isinstance(bad.line, int) else repr(bad.line)
            parts.append(f"{place}: {bad.reason}")
        if self.n_bad > n_shown:
            parts.append("and so on")
        return "; ".join(parts)
