"""How long the columns of `E V` are, compared with the centers they point to.

In the moments of every model here a component enters as

    M1 = sum_j u_j mu_j,   M2 = sum_j v_j mu_j mu_j',   M3 = sum_j t_j mu_j^(x)3

so a unit vector of the whitened problem is `sqrt(v_j) W' mu_j`, the column
`E V` is `sqrt(v_j) mu_j`, and three numbers are known for each component:

    q_j = u_j / sqrt(v_j)        from  E V q = M1
    g_j = 1                      from  V diag(g) V' = I
    lambda_j = t_j / v_j^(3/2)   the eigenvalue

When the vectors are not orthonormal, `g` is fitted and column j is
`s_j mu_j` with `q_j s_j = u_j`, `g_j s_j^2 = v_j`, `lambda_j s_j^3 = t_j`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from tercet.flow import Equations, Factors, FloatArray, Whitening

__all__ = ["Scales", "recover_scales"]


@dataclass(frozen=True, eq=False)
class Scales:
    """Columns that point to the centers, and what the moments say of their length.

    Parameters
    ----------
    columns : ndarray of shape (d, k)
        `E V`, un-normalised, with the signs of the factors.
    first : ndarray of shape (k,)
        `q` with `E V q = M1`.
    pair : ndarray of shape (k,)
        `g` with `V diag(g) V' = I`; ones for orthonormal vectors.
    third : ndarray of shape (k,)
        Eigenvalues `lambda`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.recovery import Scales
    >>> one = np.ones(1)
    >>> Scales(np.array([[0.6], [0.3]]), one, one, one).columns.shape
    (2, 1)
    """

    columns: FloatArray
    first: FloatArray
    pair: FloatArray
    third: FloatArray


def recover_scales(
    factors: Factors, whitening: Whitening, equations: Equations
) -> Scales:
    """Bring factors back to the features and measure them against the moments.

    Parameters
    ----------
    factors : Factors
        Solution of the whitened problem.
    whitening : Whitening
        Of the same equations.
    equations : Equations
        Moments of the model.

    Returns
    -------
    Scales
        Columns and their three coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.decomposition import solve
    >>> from tercet.families import Poisson
    >>> from tercet.flow import Parameters
    >>> from tercet.recovery import recover_scales
    >>> from tercet.whitening import whiten_pair, whiten_third
    >>> truth = Parameters(np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([0.8, 0.2]))
    >>> moments = Poisson().population(truth)
    >>> whitening = whiten_pair(moments, 2)
    >>> factors = solve(whiten_third(moments, whitening), "joint")
    >>> np.sort(recover_scales(factors, whitening, moments).first ** 2).round(6)
    array([0.2, 0.8])
    """
    vectors = factors.vectors
    whitened = whitening.coordinates.T @ (equations.basis.T @ equations.first)
    if factors.orthogonal:
        first = vectors.T @ whitened
        pair = np.ones(vectors.shape[1])
    else:
        first = linalg.lstsq(vectors, whitened)[0]
        # <v_i v_i', v_j v_j'> = (v_i . v_j)^2 and <v_j v_j', I> = 1.
        gram = (vectors.T @ vectors) ** 2
        pair = linalg.lstsq(gram, np.ones(vectors.shape[1]))[0]
    return Scales(
        columns=whitening.unwhitening @ vectors,
        first=np.asarray(first),
        pair=np.asarray(pair),
        third=factors.eigenvalues,
    )
