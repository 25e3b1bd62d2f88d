"""What a page tells of a model, as plain values before any layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from tercet.evaluation import measure_relevance
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray
from tercet.models.facts import describe_model
from tercet.report.documents import (
    Documents,
    describe_documents,
    describe_trend,
    infer_shares,
)
from tercet.report.maps import lay_out, measure_divergence
from tercet.report.sentences import explain_diagnostics

__all__ = ["describe_page", "rank_terms"]

# Words kept for each value of lambda, and the values that the slider can take.
_TERMS, _LAMBDAS = 24, np.linspace(0.0, 1.0, 11)
# Entries that a page can hold and stay small: terms of all components together.
_MOST_TERMS = 40_000
_HEAT_FEATURES = 40
_ALIGNED_WORDS = 12
_NOUNS = {"topics": "topic", "clusters": "cluster", "tree": "leaf", "views": "source"}


def describe_page(
    model: Any,
    *,
    corpus: Documents | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Gather everything that a page shows.

    Parameters
    ----------
    model : estimator
        A fitted model of Tercet.
    corpus : Documents or None
        Rows to show beside the model; times among them add trends.
    title : str or None
        Heading; None is made from the name of the model.

    Returns
    -------
    dict
        `kind` ("topics", "clusters", "tree" or "views"), `noun`, `title`, `facts`
        from `describe_model`, `diagnostics` in words, and what the kind has:
        `components` with their terms and documents, `trend`, `heat`, `tree`.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> from tercet.report import describe_page
    >>> X = np.random.default_rng(0).poisson([5.0, 1, 3], size=(60, 3))
    >>> describe_page(tercet.SingleTopicModel(1).fit(X))["kind"]
    'topics'
    """
    check_is_fitted(model)
    facts = describe_model(model, n_top=30)
    kind = _tell_kind(model)
    page: dict[str, Any] = {
        "kind": kind,
        "noun": _NOUNS[kind],
        "title": title or _make_title(facts),
        "facts": facts,
        "diagnostics": explain_diagnostics(facts),
    }
    if kind == "views":
        page["components"] = _describe_views(model)
        return page
    if kind == "tree":
        page["tree"] = _describe_node(model.to_dict())
    names = _name_features(model)
    overall = _overall_shares(model)
    page["components"] = _describe_components(model, names, overall)
    if kind in ("clusters", "tree"):
        page["heat"] = _describe_heat(model, names, overall)
    if corpus is not None:
        _add_documents(page, model, corpus)
    return page


def rank_terms(
    component: FloatArray, overall: FloatArray, n_terms: int = _TERMS
) -> list[int]:
    """Return the features that lead at some value of the relevance's lambda.

    Relevance is `lambda log p + (1 - lambda) log(p / overall)` (paper 000,
    section 4.3).

    Parameters
    ----------
    component : ndarray of shape (d,)
        Non-negative values p of the features.
    overall : ndarray of shape (d,)
        Values over all rows.
    n_terms : int
        Features kept at each value.

    Returns
    -------
    list of int
        Distinct features with `p > 0`, by falling p.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.report.contents import rank_terms
    >>> rank_terms(np.array([0.6, 0.4, 0.0]), np.array([0.9, 0.05, 0.05]), 1)
    [0, 1]
    """
    there = np.flatnonzero((component > 0.0) & (overall > 0.0))
    if there.size == 0:
        return []
    chosen: set[int] = set()
    for share in _LAMBDAS:
        [relevance] = measure_relevance(component[None, there], overall[there], share)
        chosen |= set(np.argsort(-relevance, kind="stable")[:n_terms].tolist())
    found = there[sorted(chosen)]
    return [int(j) for j in found[np.argsort(-component[found], kind="stable")]]


def _tell_kind(model: Any) -> str:
    if hasattr(model, "to_dict"):
        return "tree"
    table = getattr(model, "components_", None)
    if isinstance(table, tuple | list):
        return "views"
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        raise ParameterError(
            f"model={type(model).__name__} has no components to report on; pass a "
            "fitted model of Tercet."
        )
    return "topics" if hasattr(model, "top_words") else "clusters"


