"""Bad values are errors that name the place, the value and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from intake.row_sums import RowSumsPass
from tercet.exceptions import DataError
from tercet.flow import Block
from tercet.intake import open_source, validate_block, validate_weights

BAD = [
    (-1.0, "integers", r"Negative values.*X holds -1\.0 at row 5, column 2"),
    (-1.0, "counts", r"Negative values.*X holds -1\.0 at row 5, column 2"),
    (np.nan, "integers", r"X holds NaN at row 5, column 2.*fill the missing value"),
    (np.nan, "reals", r"X holds NaN at row 5, column 2"),
    (np.nan, "binary", r"X holds NaN at row 5, column 2"),
    (np.inf, "counts", r"X holds inf \(infinity\) at row 5, column 2"),
    (-np.inf, "reals", r"X holds -inf \(infinity\) at row 5, column 2"),
    (0.5, "integers", r"X holds 0\.5 at row 5, column 2, but integer counts"),
    (2.0, "binary", r"X holds 2\.0 at row 5, column 2, but zeros and ones"),
    (2.0, "binary-or-missing", r"X holds 2\.0 at row 5, column 2, but zeros, ones"),
]


def make_rows(value: float) -> np.ndarray:
    rows = np.ones((9, 4))
    rows[:, 0] = 0.0
    rows[5, 2] = value
    rows[7, 3] = value
    return rows


@pytest.mark.parametrize(("value", "requirement", "message"), BAD)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize("block_rows", [None, 2])
def test_the_first_bad_value_is_named(
    value: float, requirement: str, message: str, form: Any, block_rows: int | None
) -> None:
    source = open_source(
        form(make_rows(value)), requirement=requirement, block_rows=block_rows
    )
    for _ in range(2):
        with pytest.raises(DataError, match=message):
            source.run(RowSumsPass(4))
    with pytest.raises(DataError, match=message):
        list(source.blocks())


@pytest.mark.parametrize("library", [pd, pl])
def test_the_column_is_called_by_its_name(library: Any) -> None:
    names = ["a", "b", "c", "d"]
    frame = library.DataFrame(dict(zip(names, make_rows(-1.0).T, strict=True)))
    with pytest.raises(DataError, match=r"row 5, column 2 \('c'\)"):
        open_source(frame).run(RowSumsPass(4))


@pytest.mark.parametrize(
    ("value", "requirement"),
    [
        (0.0, "integers"),
        (1e15, "integers"),
        (0.5, "counts"),
        (1.0, "binary"),
        (np.nan, "binary-or-missing"),
        (-0.5, "reals"),
    ],
)
def test_values_that_are_allowed(value: float, requirement: str) -> None:
    open_source(make_rows(value), requirement=requirement).run(RowSumsPass(4))


def test_missing_values_of_frames_are_nan() -> None:
    for frame in (
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"a": [1, None]}),
    ):
        with pytest.raises(DataError, match=r"X holds NaN at row 1, column 0 \('a'\)"):
            open_source(frame).run(RowSumsPass(1))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.bool_])
def test_integer_types_are_checked_where_they_can_be_wrong(dtype: Any) -> None:
    rows = np.ones((9, 4)).astype(dtype)
    open_source(rows).run(RowSumsPass(4))
    open_source(rows, requirement="binary").run(RowSumsPass(4))
    if np.dtype(dtype).kind == "i":
        rows[5, 2] = -1
        with pytest.raises(DataError, match="row 5, column 2"):
            open_source(rows).run(RowSumsPass(4))
    if dtype != np.bool_:
        rows[5, 2] = 3
        with pytest.raises(DataError, match="row 5, column 2"):
            open_source(rows, requirement="binary").run(RowSumsPass(4))


def test_rows_without_anything_are_no_error_but_all_of_them_are() -> None:
    open_source([[0, 0], [0, 1]]).run(RowSumsPass(2))
    for X in (np.zeros((3, 2)), [np.zeros((3, 2))], sparse.csr_array((3, 2))):
        with pytest.raises(DataError, match="X holds no counts: all entries of its 3"):
            open_source(X).run(RowSumsPass(2))
    open_source(np.zeros((3, 2)), requirement="binary").run(RowSumsPass(2))
    with pytest.raises(DataError, match="X has no rows"):
        open_source([np.zeros((0, 2))]).run(RowSumsPass(2))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"shape \(1,\), but 2 rows need shape \(2,\)"),
        ([[1.0, 1.0]], r"shape \(1, 2\)"),
        ([1.0, -2.0], r"holds -2\.0 at row 1; weights must be finite"),
        ([np.nan, 1.0], "holds nan at row 0"),
        ([1.0, np.inf], "holds inf at row 1"),
        (["a", "b"], "cannot be read as numbers"),
    ],
)
def test_weights_that_cannot_be_used(weights: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        validate_weights(weights, 2)
    with pytest.raises(DataError, match=message):
        open_source([[1], [2]], sample_weight=weights)


def test_weights_that_are_all_zero() -> None:
    source = open_source([[1], [2]], sample_weight=[0, 0])
    with pytest.raises(DataError, match="sample_weight is zero for all 2 rows"):
        source.run(RowSumsPass(1))
    open_source([[1], [2]], sample_weight=[0, 1]).run(RowSumsPass(1))


def test_a_block_is_checked_by_its_place_in_the_source() -> None:
    block = Block(sparse.csr_array(np.array([[0.0, 0.0], [0.0, 1.5]])), start=10)
    with pytest.raises(DataError, match=r"row 11, column 1 \('war'\)"):
        validate_block(block, "integers", feature_names=("tax", "war"))
    validate_block(block, "counts")
