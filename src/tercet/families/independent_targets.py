"""Targets whose joint diagonalisation tells independent sources apart."""

from __future__ import annotations

import numpy as np

from tercet.exceptions import DataError
from tercet.families.two_view import unpack_pairs
from tercet.flow import FloatArray
from tercet.moments.separation_passes import FourthState

__all__ = ["form_fourth_targets"]


def form_fourth_targets(state: FourthState) -> FloatArray:
    """Return contractions of third and fourth cumulants of white rows.

    For an orthogonal mixture O of independent sources, third cumulants
    contracted with e_c are `O diag(s_j o_cj) O'`, fourth ones contracted with e_c
    twice `O diag(kappa_j o_cj^2) O'`, s and kappa being skewness and kurtosis: the
    first see skewed sources, the second symmetric ones. Each entry of the second
    has about three times the sampling variance, for which they are scaled.

    Parameters
    ----------
    state : FourthState
        Sums of rows of mean zero and covariance one.

    Returns
    -------
    ndarray of shape (2 k, k, k)
        Symmetric matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.independent_targets import form_fourth_targets
    >>> from tercet.moments.separation_passes import FourthState
    >>> sums = FourthState(1.0, np.array([[2.0]]), np.array([[9.0]]))
    >>> form_fourth_targets(sums).ravel().round(2)
    array([2.  , 3.46])
    """
    if not state.mass > 0.0:
        raise DataError("X has no rows of positive weight; give at least two.")
    k = state.thirds.shape[1]
    thirds = unpack_pairs(state.thirds / state.mass, k).transpose(2, 0, 1)
    fourths = unpack_pairs(state.fourths / state.mass, k).transpose(2, 0, 1)
    # What Gaussian rows of covariance one have: I + 2 e_c e_c'.
    gaussian = np.tile(np.eye(k), (k, 1, 1))
    each = np.arange(k)
    gaussian[each, each, each] += 2.0
    return np.concatenate([thirds, (fourths - gaussian) / np.sqrt(3.0)])
