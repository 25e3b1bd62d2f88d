"""Whatever small table comes, the outcome is a valid mixture or an error that says why."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import tercet
from tercet.exceptions import TercetError, TercetWarning

SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 6))
VALUES = {
    "bernoulli": st.sampled_from([0.0, 1.0]),
    "gaps": st.sampled_from([0.0, 1.0, np.nan]),
    "poisson": st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0, 1000.0]),
    "gaussian": st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0]),
}
CLASSES = {
    "bernoulli": tercet.BernoulliMixture,
    "gaps": tercet.BernoulliMixture,
    "poisson": tercet.PoissonMixture,
    "gaussian": tercet.SphericalGaussianMixture,
}


def check(model: Any, rows: Any) -> None:
    """The model is one: finite, positive, and it can be asked everything."""
    k = model.weights_.size
    assert np.isfinite(model.components_).all()
    assert model.weights_.min() > 0.0
    assert model.weights_.sum() == pytest.approx(1.0)
    assert (np.diff(model.weights_) <= 0.0).all()
    posteriors = model.predict_proba(rows)
    assert posteriors.shape == (rows.shape[0], k)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    assert np.isfinite(model.score(rows))
    assert np.isfinite(model.bic(rows))
    path = getattr(model, "log_likelihoods_", np.zeros(1))
    assert np.diff(path).min(initial=0.0) >= -1e-6 * np.abs(path).max()
    drawn, labels = model.sample(3)
    assert drawn.shape == (3, rows.shape[1])
    assert labels.max() < k


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=settings.default.max_examples,
)
@pytest.mark.parametrize("kind", list(VALUES))
@given(data=st.data())
def test_small_tables(kind: str, data: st.DataObject) -> None:
    rows = data.draw(
        SHAPES.flatmap(
            lambda shape: arrays.arrays(np.float64, shape, elements=VALUES[kind])
        )
    )
    k = data.draw(st.integers(1, 4))
    refine = data.draw(st.sampled_from(["auto", 0, 2]))
    given_rows: Any = rows
    if kind != "gaps" and data.draw(st.booleans()):
        given_rows = sparse.csr_array(rows)
    weights = data.draw(st.none() | st.just(np.arange(1.0, rows.shape[0] + 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TercetWarning)
        try:
            model = CLASSES[kind](k, refine=refine, max_iter=50)
            model.fit(given_rows, sample_weight=weights)
        except TercetError:
            return
        check(model, given_rows)