def _make_title(facts: Mapping[str, Any]) -> str:
    names = {
        "SingleTopicModel": "Topics, one for each document",
        "LatentDirichletAllocation": "Topics of latent Dirichlet allocation",
        "DiscreteICA": "Topics of discrete independent components",
        "TopicTree": "A tree of topics",
        "BisectingMoments": "A tree of clusters",
        "BernoulliMixture": "Clusters of yes-or-no records",
        "PoissonMixture": "Clusters of counts",
        "SphericalGaussianMixture": "Clusters of points",
        "DiscreteCCA": "What two views of counts share",
        "NonGaussianCCA": "What two views share",
        "MixedCCA": "What counts and measurements share",
        "CumulantICA": "Independent sources",
    }
    return names.get(str(facts["model"]), str(facts["model"]))


def _name_features(model: Any, names: Any = None) -> list[str]:
    names = getattr(model, "feature_names_in_", None) if names is None else names
    if names is None:
        return [f"x{j}" for j in range(model.components_.shape[1])]
    return [str(name) for name in names]


def _overall_shares(model: Any) -> FloatArray:
    shares = getattr(model, "feature_shares_", None)
    if shares is not None:
        return np.asarray(shares, dtype=np.float64)
    return np.asarray(_weights(model) @ model.components_)


def _weights(model: Any) -> FloatArray:
    k = len(model.components_)
    return np.asarray(getattr(model, "weights_", np.full(k, 1.0 / k)), dtype=np.float64)


def _describe_components(
    model: Any, names: Sequence[str], overall: FloatArray
) -> list[dict[str, Any]]:
    """Return weight, place on the map and leading terms of each component."""
    table = model.components_
    positive = float(table.min()) >= 0.0
    points = lay_out(measure_divergence(table) if positive else cdist(table, table))
    n_terms = max(8, min(_TERMS, _MOST_TERMS // (3 * len(table))))
    described = []
    for row, weight, point in zip(table, _weights(model), points, strict=True):
        leading = (
            rank_terms(row, overall, n_terms)
            if positive
            else [int(j) for j in np.argsort(-np.abs(row - overall))[: 2 * n_terms]]
        )
        described.append(
            {
                "weight": float(weight),
                "place": [round(float(axis), 4) for axis in point],
                "terms": [
                    [names[j], float(f"{row[j]:.5g}"), float(f"{overall[j]:.5g}")]
                    for j in leading
                ],
            }
        )
    return described


def _describe_heat(
    model: Any, names: Sequence[str], overall: FloatArray
) -> dict[str, Any]:
    """Return the features in which the centers differ most, for the heat map."""
    table = model.components_
    spread = _weights(model) @ (table - overall) ** 2
    scale = np.maximum(np.abs(overall), 1e-12)
    chosen = np.argsort(-spread / scale, kind="stable")[:_HEAT_FEATURES]
    return {
        "features": [names[j] for j in chosen],
        "overall": [float(f"{overall[j]:.5g}") for j in chosen],
        "rows": [[float(f"{row[j]:.5g}") for j in chosen] for row in table],
    }


def _describe_node(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page shows of a node and of all below it."""
    children = [_describe_node(child) for child in node["children"]]
    name = f"Branch {node['index']}" if children else f"Leaf {node['label'] + 1}"
    return {
        "name": "All rows" if node["index"] == 0 else name,
        "size": int(node["size"]),
        "weight": float(node["weight"]),
        "words": [str(feature) for feature, _ in node["features"]],
        "note": "" if children else str(node["reason"]),
        "children": children,
    }


def _describe_views(model: Any) -> list[dict[str, Any]]:
    """Return the leading words of both views, side by side."""
    both = [
        getattr(model, name, None) for name in ("feature_names_in_", "second_names_in_")
    ]
    lists = []
    for table, known in zip(model.components_, both, strict=True):
        words = (
            [f"x{j}" for j in range(table.shape[1])]
            if known is None
            else [str(word) for word in known]
        )
        lists.append(
            [
                [
                    [words[j], float(f"{row[j]:.5g}")]
                    for j in np.argsort(-np.abs(row), kind="stable")[:_ALIGNED_WORDS]
                ]
                for row in table
            ]
        )
    return [
        {"lists": [left, right]} for left, right in zip(lists[0], lists[1], strict=True)
    ]


def _add_documents(page: dict[str, Any], model: Any, corpus: Documents) -> None:
    """Add the documents of each component, and its trend if there are times."""
    shares = infer_shares(model, corpus)
    for facts, top in zip(
        page["components"], describe_documents(shares, corpus), strict=True
    ):
        facts["documents"] = top
    page["n_documents"] = int(shares.shape[0])
    if corpus.times is not None:
        page["trend"] = describe_trend(shares, corpus.times)
