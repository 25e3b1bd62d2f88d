"""Independent component analysis through cumulants."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tercet.decomposition import diagonalize_jointly
from tercet.exceptions import DataError, ModelWarning, ParameterError, RankError
from tercet.families import GammaPoisson
from tercet.families.independent_targets import form_fourth_targets
from tercet.flow import FloatArray, MomentPlan, Outcome, Source
from tercet.intake import Requirement, count_threads
from tercet.likelihood.separation import refine_unmixing
from tercet.models.decomposing import solve_equations
from tercet.models.estimators import TercetEstimator, check_number
from tercet.moments import PairPass, TallyPass, collect
from tercet.moments.separation_passes import (
    CenteredSource,
    FourthPass,
    SpreadPass,
)
from tercet.moments.subspace import GRAM_LIMIT, apply_pair, find_subspace

__all__ = ["CumulantICA"]

_NOISES = ("none", "poisson")
_EXTRA = 8
# Eigenvalues of the covariance below this share of the largest are rounding.
_FLAT = 1e-12
# Information that the rotation of k Gaussian sources finds in n rows is, for each
# of them, below this times (k + 2) / n, nearly always.
_HIDDEN = 20.0
_TINY = float(np.finfo(np.float64).tiny)


class _White(NamedTuple):
    """Rows made white: what they are multiplied by, and their mean then.

    `colorer` is the pseudo-inverse of the transposed `whitener`.
    """

    whitener: FloatArray
    colorer: FloatArray
    shift: FloatArray
    mean: FloatArray
    n_rows: float


class CumulantICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TercetEstimator):
    """Independent component analysis through third and fourth cumulants.

    Cumulants of independent sources are diagonal, and joint diagonalisation finds
    the rotation that makes them so: one global solution, no starting point. A few
    likelihood steps follow, with scores fitted to each source, that make it
    efficient. On counts, `noise="poisson"` takes the noise of counting out of the
    cumulants, which other methods mistake for signal.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of sources k; None takes all that the rows support.
    noise : {"none", "poisson"}, default="none"
        Whether rows mix the sources as they are, or are counts whose means do
        (discrete ICA; sources have to be skewed).
    refine : int, default=20
        Likelihood steps at most; 0 for cumulants alone. Counts take none.
    tolerance : float or None, default=None
        Largest entry of the last relative step; None is the smaller of 0.01 and one
        over the root of the number of rows. What is left then is about its square,
        far below the sampling error.
    random_state : int, Generator or None, default=None
        Seed of the starting block for many features; None is a fixed seed.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.
    verbose : int, default=0
        Whether to say what is being done.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Unmixing matrix: `sources = (X - mean_) @ components_.T`.
    mixing_ : ndarray of shape (d, k)
        Its pseudo-inverse; sources have unit variance, and the largest entry of
        each column is positive.
    mean_ : ndarray of shape (d,)
        Mean of the rows.
    weights_ : ndarray of shape (k,)
        Share of each source in the variance; sources come by falling share.
    whitening_ : ndarray of shape (k, d)
        Whitening of the rows (for `noise="none"`).
    outcome_ : Outcome
        How the steps ended.
    n_iter_ : int
        Likelihood steps, or sweeps where there were none.

    References
    ----------
    J.-F. Cardoso and A. Souloumiac, Blind beamforming for non Gaussian signals,
    IEE Proc. F, 1993. D.-T. Pham and P. Garat, Blind separation of mixture of
    independent sources through a quasi-maximum likelihood approach, IEEE Trans.
    Signal Process., 1997. A. Podosinnikova, PhD thesis, 2016, chapters 2 and 3
    (counts).

    Examples
    --------
    >>> import numpy as np
    >>> from tercet import CumulantICA
    >>> rng = np.random.default_rng(0)
    >>> sources = rng.exponential(size=(2000, 2))
    >>> X = sources @ np.array([[1.0, 0.5], [0.3, 1.0]])
    >>> found = CumulantICA().fit_transform(X)
    >>> match = np.abs(np.corrcoef(found.T, sources.T)[:2, 2:])
    >>> bool(match.max(axis=1).min() > 0.99)
    True
    """

    fitted_state: ClassVar[tuple[str, ...]] = (
        *TercetEstimator.fitted_state,
        "components_",
        "mixing_",
        "mean_",
        "weights_",
        "whitening_",
    )

    diagnostics_: dict[str, Any]

    def __init__(
        self,
        n_components: int | None = None,
        *,
        noise: str = "none",
        refine: int = 20,
        tolerance: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.noise = noise
        self.refine = refine
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def requirement(self) -> Requirement:  # type: ignore[override]
        """What values rows may hold."""
        return Requirement.COUNTS if self.noise == "poisson" else Requirement.REALS

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know: sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.noise == "poisson"
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn how rows mix their sources.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable or Source
            Rows; they are read several times.
        y : None
            Not used; there for scikit-learn's pipelines.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        source = self._open_rows(X, None, reset=True)
        if not source.rereadable:
            raise ParameterError(
                "CumulantICA reads the rows several times, which an iterator cannot do; "
                "pass a callable that gives the blocks anew each time."
            )
        if self.noise == "poisson":
            self._fit_counts(source)
        else:
            self._fit_reals(source)
        self._announce(self.outcome_)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the sources of rows.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        ndarray of shape (n, k)
            Sources, centred.
        """
        check_is_fitted(self, "components_")
        source = self._open_rows(X, None, reset=False)
        shift = self.components_ @ self.mean_
        parts = [
            np.asarray(block.rows @ self.components_.T) - shift
            for block in source.blocks()
        ]
        return np.concatenate(parts)

    def inverse_transform(self, X: ArrayLike) -> FloatArray:
        """Return the rows that sources would be mixed to.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Sources.

        Returns
        -------
        ndarray of shape (n, d)
            Rows.
        """
        check_is_fitted(self, "components_")
        sources = np.asarray(X, dtype=np.float64)
        if sources.ndim != 2 or sources.shape[1] != len(self.components_):
            raise DataError(
                f"X has the shape {sources.shape}; sources have one column for each of "
                f"the {len(self.components_)} components."
            )
        return np.asarray(sources @ self.mixing_.T + self.mean_)

    @property
    def _n_features_out(self) -> int:
        """Number of sources, for `get_feature_names_out`."""
        return len(self.components_)

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)
        check_number("refine", self.refine, least=0, whole=True)
        if self.tolerance is not None:
            check_number("tolerance", self.tolerance, above=0.0)
        if self.noise not in _NOISES:
            raise ParameterError(
                f"noise={self.noise!r} is not known; choose 'none' or 'poisson'."
            )
        count_threads(self.n_jobs)

    def _fit_counts(self, source: Source) -> None:
        """Learn from cumulants without the noise of counting (discrete ICA)."""
        k = self.n_components or source.n_features
        sums = collect(source, GammaPoisson(), k, random_state=self._rng())
        equations = sums.equations()
        try:
            solution = solve_equations(equations, sums.family, k)
        except RankError as error:
            if self.n_components is not None or error.supported < 1:
                raise
            solution = solve_equations(equations, sums.family, error.supported)
        found = solution.parameters
        shape, rate = found.concentration, found.rate
        mixing = found.centers * (np.sqrt(np.asarray(shape)) / np.asarray(rate))
        self.mean_ = sums.first[0] / sums.masses[0]
        self.n_samples_seen_ = sums.n_rows
        self.__dict__.pop("whitening_", None)
        self.diagnostics_ = dict(found.details)
        self._settle(linalg.pinv(mixing), mixing, solution.factors.outcome)

    def _fit_reals(self, source: Source) -> None:
        """Learn from cumulants of white rows, then from the likelihood."""
        white = self._whiten(source)
        k = white.whitener.shape[1]
        stride = 1
        if self.refine:
            # A start for the steps needs no more rows than this.
            stride = max(1, int(white.n_rows) // max(5000, 30 * k * k))
        state = source.run(FourthPass(white.whitener, white.shift, stride))
        targets = form_fourth_targets(state)
        rotation, outcome = diagonalize_jointly(
            targets, tolerance=1e-3 if self.refine else 1e-8
        )
        unmixing = rotation.T
        self.diagnostics_ = {}
        if self.refine:
            found = refine_unmixing(
                source,
                white.whitener,
                white.shift,
                unmixing,
                max_steps=self.refine,
                tolerance=self.tolerance or min(1e-2, white.n_rows**-0.5),
            )
            unmixing, outcome = found.rotation, found.outcome
            self._look_for_gaussians(found.information, white.n_rows)
        self.mean_ = white.mean
        self.whitening_ = np.ascontiguousarray(white.whitener.T)
        components = unmixing @ white.whitener.T
        self._settle(components, white.colorer @ np.linalg.inv(unmixing), outcome)

    def _whiten(self, source: Source) -> _White:
        """Find what makes rows white, after principal components if there are many."""
        d = source.n_features
        tally = source.run(TallyPass(d, MomentPlan("rows")))
        mass = float(tally.masses[0])
        self.n_samples_seen_ = tally.n_rows
        if tally.n_rows < 2 or mass <= 0.0:
            raise DataError(
                f"n_samples={tally.n_rows} is too few: X must have two rows or more for "
                "a covariance."
            )
        mean = tally.first[0] / mass
        if d <= GRAM_LIMIT:
            values, vectors = np.linalg.eigh(source.run(SpreadPass(mean)) / mass)
        else:
            width = min(d, (self.n_components or tally.n_rows) + _EXTRA)
            values, vectors = self._find_main_directions(source, mean, width)
        values, vectors = values[::-1], vectors[:, ::-1]
        rank = int(np.count_nonzero(values > _FLAT * max(values[0], _TINY)))
        k = self.n_components or rank
        if k > rank or rank == 0:
            raise RankError(
                f"n_components={k} is more than the rows support: their covariance has "
                f"rank {rank}. Ask for {rank} at most.",
                rank,
            )
        scales = np.sqrt(values[:k])
        whitener = np.ascontiguousarray(vectors[:, :k] / scales)
        colorer = vectors[:, :k] * scales
        return _White(whitener, colorer, mean @ whitener, mean, mass)

    def _find_main_directions(
        self, source: Source, mean: FloatArray, width: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return the largest variances and their directions, (d, p), by rising size."""
        centered, plan = CenteredSource(source, mean), MomentPlan("rows")
        basis = find_subspace(
            centered,
            plan,
            width,
            self._rng(),
            factorial=False,
            exact=False,
            n_iterations=3,
        )
        pair = apply_pair(centered.run(PairPass(basis, plan)), basis, factorial=False)
        values, vectors = np.linalg.eigh(basis.T @ pair)
        return values, basis @ vectors

    def _settle(
        self, components: FloatArray, mixing: FloatArray, outcome: Outcome
    ) -> None:
        """Order sources by their share of the variance, and settle their signs."""
        shares = (mixing**2).sum(axis=0)
        order = np.argsort(-shares, kind="stable")
        heaviest = np.abs(mixing).argmax(axis=0)
        signs = np.where(mixing[heaviest, np.arange(len(shares))] < 0.0, -1.0, 1.0)
        self.components_ = np.ascontiguousarray((components * signs[:, None])[order])
        self.mixing_ = np.ascontiguousarray((mixing * signs)[:, order])
        self.weights_ = shares[order] / max(float(shares.sum()), _TINY)
        self.outcome_ = outcome
        self.n_iter_ = max(1, outcome.iterations)

    def _look_for_gaussians(self, information: FloatArray, n_rows: float) -> None:
        """Warn of sources that cannot be told apart."""
        self.diagnostics_["information"] = information
        level = _HIDDEN * (information.size + 2) / n_rows
        hidden = int(np.count_nonzero(information < level))
        if hidden > 1:
            warnings.warn(
                f"{hidden} of {information.size} sources look Gaussian in these rows, "
                "and two Gaussian sources cannot be told apart: their components may "
                "be mixtures. Ask for fewer components, or give more rows.",
                ModelWarning,
                stacklevel=4,
            )
