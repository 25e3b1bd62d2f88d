"""Finding alpha0 in moments: exact ones give the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tercet.exceptions import RankError
from tercet.families import LatentDirichlet
from tercet.flow import Equations, Parameters, Status
from tercet.models import solve_equations
from tercet.models.concentration import find_concentration, shift_equations


def plant_factorial(
    alpha: np.ndarray, d: int = 50, width: int | None = None
) -> Equations:
    """Return exact factorial moments of latent Dirichlet allocation.

    Factorial moments are those of the proportions: with h Dirichlet,
    `F2 = M E[h h'] M'` and `F3 = E[(M h)^(x)3]`, from E[h_i h_j] =
    alpha_i (alpha_j + [i=j]) / (alpha0 (alpha0 + 1)) and so on.
    """
    rng = np.random.default_rng(0)
    k, total = alpha.size, float(alpha.sum())
    topics = rng.dirichlet(np.full(d, 0.1), size=k).T
    eye = np.eye(k)
    pairs = (np.outer(alpha, alpha) + np.diag(alpha)) / (total * (total + 1.0))
    triples = np.einsum("a,b,c->abc", alpha, alpha, alpha)
    for order in ("a,bc->abc", "b,ac->abc", "c,ab->abc"):
        triples += np.einsum(order, alpha, np.diag(alpha))
    triples += 2.0 * np.einsum("a,ab,ac->abc", alpha, eye, eye)
    triples /= total * (total + 1.0) * (total + 2.0)
    basis = np.linalg.qr(np.hstack([topics, rng.random((d, (width or k) - k))]))[0]
    inner = basis.T @ topics
    return Equations(
        first=topics @ (alpha / total),
        lift=topics @ pairs @ inner.T,
        pair=inner @ pairs @ inner.T,
        third=np.einsum("abc,xa,yb,zc->xyz", triples, inner, inner, inner),
        basis=basis,
    )


def test_shifting_undoes_the_mixing() -> None:
    # What is left is diagonal in the topics (Anandkumar et al. 2014, theorem 3.5).
    alpha = np.array([0.5, 0.3, 0.2])
    factorial = plant_factorial(alpha)
    shifted = shift_equations(factorial, 1.0)
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(50, 0.1), size=3).T
    truth = Parameters(topics, alpha / alpha.sum(), concentration=alpha)
    exact = LatentDirichlet(1.0).population(truth, basis=factorial.basis)
    assert shifted.pair == pytest.approx(exact.pair, abs=1e-14)
    assert shifted.third == pytest.approx(exact.third, abs=1e-14)
    assert shifted.lift == pytest.approx(exact.lift, abs=1e-14)


@pytest.mark.parametrize(
    "alpha",
    [
        np.full(5, 0.06),
        np.array([0.5, 0.3, 0.2]),
        np.array([3.0, 1.0, 0.5, 0.5]),
        np.full(10, 1.0),
        np.array([10.0, 9.0, 8.0, 8.0]),
    ],
    ids=lambda alpha: f"{alpha.sum():g} over {alpha.size}",
)
@pytest.mark.parametrize("extra", [0, 6])
def test_exact_moments_give_the_truth(alpha: np.ndarray, extra: int) -> None:
    factorial = plant_factorial(alpha, width=alpha.size + extra)
    search = find_concentration(factorial, alpha.size)
    assert search.outcome.status is Status.CONVERGED
    assert search.crossings.size == 1
    assert search.value == pytest.approx(alpha.sum(), rel=2e-3)
    assert f"{search.value:.3g}" in search.outcome.message


def test_wrong_coefficients_do_not() -> None:
    # A factor of two in the third moment moves the crossing.
    factorial = plant_factorial(np.array([0.5, 0.3, 0.2]))
    wrong = replace(factorial, third=2.0 * factorial.third)
    search = find_concentration(wrong, 3)
    assert abs(search.value - 1.0) > 0.2


def test_the_order_of_features_does_not_matter() -> None:
    factorial = plant_factorial(np.array([0.5, 0.3, 0.2]))
    order = np.random.default_rng(1).permutation(50)
    turned = replace(
        factorial,
        first=factorial.first[order],
        lift=factorial.lift[order],
        basis=factorial.basis[order],
    )
    one, two = (find_concentration(f, 3).value for f in (factorial, turned))
    assert two == pytest.approx(one, rel=1e-6)


def test_too_many_components_are_refused() -> None:
    factorial = plant_factorial(np.array([0.5, 0.5]), width=6)
    with pytest.raises(RankError, match="n_components=5"):
        find_concentration(factorial, 5)


def test_one_topic_has_nothing_to_tell() -> None:
    search = find_concentration(plant_factorial(np.array([2.0])), 1)
    assert (search.value, search.outcome.status) == (1.0, Status.EXACT)


def test_two_topics_leave_it_open() -> None:
    factorial = plant_factorial(np.array([2.0, 1.0]))
    search = find_concentration(factorial, 2)
    assert search.outcome.status is Status.FELL_BACK
    # Every smaller concentration explains the moments as well as the truth, 3.
    for total in (0.1, 1.0, 2.9):
        family = LatentDirichlet(total)
        shifted = shift_equations(factorial, total)
        found = solve_equations(shifted, family, 2).parameters
        back = family.population(found, basis=factorial.basis)
        assert back.third == pytest.approx(shifted.third, abs=1e-12)
