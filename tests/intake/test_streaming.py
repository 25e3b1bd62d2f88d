"""Streams are read lazily, once or again as they can, and say what is wrong."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from intake.row_sums import RowSumsPass, assert_same_sums, sum_rows
from tercet.exceptions import DataError, ParameterError
from tercet.intake import open_source


class Watched:
    """Blocks that count how many of them are alive."""

    def __init__(self, n_blocks: int) -> None:
        self.n_blocks = n_blocks
        self.seen: list[weakref.ref[sparse.csr_array]] = []
        self.most = 0
        self.given = 0

    def __call__(self) -> Iterator[sparse.csr_array]:
        for _ in range(self.n_blocks):
            block = sparse.csr_array(np.ones((4, 3)))
            self.seen.append(weakref.ref(block))
            self.given += 1
            # Of young objects only: a block that leaks is a young one.
            gc.collect(1)
            self.most = max(self.most, sum(ref() is not None for ref in self.seen))
            yield block
            del block


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("once", [False, True])
def test_few_blocks_are_in_memory_and_each_is_read_once(
    n_threads: int, once: bool
) -> None:
    watched = Watched(20)
    source = open_source(watched() if once else watched, n_jobs=n_threads)
    assert watched.given == 1
    assert source.run(RowSumsPass(3)).n_rows == 80
    assert watched.given == (20 if once else 21)
    assert watched.most <= n_threads + 1


def test_the_count_of_blocks_alive_can_fail() -> None:
    watched = Watched(20)
    held = list(watched())
    assert watched.most == len(held) == 20


def test_blocks_are_made_only_when_asked_for() -> None:
    watched = Watched(20)
    blocks = open_source(watched()).blocks()
    next(blocks)
    next(blocks)
    assert watched.given == 2


def test_an_iterator_is_not_read_twice() -> None:
    source = open_source(iter([np.eye(2), np.eye(2)]))
    assert not source.rereadable
    assert source.run(RowSumsPass(2)).n_rows == 4
    with pytest.raises(DataError, match=r"has been read already.*Pass a callable"):
        source.run(RowSumsPass(2))
    with pytest.raises(DataError, match="has been read already"):
        next(source.blocks())


def test_large_blocks_are_cut_and_small_ones_kept() -> None:
    source = open_source([np.ones((10, 2)), np.ones((2, 2))], block_rows=4)
    assert [block.n_rows for block in source.blocks()] == [4, 4, 2, 2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_block_with_other_columns_is_named(n_jobs: int) -> None:
    blocks = [np.eye(3), np.eye(3), np.ones((2, 4))]
    with pytest.raises(
        DataError, match="Block 2 of X has 4 features, but block 0 has 3"
    ):
        open_source(blocks, n_jobs=n_jobs).run(RowSumsPass(3))


def test_the_block_with_other_names_is_named() -> None:
    first = pd.DataFrame({"tax": [1], "war": [2]})
    source = open_source([first, first[["war", "tax"]]])
    with pytest.raises(
        DataError, match="Block 1 of X names column 0 'war', but it is 'tax"
    ):
        source.run(RowSumsPass(2))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ([["a"]], r"Block 1 of X cannot be used\. .*numbers are needed"),
        ((np.eye(2), [1.0]), r"Block 1 .*sample_weight has shape \(1,\), but 2 rows"),
        ((np.eye(2), [1.0, -1.0]), r"Block 1 .*sample_weight holds -1.0 at row 3"),
        (np.zeros((2, 0)), r"Block 1 .*0 feature\(s\)"),
        (7, r"Block 1 .*0 dimension\(s\)"),
    ],
)
def test_a_block_that_cannot_be_read_is_named(block: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        open_source(iter([np.eye(2), block])).run(RowSumsPass(2))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_of_a_stream_are_counted_from_its_start(n_jobs: int) -> None:
    blocks = [np.ones((5, 2)), np.ones((5, 2)), np.array([[0, 1], [1, -3]])]
    with pytest.raises(DataError, match=r"-3\.0 at row 11, column 1"):
        open_source(blocks, n_jobs=n_jobs).run(RowSumsPass(2))


def test_a_callable_must_make_new_iterators() -> None:
    stream = iter([np.eye(2), np.eye(2)])
    source = open_source(lambda: stream)
    with pytest.raises(ParameterError, match="same iterator twice"):
        source.run(RowSumsPass(2))
    with pytest.raises(ParameterError, match="returned a int"):
        open_source(lambda: 7)


def test_a_callable_must_give_the_same_rows_again() -> None:
    sizes = iter([3, 3, 4])
    source = open_source(lambda: iter([np.eye(4)[: next(sizes)]]))
    source.run(RowSumsPass(4))
    with pytest.raises(DataError, match="4 rows at this reading but 3 at an earlier"):
        source.run(RowSumsPass(4))


def test_weights_of_blocks_come_with_the_blocks() -> None:
    with pytest.raises(ParameterError, match="blocks bring their own weights"):
        open_source([np.eye(2)], sample_weight=[1, 1])


def test_an_error_of_the_reader_reaches_the_caller() -> None:
    def give() -> Iterator[np.ndarray]:
        yield np.eye(2)
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        open_source(give(), n_jobs=2).run(RowSumsPass(2))


def test_integers_are_summed_without_overflow() -> None:
    dense = np.full((3, 2), 200, dtype=np.uint8)
    source = open_source(iter([dense]))
    assert_same_sums(source.run(RowSumsPass(2)), sum_rows(dense))
