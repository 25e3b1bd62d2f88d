"""What every family must satisfy, as functions that raise when it does not.

The functions take a family and a case of `laws/families.py`; the family need not
be the case's own, so that `oracles/family_mutants.py` can hand in wrong ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from laws.families import FamilyCase
from references import family_outcomes as outcomes
from tercet.evaluation import match_components, measure_frobenius_error
from tercet.flow import Equations, Parameters
from tercet.intake import open_source
from tercet.models.decomposing import solve_equations
from tercet.moments import collect, collect_against

MOMENTS_TOLERANCE = 1e-10
RECOVERY_TOLERANCE = 1e-8


def same(found: Any, wanted: Any, what: str, tolerance: float) -> None:
    """Compare arrays on the scale of the wanted one."""
    assert np.shape(found) == np.shape(wanted), what
    scale = max(float(np.abs(wanted).max(initial=0.0)), 1e-12)
    np.testing.assert_allclose(
        np.asarray(found) / scale,
        np.asarray(wanted) / scale,
        rtol=0.0,
        atol=tolerance,
        err_msg=what,
    )


def same_equations(found: Equations, wanted: Equations, tolerance: float) -> None:
    """Compare first, pair and third moments, and slices if both have them."""
    for name in ("first", "lift", "pair", "third"):
        same(getattr(found, name), getattr(wanted, name), name, tolerance)
    assert (found.slices is None) == (wanted.slices is None)
    if found.slices is not None:
        same(found.slices, wanted.slices, "slices", tolerance)


def choose_basis(
    case: FamilyCase, truth: Parameters, rng: np.random.Generator
) -> tuple[np.ndarray, bool]:
    """Return the case's own basis, else a random one that is not orthonormal."""
    if case.basis is not None:
        return case.basis(truth, rng), True
    d = truth.n_features
    return rng.standard_normal((d, d)), False


def settle(family: Any, equations: Equations, truth: Parameters) -> Equations:
    """Complete moments that wait for it."""
    complete = getattr(family, "complete", None)
    if complete is None:
        return equations
    return complete(equations, truth, truth.n_components)


def collect_expected(
    family: Any, case: FamilyCase, truth: Parameters, rng: np.random.Generator
) -> Equations:
    """Return the family's moments of all rows, weighted by their probabilities."""
    rows, chances = case.enumerate(truth)
    basis, orthonormal = choose_basis(case, truth, rng)
    moments = collect_against(
        open_source(rows, sample_weight=chances, requirement=family.requirement),
        case.family,
        basis,
        orthonormal=orthonormal,
        features=np.arange(truth.n_features),
    )
    return family.equations(moments)


