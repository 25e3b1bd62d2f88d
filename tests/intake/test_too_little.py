"""Data that say too little are an error with the numbers; short rows are counted."""

from __future__ import annotations

import numpy as np
import pytest

from tercet.exceptions import DataError, ParameterError
from tercet.moments import collect


def test_documents_that_are_all_too_short() -> None:
    with pytest.raises(DataError, match="short"):
        collect(np.eye(4), "single-topic", n_components=2)


def test_short_documents_are_counted() -> None:
    rows = np.vstack([np.eye(4), np.full((5, 4), 2)])
    moments = collect(rows, "single-topic", n_components=2)
    assert moments.n_rows == 9
    assert moments.short.tolist() == [0, 4, 4]


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_numbers_of_components_that_mean_nothing(k: int) -> None:
    with pytest.raises(ParameterError, match=f"n_components={k}"):
        collect(np.full((5, 4), 2), "poisson", n_components=k)


def test_more_components_than_features() -> None:
    with pytest.raises(ParameterError, match="n_components=5 is more than the 4 feat"):
        collect(np.full((5, 4), 2), "poisson", n_components=5)


def test_unknown_names_list_the_valid_ones() -> None:
    rows = np.full((5, 4), 2)
    with pytest.raises(ParameterError, match=r"'single-topic'.*Did you mean 'poisson'"):
        collect(rows, "poison", n_components=2)
    with pytest.raises(ParameterError, match=r"'sketch'.*Did you mean 'exact'"):
        collect(rows, "poisson", n_components=2, strategy="exactly")
