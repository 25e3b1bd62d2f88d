"""Counts in components with independent Poisson features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import DataError, ParameterError
from tercet.families import Poisson
from tercet.families.draws import draw_labels, draw_poisson_counts
from tercet.flow import Block, Family, FloatArray, Moments, Parameters, Source
from tercet.intake import Requirement, make_generator, validate_block
from tercet.likelihood import Density
from tercet.likelihood import Poisson as PoissonDensity
from tercet.models.estimators import check_number
from tercet.models.mapped_rows import MappedSource
from tercet.models.mixture_base import MixtureModel

__all__ = ["PoissonMixture"]


class PoissonMixture(MixtureModel):
    """A mixture of rows of independent Poisson counts (thesis 001, prop. 1.2.1).

    Rows may have exposures (a time, an area, a sequencing depth) by which the
    rates of their component are multiplied. Moments take exposures to be
    independent of the component; EM does not.

    Parameters
    ----------
    n_components : int, default=2
        Number of components k.
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
        Rates for each unit of exposure, by falling weight.
    weights_ : ndarray of shape (k,)
        Share of the rows in each component.
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
    >>> sample = tercet.datasets.make_poisson_mixture(
    ...     300, n_features=20, n_components=2, random_state=0
    ... )
    >>> model = tercet.PoissonMixture(2).fit(sample.rows)
    >>> bool((model.predict(sample.rows) == sample.labels).mean() > 0.95)
    True
    """

    # Rows of nothing but zeros are counts, too; what counts are is checked below.
    requirement: ClassVar[Requirement] = Requirement.REALS
    fitted_state: ClassVar[tuple[str, ...]] = MixtureModel.fitted_state

    def __init__(
        self,
        n_components: int = 2,
        *,
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
        self.decomposition = decomposition
        self.refine = refine
        self.rule = rule
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Learn the mixture from rows.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.
        exposure : array of shape (n,) or None
            What the rates of each row are multiplied by; None is one.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        source = self._open_rows(X, sample_weight, reset=True)
        return self._fit_source(source, _check_exposure(exposure))

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Add the sums of more rows and learn the model from all sums so far.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            More counts.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.
        exposure : array of shape (n,) or None
            Exposures of these rows.

        Returns
        -------
        self
            The updated model, without EM steps.
        """
        self._batch_exposure = _check_exposure(exposure)
        try:
            return super().partial_fit(X, y, sample_weight)
        finally:
            del self._batch_exposure

    def predict(self, X: Any, exposure: ArrayLike | None = None) -> FloatArray:
        """Return the most probable component of each row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        exposure : array of shape (n,) or None
            Exposures of the rows.

        Returns
        -------
        ndarray of shape (n,)
            Indices of components.
        """
        return np.asarray(self._infer(X, _check_exposure(exposure)).argmax(axis=1))

    def predict_proba(self, X: Any, exposure: ArrayLike | None = None) -> FloatArray:
        """Return the posterior probability of each component.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        exposure : array of shape (n,) or None
            Exposures of the rows.

        Returns
        -------
        ndarray of shape (n, k)
            Rows sum to one.
        """
        return self._infer(X, _check_exposure(exposure))

    def score_samples(self, X: Any, exposure: ArrayLike | None = None) -> FloatArray:
        """Return the exact log-likelihood of each row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        exposure : array of shape (n,) or None
            Exposures of the rows.

        Returns
        -------
        ndarray of shape (n,)
            Natural logarithms.
        """
        return self._score_rows(X, exposure=_check_exposure(exposure))

    def score(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Return the mean log-likelihood of a row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.
        exposure : array of shape (n,) or None
            Exposures of the rows.

        Returns
        -------
        float
            Natural logarithm; larger is better.
        """
        total, weight = self._total(X, sample_weight, _check_exposure(exposure))
        return total / weight

    def bic(
        self,
        X: Any,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Return Bayes' information criterion; smaller is better.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        sample_weight : array of shape (n,) or None
            Row weights; their sum counts as the number of rows.
        exposure : array of shape (n,) or None
            Exposures of the rows.

        Returns
        -------
        float
            `-2 log L + p log n` with p free parameters.
        """
        total, weight = self._total(X, sample_weight, _check_exposure(exposure))
        return self._judge(total, float(np.log(weight)))

    def aic(
        self,
        X: Any,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Return Akaike's information criterion; smaller is better.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        sample_weight : array of shape (n,) or None
            Row weights.
        exposure : array of shape (n,) or None
            Exposures of the rows.

        Returns
        -------
        float
            `-2 log L + 2 p` with p free parameters.
        """
        total, _ = self._total(X, sample_weight, _check_exposure(exposure))
        return self._judge(total, 2.0)

    def sample(
        self,
        n_samples: int = 1,
        *,
        exposure: ArrayLike | None = None,
        random_state: Any = None,
    ) -> tuple[Any, Any]:
        """Draw rows from the fitted mixture, with the component of each.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        exposure : array of shape (n_samples,) or None
            Exposures of the rows; None is one each.
        random_state : None, int or Generator
            Source of randomness; None is a fixed seed.

        Returns
        -------
        rows : csr_array of shape (n_samples, d)
            Counts.
        labels : ndarray of shape (n_samples,)
            Their components.
        """
        given = _check_exposure(exposure)
        if given is None:
            return super().sample(n_samples, random_state=random_state)
        check_is_fitted(self, "components_")
        check_number("n_samples", n_samples, least=1, whole=True)
        if given.size != n_samples:
            raise ParameterError(
                f"exposure has {given.size} entries, but n_samples={n_samples}; give "
                "one for each row."
            )
        rng = make_generator(random_state)
        labels = draw_labels(self.weights_, n_samples, rng)
        chosen = np.zeros((n_samples, self.weights_.size))
        chosen[np.arange(n_samples), labels] = given
        return draw_poisson_counts(chosen, self.components_.T, rng), labels

    def _open_rows(
        self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Source:
        source = super()._open_rows(X, sample_weight, reset=reset)
        return MappedSource(source, _check_counts)

    def _learn_rows(self, source: Source, exposure: FloatArray | None) -> None:
        self._batch_exposure = exposure
        try:
            super()._learn_rows(source, exposure)
        finally:
            del self._batch_exposure

    def _collect(
        self, source: Source, *, strategy: str | None = None, partial: bool = False
    ) -> Moments:
        moments = super()._collect(source, strategy=strategy, partial=partial)
        return self._scale(source, moments)

    def _collect_more(self, source: Source, known: Moments) -> Moments:
        return self._scale(source, super()._collect_more(source, known))

    def _scale(self, source: Source, moments: Moments) -> Moments:
        """Return the sums with masses in exposure, its square and its cube.

        Given the exposure e, factorial moments of order r are `e^r` times those
        of the component, so that `sum w F_r(x) / sum w e^r` is what is wanted.
        """
        exposure = getattr(self, "_batch_exposure", None)
        if exposure is None:
            return moments
        if exposure.size != moments.n_rows:
            raise ParameterError(
                f"exposure has {exposure.size} entries, but X has {moments.n_rows} "
                "rows; give one for each row."
            )
        if not source.rereadable:
            raise ParameterError(
                "exposure needs rows that can be read again; pass a callable that "
                "gives the blocks anew each time."
            )
        masses = source.run(_ExposurePass(exposure))
        return replace(moments, masses=masses)

    def _find_splits(
        self, source: Source, n_rows: int, exposure: FloatArray | None
    ) -> Parameters:
        if exposure is None:
            return super()._find_splits(source, n_rows, None)
        # Means of groups are counts for each row: of rates, times this.
        level = float(exposure.mean())
        found = super()._find_splits(source, n_rows, exposure / level)
        return replace(found, centers=found.centers / level)

    def _family(self) -> Family:
        return Poisson()

    def _density(self, exposure: FloatArray | None = None) -> Density:
        return PoissonDensity(exposure)

    def _count_parameters(self) -> int:
        return self.components_.size + self.weights_.size - 1

    def __sklearn_tags__(self) -> Any:
        """Say what the model takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


@dataclass(frozen=True, eq=False)
class _ExposurePass:
    """Sums of weights times exposure, its square and its cube."""

    exposure: FloatArray

    def initial(self) -> FloatArray:
        return np.zeros(3)

    def update(self, state: FloatArray, block: Block) -> FloatArray:
        part = self.exposure[block.start : block.start + block.n_rows]
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        state += np.array([weights @ part**power for power in (1, 2, 3)])
        return state

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        left += right
        return left


def _check_counts(block: Block) -> Block:
    """Return the block, whose values must be counts."""
    validate_block(block, Requirement.COUNTS)
    return block


def _check_exposure(exposure: ArrayLike | None) -> FloatArray | None:
    """Return exposures as positive numbers."""
    if exposure is None:
        return None
    checked = np.asarray(exposure, dtype=np.float64)
    if checked.ndim != 1:
        raise ParameterError(
            f"exposure has shape {checked.shape}; give one number for each row."
        )
    faults = ~(np.isfinite(checked) & (checked > 0.0))
    if faults.any():
        row = int(np.argmax(faults))
        raise DataError(
            f"exposure holds {checked[row]} at row {row}; exposures must be finite and "
            "positive. Leave rows out that were not exposed."
        )
    return checked
