"""Every kind of source gives the sums of the dense array, however it is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from intake.row_sums import RowSumsPass, assert_same_sums, cut_rows, sum_rows
from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, Source
from tercet.intake import Requirement, count_threads, open_source, read_names

TABLES: dict[str, Callable[[np.ndarray], Any]] = {
    "dense": lambda dense: dense,
    "integers": lambda dense: dense.astype(np.int32),
    "float32": lambda dense: dense.astype(np.float32),
    "fortran": np.asfortranarray,
    "nested list": lambda dense: dense.tolist(),
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csr integers": lambda dense: sparse.csr_array(dense.astype(np.uint16)),
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "pandas": pd.DataFrame,
    "pandas mixed": lambda dense: pd.DataFrame(
        {
            j: column.astype([np.int64, np.float32][j % 2])
            for j, column in enumerate(dense.T)
        }
    ),
    "pandas sparse": lambda dense: pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(dense)
    ),
    "polars": lambda dense: pl.DataFrame(dense.astype(np.int64)),
}

STREAMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": lambda blocks: blocks,
    "tuple": tuple,
    "callable": lambda blocks: lambda: iter(blocks),
    "callable of a list": lambda blocks: lambda: blocks,
    "iterator": iter,
    "generator": lambda blocks: (block for block in blocks),
}

FORMS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "dense": lambda rows, _: rows,
    "csr": lambda rows, _: sparse.csr_array(rows),
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "weighted": lambda rows, weights: (sparse.csc_array(rows), weights),
    "block": lambda rows, weights: Block(sparse.csr_array(rows), 99, weights),
}


def draw_counts(seed: int, n_rows: int, n_features: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.poisson(0.8, size=(n_rows, n_features)) + (rng.random((n_rows, 1)) < 0.1)


shapes = st.tuples(st.integers(1, 40), st.integers(1, 6))


@pytest.mark.parametrize("kind", TABLES)
@given(
    seed=st.integers(0, 99),
    shape=shapes,
    block_rows=st.none() | st.integers(1, 50),
    n_jobs=st.sampled_from([None, 1, 2, 3]),
    weighted=st.booleans(),
)
def test_tables_give_the_sums_of_the_dense_array(
    kind: str,
    seed: int,
    shape: tuple[int, int],
    block_rows: int | None,
    n_jobs: int | None,
    weighted: bool,
) -> None:
    dense = draw_counts(seed, *shape) + 1.0
    weights = np.linspace(0.5, 2.0, shape[0]) if weighted else None
    source = open_source(
        TABLES[kind](dense), sample_weight=weights, n_jobs=n_jobs, block_rows=block_rows
    )
    assert isinstance(source, Source)
    assert source.rereadable
    for _ in range(2):
        found = source.run(RowSumsPass(source.n_features))
        assert_same_sums(found, sum_rows(dense, weights))


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("form", FORMS)
@given(
    seed=st.integers(0, 99),
    shape=shapes,
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    block_rows=st.none() | st.integers(1, 9),
    n_jobs=st.sampled_from([None, 2, 3]),
)
def test_streams_give_the_sums_of_the_dense_array(
    stream: str,
    form: str,
    seed: int,
    shape: tuple[int, int],
    sizes: list[int],
    block_rows: int | None,
    n_jobs: int | None,
) -> None:
    dense = draw_counts(seed, *shape) + 1.0
    weights = np.linspace(0.5, 2.0, shape[0])
    blocks = [FORMS[form](dense[cut], weights[cut]) for cut in cut_rows(dense, sizes)]
    source = open_source(STREAMS[stream](blocks), n_jobs=n_jobs, block_rows=block_rows)
    assert isinstance(source, Source)
    assert source.n_features == shape[1]
    assert source.rereadable == (stream not in ("iterator", "generator"))
    wanted = sum_rows(dense, weights if form in ("weighted", "block") else None)
    for _ in range(1 + source.rereadable):
        assert_same_sums(source.run(RowSumsPass(source.n_features)), wanted)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_come_in_order_and_in_the_promised_form(n_jobs: int) -> None:
    dense = draw_counts(0, 23, 4)
    for X in (sparse.coo_array(dense), [sparse.csc_array(dense[:9]), dense[9:]]):
        blocks = list(open_source(X, n_jobs=n_jobs, block_rows=5).blocks())
        assert [b.start for b in blocks] == list(
            np.cumsum([0, *[b.n_rows for b in blocks[:-1]]])
        )
        assert max(b.n_rows for b in blocks) == 5
        assert sum(b.n_rows for b in blocks) == 23
        for block in blocks:
            assert block.rows.dtype == np.float64
            if block.is_sparse:
                assert block.rows.has_canonical_format
                assert block.rows.indices.dtype == np.int32


def test_zero_rows_and_empty_blocks_are_kept_apart() -> None:
    dense = np.array([[0, 0], [1, 0], [0, 0]])
    source = open_source([dense[:1], dense[:0], dense[1:]])
    assert_same_sums(source.run(RowSumsPass(2)), sum_rows(dense))


def test_data_are_left_as_they_are() -> None:
    rows = sparse.csr_matrix(
        (np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 3)
    )
    before = rows.copy()
    open_source(rows).run(RowSumsPass(3))
    assert rows.nnz == 3
    np.testing.assert_array_equal(rows.data, before.data)


def test_names_of_frames_are_kept() -> None:
    frame = pd.DataFrame({"tax": [1, 2], "war": [0, 3]})
    assert open_source(frame).feature_names == ("tax", "war")
    assert open_source(pl.from_pandas(frame)).feature_names == ("tax", "war")
    assert open_source(iter([frame, frame])).feature_names == ("tax", "war")
    assert open_source(frame.to_numpy()).feature_names is None
    assert open_source(frame, feature_names=["a", "b"]).feature_names == ("a", "b")
    assert open_source([[1, 2]], feature_names=["a", "b"]).feature_names == ("a", "b")
    assert read_names(frame) == ("tax", "war")
    assert read_names(pd.DataFrame([[1, 2]])) is None


def test_a_source_passes_through() -> None:
    source = open_source([[1, 2]], requirement="binary-or-missing")
    assert open_source(source, requirement="binary-or-missing") is source
    with pytest.raises(ParameterError, match="opened for requirement='binary-or-missi"):
        open_source(source, requirement="integers")
    with pytest.raises(ParameterError, match="leave them out here"):
        open_source(source, n_jobs=2, requirement="binary-or-missing")
    binary = open_source([[1, 0]], requirement="binary")
    assert open_source(binary, requirement=Requirement.COUNTS) is binary


def test_an_object_that_can_be_iterated_again_is_rereadable() -> None:
    class Loader:
        def __iter__(self) -> Iterator[np.ndarray]:
            yield np.eye(2)
            yield np.ones((3, 2))

    source = open_source(Loader())
    assert source.rereadable
    for _ in range(2):
        assert source.run(RowSumsPass(2)).n_rows == 5


def test_threads_share_rows_of_uneven_cost() -> None:
    dense = np.zeros((200, 50))
    dense[:20] = 1.0
    source = open_source(sparse.csr_array(dense), n_jobs=2, block_rows=7)
    assert_same_sums(source.run(RowSumsPass(50)), sum_rows(dense))


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2"])
def test_numbers_of_threads_that_mean_nothing(n_jobs: Any) -> None:
    with pytest.raises(ParameterError, match=r"n_jobs=.* is not a number of threads"):
        count_threads(n_jobs)


def test_minus_one_is_all_cores() -> None:
    assert count_threads(-1) >= 1
    assert count_threads(-1000) == 1


@pytest.mark.parametrize("block_rows", [0, -1, 2.5, True])
def test_block_sizes_that_mean_nothing(block_rows: Any) -> None:
    with pytest.raises(ParameterError, match=r"block_rows=.* is not a number of rows"):
        open_source([[1]], block_rows=block_rows)


def test_unknown_requirement_lists_the_valid_ones() -> None:
    with pytest.raises(
        ParameterError, match=r"'integers', 'counts', .*Did you mean 'cou"
    ):
        open_source([[1]], requirement="count")


def test_names_that_do_not_fit_the_columns() -> None:
    with pytest.raises(ParameterError, match="has 1 names, but X has 2 columns"):
        open_source([[1, 2]], feature_names=["a"])
    with pytest.raises(ParameterError, match="has 3 names, but X has 2 columns"):
        open_source([np.eye(2)], feature_names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("corpus.jsonl", r"tercet\.read\(path\)"),
        (["one text", "another"], "list of texts"),
        ([], r"X is empty"),
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (np.zeros((3, 0)), r"0 feature\(s\)"),
        (np.zeros(3), r"1 dimension\(s\).*Reshape your data"),
        (np.zeros((1, 2, 3)), r"3 dimension\(s\)"),
        (None, "X is None"),
        ({"a": [1]}, r"0 dimension\(s\)"),
        ([[1, 2], [3]], "cannot be read as a table of numbers"),
        (np.array([[1j]]), "Complex data not supported"),
        ([["a", 1]], "numbers are needed"),
        (pd.DataFrame({"who": ["x"], "n": [1]}), "Column 'who' of X has dtype"),
        (pl.DataFrame({"who": ["x"], "n": [1]}), "Column 'who' of X has dtype String"),
        (iter([]), "X gave no blocks"),
        (lambda: iter([]), "X gave no blocks"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), "masked array"),
    ],
)
def test_things_that_are_not_rows_of_numbers(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        open_source(X)


def test_a_dask_collection_is_told_how_to_come_in() -> None:
    kind = type("Array", (), {"__module__": "dask.array.core"})
    with pytest.raises(DataError, match=r"Dask collection.*to_delayed"):
        open_source(kind())


def test_a_damaged_matrix_is_found_out() -> None:
    rows = sparse.csr_array(np.eye(3))
    rows.indices = np.array([0, 1, 7], dtype=np.int32)
    with pytest.raises(DataError, match="a column index lies outside 0 to 2"):
        open_source(rows)
    rows = sparse.csr_array(np.eye(3))
    rows.indptr = np.array([0, 2, 1, 3], dtype=np.int32)
    with pytest.raises(DataError, match="row pointers do not rise"):
        open_source(rows)
