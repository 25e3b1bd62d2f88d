"""Values at the edge of their types: nothing wraps around, nothing overflows unsaid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tercet
from intake.row_sums import RowSumsPass, assert_same_sums, sum_rows
from tercet.exceptions import DataError
from tercet.flow import FAMILIES
from tercet.intake import open_source
from tercet.moments import collect


@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csc_array, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16])
def test_duplicates_of_small_types_do_not_wrap_around(form: Any, dtype: Any) -> None:
    """One entry for each token is a common way to count words."""
    n_tokens = 70_000
    rows, columns = np.zeros(n_tokens, dtype=int), np.ones(n_tokens, dtype=int)
    if form is sparse.coo_array:
        X = form((np.ones(n_tokens, dtype=dtype), (rows, columns)), shape=(2, 3))
    else:
        ends = {
            "csr_array": [0, n_tokens, n_tokens],
            "csc_array": [0, 0, n_tokens, n_tokens],
        }
        minor = columns if form is sparse.csr_array else rows
        X = form(
            (np.ones(n_tokens, dtype=dtype), minor, ends[form.__name__]), shape=(2, 3)
        )
    wanted = sum_rows(np.array([[0.0, n_tokens, 0.0], [0.0, 0.0, 0.0]]))
    assert_same_sums(open_source(X).run(RowSumsPass(3)), wanted)


@pytest.mark.parametrize("family", ["single-topic", "gamma-poisson", "poisson"])
def test_large_counts_are_summed_and_solved(family: str) -> None:
    rng = np.random.default_rng(0)
    small = rng.poisson(2.0, size=(60, 8)).astype(float)
    X = small * 1e15
    if family != "single-topic":
        found = collect(X, family, 2, random_state=0).equations()
        assert np.isfinite(found.third).all()
    parameters = tercet.decompose(collect(X, family, 2, random_state=0), 2)
    assert np.isfinite(parameters.centers).all()
    assert parameters.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_values_are_refused_before_they_overflow(family: str) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((60, 9)) < 0.5).astype(float)
    binary = FAMILIES[family]().requirement.startswith("binary")
    if not binary:
        X[7, 2] = 9e44
        assert np.isfinite(
            collect(X, family, 2, random_state=0).equations().third
        ).all()
    X[7, 2] = 1e46
    wanted = "zeros and ones|zeros, ones" if binary else r"row 7, column 2; .* overflow"
    with pytest.raises(DataError, match=wanted):
        collect(X, family, 2, random_state=0)


@pytest.mark.parametrize("weighting", ["length", "document"])
def test_fractions_of_a_token_weigh_nothing(weighting: Any) -> None:
    """Fewer than two tokens make no pair, also where counts are not whole."""
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, size=(30, 5)).astype(float)
    crumbs = np.array([[0.3, 0.2, 0, 0, 0], [0.9, 0.0, 0.8, 0, 0], [0, 0.1, 0, 0, 0]])
    family = tercet.families.SingleTopic(weighting=weighting)
    whole = collect(X, family, 2, basis=np.eye(5)).equations()
    with_crumbs = collect(np.vstack([X, crumbs]), family, 2, basis=np.eye(5))
    np.testing.assert_allclose(with_crumbs.equations().pair, whole.pair, atol=1e-14)
    np.testing.assert_allclose(with_crumbs.equations().third, whole.third, atol=1e-14)
    assert with_crumbs.short[1] - (X.sum(axis=1) < 2).sum() == 3


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_without_rows_say_so(library: Any) -> None:
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        open_source(library.DataFrame({"tax": [], "war": []}))


def test_lazy_frames_are_to_be_collected() -> None:
    with pytest.raises(DataError, match=r"X\.collect\(\)"):
        open_source(pl.LazyFrame({"tax": [1, 2]}))
