"""Every registered family keeps the laws, and each law can be broken."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from laws.families import FAMILY_CASES
from laws.family_laws import LAWS, check_exact_recovery, check_rate
from oracles.family_mutants import MUTANTS
from tercet.families import FAMILIES
from tercet.flow import Family, Parameters

# Laws that look at all rows of a model need a small one.
ENUMERATING = {"expectation", "feature order", "row weights"}
DETERMINISTIC = [law for law in LAWS if law != "rate"]
CONSISTENT = [name for name, case in FAMILY_CASES.items() if case.consistent]


@cache
def draw_truth(name: str, law: str, seed: int = 0) -> Parameters:
    case, rng = FAMILY_CASES[name], np.random.default_rng(seed)
    if law in ENUMERATING:
        return case.draw(rng, *case.size)
    if law == "rate":
        return case.loud(case.draw(rng, *case.learned))
    return case.draw(rng, 15, 4)


@pytest.mark.parametrize("law", DETERMINISTIC)
@pytest.mark.parametrize("name", FAMILY_CASES)
def test_law_holds(name: str, law: str) -> None:
    case = FAMILY_CASES[name]
    assert isinstance(case.family, Family)
    LAWS[law](case.family, case, draw_truth(name, law))


@pytest.mark.parametrize(("d", "k"), [(20, 2), (50, 10), (60, 20), (100, 6), (200, 20)])
@pytest.mark.parametrize("name", FAMILY_CASES)
def test_exact_recovery_of_many_components(name: str, d: int, k: int) -> None:
    case = FAMILY_CASES[name]
    truth = case.draw(np.random.default_rng(k), d, k)
    check_exact_recovery(case.family, case, truth)


@pytest.mark.parametrize("name", CONSISTENT)
def test_error_falls_at_the_rate_of_the_law(name: str) -> None:
    case = FAMILY_CASES[name]
    check_rate(case.family, case, draw_truth(name, "rate"))


def test_every_family_is_tried() -> None:
    assert {case.family.name for case in FAMILY_CASES.values()} == set(FAMILIES)


def list_mutants() -> list[Any]:
    """Every family with every mutant, but for those that a law does not look at."""
    return [
        pytest.param(name, law, mutant, id=f"{name}-{law}-{what}")
        for name, case in FAMILY_CASES.items()
        for what, law, mutant in MUTANTS
        if law != "rate"
        # Features are dealt to views by their place.
        and not (law == "feature order" and case.family.name == "three-view")
    ]


@pytest.mark.parametrize(("name", "law", "mutant"), list_mutants())
def test_mutant_is_rejected(name: str, law: str, mutant: Any) -> None:
    case = FAMILY_CASES[name]
    truth = draw_truth(name, law)
    with pytest.raises(AssertionError):
        LAWS[law](mutant(case.family), case, truth)


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(m, id=what) for what, law, m in MUTANTS if law == "rate"],
)
def test_mutant_does_not_have_the_rate(mutant: Any) -> None:
    case = FAMILY_CASES["poisson"]
    with pytest.raises(AssertionError):
        check_rate(mutant(case.family), case, draw_truth("poisson", "rate"))
