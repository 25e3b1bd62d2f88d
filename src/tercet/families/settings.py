"""Checks of the settings of families and of what rows are drawn from."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, IntArray, Registry
from tercet.recovery import CLEANERS

__all__ = [
    "check_cleaner",
    "check_count",
    "check_distributions",
    "check_labels",
    "check_lengths",
    "check_matrix",
    "check_positive",
    "check_same_components",
    "check_same_rows",
    "check_weighting",
]

_WEIGHTINGS = Registry[str]("weighting")
for _name in ("length", "document", "three-words"):
    _WEIGHTINGS.add(_name, _name)


def check_weighting(weighting: str) -> None:
    """Refuse a weighting that does not count tokens."""
    _WEIGHTINGS[weighting]


def check_cleaner(negative: str) -> None:
    """Refuse an unknown way to treat negative entries."""
    CLEANERS[negative]


def check_positive(name: str, value: float) -> None:
    """Refuse anything but a positive finite number."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not isfinite(value) or value <= 0.0:
        raise ParameterError(f"{name}={value!r} must be a positive number.")


def check_count(name: str, value: int, least: int) -> None:
    """Refuse anything but an integer of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError(
            f"{name}={value!r} must be an integer of at least {least}."
        )


def check_matrix(name: str, values: ArrayLike, *, signed: bool = False) -> FloatArray:
    """Return a finite float64 matrix, without negative entries unless signed."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape[1:]:
        raise ParameterError(
            f"{name} must be a matrix with at least one column, "
            f"not of shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{name} has NaN or infinite entries; remove them.")
    if not signed and matrix.size and matrix.min() < 0:
        raise ParameterError(
            f"{name} has the negative entry {matrix.min()}; it must not."
        )
    return matrix


def check_distributions(name: str, matrix: FloatArray) -> FloatArray:
    """Return the matrix if every row can be normalised to sum to one."""
    checked = check_matrix(name, matrix)
    if checked.size == 0 and checked.shape[0] == 0:
        return checked
    if not (checked.sum(axis=1) > 0).all():
        raise ParameterError(
            f"{name} has a distribution without mass; each needs a positive entry."
        )
    return checked


def check_lengths(values: ArrayLike) -> IntArray:
    """Return document lengths as int64."""
    lengths = np.asarray(values)
    if lengths.ndim != 1 or not (
        lengths.size == 0 or np.issubdtype(lengths.dtype, np.integer)
    ):
        raise ParameterError(
            "lengths must be a vector of integers, "
            f"not {lengths.dtype} of shape {lengths.shape}."
        )
    if lengths.size and (lengths.min() < 0 or lengths.max() > np.iinfo(np.int32).max):
        raise ParameterError(
            f"lengths run from {lengths.min()} to {lengths.max()}; "
            "keep them between 0 and 2^31 - 1."
        )
    return lengths.astype(np.int64)


def check_labels(values: NDArray[np.generic], n_components: int) -> IntArray:
    """Return component indices as int64."""
    if values.ndim != 1 or not (
        values.size == 0 or np.issubdtype(values.dtype, np.integer)
    ):
        raise ParameterError(
            "labels must be a vector of integers, "
            f"not {values.dtype} of shape {values.shape}."
        )
    labels = values.astype(np.int64)
    if labels.size and (labels.min() < 0 or labels.max() >= n_components):
        raise ParameterError(
            f"labels run from {labels.min()} to {labels.max()}; "
            f"there are {n_components} components, counted from 0."
        )
    return labels


def check_same_rows(
    name: str, values: NDArray[np.generic], other: str, rows: NDArray[np.generic]
) -> None:
    """Refuse two arguments of different numbers of rows."""
    if values.ndim == 0 or values.shape[0] != rows.shape[0]:
        raise ParameterError(
            f"{name} has shape {values.shape} but {other} has {rows.shape[0]} rows."
        )


def check_same_components(
    name: str, values: NDArray[np.generic], centers: FloatArray
) -> None:
    """Refuse a matrix whose columns are not the components of the centres."""
    if values.shape[1] != centers.shape[1]:
        raise ParameterError(
            f"{name} has {values.shape[1]} columns but centers has "
            f"{centers.shape[1]} components."
        )
