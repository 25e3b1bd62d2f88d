"""Topics of one's own to start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray

__all__ = ["read_topics"]


def read_topics(components_init: Any, wanted: tuple[int, int]) -> FloatArray:
    """Return topics as columns that sum to one, or say what is wrong with them.

    Parameters
    ----------
    components_init : array-like of shape (k, d)
        Topics as rows, of any scale: counts or probabilities.
    wanted : (int, int)
        k and d.

    Returns
    -------
    ndarray of shape (d, k)
        Columns sum to one.

    Examples
    --------
    >>> from tercet.models.starting import read_topics
    >>> read_topics([[3, 1], [1, 1]], (2, 2))
    array([[0.75, 0.5 ],
           [0.25, 0.5 ]])
    """
    try:
        table = np.asarray(components_init, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"components_init cannot be read as numbers: {error}."
        ) from error
    if table.shape != wanted:
        raise ParameterError(
            f"components_init has shape {table.shape}; n_components and X ask for "
            f"{wanted}."
        )
    if not np.isfinite(table).all() or table.min() < 0.0:
        raise ParameterError(
            "components_init has negative, infinite or missing entries; its rows are "
            "probability vectors."
        )
    totals = table.sum(axis=1)
    if not (totals > 0.0).all():
        raise ParameterError(
            f"components_init: row {int(np.argmin(totals))} is all zeros; give every "
            "topic some mass."
        )
    return np.ascontiguousarray((table / totals[:, None]).T)
