"""Every registered decomposition obeys the laws, and each law can be broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.decompositions import (
    Planted,
    Solver,
    check_anything,
    check_noise,
    check_planted,
    check_rotation,
    check_scale,
    disturb,
    orthonormal,
    plant,
    with_slices,
)
from oracles.decomposition_mutants import MUTANTS
from tercet.decomposition import DECOMPOSITIONS, solve
from tercet.exceptions import ParameterError
from tercet.flow import Problem

ELEVEN = {
    "als",
    "eigen",
    "gevd",
    "joint",
    "nls",
    "power",
    "random-projections",
    "sidiwo",
    "similarity",
    "svd",
    "svtd",
}
SEEDS = st.integers(0, 2**32 - 1)


def solver_of(name: str, **parameters: Any) -> Solver:
    return lambda problem: solve(problem, name, **parameters)


def test_the_registry_is_complete() -> None:
    assert set(DECOMPOSITIONS) == ELEVEN


@pytest.mark.parametrize("name", sorted(ELEVEN))
def test_every_entry_says_what_one_wants_to_know(name: str) -> None:
    entry = DECOMPOSITIONS[name]
    assert entry.name == name
    assert entry.exact
    # A publication has a year, a cost names the number of components.
    assert any(part.strip(";,:").isdigit() for part in entry.reference.split())
    assert "k" in entry.cost or "l" in entry.cost
    assert entry.takes in ("whitened", "slices", "unwhitened")
    with pytest.raises(ParameterError, match=f"not a parameter of method='{name}'"):
        solve(plant(np.random.default_rng(0), 2).problem, name, sweeps=3)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    problem = plant(np.random.default_rng(0), 2).problem
    with pytest.raises(ParameterError, match=r"'joint'.*Did you mean 'sidiwo'"):
        solve(problem, "sidivo")


@pytest.mark.parametrize("name", sorted(ELEVEN))
@settings(max_examples=40)
@given(seed=SEEDS, size=st.integers(1, 9), sliced=st.booleans())
def test_planted_factors_come_back(
    name: str, seed: int, size: int, sliced: bool
) -> None:
    planted = plant(np.random.default_rng(seed), size)
    check_planted(solver_of(name), with_slices(planted) if sliced else planted)


@pytest.mark.parametrize("name", sorted(ELEVEN))
@settings(max_examples=25)
@given(seed=SEEDS, size=st.integers(2, 8), sliced=st.booleans())
def test_factors_turn_with_the_coordinates(
    name: str, seed: int, size: int, sliced: bool
) -> None:
    rng = np.random.default_rng(seed)
    planted = plant(rng, size)
    planted = with_slices(planted) if sliced else planted
    check_rotation(solver_of(name), planted, orthonormal(size, size, rng))


@pytest.mark.parametrize("name", sorted(ELEVEN))
@settings(max_examples=25)
@given(seed=SEEDS, size=st.integers(2, 8), power=st.integers(-12, 12))
def test_eigenvalues_grow_with_the_tensor(
    name: str, seed: int, size: int, power: int
) -> None:
    check_scale(solver_of(name), plant(np.random.default_rng(seed), size), 10.0**power)


# Combinations whose gaps are left to chance may be unlucky.
CHANCE = {"svd", "eigen", "gevd"}


@pytest.mark.parametrize("name", sorted(ELEVEN))
@settings(max_examples=20)
@given(seed=SEEDS, size=st.integers(2, 8))
def test_errors_are_in_proportion_to_the_noise(name: str, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    factor = 1e5 if name in CHANCE else 1e3
    check_noise(solver_of(name), plant(rng, size), rng, factor)


@pytest.mark.parametrize("name", sorted(ELEVEN))
@settings(max_examples=20)
@given(seed=SEEDS, size=st.integers(1, 6), share=st.sampled_from([0.1, 1.0, 1e6]))
def test_noise_alone_gives_numbers(
    name: str, seed: int, size: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    check_anything(solver_of(name), disturb(plant(rng, size).problem, share, rng))


@pytest.mark.parametrize("name", sorted(ELEVEN))
def test_a_tensor_of_zeros_gives_numbers(name: str) -> None:
    planted = plant(np.random.default_rng(0), 3)
    problem = Problem(
        np.zeros((3, 3, 3)),
        planted.problem.eigenvalues,
        planted.problem.first,
        planted.problem.unwhitening,
    )
    check_anything(solver_of(name), problem)


@pytest.mark.parametrize("name", sorted(ELEVEN))
def test_equal_seeds_give_equal_factors(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = disturb(plant(rng, 5).problem, 0.01, rng)
    first, second = (
        solve(problem, name, rng=np.random.default_rng(seed)) for _ in range(2)
    )
    np.testing.assert_array_equal(first.vectors, second.vectors)
    np.testing.assert_array_equal(
        solve(problem, name).vectors, solve(problem, name).vectors
    )


@pytest.mark.parametrize("name", sorted(ELEVEN))
def test_only_those_that_say_so_draw(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = disturb(plant(rng, 5).problem, 0.01, rng)
    before = rng.bit_generator.state
    options = {"targets": "random"} if name in ("joint", "similarity") else {}
    solve(problem, name, rng=rng, **options)
    drew = rng.bit_generator.state != before
    assert drew == DECOMPOSITIONS[name].draws


LAWS: dict[str, Callable[[Solver, Planted, np.random.Generator], None]] = {
    "planted": lambda solver, planted, rng: check_planted(solver, planted),
    "rotation": lambda solver, planted, rng: check_rotation(
        solver, planted, orthonormal(5, 5, rng)
    ),
    "scale": lambda solver, planted, rng: check_scale(solver, planted, 3.0),
    "noise": check_noise,
    "anything": lambda solver, planted, rng: check_anything(solver, planted.problem),
}


@pytest.mark.parametrize("name", sorted(ELEVEN))
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_rejected(mutant: str, name: str) -> None:
    law, spoil = MUTANTS[mutant]
    planted = plant(np.random.default_rng(3), 5)
    LAWS[law](solver_of(name), planted, np.random.default_rng(4))
    with pytest.raises(AssertionError):
        LAWS[law](spoil(solver_of(name)), planted, np.random.default_rng(4))
