"""Plain facts about a model, from which every description is drawn.

`describe_model(model)` gives a dict of plain Python values (no arrays, ready for
JSON); print, HTML, reports and `--json` only lay it out. Its keys:

- `model`: class name; `fitted`: whether there is anything more to say;
- `parameters`: constructor parameters that differ from their defaults;
- `n_samples`, `n_features`, `n_components`, `n_iter`: numbers that are known;
- `outcome`: `{"status", "iterations", "residual", "message"}` of the kept run;
- `diagnostics`: `diagnostics_`, made plain;
- `components`: one dict for each, `{"index", "weight", "concentration", "top"}`,
  where `top` is a list of `[feature name, value]`, the largest first.

A class adds facts of its own with a method `_describe()` that returns a dict;
`render_text` and `render_html` show numbers, strings and short lists in it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

__all__ = ["describe_model", "make_plain", "render_html", "render_text"]

_LONGEST_LIST = 64
_SHOWN_COMPONENTS = 20
_SHOWN_FEATURES = 8


def describe_model(model: Any, *, n_top: int = 10) -> dict[str, Any]:
    """Return plain facts about a model.

    Parameters
    ----------
    model : estimator
        Any estimator of Tercet, fitted or not.
    n_top : int
        Features listed for each component.

    Returns
    -------
    dict
        Plain values only; see the top of this module for the keys.

    Examples
    --------
    >>> import tercet
    >>> from tercet.models.facts import describe_model
    >>> describe_model(tercet.SingleTopicModel(3))["parameters"]
    {'n_components': 3}
    """
    facts: dict[str, Any] = {
        "model": type(model).__name__,
        "fitted": _is_fitted(model),
        "parameters": _changed_parameters(model),
    }
    if not facts["fitted"]:
        return facts
    for key, name in (
        ("n_samples", "n_samples_seen_"),
        ("n_features", "n_features_in_"),
        ("n_iter", "n_iter_"),
        ("outcome", "outcome_"),
        ("diagnostics", "diagnostics_"),
    ):
        if hasattr(model, name):
            facts[key] = make_plain(getattr(model, name))
    facts["components"] = _describe_components(model, n_top)
    facts["n_components"] = len(facts["components"])
    if hasattr(model, "_describe"):
        facts |= make_plain(model._describe())  # noqa: SLF001
    return facts


def make_plain(value: Any) -> Any:
    """Return a value as plain Python: numbers, strings, lists, dicts.

    Parameters
    ----------
    value : object
        Arrays, records, enumerations, mappings or plain values. An array with
        more than 64 entries is told by its shape.

    Returns
    -------
    object
        What JSON can hold; not-a-number and infinity become None.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.models.facts import make_plain
    >>> make_plain({"spectrum": np.array([2.0, 1.0]), "gap": np.nan})
    {'spectrum': [2.0, 1.0], 'gap': None}
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        return make_plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray):
        if value.size > _LONGEST_LIST:
            return f"array of shape {value.shape}"
        return make_plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): make_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [make_plain(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: make_plain(getattr(value, f.name)) for f in fields(value)}
    return repr(value)


def render_text(facts: Mapping[str, Any]) -> str:
    """Lay facts out for a terminal.

    Parameters
    ----------
    facts : mapping
        From `describe_model`.

    Returns
    -------
    str
        A few lines, one for each component.

    Examples
    --------
    >>> from tercet.models.facts import render_text
    >>> print(
    ...     render_text(
    ...         {
    ...             "model": "Mixture",
    ...             "fitted": True,
    ...             "n_features": 9,
    ...             "components": [{"index": 0, "weight": 1.0, "top": [["rain", 0.5]]}],
    ...         }
    ...     )
    ... )
    Mixture, fitted (9 features)
      0  1.000  rain
    """
    lines = [_headline(facts)]
    outcome = facts.get("outcome")
    if isinstance(outcome, Mapping) and outcome.get("message"):
        lines.append(f"  {outcome['message']}")
    components = facts.get("components", [])
    lines += [
        f"{part['index']:>3}  {part['weight']:.3f}  {_list_features(part['top'])}"
        for part in components[:_SHOWN_COMPONENTS]
    ]
    if len(components) > _SHOWN_COMPONENTS:
        lines.append(f"  ... and {len(components) - _SHOWN_COMPONENTS} more")
    return "\n".join(lines)


def render_html(facts: Mapping[str, Any]) -> str:
    """Lay facts out for a notebook.

    Parameters
    ----------
    facts : mapping
        From `describe_model`.

    Returns
    -------
    str
        An HTML fragment; text from the data is escaped.

    Examples
    --------
    >>> from tercet.models.facts import render_html
    >>> "&lt;b&gt;" in render_html({"model": "<b>", "fitted": False})
    True
    """
    rows = []
    for part in facts.get("components", []):
        width = max(1, round(100 * min(1.0, part["weight"])))
        bar = (
            f'<div style="width:{width}px;height:0.6em;background:#0072B2" '
            f'title="{part["weight"]:.4f}"></div>'
        )
        words = escape(_list_features(part["top"]))
        rows.append(
            f"<tr><td>{part['index']}</td><td>{part['weight']:.3f}</td>"
            f'<td>{bar}</td><td style="text-align:left">{words}</td></tr>'
        )
    table = (
        "<table><thead><tr><th></th><th>weight</th><th></th>"
        '<th style="text-align:left">largest features</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
        if rows
        else ""
    )
    details = "".join(
        f"<li><b>{escape(key)}</b>: {escape(_shorten(value))}</li>"
        for key, value in _list_details(facts)
    )
    return (
        f"<div><p><b>{escape(_headline(facts))}</b></p>{table}"
        f"<details><summary>Details</summary><ul>{details}</ul></details></div>"
    )


def _headline(facts: Mapping[str, Any]) -> str:
    parameters = facts.get("parameters") or {}
    call = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    name = f"{facts['model']}({call})" if call else str(facts["model"])
    if not facts.get("fitted"):
        return f"{name}, not fitted"
    counts = [
        f"{facts[key]:,} {noun}"
        for key, noun in (("n_samples", "rows"), ("n_features", "features"))
        if facts.get(key) is not None
    ]
    return f"{name}, fitted ({', '.join(counts)})" if counts else f"{name}, fitted"


def _list_features(top: list[list[Any]]) -> str:
    return ", ".join(str(name) for name, _ in top[:_SHOWN_FEATURES])


def _list_details(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    details = [
        (f"diagnostics: {key}", value)
        for key, value in (facts.get("diagnostics") or {}).items()
    ]
    skipped = {"model", "fitted", "components", "diagnostics"}
    return [
        (key, value) for key, value in facts.items() if key not in skipped
    ] + details


def _shorten(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and all(isinstance(v, float | int) for v in value):
        shown = ", ".join(f"{v:.4g}" for v in value[:10])
        return f"{shown} ..." if len(value) > 10 else shown
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _changed_parameters(model: Any) -> dict[str, Any]:
    signature = inspect.signature(type(model).__init__).parameters
    changed = {}
    for name, value in model.get_params(deep=False).items():
        default = signature[name].default
        if type(value) is not type(default) or not np.array_equal(value, default):
            changed[name] = make_plain(value)
    return changed


def _describe_components(model: Any, n_top: int) -> list[dict[str, Any]]:
    """Return weight and largest features of each component, if there are any."""
    table = getattr(model, "components_", None)
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        return []
    names = getattr(model, "feature_names_in_", None)
    weights = getattr(model, "weights_", np.full(len(table), 1.0 / len(table)))
    concentration = getattr(model, "concentration_", None)
    described = []
    for index, row in enumerate(table):
        order = np.argsort(-row, kind="stable")[:n_top]
        top = [
            [f"x{j}" if names is None else str(names[j]), float(row[j])] for j in order
        ]
        facts = {"index": index, "weight": float(weights[index]), "top": top}
        if concentration is not None:
            facts["concentration"] = float(concentration[index])
        described.append(facts)
    return described
