"""Errors and warnings that Tercet raises, all catchable by one base class."""

from __future__ import annotations

__all__ = [
    "AlignmentError",
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "FileFormatError",
    "ModelWarning",
    "ParameterError",
    "RankError",
    "TercetError",
    "TercetWarning",
]


class TercetError(Exception):
    """Base class of every error that Tercet raises on purpose."""


class DataError(TercetError, ValueError):
    """The data cannot be used; the message names the place and the remedy."""


class AlignmentError(DataError):
    """Two views that must describe the same rows have different numbers of them."""


class ParameterError(TercetError, ValueError):
    """An argument has a value that cannot be used; the message names both."""


class RankError(TercetError, ValueError):
    """More components were asked for than the moments support.

    Parameters
    ----------
    message : str
        What was asked for and what is there.
    supported : int
        Number of components that the moments do support.
    """

    def __init__(self, message: str, supported: int) -> None:
        super().__init__(message)
        self.supported = supported


class FileFormatError(TercetError, ValueError):
    """A file is damaged, of another format or of an unknown version."""


class TercetWarning(UserWarning):
    """Base class of every warning that Tercet issues."""


class ConvergenceWarning(TercetWarning):
    """An iteration stopped on its budget, not on its rule."""


class DataWarning(TercetWarning):
    """Part of the data carries no information for the model."""


class ModelWarning(TercetWarning):
    """The fitted parameters deserve a second look."""
