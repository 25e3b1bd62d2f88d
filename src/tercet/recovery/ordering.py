"""The order in which components are reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tercet.flow import FloatArray, Parameters

__all__ = ["order_by_weight"]


def order_by_weight(parameters: Parameters) -> Parameters:
    """Return the same parameters with components by falling weight.

    Entries of `details` that are arrays with one number for each component go
    along.

    Parameters
    ----------
    parameters : Parameters
        Components in any order.

    Returns
    -------
    parameters : Parameters
        Components by falling weight; equal weights keep their order.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Parameters
    >>> from tercet.recovery import order_by_weight
    >>> given = Parameters(np.array([[1.0, 2.0]]), np.array([0.3, 0.7]))
    >>> order_by_weight(given).centers
    array([[2., 1.]])
    """
    order = np.argsort(-parameters.weights, kind="stable")

    def sort(values: FloatArray | None) -> FloatArray | None:
        return None if values is None else values[order]

    details: Mapping[str, Any] = {
        name: value[order]
        if isinstance(value, np.ndarray) and value.shape == order.shape
        else value
        for name, value in parameters.details.items()
    }
    return replace(
        parameters,
        centers=np.ascontiguousarray(parameters.centers[:, order]),
        weights=parameters.weights[order],
        concentration=sort(parameters.concentration),
        rate=sort(parameters.rate),
        variances=sort(parameters.variances),
        details=details,
    )
