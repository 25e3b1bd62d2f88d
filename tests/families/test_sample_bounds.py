"""Bounds on moments from document lengths, held to both papers and to samples."""

from __future__ import annotations

import numpy as np
import pytest

from tercet.datasets import make_single_topic
from tercet.exceptions import DataError, ParameterError
from tercet.families import SingleTopic
from tercet.intake import open_source
from tercet.moments import (
    bound_errors,
    bound_errors_of_lengths,
    collect,
    collect_against,
)


def test_remark_2_of_paper_000_equal_long_documents() -> None:
    """`sqrt((1 - |M2|^2) / N) + sqrt(log(1 / delta) / (N c))`."""
    n, c, delta, norm = 400, 100_000, 0.1, 0.3
    found = bound_errors_of_lengths(
        np.full(n, c), delta=delta, version="paper", pair_norm=norm
    )
    wanted = np.sqrt((1.0 - norm**2) / n) + np.sqrt(np.log(1 / delta) / (n * c))
    assert found.pair == pytest.approx(wanted, rel=1e-4)


def test_remark_of_theorem_3_2_2_of_thesis_001_equal_documents() -> None:
    """`sqrt((1 - |M2|^2) / n) + sqrt(2 log(1 / delta) / n)`, whatever the length."""
    n, delta, norm = 400, 0.1, 0.3
    wanted = np.sqrt((1.0 - norm**2) / n) + np.sqrt(2.0 * np.log(1 / delta) / n)
    for length in (3, 50, 10_000):
        found = bound_errors_of_lengths(
            np.full(n, length), delta=delta, pair_norm=norm, third_norm=norm
        )
        assert found.pair == pytest.approx(wanted)
        assert found.third == pytest.approx(wanted)


@pytest.mark.parametrize("version", ["paper", "thesis"])
def test_bounds_of_unequal_lengths_by_hand(version: str) -> None:
    """Lengths 3 and 5: `C1, C2, C3 = 8, 26, 66`, `W2 = 436 / 676`."""
    found = bound_errors_of_lengths(np.array([3, 5]), delta=np.exp(-1), version=version)
    w2, w3 = (36 + 400) / 26**2, (36 + 3600) / 66**2
    pair, third = np.sqrt(w2), np.sqrt(w3)
    if version == "paper":
        pair += 5 * np.sqrt(8) / 26
        third += 5 * 4 * np.sqrt(8) / 66
    else:
        pair += np.sqrt(2 * w2)
        third += np.sqrt(2 * w3)
    assert (found.pair, found.third) == (pytest.approx(pair), pytest.approx(third))


def test_samples_keep_the_bound_of_the_thesis() -> None:
    delta, kept = 0.3, np.zeros(2)
    family = SingleTopic()
    for seed in range(60):
        sample = make_single_topic(
            80, n_features=6, n_components=2, length_range=(3, 30), random_state=seed
        )
        exact = family.population(sample.parameters)
        sums = collect_against(
            open_source(sample.rows), family, np.eye(6), orthonormal=True
        )
        found = sums.equations()
        bound = bound_errors(
            sums,
            delta=delta,
            pair_norm=float(np.linalg.norm(exact.pair)),
            third_norm=float(np.linalg.norm(exact.third)),
        )
        kept += [
            np.linalg.norm(found.pair - exact.pair) < bound.pair,
            np.linalg.norm(found.third - exact.third) < bound.third,
        ]
    assert np.all(kept / 60 >= 1.0 - delta)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([], "must be a one-dimensional array"),
        ([[3, 4]], "must be a one-dimensional array"),
        (["a"], "must be a one-dimensional array"),
        ([5, -1], "holds -1.0 at document 1"),
        ([np.nan, 5], "holds nan at document 0"),
        ([np.inf, 5], "holds inf at document 0"),
        ([1, 2], "No document has three tokens"),
    ],
)
def test_lengths_that_are_none(lengths: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        bound_errors_of_lengths(lengths)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 0.0}, "delta=0.0"),
        ({"delta": "small"}, "delta='small'"),
        ({"version": "book"}, "version='book'"),
        ({"pair_norm": -1.0}, "pair_norm=-1.0"),
        ({"third_norm": np.nan}, "third_norm=nan"),
    ],
)
def test_bad_arguments_of_bounds_are_named(change: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        bound_errors_of_lengths(np.full(5, 9), **change)


def test_sums_that_weigh_rows_have_no_bound_from_lengths() -> None:
    sums = collect(np.full((9, 4), 2), "poisson", 1)
    with pytest.raises(ParameterError, match="'poisson' do not weigh rows by tokens"):
        bound_errors(sums)
    with pytest.raises(ParameterError, match="moments=NoneType is not a Moments"):
        bound_errors(None)
