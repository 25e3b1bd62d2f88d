"""What the mixtures share: starts, EM, posteriors, exact likelihoods, criteria."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tercet.decomposition import DECOMPOSITIONS
from tercet.exceptions import DataError, ParameterError, RankError
from tercet.flow import (
    Equations,
    Family,
    FloatArray,
    MomentPlan,
    Moments,
    Outcome,
    Parameters,
    Source,
    Status,
)
from tercet.likelihood import (
    STOPPING_RULES,
    Density,
    refine_mixture,
)
from tercet.models.decomposing import Solution, solve_equations
from tercet.models.diagnosing import diagnose_solution
from tercet.models.estimators import check_number
from tercet.models.mixture_inference import FittedMixture
from tercet.models.mixture_starts import start_by_splits
from tercet.models.passing import LaterSource
from tercet.moments import TallyPass, collect
from tercet.recovery import order_by_weight

__all__ = ["MixtureModel"]

# Largest turn of a sweep at which a start for EM is good enough.
_START_TOLERANCE = 3e-2

# Numbers that slices of all features may take up; beyond, they are formed from
# the whitened third moment, as they are for other decompositions.
_MOST_SLICE_NUMBERS = 1 << 26


class MixtureModel(FittedMixture):
    """Base of mixtures: every row belongs to one component.

    A subclass writes `_family()`, the equations, `_density(exposure)`, the
    likelihood, and `_count_parameters()`, for `bic` and `aic`.

    Examples
    --------
    >>> from tercet.models.mixture_base import MixtureModel
    >>> "components_" in MixtureModel.fitted_state
    True
    """

    refine: int | str
    rule: str
    tolerance: float | None
    max_iter: int

    # From rows to parameters --------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the mixture from rows.

        Sums are collected and solved, and the solution is improved by EM as
        `refine` says.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows; see `tercet.intake.open_source`.
        y : None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        return self._fit_source(self._open_rows(X, sample_weight, reset=True))

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Learn the mixture and return the component of each row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable or Source
            Rows that can be read again.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        ndarray of shape (n,)
            Indices of components.
        """
        return np.asarray(self.fit(X, y, sample_weight).predict(X))

    def _fit_source(self, source: Source, exposure: FloatArray | None = None) -> Self:
        """Learn from an opened source."""
        steps = self._choose_steps(source)
        short = self._start(source, steps, exposure)
        self.__dict__.pop("log_likelihoods_", None)
        if steps != 0:
            self._improve(source, self._density(exposure), steps)
        elif self.outcome_.status is Status.FELL_BACK:
            self._announce(self.outcome_)
        if short is not None:
            self._announce(short)
        return self

    def _solve_equations(self, equations: Equations, family: Family) -> Solution:
        """Go from moments to parameters, to a few digits if EM comes next."""
        loose = getattr(self, "_em_follows", False) and self.decomposition == "sidiwo"
        return solve_equations(
            equations,
            family,
            self.n_components,
            self.decomposition,
            rng=self._rng(),
            **({"tolerance": _START_TOLERANCE} if loose else {}),
        )

    def _start(
        self, source: Source, steps: int | None, exposure: FloatArray | None
    ) -> Outcome | None:
        """Set the parameters from which EM starts; return what went wrong, if it did."""
        if steps != 0 and self.n_components > source.n_features:
            self._start_by_splits(source, exposure)
            return None
        self._em_follows = steps != 0
        try:
            self._learn_rows(source, exposure)
        except RankError as error:
            if steps == 0:
                raise
            self._start_by_splits(source, exposure)
            if self.n_components == 1:  # there was nothing to split
                return None
            message = (
                f"{error} EM started from splits of the rows instead, and its solution "
                "has little support in the moments."
            )
            return Outcome(Status.FELL_BACK, 0, 0.0, message)
        finally:
            del self._em_follows
        return None

    def _learn_rows(self, source: Source, exposure: FloatArray | None) -> None:
        """Collect the sums of a source, keep them and learn from them."""
        del exposure  # a matter of counts, see PoissonMixture
        moments = self._collect(source)
        self._check_count(moments.n_rows)
        self._remember(moments)
        self._learn(moments)

    def _start_by_splits(self, source: Source, exposure: FloatArray | None) -> None:
        self._say("splitting rows")
        tally = source.run(TallyPass(source.n_features, MomentPlan("rows")))
        self._check_count(tally.n_rows)
        parameters = self._find_splits(source, tally.n_rows, exposure)
        self.__dict__.pop("moments_", None)
        self.n_samples_seen_ = tally.n_rows
        self._adopt(order_by_weight(parameters))
        self.outcome_ = Outcome(
            Status.EXACT, 0, 0.0, f"Rows were split into {self.n_components} groups."
        )
        self.diagnostics_ = {"start": "splits"}

    def _find_splits(
        self, source: Source, n_rows: int, exposure: FloatArray | None
    ) -> Parameters:
        """Return centers found split by split."""
        return start_by_splits(
            source, n_rows, self.n_components, self._family(), self._density(exposure)
        )

    def _check_count(self, n_rows: int) -> None:
        if n_rows < self.n_components:
            raise DataError(
                f"n_samples={n_rows} is less than n_components={self.n_components}: "
                "a component needs at least one row. Ask for fewer components."
            )

    def _collect(
        self, source: Source, *, strategy: str | None = None, partial: bool = False
    ) -> Moments:
        """Collect sums, with slices where the decomposition reads them."""
        if partial or not self._wants_slices(source.n_features):
            return super()._collect(source, strategy=strategy, partial=partial)
        self._say("collecting moments")
        return collect(
            source,
            self._family(),
            self.n_components,
            strategy=strategy or self.strategy,  # type: ignore[arg-type]
            slices="all",
            random_state=self._rng(),
        )

    def _collect_more(self, source: Source, known: Moments) -> Moments:
        """Collect sums of the same kind as earlier ones."""
        if known.slices is None:
            return super()._collect_more(source, known)
        return collect(
            LaterSource(source, known.n_rows),
            known.family,
            min(self.n_components, known.n_features),
            basis=known.basis,
            slices=known.slice_features,
            random_state=self._rng(),
            partial=True,
        )

    def _wants_slices(self, n_features: int) -> bool:
        width = self.n_components + 8
        return (
            self.decomposition == "svtd"  # reads centers from slices, row by row
            and n_features * width**2 <= _MOST_SLICE_NUMBERS
        )

    def _learn(self, moments: Moments) -> None:
        """Set the fitted attributes from sums alone."""
        solution = self._solve(moments)
        self._adopt(solution.parameters)
        self.outcome_ = solution.factors.outcome
        self.n_iter_ = solution.factors.outcome.iterations
        self.diagnostics_ = diagnose_solution(solution, moments)

    def _adopt(self, parameters: Parameters) -> None:
        """Set the fitted attributes that are parameters of the model."""
        self.components_ = np.ascontiguousarray(parameters.centers.T)
        self.weights_ = parameters.weights
        if parameters.variances is not None:
            self.variances_ = parameters.variances

    def _improve(self, source: Source, density: Density, steps: int | None) -> None:
        """Make EM steps and set what they give."""
        self._say("EM")
        centers, weights, variances = self._values()
        refined = refine_mixture(
            source,
            density,
            centers,
            weights,
            variances=variances,
            steps=steps,
            tolerance=self.tolerance,
            max_steps=self.max_iter,
            rule=self.rule,
        )
        self._adopt(
            order_by_weight(
                Parameters(
                    refined.centers, refined.weights, variances=refined.variances
                )
            )
        )
        self.log_likelihoods_ = refined.log_likelihoods
        self.outcome_ = refined.outcome
        self.n_iter_ = refined.outcome.iterations
        if steps is None:
            self._announce(refined.outcome)

    def _choose_steps(self, source: Source) -> int | None:
        """Return the EM steps to make; None leaves the end to the rule."""
        if self.refine == "auto":
            return None if source.rereadable else 0
        steps = int(self.refine)
        if steps and not source.rereadable:
            raise ParameterError(
                f"refine={steps} reads the rows again, which an iterator cannot do; use "
                "refine=0, or pass a callable that gives the blocks anew each time."
            )
        return steps

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.refine != "auto":
            if isinstance(self.refine, str):
                raise ParameterError(
                    f"refine={self.refine!r} is not known; give 'auto' or a number of "
                    "steps (0 for moments alone)."
                )
            check_number("refine", self.refine, least=0, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        if self.tolerance is not None:
            check_number("tolerance", self.tolerance, above=0.0)
        STOPPING_RULES[self.rule]
        DECOMPOSITIONS[self.decomposition]
        # Families and densities know their own settings best.
        self._family()
        self._density()

    # scikit-learn -------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        """Say what the model takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _describe(self) -> dict[str, Any]:
        """Add the likelihood to what is told of the model."""
        path = getattr(self, "log_likelihoods_", None)
        return {} if path is None else {"log_likelihood": float(path[-1])}
