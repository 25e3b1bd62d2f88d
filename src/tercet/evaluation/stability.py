"""Whether a clustering stays what it is when some of the rows are replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray

__all__ = ["Stability", "measure_stability"]


@dataclass(frozen=True, eq=False)
class Stability:
    """Agreement of clusterings of overlapping sets of rows.

    Parameters
    ----------
    scores : ndarray of shape (n_repeats,)
        Adjusted Rand index of each pair of clusterings on the rows they share.
    n_shared, n_replaced : int
        Rows that both clusterings saw, and rows that only one of them saw.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.evaluation import Stability
    >>> found = Stability(np.array([0.9, 1.0]), 80, 10)
    >>> found.mean, round(found.spread, 3)
    (0.95, 0.05)
    """

    scores: FloatArray
    n_shared: int
    n_replaced: int

    @property
    def mean(self) -> float:
        """Mean agreement; one is a clustering that never changes."""
        return float(self.scores.mean())

    @property
    def spread(self) -> float:
        """Standard deviation of the agreement over the repeats."""
        return float(self.scores.std())


def measure_stability(
    X: Any,
    cluster: Any,
    *,
    n_repeats: int = 5,
    shared: float = 0.8,
    replaced: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
) -> Stability:
    """Cluster two samples that share most of their rows, and compare.

    A share of the rows is drawn into both samples, two other shares into one
    each. Both are clustered, and the two partitions of the shared rows are
    compared by the adjusted Rand index (thesis 001, section 6.4.1).

    Parameters
    ----------
    X : array, sparse array or data frame of shape (n, d)
        Rows.
    cluster : estimator or callable
        An estimator with `fit_predict`, which is cloned for every sample, or a
        function that takes rows and returns their labels.
    n_repeats : int, default=5
        Pairs of samples.
    shared : float, default=0.8
        Share of the rows that both samples have.
    replaced : float, default=0.1
        Share of the rows that only one sample has, for each of the two.
    random_state : int, Generator or None, default=0
        Draws the samples.

    Returns
    -------
    Stability
        Scores with their mean and spread.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.evaluation import measure_stability
    >>> X = np.repeat(np.eye(3), 20, axis=0)
    >>> measure_stability(X, lambda rows: rows @ [0, 1, 2], n_repeats=2).mean
    1.0
    """
    _check(n_repeats, shared, replaced)
    rows = sparse.csr_array(X) if sparse.issparse(X) else X
    n = int(rows.shape[0])
    n_shared, n_replaced = round(shared * n), round(replaced * n)
    if n_shared < 1 or n_replaced < 1:
        raise DataError(
            f"X has {n} rows, too few to share {shared:g} and to replace {replaced:g} "
            "of them; give more rows or larger shares."
        )
    rng = np.random.default_rng(random_state)
    run = _as_function(cluster)
    scores = np.empty(n_repeats)
    for repeat in range(n_repeats):
        drawn = rng.permutation(n)
        both = drawn[:n_shared]
        labels = []
        for side in range(2):
            start = n_shared + side * n_replaced
            chosen = np.concatenate([both, drawn[start : start + n_replaced]])
            # In the order of the source: only which rows are there may matter.
            order = np.argsort(chosen, kind="stable")
            found = np.empty(chosen.size, dtype=np.int64)
            found[order] = np.asarray(run(_take(rows, chosen[order])))
            labels.append(found[:n_shared])
        scores[repeat] = _compare(labels[0], labels[1])
    return Stability(scores, n_shared, n_replaced)


def _check(n_repeats: Any, shared: Any, replaced: Any) -> None:
    whole = isinstance(n_repeats, Integral) and not isinstance(n_repeats, bool)
    if not whole or n_repeats < 1:
        raise ParameterError(
            f"n_repeats={n_repeats!r} must be an integer of at least 1."
        )
    for name, value in (("shared", shared), ("replaced", replaced)):
        if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
            raise ParameterError(
                f"{name}={value!r} must be a number between 0 and 1, a share of the rows."
            )
    if shared + 2.0 * replaced > 1.0 + 1e-9:
        raise ParameterError(
            f"shared={shared:g} and twice replaced={replaced:g} are more than all rows; "
            "lower one of them."
        )


def _as_function(cluster: Any) -> Callable[[Any], Any]:
    if hasattr(cluster, "fit_predict"):
        from sklearn.base import clone

        return lambda rows: clone(cluster).fit_predict(rows)
    if callable(cluster):
        function: Callable[[Any], Any] = cluster
        return function
    raise ParameterError(
        f"cluster={cluster!r} is neither an estimator with fit_predict nor a function "
        "of rows."
    )


def _take(rows: Any, chosen: Any) -> Any:
    return rows.iloc[chosen] if hasattr(rows, "iloc") else rows[chosen]


def _compare(first: Any, second: Any) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first, second))
