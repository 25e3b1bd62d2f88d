"""Exact moments of given parameters, in a basis."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.flow import Equations, FloatArray, IntArray, Parameters
from tercet.moments.subspace import orthonormalize

__all__ = ["SliceChoice", "check_components", "choose_basis", "plant_equations"]

SliceChoice = ArrayLike | Literal["all"] | None

# Up to this many features the basis is the identity.
IDENTITY_LIMIT = 64


def check_components(parameters: Parameters, *, signed: bool = False) -> None:
    """Refuse parameters that no model has.

    Parameters
    ----------
    parameters : Parameters
        Centers (d, k) and weights (k).
    signed : bool
        Whether centers may have negative entries.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.population import check_components
    >>> from tercet.flow import Parameters
    >>> check_components(Parameters(np.ones((3, 2)), np.array([0.5, 0.5])))
    """
    centers = np.asarray(parameters.centers)
    weights = np.asarray(parameters.weights)
    if centers.ndim != 2 or 0 in centers.shape or weights.shape != centers.shape[1:]:
        raise ParameterError(
            f"parameters has centers of shape {centers.shape} and weights of shape "
            f"{weights.shape}; give (d, k) and (k,)."
        )
    if not np.isfinite(centers).all() or (not signed and centers.min() < 0.0):
        raise ParameterError(
            "parameters.centers must be finite"
            f"{'' if signed else ' and have no negative entry'}."
        )
    sound = np.isfinite(weights).all() and weights.min() > 0.0
    if not sound or abs(float(weights.sum()) - 1.0) > 1e-8:
        raise ParameterError(
            f"parameters.weights={weights} must be positive and sum to one."
        )


def choose_basis(centers: FloatArray) -> FloatArray:
    """Return the identity for few features, else an orthonormal basis of the centers.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Directions that the moments live in.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.population import choose_basis
    >>> choose_basis(np.ones((3, 1))).shape, choose_basis(np.ones((500, 1))).shape
    ((3, 3), (500, 1))
    """
    d = centers.shape[0]
    return np.eye(d) if d <= IDENTITY_LIMIT else orthonormalize(centers.copy())


def plant_equations(
    centers: FloatArray,
    first: FloatArray,
    pair: FloatArray,
    third: FloatArray,
    *,
    basis: FloatArray | None = None,
    slices: SliceChoice = None,
) -> Equations:
    """Return `sum u mu`, `sum v mu mu'` and `sum t mu^(x)3` in a basis.

    Parameters
    ----------
    centers : ndarray of shape (d, k)
        Columns mu_j.
    first, pair, third : ndarray of shape (k,)
        Coefficients u, v and t.
    basis : ndarray of shape (d, p) or None
        Orthonormal basis that holds the centers; None chooses one.
    slices : "all", array of feature indices, or None
        Features whose slices are wanted as well.

    Returns
    -------
    Equations
        Exact moments.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.population import plant_equations
    >>> one = np.ones(1)
    >>> plant_equations(np.array([[2.0]]), one, one, one).third
    array([[[8.]]])
    """
    if basis is None:
        basis = choose_basis(centers)
        orthonormal = True
    else:
        gram = basis.T @ basis
        orthonormal = bool(np.allclose(gram, np.eye(gram.shape[0]), atol=1e-10))
    inner = basis.T @ centers
    features = _choose_features(slices, centers.shape[0])
    return Equations(
        first=centers @ first,
        lift=(centers * pair) @ inner.T,
        pair=(inner * pair) @ inner.T,
        third=np.einsum("j,aj,bj,cj->abc", third, inner, inner, inner, optimize=True),
        basis=basis,
        orthonormal=orthonormal,
        slices=None
        if features is None
        else np.einsum(
            "rj,aj,bj->rab", centers[features] * third, inner, inner, optimize=True
        ),
        slice_features=features,
    )


def _choose_features(slices: SliceChoice, n_features: int) -> IntArray | None:
    if slices is None:
        return None
    if isinstance(slices, str):
        if slices != "all":
            raise ParameterError(
                f"slices={slices!r} is not known; give 'all', feature indices or None."
            )
        return np.arange(n_features, dtype=np.int64)
    features = np.asarray(slices)
    if features.ndim != 1 or features.dtype.kind not in "iu":
        raise ParameterError(f"slices={slices!r} must be a vector of feature indices.")
    if features.size and not 0 <= features.min() <= features.max() < n_features:
        raise ParameterError(
            f"slices={slices!r} must be feature indices from 0 to {n_features - 1}."
        )
    return features.astype(np.int64)
