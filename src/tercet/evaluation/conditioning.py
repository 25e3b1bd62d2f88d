"""How much errors of the third moment are magnified (method section 9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from tercet.evaluation.matching import Components, match_components, read_components
from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, Parameters

__all__ = [
    "measure_backward_error",
    "measure_condition_number",
    "measure_forward_error",
]

# Up to this many unknowns k^2 the Gram matrix is formed.
_DENSE_LIMIT = 400
_LANCZOS_STEPS = 3000


def measure_condition_number(components: Components) -> float:
    """Return the geometric condition number of `sum_j mu_j^(x)3`.

    It is the inverse of the smallest singular value of the Terracini matrix,
    whose blocks are orthonormal bases of the tangent spaces of the cone of
    cubes at the components (Breiding and Vannieuwenhoven 2018; thesis 003,
    section 3.6.2). Errors of the third moment grow by at most that factor, to
    first order, in the rank-one terms. One is best (orthogonal components);
    infinity means that some direction is not determined at all. Weights do
    not matter.

    Parameters
    ----------
    components : array-like of shape (k, d) or Parameters
        Components as rows; their lengths do not matter.

    Returns
    -------
    float
        At least one, or infinity.

    Notes
    -----
    The d^3 x kd matrix is never formed. A tangent vector splits into a part
    inside the span of the components, a problem of size k after a QR
    decomposition, and a part orthogonal to it, where the Gram matrix is that
    of the squared cosines, once for each direction.

    Examples
    --------
    >>> from tercet.evaluation import measure_condition_number
    >>> round(measure_condition_number([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), 12)
    1.0
    >>> measure_condition_number([[1.0, 0.0], [1.0, 0.1]]) > 10
    True
    """
    rows = read_components("components", components)
    lengths = np.linalg.norm(rows, axis=1)
    if lengths.min() == 0.0:
        raise ParameterError("components has a row of zeros; leave it out.")
    unit = (rows / lengths[:, None]).T
    d, k = unit.shape
    if d > k:
        unit = np.linalg.qr(unit, mode="r")
    least = _least_inside(unit)
    if d > unit.shape[0] or d > np.linalg.matrix_rank(unit):
        # Some direction is orthogonal to all components.
        squares = (unit.T @ unit) ** 2
        least = min(least, float(linalg.eigvalsh(squares, subset_by_index=[0, 0])[0]))
    # Rounding leaves a zero eigenvalue at some 1e-16 of the largest.
    return float("inf") if least <= 1e-14 * k else float(1.0 / np.sqrt(least))


def measure_backward_error(
    truth: Components,
    estimate: Components,
    *,
    true_weights: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    relative: bool = False,
) -> float:
    """Return how far the third moments of two models are apart.

    It is `|sum_j w_j mu_j^(x)3 - sum_j w'_j mu'_j^(x)3|_F`, the backward error of
    thesis 003, formula 3.30; no tensor over the features is formed.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows; their numbers may differ.
    true_weights, weights : array-like of shape (k,) or None
        Weights; None takes those of `Parameters`, else ones.
    relative : bool
        Whether to divide by the norm of the first.

    Returns
    -------
    float
        Norm of the difference.

    Examples
    --------
    >>> from tercet.evaluation import measure_backward_error
    >>> measure_backward_error([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    0.0
    >>> measure_backward_error([[2.0, 0.0]], [[1.0, 0.0]], relative=True)
    0.875
    """
    first = _scale_terms("truth", truth, "true_weights", true_weights)
    second = _scale_terms("estimate", estimate, "weights", weights)
    _check_features(first, second)
    stacked = np.vstack([first, second])
    if stacked.shape[1] > stacked.shape[0]:
        # As many coordinates as there are components keep all inner products.
        stacked = linalg.qr(stacked.T, mode="economic")[1].T
    signs = np.repeat([1.0, -1.0], [first.shape[0], second.shape[0]])
    total = 0.0
    for column in stacked.T:
        # One slice of the difference at a time.
        part = stacked.T @ ((signs * column)[:, None] * stacked)
        total += float((part**2).sum())
    error = float(np.sqrt(total))
    if not relative:
        return error
    norm = float(np.sqrt(((first @ first.T) ** 3).sum()))
    if norm == 0.0:
        raise ParameterError("truth is zero; relative errors need another truth.")
    return error / norm


def measure_forward_error(
    truth: Components,
    estimate: Components,
    *,
    true_weights: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Return how far the rank-one terms of two third moments are apart.

    It is `min_perm (sum_j |w_j mu_j^(x)3 - w'_j mu'_j^(x)3|_F^2)^(1/2)`, the forward
    error of thesis 003, formula 3.31. To first order it is at most the
    condition number times the backward error.

    Parameters
    ----------
    truth, estimate : array-like of shape (k, d) or Parameters
        Components as rows.
    true_weights, weights : array-like of shape (k,) or None
        Weights; None takes those of `Parameters`, else ones.

    Returns
    -------
    float
        Norm over the terms, after the best permutation.

    Examples
    --------
    >>> from tercet.evaluation import measure_forward_error
    >>> measure_forward_error([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]])
    7.0
    """
    first = _scale_terms("truth", truth, "true_weights", true_weights)
    second = _scale_terms("estimate", estimate, "weights", weights)
    if first.shape != second.shape:
        raise ParameterError(
            f"estimate has shape {second.shape} but truth {first.shape}; forward errors "
            "compare equally many components over the same features."
        )
    order = match_components(first, second, "cubes").order
    pairs = zip(first, second[order], strict=True)
    return float(np.sqrt(sum(measure_backward_error(*_rows(p)) ** 2 for p in pairs)))


def _rows(pair: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    return pair[0][None], pair[1][None]


def _scale_terms(
    name: str, components: Components, weights_name: str, weights: ArrayLike | None
) -> FloatArray:
    """Return rows whose cubes are the weighted cubes of the components."""
    rows = read_components(name, components)
    if weights is None:
        if not isinstance(components, Parameters):
            return rows
        weights = components.weights
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != rows.shape[:1] or not np.isfinite(values).all():
        raise ParameterError(
            f"{weights_name}={values} must hold {rows.shape[0]} finite numbers."
        )
    return np.asarray(rows * np.cbrt(values)[:, None])


def _check_features(first: FloatArray, second: FloatArray) -> None:
    if first.shape[1] != second.shape[1]:
        raise ParameterError(
            f"estimate has components over {second.shape[1]} features, truth over "
            f"{first.shape[1]}; bring both to the same features."
        )


def _least_inside(unit: FloatArray) -> float:
    """Return the smallest squared singular value of the Terracini matrix of `unit`."""
    width, k = unit.shape
    size = width * k
    if size <= _DENSE_LIMIT:
        gram = _apply_gram(unit, np.eye(size).reshape(size, k, width))
        gram = gram.reshape(size, size)
        return float(linalg.eigvalsh((gram + gram.T) / 2, subset_by_index=[0, 0])[0])

    def multiply(vector: FloatArray) -> FloatArray:
        return _apply_gram(unit, vector.reshape(1, k, width)).ravel()

    operator = LinearOperator((size, size), matvec=multiply, dtype=np.float64)
    start = np.cos(np.arange(size))
    try:
        values = eigsh(
            operator,
            1,
            which="SA",
            v0=start,
            ncv=40,
            tol=1e-6,
            maxiter=_LANCZOS_STEPS,
            return_eigenvectors=False,
        )
    except ArpackNoConvergence:
        gram = _apply_gram(unit, np.eye(size).reshape(size, k, width))
        values = linalg.eigvalsh(gram.reshape(size, size), subset_by_index=[0, 0])
    return float(values[0])


def _apply_gram(unit: FloatArray, tangents: FloatArray) -> FloatArray:
    """Multiply stacks of tangent vectors (m, k, width) by the Gram matrix.

    A tangent vector of component a in direction v is `aav + ava + vaa`; two of
    them have the inner product `3 (a.b)^2 (u.v) + 6 (a.b) (u.b) (a.v)`. Scaled
    by 1/3 along a and by 1/sqrt(3) across, the directions are orthonormal.
    """
    cosines = unit.T @ unit

    def scale(vectors: FloatArray) -> FloatArray:
        along = np.einsum("mjw,wj->mj", vectors, unit)[:, :, None] * unit.T
        return np.asarray(along / 3.0 + (vectors - along) / np.sqrt(3.0))

    scaled = scale(tangents)
    straight = np.einsum("ij,mjw->miw", cosines**2, scaled, optimize=True)
    crossed = np.einsum("mjw,wi->mij", scaled, unit, optimize=True) * cosines
    turned = np.einsum("mij,wj->miw", crossed, unit, optimize=True)
    return scale(3.0 * straight + 6.0 * turned)
