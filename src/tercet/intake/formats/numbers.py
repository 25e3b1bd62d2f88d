"""Lines of a fixed number of numbers, many at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tercet.flow import FloatArray, IntArray
from tercet.intake.formats.problems import Problems

__all__ = ["count_fields", "parse_lines", "show_line"]

_NEWLINE, _SPACE = 10, 32


def count_fields(lines: bytes) -> IntArray:
    r"""Return how many fields each line has; fields are parted by blanks.

    Parameters
    ----------
    lines : bytes
        Whole lines.

    Returns
    -------
    ndarray of shape (n_lines,)
        Fields of each line.

    Examples
    --------
    >>> from tercet.intake.formats.numbers import count_fields
    >>> count_fields(b"1 2 3\n\n4 5\n").tolist()
    [3, 0, 2]
    """
    codes = np.frombuffer(lines, dtype=np.uint8)
    inside = codes > _SPACE
    starts = inside.copy()
    starts[1:] &= ~inside[:-1]
    ends = codes == _NEWLINE
    line_of = np.cumsum(ends)[starts]
    n_lines = int(ends.sum()) + (not lines.endswith(b"\n") if lines else 0)
    return np.bincount(line_of, minlength=n_lines)


def parse_lines(
    lines: bytes, n_fields: int, before: int, problems: Problems
) -> tuple[FloatArray, IntArray]:
    r"""Return the numbers of each line that has the right number of them.

    Parameters
    ----------
    lines : bytes
        Whole lines; empty ones are passed over.
    n_fields : int
        Numbers that a line must have.
    before : int
        Lines of the file that came before these.
    problems : Problems
        Takes up the other lines.

    Returns
    -------
    values : ndarray of shape (n, n_fields)
        The numbers.
    places : ndarray of shape (n,)
        The number of each line in the file.

    Examples
    --------
    >>> from tercet.intake.formats.numbers import parse_lines
    >>> from tercet.intake.formats.problems import Problems
    >>> problems = Problems()
    >>> values, places = parse_lines(b"1 2\none 2\n3 4\n", 2, 0, problems)
    >>> values.tolist(), places.tolist(), problems.describe()
    ([[1.0, 2.0], [3.0, 4.0]], [1, 3], "line 2: 'one 2' is not 2 numbers")
    """
    counts = count_fields(lines)
    filled = counts > 0
    if bool(np.all(counts[filled] == n_fields)):
        try:
            flat: NDArray[np.float64] = np.array(lines.split()).astype(np.float64)
        except ValueError:
            return _parse_singly(lines, n_fields, before, problems)
        if np.isfinite(flat).all():
            places = before + 1 + np.flatnonzero(filled)
            return flat.reshape(-1, n_fields), places
    return _parse_singly(lines, n_fields, before, problems)


def _parse_singly(
    lines: bytes, n_fields: int, before: int, problems: Problems
) -> tuple[FloatArray, IntArray]:
    values, places = [], []
    for number, line in enumerate(lines.split(b"\n"), start=before + 1):
        fields = line.split()
        if not fields:
            continue
        try:
            row = [float(field) for field in fields]
        except ValueError:
            row = []
        if len(row) == n_fields and np.isfinite(row).all():
            values.append(row)
            places.append(number)
        else:
            noun = "number" if n_fields == 1 else "numbers"
            problems.add(number, f"{show_line(line)} is not {n_fields} {noun}")
    return (
        np.array(values, dtype=np.float64).reshape(-1, n_fields),
        np.array(places, dtype=np.int64),
    )


def show_line(line: bytes) -> str:
    r"""Return the beginning of a line for a message.

    Examples
    --------
    >>> from tercet.intake.formats.numbers import show_line
    >>> show_line(b"caf\xe9")
    "'caf?'"
    """
    text = line[:40].decode("ascii", "replace").replace("\ufffd", "?")
    return repr(text if len(line) <= 40 else f"{text}...")
