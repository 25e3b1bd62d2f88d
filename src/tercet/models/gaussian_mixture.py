"""Rows in components that are spherical Gaussians."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tercet.families import SphericalGaussian
from tercet.flow import Family, FloatArray, Moments, Source
from tercet.intake import Requirement
from tercet.likelihood import Density
from tercet.likelihood import SphericalGaussian as GaussianDensity
from tercet.models.mixture_base import MixtureModel
from tercet.models.mixture_starts import SpreadPass

__all__ = ["SphericalGaussianMixture"]

# Least variance of a component, as a part of that of all rows: without it a
# component could shrink to a single row, where the likelihood has no bound.
_LEAST_PART = 1e-6
_TINY = float(np.finfo(np.float64).tiny)


class SphericalGaussianMixture(MixtureModel):
    """A mixture of Gaussians, each with one variance for all coordinates.

    Up to as many components as features are learned from the moments (Hsu and
    Kakade 2013). Beyond that, EM starts from groups found split by split, each
    with two pseudo-centers (thesis 001, figure 6.5).

    Parameters
    ----------
    n_components : int, default=2
        Number of components k; there may be more of them than features.
    shared_variance : bool, default=False
        Whether all components have the same variance.
    decomposition : str, default="sidiwo"
        How the small tensor is decomposed; see `tercet.decomposition.DECOMPOSITIONS`.
    refine : int or "auto", default="auto"
        Steps of EM after the moments: 0 for moments alone, "auto" until `rule`
        is met.
    rule : {"likelihood", "weights", "centers", "thesis"}, default="likelihood"
        When EM has converged; see `BernoulliMixture`.
    tolerance : float or None, default=None
        What the residual of the rule must fall below; None is the rule's own.
    max_iter : int, default=500
        Largest number of EM steps under "auto".
    strategy : {"auto", "subspace", "exact", "sketch"}, default="auto"
        How the basis of the moments is found; see `tercet.moments.collect`.
    random_state : int, Generator or None, default=None
        None is a fixed seed: the same data always give the same answer.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    verbose : int, default=0
        Whether to tell what is being done.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Means, by falling weight.
    weights_ : ndarray of shape (k,)
        Share of the rows in each component.
    variances_ : ndarray of shape (k,)
        Variance of every coordinate in each component.
    log_likelihoods_ : ndarray
        Of all rows, before each EM step.
    n_iter_ : int
        EM steps, or iterations of the decomposition if there were none.
    outcome_ : Outcome
        How EM (or the decomposition) ended.
    diagnostics_ : dict
        What was found on the way; see `tercet.models.diagnosing`.

    Examples
    --------
    >>> import tercet
    >>> sample = tercet.datasets.make_spherical_gaussians(
    ...     300, n_features=6, n_components=3, random_state=0
    ... )
    >>> model = tercet.SphericalGaussianMixture(3).fit(sample.rows)
    >>> model.components_.shape, model.variances_.shape
    ((3, 6), (3,))
    """

    requirement: ClassVar[Requirement] = Requirement.REALS
    fitted_state: ClassVar[tuple[str, ...]] = MixtureModel.fitted_state

    def __init__(
        self,
        n_components: int = 2,
        *,
        shared_variance: bool = False,
        decomposition: str = "sidiwo",
        refine: int | str = "auto",
        rule: str = "likelihood",
        tolerance: float | None = None,
        max_iter: int = 500,
        strategy: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.shared_variance = shared_variance
        self.decomposition = decomposition
        self.refine = refine
        self.rule = rule
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _family(self) -> Family:
        return SphericalGaussian(shared_variance=self.shared_variance)

    def _fit_source(self, source: Source, exposure: FloatArray | None = None) -> Self:
        if source.rereadable:
            self._floor = (
                _LEAST_PART * source.run(SpreadPass(source.n_features)).variance
            )
        return super()._fit_source(source, exposure)

    def _learn(self, moments: Moments) -> None:
        super()._learn(moments)
        mean = moments.first[0] / moments.masses[0]
        power = moments.power / moments.masses[1] - float(mean @ mean)
        # Noise may leave a component with less than nothing.
        least = max(_LEAST_PART * power / moments.n_features, _TINY)
        self.variances_ = np.maximum(self.variances_, least)

    def _density(self, exposure: FloatArray | None = None) -> Density:  # noqa: ARG002
        floor = max(getattr(self, "_floor", 0.0), _TINY)
        return GaussianDensity(shared=self.shared_variance, floor=floor)

    def _count_parameters(self) -> int:
        variances = 1 if self.shared_variance else self.weights_.size
        return self.components_.size + self.weights_.size - 1 + variances
