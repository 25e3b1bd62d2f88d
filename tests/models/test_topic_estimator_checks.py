"""Topic models pass scikit-learn's own checks of estimators."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

import tercet

# Checks that topic models cannot pass, and why.
_SPARSE = (
    "asks for classifier_tags of whatever has predict_proba; topics are not classes "
    "(scikit-learn's mixtures escape it only because they refuse sparse rows)"
)
EXPECTED = {
    "check_estimator_sparse_array": _SPARSE,
    "check_estimator_sparse_matrix": _SPARSE,
}


class WiderCounts(tercet.DiscreteICA):
    """Discrete ICA of rows times 100.

    The checks draw values between 0 and 1 or so, which vary less than Poisson
    counts can; discrete ICA rightly finds no component in them. Nothing else is
    changed.
    """

    def _open_rows(self, X: Any, sample_weight: Any = None, *, reset: bool) -> Any:
        if not sparse.issparse(X) and not hasattr(X, "columns"):
            X = np.asarray(X)
        if getattr(getattr(X, "dtype", None), "kind", "") == "O":
            scale = np.vectorize(_scale, otypes=[object])
            return super()._open_rows(scale(X), sample_weight, reset=reset)
        return super()._open_rows(X * 100, sample_weight, reset=reset)


def _scale(value: Any) -> Any:
    return value * 100 if isinstance(value, int | float) else value


@pytest.mark.parametrize(
    "model",
    [
        tercet.SingleTopicModel(1),
        tercet.LatentDirichletAllocation(1),
        tercet.LatentDirichletAllocation(1, concentration=0.5, refine=2),
        WiderCounts(1),
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
