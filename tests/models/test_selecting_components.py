"""Criteria for the number of components find the number that rows were drawn from."""

from __future__ import annotations

import numpy as np
import pytest

import tercet
from tercet.datasets import (
    make_bernoulli_mixture,
    make_gamma_poisson,
    make_lda,
    make_poisson_mixture,
    make_spherical_gaussians,
)
from tercet.exceptions import DataError, ParameterError

CASES = {
    "lda": (
        lambda: make_lda(3000, n_features=300, n_components=5, random_state=1),
        tercet.LatentDirichletAllocation(),
        ("held_out", "gap", "coherence", "bic", "mdl"),
    ),
    "gamma-poisson": (
        lambda: make_gamma_poisson(3000, n_features=300, n_components=5),
        tercet.DiscreteICA(),
        ("held_out", "gap", "bic", "mdl"),
    ),
    "poisson": (
        lambda: make_poisson_mixture(3000, n_features=50, n_components=5),
        tercet.PoissonMixture(),
        ("gap", "bic"),
    ),
    "bernoulli": (
        lambda: make_bernoulli_mixture(4000, n_features=60, n_components=5),
        tercet.BernoulliMixture(),
        ("held_out",),
    ),
    "gaussian": (
        lambda: make_spherical_gaussians(3000, n_features=15, n_components=5),
        tercet.SphericalGaussianMixture(),
        ("bic", "mdl"),
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_criteria_find_the_true_number(name):
    make, model, criteria = CASES[name]
    found = tercet.select_components(make().rows, [3, 4, 5, 6, 7], model)
    assert {
        criterion: found.choose(criterion) for criterion in criteria
    } == dict.fromkeys(criteria, 5)
    # Too few components are told from enough of them by the held-out score.
    assert found.held_out[:2].max() < found.held_out[2:].max()
    assert found.supported.all()


def test_the_same_call_gives_the_same_table():
    rows = make_lda(500, n_features=60, n_components=3).rows
    first = tercet.select_components(rows, [2, 3, 4])
    again = tercet.select_components(rows, [4, 3, 2, 3])
    assert first.to_rows() == again.to_rows()
    assert first.candidates.tolist() == [2, 3, 4]
    assert str(first).count("*") == 5
    assert len(str(first).splitlines()) == 4


def test_blocks_are_swept_like_an_array():
    rows = make_lda(500, n_features=60, n_components=3).rows
    whole = tercet.select_components(rows, [2, 3])
    parts = tercet.select_components(lambda: iter([rows[:130], rows[130:]]), [2, 3])
    np.testing.assert_allclose(parts.held_out, whole.held_out, rtol=1e-6)
    np.testing.assert_allclose(parts.mdl, whole.mdl, rtol=1e-6)


def test_numbers_that_the_moments_do_not_support_are_told():
    rng = np.random.default_rng(0)
    # Two blocks of words that never meet: rank two.
    shares = np.kron(np.eye(2), np.full((1, 6), 1 / 6))[rng.integers(2, size=400)]
    rows = rng.multinomial(30, shares)
    found = tercet.select_components(rows, [1, 2, 12], tercet.SingleTopicModel())
    assert found.choose("gap") == 2
    assert found.choose("held_out") == 2
    assert not found.supported[-1]
    assert np.isnan(found.held_out[-1])
    assert "-" in str(found).splitlines()[-1]


def test_errors_name_what_is_wrong():
    rows = make_lda(100, n_features=30, n_components=3).rows
    with pytest.raises(ParameterError, match="candidates is empty"):
        tercet.select_components(rows, [])
    with pytest.raises(ParameterError, match="candidates=0"):
        tercet.select_components(rows, [2, 0])
    with pytest.raises(ParameterError, match="neither a topic model nor a mixture"):
        tercet.select_components(rows, [2], tercet.CumulantICA(2))
    with pytest.raises(DataError, match="read only once"):
        tercet.select_components(iter([rows]), [2])
    with pytest.raises(DataError, match="10 rows"):
        tercet.select_components(rows[:10], [2])
    found = tercet.select_components(rows, [2])
    with pytest.raises(ParameterError, match="criterion='luck'"):
        found.choose("luck")
