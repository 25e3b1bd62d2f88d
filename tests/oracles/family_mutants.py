"""Wrong families, each made from a right one, and the law that must reject it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tercet.flow import Equations, Parameters
from tercet.moments.assembly import contract_table


class Spoiled:
    """A family that behaves as another one until something is overridden."""

    def __init__(self, family: Any) -> None:
        self.family = family
        self.name, self.requirement = family.name, family.requirement
        self.plan, self.settings = family.plan, family.settings
        self.factorial = family.factorial
        if hasattr(family, "complete"):
            self.complete, self.rounds = family.complete, family.rounds

    def equations(self, moments: Any) -> Equations:
        return self.family.equations(moments)

    def population(self, parameters: Parameters, **options: Any) -> Equations:
        return self.family.population(parameters, **options)

    def recover(self, *solution: Any) -> Parameters:
        return self.family.recover(*solution)


def in_equations(rule: Callable[[Equations], Equations]) -> type[Spoiled]:
    """Break what becomes of sums; also after moments were completed."""

    class Broken(Spoiled):
        def __init__(self, family: Any) -> None:
            super().__init__(family)
            if hasattr(family, "complete"):
                self.complete = lambda equations, *more: rule(
                    family.complete(equations, *more)
                )
            else:
                self.equations = lambda moments: rule(family.equations(moments))

    return Broken


def in_sums(rule: Callable[[Equations], Equations]) -> type[Spoiled]:
    """Break what becomes of sums, before anything is completed."""

    class Broken(Spoiled):
        def equations(self, moments: Any) -> Equations:
            return rule(self.family.equations(moments))

    return Broken


def in_population(rule: Callable[[Equations], Equations]) -> type[Spoiled]:
    class Broken(Spoiled):
        def population(self, parameters: Parameters, **options: Any) -> Equations:
            return rule(self.family.population(parameters, **options))

    return Broken


def before_population(rule: Callable[[Parameters], Parameters]) -> type[Spoiled]:
    class Broken(Spoiled):
        def population(self, parameters: Parameters, **options: Any) -> Equations:
            return self.family.population(rule(parameters), **options)

    return Broken


def in_recovery(rule: Callable[[Parameters], Parameters]) -> type[Spoiled]:
    class Broken(Spoiled):
        def recover(self, *solution: Any) -> Parameters:
            return rule(self.family.recover(*solution))

    return Broken


# Rules for moments ------------------------------------------------------------------


def keep_diagonal(equations: Equations) -> Equations:
    """The diagonal correction is dropped: `diag(M1)` stays in M2, and so in M3."""
    basis, noise = equations.basis, equations.first[:, None] * equations.basis
    return replace(
        equations,
        lift=equations.lift + noise,
        pair=equations.pair + basis.T @ noise,
        third=equations.third + contract_table(basis, equations.lift + noise / 3.0),
    )


def double_third(equations: Equations) -> Equations:
    return replace(equations, third=2.0 * equations.third)


def swap_axes(equations: Equations) -> Equations:
    return replace(equations, lift=np.flip(equations.lift, axis=0))


def turn_third(equations: Equations) -> Equations:
    return replace(equations, third=-equations.third)


def normalize_otherwise(equations: Equations) -> Equations:
    """As when pairs are divided by `n^2` and not by `n (n - 1)`, n = 1000."""
    return replace(equations, lift=0.999 * equations.lift, pair=0.999 * equations.pair)


def lose_slices(equations: Equations) -> Equations:
    """Slices with the wrong feature."""
    if equations.slices is None:
        return equations
    return replace(equations, slices=np.flip(equations.slices, axis=0))


def favour_first_feature(equations: Equations) -> Equations:
    first = equations.first.copy()
    first[0] *= 1.001
    return replace(equations, first=first)


def favour_first_pairs(equations: Equations) -> Equations:
    lift = equations.lift.copy()
    lift[0] *= 1.001
    return replace(equations, lift=lift)


def sort_slices(equations: Equations) -> Equations:
    """Slices by size, not by feature."""
    order = np.argsort(np.abs(equations.slices).sum(axis=(1, 2)))
    return replace(equations, slices=equations.slices[order])


# Rules for parameters ---------------------------------------------------------------


def double_centers(found: Parameters) -> Parameters:
    return replace(found, centers=2.0 * found.centers)


def turn_centers(found: Parameters) -> Parameters:
    return replace(found, centers=-found.centers)


def swap_features(found: Parameters) -> Parameters:
    return replace(found, centers=found.centers[::-1])


def forget_scale(found: Parameters) -> Parameters:
    """The scale `1 / sqrt(weight)` is lost on the way back."""
    return replace(found, centers=found.centers * np.sqrt(found.weights))


def take_roots(found: Parameters) -> Parameters:
    """Square roots of weights, projected on the simplex (method section 11)."""
    roots = np.sqrt(found.weights)
    return replace(found, weights=roots / roots.sum())


def take_squares(found: Parameters) -> Parameters:
    squares = found.weights**2
    return replace(found, weights=squares / squares.sum())


def part_weights(found: Parameters) -> Parameters:
    """Weights in order, but components left where they were."""
    return replace(found, centers=np.roll(found.centers, 1, axis=1))


def turn_order(found: Parameters) -> Parameters:
    return replace(found, centers=found.centers[:, ::-1], weights=found.weights[::-1])


def favour_first_component(given: Parameters) -> Parameters:
    centers = given.centers.copy()
    centers[:, 0] *= 0.99
    return replace(given, centers=centers)


def normalize_columns(given: Parameters) -> Parameters:
    """Lengths of the centers are taken away (and bounded, for binary rows)."""
    return replace(given, centers=given.centers / np.abs(given.centers).sum(axis=0))


class CountsRows(Spoiled):
    """Divides by the number of rows where it should be the sum of weights."""

    def equations(self, moments: Any) -> Equations:
        found = self.family.equations(moments)
        share = moments.total_weight / moments.n_rows
        return replace(found, first=found.first * share)


class ForgetsWeights(Spoiled):
    """Pairs are not divided by anything."""

    def equations(self, moments: Any) -> Equations:
        found = self.family.equations(moments)
        return replace(found, lift=found.lift * moments.total_weight)


MOMENT_RULES = {
    "dropped diagonal correction": keep_diagonal,
    "factor two": double_third,
    "swapped axes": swap_axes,
    "wrong sign": turn_third,
    "wrong normaliser": normalize_otherwise,
    "swapped slices": lose_slices,
}
PARAMETER_RULES = {
    "factor two": double_centers,
    "wrong sign": turn_centers,
    "swapped axes": swap_features,
    "lost scale": forget_scale,
    "wrong normaliser, roots": take_roots,
    "wrong normaliser, squares": take_squares,
    "parted weights": part_weights,
    "rising weights": turn_order,
}

# The name of a mutant, the law that must reject it, and how it is made.
MUTANTS: list[tuple[str, str, type[Spoiled]]] = [
    *((name, "expectation", in_equations(rule)) for name, rule in MOMENT_RULES.items()),
    *((name, "population", in_population(rule)) for name, rule in MOMENT_RULES.items()),
    *(
        (name, "exact recovery", in_recovery(rule))
        for name, rule in PARAMETER_RULES.items()
    ),
    (
        "first component favoured",
        "component order",
        before_population(favour_first_component),
    ),
    ("parted weights", "component order", in_recovery(part_weights)),
    ("first feature favoured", "feature order", in_sums(favour_first_feature)),
    ("first pairs favoured", "feature order", in_sums(favour_first_pairs)),
    ("swapped axes", "feature order", in_sums(sort_slices)),
    ("dropped diagonal correction", "homogeneity", in_population(keep_diagonal)),
    ("wrong normaliser", "homogeneity", before_population(normalize_columns)),
    ("wrong normaliser, rows", "row weights", CountsRows),
    ("wrong normaliser, none", "row weights", ForgetsWeights),
    ("dropped diagonal correction", "rate", in_equations(keep_diagonal)),
    ("wrong sign", "rate", in_recovery(turn_centers)),
    ("factor two", "rate", in_recovery(double_centers)),
]
