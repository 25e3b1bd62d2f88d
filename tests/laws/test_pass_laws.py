"""Every registered pass is a commutative monoid, and each law can be broken."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.monoid import (
    check_associativity,
    check_blocking,
    check_commutativity,
    check_identity,
    check_monoid,
)
from laws.passes import PASSES, PassCase
from oracles.pass_mutants import MUTANTS
from tercet import moments
from tercet.flow import Pass


@st.composite
def cuts(draw: st.DrawFn) -> tuple[int, list[int]]:
    """Draw a number of rows and where they are cut, empty blocks included."""
    n_rows = draw(st.integers(0, 14))
    inner = draw(st.lists(st.integers(0, n_rows), min_size=2, max_size=6))
    return n_rows, [0, *sorted(inner), n_rows]


def prepare(case: PassCase, seed: int, n_rows: int, places: list[int]) -> Any:
    """Return the pass, all rows as one block, and the blocks of a cut."""
    rng = np.random.default_rng(seed)
    work = case.build(rng)
    rows = case.draw(rng, n_rows)
    blocks = [case.cut(rows, start, stop) for start, stop in itertools.pairwise(places)]
    return work, case.cut(rows, 0, n_rows), blocks


@pytest.mark.parametrize("name", PASSES)
@given(cut=cuts(), seed=st.integers(0, 2**32 - 1))
def test_is_a_commutative_monoid(name: str, cut: Any, seed: int) -> None:
    n_rows, places = cut
    work, whole, blocks = prepare(PASSES[name], seed, n_rows, places)
    assert isinstance(work, Pass)
    check_monoid(work, whole, blocks)


def test_every_public_pass_is_registered() -> None:
    there = {
        name for name in moments.__all__ if name.endswith("Pass") and name != "Pass"
    }
    tried = {
        type(case.build(np.random.default_rng(0))).__name__ for case in PASSES.values()
    }
    assert there <= tried


CHECKS = {
    "identity": lambda work, whole, blocks: check_identity(work, blocks),
    "associativity": lambda work, whole, blocks: check_associativity(
        work, [blocks[:1], blocks[1:2], blocks[2:]]
    ),
    "commutativity": lambda work, whole, blocks: check_commutativity(
        work, [blocks[:1], blocks[1:2], blocks[2:]]
    ),
    "blocking": check_blocking,
}


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_rejected(mutant: str, name: str) -> None:
    law, spoil = MUTANTS[mutant]
    work, whole, blocks = prepare(PASSES[name], 3, 12, [0, 5, 9, 12])
    CHECKS[law](work, whole, blocks)
    with pytest.raises(AssertionError):
        CHECKS[law](spoil(work), whole, blocks)
