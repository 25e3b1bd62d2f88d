"""Plain facts about a fitted pair of views."""

from __future__ import annotations

from typing import Any

import numpy as np

from tercet.flow import FloatArray

__all__ = ["describe_views"]

_SHOWN = 4


def describe_views(model: Any) -> dict[str, Any]:
    """Return what a pair of views adds to the facts about a model.

    Parameters
    ----------
    model : estimator
        A fitted estimator of two views.

    Returns
    -------
    dict
        `second_features`, and `components` with the largest features of both
        views: `first`, `second`, and `top`, a few of each for printing.
    """
    if not hasattr(model, "components_"):
        return {}
    names = [
        getattr(model, name, None) for name in ("feature_names_in_", "second_names_in_")
    ]
    parts = []
    for k, weight in enumerate(model.weights_):
        first, second = (
            _list_top(table[k], given)
            for table, given in zip(model.components_, names, strict=True)
        )
        shown = first[:_SHOWN] + [
            [("| " if place == 0 else "") + name, value]
            for place, (name, value) in enumerate(second[:_SHOWN])
        ]
        parts.append(
            {
                "index": k,
                "weight": float(weight),
                "top": shown,
                "first": first,
                "second": second,
            }
        )
    return {
        "second_features": int(model.second_features_in_),
        "components": parts,
        "n_components": len(parts),
    }


def _list_top(row: FloatArray, names: Any, n_top: int = 10) -> list[list[Any]]:
    """Return the features of largest size with their values."""
    order = np.argsort(-np.abs(row), kind="stable")[:n_top]
    return [[f"x{j}" if names is None else str(names[j]), float(row[j])] for j in order]
