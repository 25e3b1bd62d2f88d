"""Every sum and every moment equals slow loops that cite their equation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from references import moments_tensors as slow
from tercet.families import SingleTopic
from tercet.flow import Block, MomentPlan
from tercet.intake import open_source
from tercet.moments import (
    DiagonalPass,
    PairPass,
    SumsPass,
    bound_errors_of_lengths,
    collect_against,
)
from tercet.moments.assembly import (
    contract_table,
    fill_symmetric,
    normalize_slices,
    normalize_sums,
    shift_pair,
    shift_third,
    spread_pair,
)
from tercet.moments.subspace import apply_pair

TOLERANCE = 1e-10


def draw_rows(rng: np.random.Generator, d: int, *, n: int = 9) -> np.ndarray:
    """Draw counts with empty, short and long rows among them."""
    rates = rng.choice([0.0, 0.2, 1.0, 4.0], size=(n, 1))
    rows = rng.poisson(rates, size=(n, d)).astype(float)
    rows[0, : min(3, d)] += 2.0  # one long row, so that triples are there
    return rows


def as_block(rows: np.ndarray, weights: np.ndarray, *, dense: bool) -> Block:
    return Block(rows if dense else sparse.csr_array(rows), 0, weights)


def same(found: Any, wanted: Any) -> None:
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found / scale, wanted / scale, rtol=0.0, atol=TOLERANCE)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("factorial", [True, False])
@pytest.mark.parametrize("weighting", ["length", "document", "rows"])
@given(d=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_all_sums(
    weighting: Any, factorial: bool, dense: bool, d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng, d)
    weights = rng.choice([0.5, 1.0, 2.0], size=len(rows))
    basis = rng.standard_normal((d, 3))
    features = rng.permutation(d)[:2]
    work = SumsPass(
        basis, MomentPlan(weighting), features, correction=1.0 if factorial else 0.0
    )
    state = work.update(work.initial(), as_block(rows, weights, dense=dense))
    moments = collect_against(
        open_source(rows if dense else sparse.csr_array(rows), sample_weight=weights),
        _Reader(weighting, factorial),
        basis,
        orthonormal=False,
        features=features,
    )
    same(state.third, moments.third)
    sums = normalize_sums(moments, factorial=factorial)

    first = slow.first_moment(rows, weights, weighting)
    pair = slow.pair_moment(rows, weights, weighting, factorial)
    third = slow.third_moment(rows, weights, weighting, factorial)
    same(sums.first, first)
    same(sums.lift, pair @ basis)
    same(sums.pair, slow.contract_pair(pair, basis, basis))
    full = sums.triples + contract_table(basis, sums.table)
    same(full, slow.contract_third(third, basis))
    slices = normalize_slices(moments, sums, factorial=factorial)
    assert slices is not None
    for place, feature in enumerate(features):
        same(slices[place], slow.contract_slice(third, basis, feature))


class _Reader(SingleTopic):
    """A family that only says which sums it wants."""

    def __init__(self, weighting: Any, factorial: bool) -> None:
        super().__init__()
        object.__setattr__(self, "_plan", MomentPlan(weighting))
        object.__setattr__(self, "_factorial", factorial)

    @property
    def plan(self) -> MomentPlan:
        return self._plan  # type: ignore[attr-defined]

    @property
    def factorial(self) -> bool:  # type: ignore[override]
        return self._factorial  # type: ignore[attr-defined]


@pytest.mark.parametrize("dense", [False, True])
@given(d=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
def test_pair_operator_and_gram(dense: bool, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng, d)
    weights = rng.choice([0.5, 1.0, 2.0], size=len(rows))
    wanted = slow.pair_moment(rows, weights, "length", True)
    for vectors in (rng.standard_normal((d, 2)), np.eye(d)):
        work = PairPass(vectors, MomentPlan("length"))
        state = work.update(work.initial(), as_block(rows, weights, dense=dense))
        same(apply_pair(state, vectors, factorial=True), wanted @ vectors)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("factorial", [True, False])
@given(d=st.integers(2, 7), seed=st.integers(0, 2**32 - 1))
def test_diagonals_of_rotated_slices(
    factorial: bool, dense: bool, d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng, d)
    weights = np.ones(len(rows))
    directions = rng.standard_normal((d, 2))
    correction = 1.0 if factorial else 0.0
    work = DiagonalPass(directions, MomentPlan("length"), correction)
    state = work.update(work.initial(), as_block(rows, weights, dense=dense))
    third_mass = state.tally.masses[2]
    diagonals = state.diagonals / third_mass
    if factorial:
        pair = state.pair / third_mass
        count = state.tally.first[2] / third_mass
        # -2 V * C + 2 f * V * V, method section 2.
        diagonals = diagonals - 2.0 * directions * pair
        diagonals += 2.0 * count[:, None] * directions**2
    third = slow.third_moment(rows, weights, "length", factorial)
    for feature in range(d):
        wanted = np.diag(slow.contract_slice(third, directions, feature))
        same(diagonals[feature], wanted)


@given(d=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_shifts_of_the_models(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, basis = rng.standard_normal(d), rng.standard_normal((d, 3))
    root = rng.standard_normal((d, d))
    pair = root + root.T
    third = np.einsum("ij,kj,lj->ikl", *(3 * [rng.standard_normal((d, 4))]))
    a, b, c = rng.uniform(0.0, 2.0, size=3)
    g, inner = basis.T @ first, basis.T @ pair @ basis
    lift, small = shift_pair(pair @ basis, inner, first, g, a)
    wanted = slow.shifted_pair(pair, first, a)
    same(lift, wanted @ basis)
    same(small, basis.T @ wanted @ basis)
    cube = shift_third(slow.contract_third(third, basis), inner, g, b, c)
    wanted_third = slow.shifted_third(third, pair, first, b, c)
    same(cube, slow.contract_third(wanted_third, basis))


def test_energy_of_what_is_outside_the_basis(rng: np.random.Generator) -> None:
    basis = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    rows = rng.standard_normal((7, 5))
    weights = rng.uniform(0.0, 2.0, 7)
    work = SumsPass(basis, MomentPlan("rows", energy=True))
    for dense in (True, False):
        state = work.update(work.initial(), as_block(rows, weights, dense=dense))
        energy, power = slow.energy_sums(rows, weights, basis)
        same(state.energy, energy)
        same(state.power, np.float64(power))


def test_length_sums_in_float_do_not_overflow() -> None:
    rows = np.array([[3e6, 1.0], [0.0, 2.0], [0.0, 0.0]])
    work = SumsPass(np.eye(2), MomentPlan("length"))
    state = work.update(work.initial(), as_block(rows, np.ones(3), dense=False))
    np.testing.assert_allclose(state.tally.lengths, slow.length_sums(rows), rtol=1e-12)
    assert state.tally.short.tolist() == [1, 1, 2]
    assert state.tally.longest == 3e6 + 1


@pytest.mark.parametrize("version", ["paper", "thesis"])
@given(
    lengths=st.lists(st.integers(0, 500), min_size=1, max_size=20),
    delta=st.floats(0.01, 0.9),
    norm=st.floats(0.0, 0.9),
)
def test_sample_bounds(
    version: Any, lengths: list[int], delta: float, norm: float
) -> None:
    lengths = [*lengths, 3]
    found = bound_errors_of_lengths(
        np.array(lengths, float),
        delta=delta,
        version=version,
        pair_norm=norm,
        third_norm=norm / 2,
    )
    wanted = slow.bounds_of_lengths(lengths, delta, version, norm, norm / 2)
    np.testing.assert_allclose((found.pair, found.third), wanted, rtol=1e-12)


def test_small_tensors_by_hand() -> None:
    outer = spread_pair(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.0]))
    assert outer[0, 1, 0] == outer[1, 0, 0] == outer[0, 0, 1] == 2.0
    assert outer[1, 1, 0] == 0.0
    corner = np.zeros((2, 2, 2))
    corner[0, 0, 1] = corner[0, 1, 0] = 5.0
    assert fill_symmetric(corner)[1, 0, 0] == 5.0
