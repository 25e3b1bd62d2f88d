"""Whatever comes in gives a valid model or an error of Tercet that says why.

The quick test tries a few hundred inputs; the whole study, 10,000 of them, is
`pytest -m slow tests/models/test_topic_fuzzing.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import tercet
from tercet.exceptions import TercetError, TercetWarning

MODELS = (
    tercet.SingleTopicModel,
    tercet.LatentDirichletAllocation,
    tercet.DiscreteICA,
)
COUNTS = {
    "small": st.integers(0, 5),
    "sparse": st.sampled_from([0, 0, 0, 0, 1, 2]),
    "huge": st.sampled_from([0, 1, 10**6, 10**9, 2**31 - 1, 2**40]),
    "float": st.floats(0.0, 50.0, allow_nan=False),
    "tiny": st.sampled_from([0.0, 1e-300, 1e-9, 0.5, 3.0]),
    "constant": st.just(3),
}
SHAPES = ("dense", "csr", "csc", "coo", "list", "frame", "blocks", "iterator")


@st.composite
def tables(draw: Any) -> Any:
    """Rows with empty lines and columns, copies, and all kinds of counts."""
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 9))
    kind = draw(st.sampled_from(sorted(COUNTS)))
    rows = draw(
        st.lists(st.lists(COUNTS[kind], min_size=d, max_size=d), min_size=n, max_size=n)
    )
    table = np.array(rows)
    if draw(st.booleans()):
        table = np.repeat(table, draw(st.integers(1, 6)), axis=0)
    if draw(st.booleans()):
        table[draw(st.integers(0, len(table) - 1))] = 0
    if draw(st.booleans()):
        table[:, draw(st.integers(0, d - 1))] = 0
    return table


@st.composite
def cases(draw: Any) -> tuple[Any, Any, Any]:
    """A model that is not fitted, rows in some form, and the plain table."""
    table = draw(tables())
    d = table.shape[1]
    shape = draw(st.sampled_from(SHAPES))
    model_class = draw(st.sampled_from(MODELS))
    parameters: dict[str, Any] = {
        # At most, and now and then above, what the columns can support.
        "n_components": draw(st.sampled_from([1, min(2, d), min(3, d), d, d, d + 1])),
        "refine": draw(st.sampled_from([0, 1, "auto"])),
        "negative": draw(st.sampled_from(["truncate", "simplex"])),
        "strategy": draw(st.sampled_from(["auto", "auto", "sketch", "subspace"])),
    }
    if model_class is not tercet.DiscreteICA:
        parameters["weighting"] = draw(
            st.sampled_from(["length", "document", "three-words"])
        )
    if model_class is tercet.LatentDirichletAllocation:
        parameters["concentration"] = draw(
            st.sampled_from(["auto", "auto", 1e-6, 1.0, 1e6])
        )
    names = draw(
        st.lists(
            st.text(max_size=6),
            min_size=table.shape[1],
            max_size=table.shape[1],
            unique=True,
        )
    )
    return model_class(**parameters), give(table, shape, names), table


def give(table: Any, shape: str, names: list[str]) -> Any:
    """Return the table in one of the forms that rows come in."""
    if shape == "frame":
        import pandas as pd

        return pd.DataFrame(table, columns=names)
    if shape in ("csr", "csc", "coo"):
        return sparse.coo_array(table).asformat(shape)
    if shape == "list":
        return table.tolist()
    if shape == "blocks":
        return lambda: iter(
            [table[: len(table) // 2 + 1], table[len(table) // 2 + 1 :]]
        )
    if shape == "iterator":
        return iter([table])
    return table


def check_valid(model: Any, table: Any) -> None:
    """A fitted model has finite parameters that are probabilities, and works."""
    k, d = model.components_.shape
    assert (k, d) == (model.n_components, table.shape[1])
    assert np.isfinite(model.components_).all()
    assert model.components_.min() >= 0.0
    assert model.components_.sum(axis=1) == pytest.approx(np.ones(k), abs=1e-8)
    assert model.weights_.min() > 0.0
    assert model.weights_.sum() == pytest.approx(1.0, abs=1e-8)
    for name in ("concentration_", "rate_"):
        values = getattr(model, name, np.ones(1))
        assert np.isfinite(values).all()
        assert values.min() > 0.0
    assert model.n_samples_seen_ == len(table)
    shares = model.transform(table)
    assert shares.shape == (len(table), k)
    assert np.isfinite(shares).all()
    assert shares.min() >= 0.0
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(table)), abs=1e-8)
    assert np.isfinite(model.score(table))
    assert type(model).__name__ in str(model)
    assert "<table>" in model._repr_html_()


def check_message(error: TercetError) -> str:
    """An error says something; return its kind."""
    assert len(str(error)) > 20
    return type(error).__name__


def try_case(case: tuple[Any, Any, Any]) -> str:
    """Fit; return the kind of end."""
    model, rows, table = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Warnings of Tercet, and scikit-learn's about the missing names of `table`.
        warnings.simplefilter("ignore", TercetWarning)
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        try:
            model.fit(rows)
        except TercetError as error:
            return check_message(error)
        check_valid(model, table)
    return "model"


@given(cases())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_a_few_hundred_inputs(case: tuple[Any, Any, Any]) -> None:
    pytest.importorskip("pandas")
    try_case(case)


@pytest.mark.slow
@given(cases())
@settings(
    max_examples=10_000,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_ten_thousand_inputs(case: tuple[Any, Any, Any]) -> None:
    pytest.importorskip("pandas")
    try_case(case)


@given(cases(), st.integers(1, 4))
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_batches_of_anything(case: tuple[Any, Any, Any], size: int) -> None:
    model, _, table = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TercetWarning)
        for start in range(0, len(table), size):
            try:
                model.partial_fit(table[start : start + size])
            except TercetError as error:
                check_message(error)
        seen = getattr(model, "n_samples_seen_", 0)
        assert 0 <= seen <= len(table)
        if hasattr(model, "components_"):
            assert np.isfinite(model.components_).all()
            assert model.components_.sum(axis=1) == pytest.approx(1.0, abs=1e-8)


def test_the_fuzz_reaches_models_and_errors() -> None:
    ends: set[str] = set()

    @given(cases())
    @settings(
        max_examples=60,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    def collect(case: tuple[Any, Any, Any]) -> None:
        ends.add(try_case(case))

    collect()
    assert {"model", "DataError", "RankError"} <= ends
