"""Wrong decompositions, each made from a right one, and the law that rejects it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from laws.decompositions import Solver
from tercet.flow import Factors, Problem


def change_factors(
    change: Callable[[Factors], Factors],
) -> Callable[[Solver], Solver]:
    """Make a mutant from a change of the result."""
    return lambda solver: lambda problem: change(solver(problem))


def wrong_sign(factors: Factors) -> Factors:
    return replace(factors, vectors=-factors.vectors)


def one_wrong_sign(factors: Factors) -> Factors:
    signs = np.r_[-1.0, np.ones(len(factors.eigenvalues) - 1)]
    return replace(factors, vectors=factors.vectors * signs)


def swapped_axes(factors: Factors) -> Factors:
    return replace(factors, vectors=np.ascontiguousarray(factors.vectors.T))


def wrong_normaliser(factors: Factors) -> Factors:
    return replace(factors, vectors=factors.vectors * factors.eigenvalues)


def factor_two(factors: Factors) -> Factors:
    return replace(factors, eigenvalues=2.0 * factors.eigenvalues)


def weights_for_eigenvalues(factors: Factors) -> Factors:
    return replace(factors, eigenvalues=1.0 / factors.eigenvalues**2)


def mixed_pair(factors: Factors) -> Factors:
    """Two components come out as their sum and difference."""
    vectors = factors.vectors.copy()
    first, second = vectors[:, 0].copy(), vectors[:, 1].copy()
    vectors[:, 0] = (first + second) / np.linalg.norm(first + second)
    vectors[:, 1] = (first - second) / np.linalg.norm(first - second)
    return replace(factors, vectors=vectors)


def repeated_component(factors: Factors) -> Factors:
    vectors = factors.vectors.copy()
    vectors[:, 0] = vectors[:, 1]
    return replace(factors, vectors=vectors)


def flattering_residual(factors: Factors) -> Factors:
    return replace(factors, residual=factors.residual + 0.1)


def not_a_number(factors: Factors) -> Factors:
    vectors = factors.vectors.copy()
    vectors[0, 0] = np.nan
    return replace(factors, vectors=vectors)


def negative_eigenvalue(factors: Factors) -> Factors:
    return replace(factors, vectors=-factors.vectors, eigenvalues=-factors.eigenvalues)


def dropped_term(solver: Solver) -> Solver:
    """The last component is taken away before the tensor is decomposed."""

    def solve(problem: Problem) -> Factors:
        factors = solver(problem)
        v, value = factors.vectors[:, -1], factors.eigenvalues[-1]
        rest = problem.third - value * np.einsum("a,b,c->abc", v, v, v)
        found = solver(replace(problem, third=rest, slices=None, slice_features=None))
        return replace(found, residual=factors.residual)

    return solve


def dropped_mode(solver: Solver) -> Solver:
    """One mode of the tensor stays out of the symmetric sum."""

    def solve(problem: Problem) -> Factors:
        scale = 1.0 + np.arange(problem.n_components)
        third = problem.third * scale
        symmetric = (third + third.transpose(1, 2, 0) + third.transpose(2, 0, 1)) / 3.0
        return solver(
            replace(problem, third=symmetric, slices=None, slice_features=None)
        )

    return solve


def fixed_coordinates(solver: Solver) -> Solver:
    """The first answer is given to every later question."""
    kept: list[Factors] = []

    def solve(problem: Problem) -> Factors:
        if not kept:
            kept.append(solver(problem))
        return kept[0]

    return solve


def half_precision(solver: Solver) -> Solver:
    """Numbers are rounded to three digits on the way."""

    def solve(problem: Problem) -> Factors:
        third = problem.third.astype(np.float16).astype(np.float64)
        return solver(replace(problem, third=third))

    return solve


MUTANTS: dict[str, tuple[str, Callable[[Solver], Solver]]] = {
    "wrong sign": ("planted", change_factors(wrong_sign)),
    "one wrong sign": ("planted", change_factors(one_wrong_sign)),
    "swapped axes": ("planted", change_factors(swapped_axes)),
    "wrong normaliser": ("planted", change_factors(wrong_normaliser)),
    "factor two": ("planted", change_factors(factor_two)),
    "weights for eigenvalues": ("planted", change_factors(weights_for_eigenvalues)),
    "mixed pair": ("planted", change_factors(mixed_pair)),
    "repeated component": ("planted", change_factors(repeated_component)),
    "flattering residual": ("planted", change_factors(flattering_residual)),
    "dropped term": ("planted", dropped_term),
    "dropped mode": ("planted", dropped_mode),
    "swapped axes, rotation": ("rotation", change_factors(swapped_axes)),
    "fixed coordinates, rotation": ("rotation", fixed_coordinates),
    "fixed coordinates, scale": ("scale", fixed_coordinates),
    "weights for eigenvalues, scale": (
        "scale",
        change_factors(weights_for_eigenvalues),
    ),
    "wrong normaliser, noise": ("noise", change_factors(wrong_normaliser)),
    "mixed pair, noise": ("noise", change_factors(mixed_pair)),
    "half precision, noise": ("noise", half_precision),
    "not a number": ("anything", change_factors(not_a_number)),
    "negative eigenvalue": ("anything", change_factors(negative_eigenvalue)),
    "wrong normaliser, form": ("anything", change_factors(wrong_normaliser)),
}
