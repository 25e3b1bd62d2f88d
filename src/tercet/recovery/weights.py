"""Weights that are weights: not negative, summing to one."""

from __future__ import annotations

import numpy as np

from tercet.exceptions import DataError
from tercet.flow import FloatArray

__all__ = ["recover_weights"]

# Least weight of a component that noise made vanish, as a share of an equal
# weight: it must not silence the component in likelihood steps to come.
_LEAST_SHARE = 1e-3


def recover_weights(estimates: FloatArray) -> FloatArray:
    """Turn estimates of weights into positive weights that sum to one.

    Exact estimates sum to one already and are returned as they are.

    Parameters
    ----------
    estimates : ndarray of shape (k,)
        Estimates, not squared roots nor roots: weights themselves.

    Returns
    -------
    ndarray of shape (k,)
        Positive weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import recover_weights
    >>> recover_weights(np.array([0.8, 0.2]))
    array([0.8, 0.2])
    """
    if np.ndim(estimates) != 1 or np.size(estimates) == 0:
        raise DataError(
            f"estimates has the shape {np.shape(estimates)}; give one number for each "
            "component."
        )
    finite = np.where(np.isfinite(estimates), estimates, 0.0)
    total = float(np.maximum(finite, 0.0).sum())
    if total <= 0.0:
        return np.full(finite.size, 1.0 / finite.size)
    shares = np.maximum(finite / total, _LEAST_SHARE / finite.size)
    return np.asarray(shares / shares.sum())
