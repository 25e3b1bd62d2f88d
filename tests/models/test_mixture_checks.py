"""Mixtures pass scikit-learn's own checks of estimators."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator

import tercet

# Checks that mixtures cannot pass, and why.
_SPARSE = (
    "asks for classifier_tags of whatever has predict_proba; components are not classes "
    "(scikit-learn's mixtures escape it only because they refuse sparse rows)"
)
EXPECTED = {
    "check_estimator_sparse_array": _SPARSE,
    "check_estimator_sparse_matrix": _SPARSE,
}


@pytest.mark.parametrize(
    "model",
    [
        # The checks draw real numbers, which a threshold makes binary. Some of
        # them are then all alike, so that two components would rightly be refused.
        tercet.BernoulliMixture(1, binarize=0.5),
        tercet.PoissonMixture(2),
        tercet.SphericalGaussianMixture(2),
        tercet.SphericalGaussianMixture(2, shared_variance=True),
    ],
    ids=repr,
)
def test_scikit_learn_finds_nothing_to_complain_of(model: Any) -> None:
    with warnings.catch_warnings():
        # Ten rows of two columns deserve the warnings that they get.
        warnings.simplefilter("ignore")
        results = check_estimator(
            model, expected_failed_checks=EXPECTED, on_skip=None, on_fail=None
        )
    failed = {
        result["check_name"]: str(result["exception"])
        for result in results
        if result["status"] == "failed"
    }
    assert failed == {}
    excused = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert excused == set(EXPECTED)