def check_expectation(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """Moments of all rows, weighted by their probabilities, are the population's.

    Where the family says itself what its moments tend to (raw and factorial
    ones of binary rows), it is that.
    """
    rng = np.random.default_rng(1)
    found = settle(family, collect_expected(family, case, truth, rng), truth)
    limit = case.family.population if case.consistent else case.family.expectation
    wanted = limit(truth, basis=found.basis, slices="all")
    same_equations(found, wanted, MOMENTS_TOLERANCE)


def check_population(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """Population moments equal slow sums over components, in any basis."""
    rng = np.random.default_rng(2)
    first, pair, third = outcomes.planted(truth.centers, *case.coefficients(truth))
    basis = rng.standard_normal((truth.n_features, 3))
    found = family.population(truth, basis=basis, slices="all")
    same(found.first, first, "first", MOMENTS_TOLERANCE)
    same(found.lift, pair @ basis, "lift", MOMENTS_TOLERANCE)
    same(found.pair, basis.T @ pair @ basis, "pair", MOMENTS_TOLERANCE)
    cube = np.einsum("hum,ha,ub,mc->abc", third, basis, basis, basis)
    same(found.third, cube, "third", MOMENTS_TOLERANCE)
    slices = np.einsum("hum,ha,ub->mab", third, basis, basis)
    same(found.slices, slices, "slices", MOMENTS_TOLERANCE)


def recover_exactly(family: Any, truth: Parameters, equations: Equations) -> Parameters:
    return solve_equations(equations, family, truth.n_components).parameters


def check_same_parameters(
    case: FamilyCase, found: Parameters, truth: Parameters
) -> None:
    """Centers and all that comes with them agree, component by component."""
    assert np.all(np.diff(found.weights) <= 1e-12), "components are not ordered"
    matching = match_components(truth, found, "squared")
    same(matching.apply(found.centers.T), truth.centers.T, "centers", 1e-8)
    for name in case.recovered:
        values = matching.apply(getattr(found, name))
        same(values, getattr(truth, name), name, RECOVERY_TOLERANCE)
    for name, values in found.details.items():
        wanted = name.partition("_by_")[0]
        if wanted != name:
            both = matching.apply(values), getattr(truth, wanted)
            same(*both, name, RECOVERY_TOLERANCE)
    for name in ("sign_disagreement", "negative_mass", "clipped_mass"):
        if name in found.details:
            same(found.details[name], np.zeros(truth.n_components), name, 1e-8)


def check_exact_recovery(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """From population moments the parameters come back, whatever the formula."""
    found = recover_exactly(family, truth, case.family.population(truth))
    check_same_parameters(case, found, truth)


def check_component_order(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """Naming components in another order changes no moment and no parameter."""
    order = np.random.default_rng(3).permutation(truth.n_components)
    if np.array_equal(order, np.arange(truth.n_components)):
        order = order[::-1]

    def put(values: Any) -> Any:
        return None if values is None else np.asarray(values)[order]

    turned = replace(
        truth,
        centers=truth.centers[:, order],
        weights=put(truth.weights),
        concentration=put(truth.concentration),
        rate=put(truth.rate),
        variances=put(truth.variances),
        details={name: put(value) for name, value in truth.details.items()},
    )
    before, after = family.population(truth), family.population(turned)
    same_equations(after, before, MOMENTS_TOLERANCE)
    check_same_parameters(case, recover_exactly(family, truth, after), truth)


def check_feature_order(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """Features in another order give the same moments in that order."""
    if case.family.name == "three-view":
        return  # it deals features to views by their place
    rng = np.random.default_rng(4)
    rows, chances = case.enumerate(truth)
    basis, orthonormal = choose_basis(case, truth, rng)
    order = np.roll(np.arange(truth.n_features), 1)

    def read(columns: np.ndarray) -> Equations:
        source = open_source(
            rows[:, columns], sample_weight=chances, requirement=family.requirement
        )
        return family.equations(
            collect_against(
                source,
                case.family,
                np.ascontiguousarray(basis[columns]),
                orthonormal=orthonormal,
                features=np.arange(truth.n_features),
            )
        )

    before, after = read(np.arange(truth.n_features)), read(order)
    moved = replace(
        before,
        first=before.first[order],
        lift=before.lift[order],
        slices=before.slices[order],
    )
    same_equations(after, moved, MOMENTS_TOLERANCE)


def check_homogeneity(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """Centers half as large: moments of order r are `2^-r` times as large."""
    half = replace(truth, centers=truth.centers / 2.0)
    whole, small = family.population(truth), family.population(half)
    scaled = replace(
        whole,
        first=whole.first / 2.0,
        lift=whole.lift / 4.0,
        pair=whole.pair / 4.0,
        third=whole.third / 8.0,
    )
    same_equations(small, scaled, MOMENTS_TOLERANCE)


def check_row_weights(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """All weights three times as large, or all rows given twice, change nothing."""
    rng = np.random.default_rng(5)
    rows, chances = case.enumerate(truth)
    basis, orthonormal = choose_basis(case, truth, rng)

    def read(some: np.ndarray, weights: np.ndarray) -> Equations:
        source = open_source(
            some, sample_weight=weights, requirement=family.requirement
        )
        return family.equations(
            collect_against(source, case.family, basis, orthonormal=orthonormal)
        )

    once = read(rows, chances)
    same_equations(read(rows, 3.0 * chances), once, MOMENTS_TOLERANCE)
    twice = read(np.vstack([rows, rows]), np.concatenate([chances, chances]))
    same_equations(twice, once, MOMENTS_TOLERANCE)


def measure_rate(
    family: Any, case: FamilyCase, truth: Parameters, seeds: range
) -> float:
    """Return the slope of log error over log n, n growing 25 times."""
    few, many = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for n_rows, errors in ((case.few, few), (25 * case.few, many)):
            rows, _ = case.family.sample(truth, n_rows, rng, **case.options)
            errors.append(learn_error(family, case, truth, rows))
    return float(np.log(np.mean(many) / np.mean(few)) / np.log(25.0))


def learn_error(family: Any, case: FamilyCase, truth: Parameters, rows: Any) -> float:
    """Return the relative error of the centers learned from rows."""
    moments = collect(rows, case.family, truth.n_components)
    found = recover_exactly(family, truth, family.equations(moments))
    return measure_frobenius_error(truth, found, relative=True)


def check_rate(family: Any, case: FamilyCase, truth: Parameters) -> None:
    """The error falls like the inverse square root of the number of rows."""
    slope = measure_rate(family, case, truth, range(4))
    assert -0.65 < slope < -0.35, f"slope {slope:.2f}"


LAWS = {
    "expectation": check_expectation,
    "population": check_population,
    "exact recovery": check_exact_recovery,
    "component order": check_component_order,
    "feature order": check_feature_order,
    "homogeneity": check_homogeneity,
    "row weights": check_row_weights,
    "rate": check_rate,
}
