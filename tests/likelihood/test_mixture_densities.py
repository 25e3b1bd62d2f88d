"""EM steps and posteriors against loops that follow the equations; rising likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from references import mixture_likelihood as reference
from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, Status
from tercet.intake import open_source
from tercet.likelihood import (
    STOPPING_RULES,
    Bernoulli,
    Density,
    Multinomial,
    Poisson,
    RowSubset,
    SphericalGaussian,
    infer_mixture,
    refine_mixture,
    score_mixture,
)
from tercet.likelihood.densities import project_shares
from tercet.likelihood.expectation import ExpectationPass, express_scores

KINDS = ["multinomial", "bernoulli", "poisson", "gaussian"]
REQUIREMENTS = {
    "multinomial": "integers",
    "bernoulli": "binary-or-missing",
    "poisson": "integers",
    "gaussian": "reals",
}
N, D, K = 14, 5, 3


class Case:
    """Rows, and parameters to start from, for one kind of density."""

    def __init__(self, kind: str, rng: np.random.Generator, n: int = N) -> None:
        self.kind = kind
        self.weights = rng.dirichlet(np.ones(K))
        self.row_weights = rng.uniform(0.5, 2.0, n)
        self.variances = rng.uniform(0.5, 2.0, K) if kind == "gaussian" else None
        self.exposure = rng.uniform(0.5, 2.0, n) if kind == "poisson" else None
        self.density: Density
        if kind == "multinomial":
            self.rows = rng.poisson(2.0, (n, D)).astype(float)
            self.centers = rng.dirichlet(np.ones(D), K).T
            self.density = Multinomial()
        elif kind == "bernoulli":
            self.rows = rng.integers(0, 2, (n, D)).astype(float)
            self.centers = rng.uniform(0.1, 0.9, (D, K))
            self.density = Bernoulli()
        elif kind == "poisson":
            self.rows = rng.poisson(2.0, (n, D)).astype(float)
            self.centers = rng.uniform(0.5, 4.0, (D, K))
            self.density = Poisson(self.exposure)
        else:
            self.rows = rng.standard_normal((n, D)) + 3.0
            self.centers = rng.standard_normal((D, K)) + 3.0
            self.density = SphericalGaussian()

    def step(self, rows: Any) -> Any:
        return refine_mixture(
            rows,
            self.density,
            self.centers,
            self.weights,
            variances=self.variances,
            steps=1,
        )

    def expected(self) -> Any:
        return reference.step(
            self.kind,
            self.rows.tolist(),
            self.row_weights.tolist(),
            self.centers.tolist(),
            self.weights.tolist(),
            None if self.variances is None else self.variances.tolist(),
            None if self.exposure is None else self.exposure.tolist(),
        )


def as_dense(case: Case) -> Any:
    return Block(case.rows, 0, case.row_weights)


def as_sparse(case: Case) -> Any:
    return Block(sparse.csr_array(case.rows), 0, case.row_weights)


def as_source(case: Case) -> Any:
    return open_source(
        sparse.csr_array(case.rows),
        sample_weight=case.row_weights,
        requirement=REQUIREMENTS[case.kind],
        block_rows=4,
        n_jobs=2,
    )


def as_subset(case: Case) -> Any:
    """The rows scattered over a larger matrix, in another order."""
    rng = np.random.default_rng(5)
    places = rng.permutation(2 * N)[:N]
    whole = np.ones((2 * N, D))
    whole[places] = case.rows
    return RowSubset(
        sparse.csr_array(whole), places, case.row_weights, exposure=case.exposure
    )


FORMS = [as_dense, as_sparse, as_source, as_subset]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_step_is_that_of_the_equations(
    kind: str, form: Callable[[Case], Any], rng: np.random.Generator
) -> None:
    case = Case(kind, rng)
    found = case.step(form(case))
    centers, weights, variances, likelihood = case.expected()
    np.testing.assert_allclose(found.centers, centers, rtol=1e-7)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9)
    if kind == "gaussian":
        np.testing.assert_allclose(found.variances, variances, rtol=1e-7)
    np.testing.assert_allclose(found.log_likelihoods, [likelihood], rtol=1e-7)
    assert found.outcome.iterations == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_and_scores_are_those_of_the_equations(
    kind: str, form: Callable[[Case], Any], rng: np.random.Generator
) -> None:
    case = Case(kind, rng)
    given_to = (form(case), case.density, case.centers, case.weights)
    posteriors = infer_mixture(*given_to, variances=case.variances)
    scores = score_mixture(*given_to, variances=case.variances)
    for i, row in enumerate(case.rows):
        shares, log = reference.posterior(
            kind,
            row,
            case.centers,
            case.weights,
            case.variances,
            1.0 if case.exposure is None else case.exposure[i],
        )
        np.testing.assert_allclose(posteriors[i], shares, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(scores[i], log, rtol=1e-7)


def test_missing_entries_have_no_part(rng: np.random.Generator) -> None:
    case = Case("bernoulli", rng)
    case.rows[rng.random(case.rows.shape) < 0.3] = np.nan
    found = case.step(as_dense(case))
    centers, weights, _, likelihood = case.expected()
    np.testing.assert_allclose(found.centers, centers, rtol=1e-7)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(found.log_likelihoods, [likelihood], rtol=1e-9)


def test_a_bag_counts_its_arrangements(rng: np.random.Generator) -> None:
    row = np.array([[3.0, 1.0, 2.0]])
    center = rng.dirichlet(np.ones(3))[:, None]
    found = score_mixture(
        Block(row), Multinomial(arrangements=True), center, np.ones(1)
    )
    expected = stats.multinomial(6, center[:, 0]).logpmf(row[0])
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_sparse_gaussian_far_from_the_origin_keeps_its_digits() -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((50, 2)) * 1e-3 + 1e5
    centers = np.array([[1e5, 1e5 + 1e-3], [1e5, 1e5]])
    found = refine_mixture(
        Block(rows),
        SphericalGaussian(),
        centers,
        np.full(2, 0.5),
        variances=np.full(2, 1e-6),
        steps=3,
    )
    near = refine_mixture(
        Block(rows - 1e5),
        SphericalGaussian(),
        centers - 1e5,
        np.full(2, 0.5),
        variances=np.full(2, 1e-6),
        steps=3,
    )
    np.testing.assert_allclose(found.centers - 1e5, near.centers, atol=1e-8)
    np.testing.assert_allclose(found.variances, near.variances, rtol=1e-3)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_rises_at_every_step(kind: str, shared: bool, seed: int) -> None:
    for start in range(5):
        rng = np.random.default_rng([seed, start])
        case = Case(kind, rng, n=60)
        if kind == "gaussian":
            case.density = SphericalGaussian(shared=shared)
        elif shared and kind == "bernoulli":
            case.rows[rng.random(case.rows.shape) < 0.4] = np.nan
        path = refine_mixture(
            as_dense(case),
            case.density,
            case.centers,
            case.weights,
            variances=case.variances,
            steps=60,
        ).log_likelihoods
        assert np.diff(path).min() >= -1e-9 * abs(path[-1])
        assert path[-1] > path[0]


@given(st.integers(0, 10_000), st.sampled_from(KINDS))
def test_steps_stay_inside_the_parameters(seed: int, kind: str) -> None:
    """Whatever the rows, weights are positive, and nothing is ever NaN."""
    rng = np.random.default_rng(seed)
    case = Case(kind, rng, n=6)
    case.rows[:] = case.rows[0]
    found = refine_mixture(
        as_dense(case), case.density, case.centers, case.weights, steps=30
    )
    assert np.isfinite(found.centers).all()
    assert found.weights.min() > 0.0
    assert found.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(found.log_likelihoods).all()


def test_converged_means_that_nothing_is_left_to_gain(
    rng: np.random.Generator,
) -> None:
    case = Case("bernoulli", rng, n=200)
    rows = as_dense(case)
    found = refine_mixture(
        rows, case.density, case.centers, case.weights, max_steps=5000
    )
    assert found.outcome.status is Status.CONVERGED
    more = refine_mixture(
        rows, case.density, found.centers, found.weights, steps=3000
    ).log_likelihoods
    # The rule promises 1e-5 for each row, by extrapolation of a geometric series.
    assert more[-1] - found.log_likelihoods[-1] < 5e-5 * case.row_weights.sum()


def test_a_budget_that_ends_first_is_reported(rng: np.random.Generator) -> None:
    case = Case("poisson", rng, n=100)
    found = refine_mixture(
        as_dense(case),
        case.density,
        case.centers,
        case.weights,
        max_steps=2,
        tolerance=1e-12,
    )
    assert found.outcome.status is Status.EXHAUSTED
    assert "before convergence" in found.outcome.message


@pytest.mark.parametrize("rule", list(STOPPING_RULES))
def test_rules_of_the_thesis_look_at_the_last_step(
    rule: str, rng: np.random.Generator
) -> None:
    case = Case("bernoulli", rng, n=200)
    given_to = (as_dense(case), case.density, case.centers, case.weights)
    found = refine_mixture(*given_to, rule=rule, max_steps=20_000)
    assert found.outcome.converged
    steps = found.outcome.iterations
    one, two = (refine_mixture(*given_to, steps=s) for s in (steps - 1, steps))
    weights = np.linalg.norm(two.weights - one.weights)
    centers = np.linalg.norm(two.centers - one.centers)
    if rule in ("weights", "thesis"):
        assert weights < 0.01
    if rule in ("centers", "thesis"):
        assert centers < 1e-4
    if rule != "likelihood" and steps > 2:
        three = refine_mixture(*given_to, steps=steps - 2)
        still = {
            "weights": np.linalg.norm(one.weights - three.weights) / 0.01,
            "centers": np.linalg.norm(one.centers - three.centers) / 1e-4,
        }
        assert max(still.values()) >= 1.0 if rule == "thesis" else still[rule] >= 1.0


def test_rows_may_come_in_any_blocks(rng: np.random.Generator) -> None:
    case = Case("poisson", rng, n=40)
    whole = case.step(as_dense(case))
    for size in (1, 7, 40):
        source = open_source(
            case.rows,
            sample_weight=case.row_weights,
            requirement="integers",
            block_rows=size,
        )
        np.testing.assert_allclose(case.step(source).centers, whole.centers, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_expectation_is_a_monoid(kind: str, rng: np.random.Generator) -> None:
    case = Case(kind, rng, n=20)
    work = ExpectationPass(
        case.density,
        *express_scores(case.density, case.centers, case.weights, case.variances),
        with_base=True,
    )
    blocks = [Block(case.rows[i : i + 5], i) for i in range(0, 20, 5)]
    one = work.initial()
    for block in blocks:
        one = work.update(one, block)
    left = work.update(work.update(work.initial(), blocks[2]), blocks[0])
    right = work.update(work.update(work.initial(), blocks[3]), blocks[1])
    other = work.merge(work.merge(work.initial(), left), right)
    for name in ("mass", "exposed", "sums", "log_likelihood", "base"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name))


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=8),
    st.floats(1e-6, 0.2),
)
def test_shares_respect_their_floor_and_cannot_be_bettered(
    masses: list[float], floor: float
) -> None:
    values = np.array(masses)
    shares = project_shares(values, floor)
    least = min(floor, 1.0 / values.size)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= least * (1.0 - 1e-9)
    if values.sum() > 1e-3 and shares.min() > 0.0:
        # Concave objective: moving mass between any two shares does not help.
        slopes = values / shares
        free = shares > least * (1.0 + 1e-6)
        if free.any():
            top = slopes[free].max()
            np.testing.assert_allclose(slopes[free], top, rtol=1e-6)
            assert slopes.max() <= top * (1.0 + 1e-6)


def test_mistakes_are_named(rng: np.random.Generator) -> None:
    case = Case("gaussian", rng)
    rows = as_dense(case)
    with pytest.raises(ParameterError, match="variances=None"):
        score_mixture(rows, case.density, case.centers, case.weights)
    with pytest.raises(ParameterError, match=r"centers has shape"):
        refine_mixture(rows, case.density, case.centers, case.weights[:2])
    with pytest.raises(ParameterError, match="finite"):
        refine_mixture(rows, case.density, case.centers * np.nan, case.weights)
    with pytest.raises(ParameterError, match="rule='loglik' is not known"):
        refine_mixture(rows, case.density, case.centers, case.weights, rule="loglik")
    with pytest.raises(DataError, match="weight zero"):
        refine_mixture(
            Block(case.rows, 0, np.zeros(N)), case.density, case.centers, case.weights
        )
    with pytest.raises(ParameterError, match="exposure has 2 entries"):
        infer_mixture(rows, Poisson(np.ones(2)), np.ones((D, K)), case.weights)
