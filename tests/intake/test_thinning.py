"""Three tokens of each row: the right law, the same draw however it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from intake.row_sums import RowSumsPass, assert_same_sums
from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, Source
from tercet.intake import ThinnedSource, open_source
from tercet.intake.thinning import thin_block


def draw_rows(source: Source) -> tuple[np.ndarray, np.ndarray]:
    blocks = list(source.blocks())
    rows = np.vstack([block.rows.toarray() for block in blocks])
    return rows, np.concatenate([block.weights for block in blocks])


@given(
    seed=st.integers(0, 2**63 - 1),
    block_rows=st.none() | st.integers(1, 40),
    n_jobs=st.sampled_from([1, 2, 3]),
    form=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_the_draw_depends_on_seed_and_row_only(
    seed: int, block_rows: int | None, n_jobs: int, form: Any
) -> None:
    counts = np.random.default_rng(1).poisson(0.7, size=(60, 8))
    counts[0, 0] = 5
    plain = ThinnedSource(open_source(counts), seed=seed)
    other = ThinnedSource(
        open_source(form(counts), n_jobs=n_jobs, block_rows=block_rows), seed=seed
    )
    assert isinstance(other, Source)
    rows, weights = draw_rows(plain)
    again, weights_again = draw_rows(other)
    np.testing.assert_array_equal(rows, again)
    np.testing.assert_array_equal(weights, weights_again)
    assert_same_sums(other.run(RowSumsPass(8)), plain.run(RowSumsPass(8)))
    long = counts.sum(axis=1) >= 3
    assert (rows <= counts).all()
    np.testing.assert_array_equal(rows[long].sum(axis=1), 3)
    np.testing.assert_array_equal(rows[~long], counts[~long])
    np.testing.assert_array_equal(weights, long)


def test_other_seeds_and_other_rows_draw_otherwise() -> None:
    counts = np.ones((50, 30))
    rows, _ = draw_rows(ThinnedSource(open_source(counts), seed=0))
    others, _ = draw_rows(ThinnedSource(open_source(counts), seed=1))
    assert (rows != others).any(axis=1).mean() > 0.9
    assert np.unique(rows, axis=0).shape[0] > 45


@pytest.mark.parametrize("n_tokens", [1, 2, 3, 5])
def test_tokens_are_drawn_without_replacement_and_evenly(n_tokens: int) -> None:
    tokens = np.array([6.0, 0.0, 3.0, 1.0])
    n_rows, total = 40_000, tokens.sum()
    block = Block(sparse.csr_array(np.tile(tokens, (n_rows, 1))))
    rows = thin_block(block, n_tokens, seed=3).rows.toarray()
    assert (rows <= tokens).all()
    shares = tokens / total
    # Mean and covariance of the multivariate hypergeometric law.
    spread = n_tokens * (total - n_tokens) / (total - 1)
    covariance = spread * (np.diag(shares) - np.outer(shares, shares))
    error = 5 * np.sqrt(n_tokens / n_rows)
    np.testing.assert_allclose(rows.mean(axis=0), n_tokens * shares, atol=error)
    np.testing.assert_allclose(np.cov(rows.T), covariance, atol=error)


def test_draws_with_replacement_would_be_noticed() -> None:
    rng = np.random.default_rng(0)
    rows = rng.multinomial(5, np.array([6, 0, 3, 1]) / 10, size=40_000)
    assert (rows > [6, 0, 3, 1]).any()


def test_weights_and_names_are_kept() -> None:
    source = open_source(
        [[4, 0], [1, 1], [0, 9]], sample_weight=[2, 3, 4], feature_names=["a", "b"]
    )
    thinned = ThinnedSource(source, n_tokens=3, seed=0)
    assert thinned.feature_names == ("a", "b")
    assert thinned.rereadable
    (block,) = thinned.blocks()
    np.testing.assert_array_equal(block.weights, [2, 0, 4])
    assert block.rows.has_canonical_format
    assert block.rows.indices.dtype == np.int32


def test_an_iterator_stays_one() -> None:
    thinned = ThinnedSource(open_source(iter([np.full((2, 2), 5)])), seed=0)
    assert not thinned.rereadable
    assert thinned.run(RowSumsPass(2)).n_rows == 2
    with pytest.raises(DataError, match="has been read already"):
        thinned.run(RowSumsPass(2))


def test_parts_of_tokens_cannot_be_drawn() -> None:
    source = open_source([[0.5, 4.0]], requirement="counts")
    with pytest.raises(DataError, match=r"X holds 0\.5 at row 0, column 0"):
        list(ThinnedSource(source, seed=0).blocks())


@pytest.mark.parametrize(
    ("name", "value"), [("n_tokens", 0), ("seed", -1), ("seed", 0.5)]
)
def test_settings_that_mean_nothing(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"{name}={value} must be an integer"):
        ThinnedSource(open_source([[1]]), **{name: value})
