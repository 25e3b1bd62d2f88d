"""Two views of real numbers that share independent sources."""

from __future__ import annotations

from typing import Any, ClassVar

from tercet.models.cca_base import AlignedViews

__all__ = ["NonGaussianCCA"]


class NonGaussianCCA(AlignedViews):
    """Non-Gaussian canonical correlation analysis: two views of real numbers.

    `x1 = D1 a + e1` and `x2 = D2 a + e2`: the independent sources a are shared, the
    noises belong to one view each and may be anything. Unlike those of CCA, the
    loadings are identified, unless two sources are Gaussian (paper 002, theorem
    4.3.1).

    Parameters
    ----------
    n_components : int
        Number of shared sources k, at most the features of the smaller view. The
        views' own noise may have any number of sources, also more than features.
    targets : {"cumulants", "covariances"}, default="covariances"
        What is diagonalised: third cross-cumulants, which see skewed sources, or
        generalised covariances, which in views of real numbers also see symmetric
        ones.
    delta : float, default=0.1
        How far from zero generalised covariances are taken: `delta` over the mean
        absolute entry of the view (paper 002, equation 4.47), but always so far that
        exponents vary by 0.001 to 0.1 standard deviations.
    decomposition : {"sh-rt", "just", "jdtm", "eigen"}, default="sh-rt"
        Joint diagonalisation by similarity in its published variants, or the
        eigenvectors of one combination of the targets.
    strategy : {"auto", "subspace", "exact", "sketch"}, default="auto"
        How directions are found; see `tercet.moments.collect_views`.
    random_state : int, Generator or None, default=None
        Seed of starting blocks and sketches; None is a fixed seed.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    verbose : int, default=0
        Whether to say what is being done.

    Attributes
    ----------
    components_ : pair of ndarray, (k, d1) and (k, d2)
        Loadings of unit length; the largest one of the first view is positive.
        Row k of the one belongs to row k of the other; by falling weight.
    strengths_ : ndarray of shape (k,)
        `cov(x1, x2) = components_[0].T @ diag(strengths_) @ components_[1]`.
    weights_ : ndarray of shape (k,)
        Shares of the strengths.
    means_ : pair of ndarray, (d1,) and (d2,)
        Means of the views.
    moments_ : TwoViewMoments
        The sums that all was learned from.
    diagnostics_ : dict
        `clearance`, the singular values of the cross-covariance over those of
        sampling noise, and how many are `supported`; `visibility`, how far each
        source stands out as not Gaussian; `off_diagonal`, the share of the
        targets that was left.
    outcome_ : Outcome
        How the diagonalisation ended.
    n_features_in_, second_features_in_ : int
        Features of the views; their names, if there are any, are in
        `feature_names_in_` and `second_names_in_`.

    References
    ----------
    A. Podosinnikova, On the method of moments for estimation in latent linear
    models, PhD thesis, 2016, chapter 4.

    Examples
    --------
    >>> from tercet import NonGaussianCCA
    >>> from tercet.datasets import make_non_gaussian_cca
    >>> sample = make_non_gaussian_cca(5000, n_components=2)
    >>> X1, X2 = sample.views
    >>> model = NonGaussianCCA(2).fit(X1, X2)
    >>> model.transform(X1, X2).shape
    (5000, 2)
    """

    _kinds: ClassVar[tuple[str, str]] = ("reals", "reals")

    def __init__(
        self,
        n_components: int = 10,
        *,
        targets: str = "covariances",
        delta: float = 0.1,
        decomposition: str = "sh-rt",
        strategy: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.targets = targets
        self.delta = delta
        self.decomposition = decomposition
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
