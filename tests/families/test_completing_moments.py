"""Missing entries are found from those that are there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tercet
from tercet.datasets import make_bernoulli_mixture, make_poisson_mixture
from tercet.evaluation import measure_frobenius_error
from tercet.exceptions import ParameterError, RankError
from tercet.families import Bernoulli, ThreeViews
from tercet.families.three_views import split_features
from tercet.flow import Equations, Parameters
from tercet.models.decomposing import solve_equations


def draw_truth(d: int, k: int, seed: int = 0, largest: float = 1.0) -> Parameters:
    return make_bernoulli_mixture(
        1, n_features=d, n_components=k, largest=largest, random_state=seed
    ).parameters


# Completed moments ------------------------------------------------------------------


@pytest.mark.parametrize(("d", "k"), [(12, 2), (12, 3), (40, 6), (100, 12)])
@pytest.mark.parametrize("rounds", [0, 2])
def test_completed_moments_are_exact(d: int, k: int, rounds: int) -> None:
    truth = draw_truth(d, k)
    family = Bernoulli(rounds=rounds)
    hollow = family.expectation(truth)
    assert hollow.hollow
    found = solve_equations(hollow, family, k).parameters
    assert measure_frobenius_error(truth, found) < 1e-7
    assert found.weights == pytest.approx(truth.weights, abs=1e-8)


@pytest.mark.parametrize("width", [8, 14])
def test_moments_against_a_sketch_are_completed(width: int, rng) -> None:
    truth = draw_truth(40, 4)
    family = Bernoulli()
    sketch = rng.standard_normal((40, width)) / np.sqrt(40)
    full = family.population(truth, basis=sketch)
    filled = family.complete(family.expectation(truth, basis=sketch), None, 4)
    assert filled.pair == pytest.approx(full.pair, abs=1e-8)
    assert filled.third == pytest.approx(full.third, abs=1e-8)
    found = solve_equations(
        family.expectation(truth, basis=sketch), family, 4
    ).parameters
    assert measure_frobenius_error(truth, found) < 1e-5


def test_binary_rows_that_are_read_once() -> None:
    sample = make_bernoulli_mixture(
        20_000, n_features=60, n_components=3, weights=[0.5, 0.3, 0.2]
    )
    blocks = (sample.rows[start : start + 4000] for start in range(0, 20_000, 4000))
    found = tercet.decompose(tercet.moments.collect(blocks, "bernoulli", 3), 3)
    assert measure_frobenius_error(sample.parameters, found, relative=True) < 0.1


def test_slices_are_completed_as_well() -> None:
    truth = draw_truth(20, 3)
    family = Bernoulli()
    hollow = family.expectation(truth, slices="all")
    full = family.population(truth, slices="all")
    fitted = family.complete(hollow, None, 3)
    assert np.abs(hollow.slices - full.slices).max() > 1e-2
    assert fitted.slices == pytest.approx(full.slices, abs=1e-8)
    assert fitted.third == pytest.approx(full.third, abs=1e-8)


def test_complete_moments_and_other_kinds_are_left_alone() -> None:
    truth = draw_truth(12, 2)
    full = Bernoulli().population(truth)
    assert Bernoulli().complete(full, None, 2) is full
    raw = Bernoulli("raw").expectation(truth)
    assert Bernoulli("raw").complete(raw, None, 2) is raw


def test_raw_moments_differ_where_a_feature_is_repeated_only() -> None:
    """Thesis 001, section 4.3: the bias sits on the diagonals."""
    truth = draw_truth(8, 2)
    full, raw = Bernoulli().population(truth), Bernoulli("raw").expectation(truth)
    pair, third = raw.pair - full.pair, raw.third - full.third
    assert np.abs(pair - np.diag(np.diag(pair))).max() < 1e-14
    i, j, m = np.meshgrid(*[range(8)] * 3, indexing="ij")
    distinct = (i != j) & (j != m) & (i != m)
    assert np.abs(third[distinct]).max() < 1e-14
    assert np.diag(raw.pair) == pytest.approx(raw.first)


def test_completed_beats_raw_on_sparse_rows() -> None:
    sample = make_bernoulli_mixture(20_000, n_features=60, n_components=4, largest=0.4)
    errors = {}
    for moments in ("raw", "completed"):
        sums = tercet.moments.collect(sample.rows, Bernoulli(moments), 4)
        found = tercet.decompose(sums, 4)
        errors[moments] = measure_frobenius_error(sample.parameters, found)
    assert errors["completed"] < 0.6 * errors["raw"]


@pytest.mark.parametrize("strategy", ["exact", "subspace"])
def test_basis_holds_small_components_of_hollow_moments(strategy: str) -> None:
    """Negative eigenvalues of hollow moments must not take their place.

    With the true diagonal the basis would hold what the identity holds.
    """
    sample = make_bernoulli_mixture(20_000, n_features=40, n_components=5, largest=0.3)
    errors = []
    for basis in (None, np.eye(40)):
        sums = tercet.moments.collect(
            sample.rows,
            Bernoulli(),
            5,
            strategy=strategy,
            basis=basis,
            n_iterations=6,
        )
        found = tercet.decompose(sums, 5)
        errors.append(measure_frobenius_error(sample.parameters, found))
    assert errors[0] < 1.1 * errors[1]


# Three views ------------------------------------------------------------------------


def one_view_each(labels: np.ndarray, width: int, rng: np.random.Generator):
    basis = np.zeros((labels.size, 3 * width))
    for view in range(3):
        rows = np.flatnonzero(labels == view)
        block = np.linalg.qr(rng.standard_normal((rows.size, width)))[0]
        basis[rows, view * width : (view + 1) * width] = block
    return basis


def spoil_inside(equations: Equations, labels: np.ndarray) -> Equations:
    """Put nonsense in every entry that has two features of one view."""
    columns = np.arange(equations.width) // (equations.width // 3)
    lift, pair = equations.lift.copy(), equations.pair.copy()
    third, slices = equations.third.copy(), equations.slices.copy()
    lift[labels[:, None] == columns] = 7.0
    pair[columns[:, None] == columns] = -3.0
    same = columns[:, None] == columns
    third[same[:, :, None] | same[:, None, :] | same[None, :, :]] = 5.0
    mine = labels[:, None] == columns
    slices[same[None] | mine[:, :, None] | mine[:, None, :]] = 2.0
    return replace(
        equations, lift=lift, pair=pair, third=third, slices=slices, hollow=True
    )


@pytest.mark.parametrize(("d", "k", "width"), [(9, 3, 3), (30, 4, 6), (90, 12, 15)])
def test_three_views_need_nothing_from_inside_a_view(d: int, k: int, width: int, rng):
    truth = draw_truth(d, k)
    family = ThreeViews(seed=5)
    labels = split_features(d, 5)
    basis = one_view_each(labels, width, rng)
    exact = family.population(truth, basis=basis, slices="all")
    completed = family.complete(spoil_inside(exact, labels), None, k)
    for name in ("lift", "pair", "third", "slices"):
        wanted = getattr(exact, name)
        assert getattr(completed, name) == pytest.approx(wanted, abs=1e-7), name
    found = solve_equations(spoil_inside(exact, labels), family, k).parameters
    assert measure_frobenius_error(truth, found) < 1e-7


@pytest.mark.parametrize("method", ["joint", "sidiwo"])
def test_three_views_work_with_any_decomposition(method: str) -> None:
    sample = make_bernoulli_mixture(
        20_000, n_features=30, n_components=3, weights=[0.4, 0.35, 0.25]
    )
    sums = tercet.moments.collect(sample.rows, ThreeViews(), 3)
    found = tercet.decompose(sums, 3, method=method)
    assert measure_frobenius_error(sample.parameters, found, relative=True) < 0.1


def test_three_views_of_counts_in_one_reading() -> None:
    sample = make_poisson_mixture(20_000, n_features=30, n_components=3)
    family = ThreeViews("poisson")
    blocks = (sample.rows[start : start + 4000] for start in range(0, 20_000, 4000))
    sums = tercet.moments.collect(blocks, family, 3)
    found = tercet.decompose(sums, 3)
    assert measure_frobenius_error(sample.parameters, found, relative=True) < 0.2
    assert found.centers.min() >= 0.0


def test_sums_of_three_views_add_up() -> None:
    sample = make_bernoulli_mixture(2_000, n_features=30, n_components=2)
    whole = tercet.moments.collect(sample.rows, "three-view", 2)
    parts = [
        tercet.moments.collect(rows, "three-view", 2, basis=whole.basis)
        for rows in (sample.rows[:700], sample.rows[700:])
    ]
    joined = tercet.decompose(parts[0] + parts[1], 2)
    alone = tercet.decompose(whole, 2)
    assert joined.centers == pytest.approx(alone.centers, abs=1e-8)


def test_too_few_features_and_mixed_bases_are_refused(rng) -> None:
    rows = make_bernoulli_mixture(50, n_features=8, n_components=2).rows
    with pytest.raises(RankError, match="9 in all"):
        tercet.moments.collect(rows, "three-view", 3)
    basis = np.linalg.qr(rng.standard_normal((8, 6)))[0]
    sums = tercet.moments.collect(rows, "three-view", 2, basis=basis)
    with pytest.raises(ParameterError, match="three views"):
        tercet.decompose(sums, 2)
    with pytest.raises(ParameterError, match="poisson"):
        ThreeViews("gaussian")


def test_components_that_views_do_not_share_are_refused() -> None:
    truth = Parameters(np.full((12, 2), 0.4), np.array([0.6, 0.4]))
    family = ThreeViews()
    exact = replace(family.population(truth), hollow=True)
    with pytest.raises(RankError, match="share only"):
        family.complete(exact, None, 2)


def test_views_are_dealt_evenly_and_by_seed() -> None:
    labels = split_features(100, 3)
    assert np.bincount(labels).tolist() == [34, 33, 33]
    assert np.array_equal(labels, split_features(100, 3))
    assert not np.array_equal(labels, split_features(100, 4))
