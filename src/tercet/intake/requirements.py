"""What a model asks of the values in its rows."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Requirement"]


class Requirement(StrEnum):
    """Values that a model can take.

    Members are strings, so a plain name such as ``"counts"`` works wherever a
    requirement is expected.

    Examples
    --------
    >>> from tercet.intake import Requirement
    >>> Requirement("counts").describe()
    'non-negative numbers'
    """

    INTEGERS = "integers"
    COUNTS = "counts"
    BINARY = "binary"
    BINARY_OR_MISSING = "binary-or-missing"
    REALS = "reals"

    @property
    def needs_tokens(self) -> bool:
        """Whether data of nothing but zeros say nothing at all."""
        return self in (Requirement.INTEGERS, Requirement.COUNTS)

    @property
    def is_binary(self) -> bool:
        """Whether zeros and ones (and NaN, perhaps) are all that is allowed."""
        return self in (Requirement.BINARY, Requirement.BINARY_OR_MISSING)

    def describe(self) -> str:
        """Return the values that are allowed, in words."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    Requirement.INTEGERS: "non-negative whole numbers",
    Requirement.COUNTS: "non-negative numbers",
    Requirement.BINARY: "zeros and ones",
    Requirement.BINARY_OR_MISSING: "zeros, ones and NaN for a missing value",
    Requirement.REALS: "finite numbers",
}
