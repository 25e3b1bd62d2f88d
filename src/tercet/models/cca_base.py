"""What the estimators of two aligned views share."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from tercet.decomposition.similarity_diagonalization import SIMILARITY_METHODS
from tercet.exceptions import (
    DataError,
    DataWarning,
    ModelWarning,
    ParameterError,
    RankError,
)
from tercet.flow import FloatArray
from tercet.intake import (
    KnownColumns,
    PairedSource,
    count_threads,
    open_pair,
)
from tercet.models.estimators import TercetEstimator, check_number
from tercet.models.view_facts import describe_views
from tercet.models.view_readout import (
    Readout,
    make_readout,
    measure_explained,
    project_rows,
)
from tercet.models.view_solving import (
    FEWEST_ROWS,
    ViewSolution,
    find_points,
    solve_views,
)
from tercet.models.view_texts import recall_columns, take_texts
from tercet.moments import TwoViewMoments, collect_tilts, collect_views
from tercet.moments.view_collecting import VIEW_KINDS
from tercet.recovery.simplex import CLEANERS

__all__ = ["AlignedViews"]

_TARGETS = ("cumulants", "covariances")
# Gaussian sources stay below this, less strictly the fewer there are.
_VISIBLE = 1.5


class AlignedViews(TercetEstimator):
    """Base of the estimators that learn from two views of the same rows.

    A subclass names the kinds of its views in `_kinds` and has the parameters
    `n_components`, `targets`, `delta`, `decomposition`, `strategy`,
    `random_state`, `n_jobs` and `verbose`, perhaps `negative`.

    Examples
    --------
    >>> from tercet.models.cca_base import AlignedViews
    >>> "components_" in AlignedViews.fitted_state
    True
    """

    fitted_state: ClassVar[tuple[str, ...]] = (
        *TercetEstimator.fitted_state,
        "second_features_in_",
        "second_names_in_",
        "second_text_pipeline_",
        "components_",
        "strengths_",
        "weights_",
        "means_",
        "moments_",
    )
    _kinds: ClassVar[tuple[str, str]] = ("reals", "reals")

    n_components: int
    targets: str
    delta: float
    decomposition: str
    strategy: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    def fit(
        self, X1: Any, X2: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the shared sources of two views.

        Parameters
        ----------
        X1, X2 : array, sparse array, data frame, blocks, callable or iterator
            Row i of one view belongs to row i of the other.
        sample_weight : array of shape (n,) or None
            Weights of the pairs of rows; they count repetitions.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        source = self._open_views(X1, X2, sample_weight, reset=True)
        self._check_components(source)
        self._say("collecting moments")
        moments = collect_views(
            source,
            None,
            self.n_components,
            kinds=self._kinds,
            strategy=self.strategy,
            random_state=self._rng(),
        )
        self._learn(self._tilt(source, moments))
        return self

    def partial_fit(
        self, X1: Any, X2: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add the sums of more pairs of rows and learn from all sums so far.

        Sums add up, so neither the order nor the size of the batches matters. The
        first call takes random directions that do not depend on the data; with
        `targets="covariances"` it also fixes the processing points, for which it
        needs rows enough to see all components. After a `fit`, batches are added
        to its sums.

        Parameters
        ----------
        X1, X2 : array, sparse array, data frame, blocks, callable or iterator
            More pairs of rows.
        sample_weight : array of shape (n,) or None
            Weights of the pairs of rows.

        Returns
        -------
        self
            The updated model. While the sums support fewer components than were
            asked for, a `DataWarning` says so and there are no components yet.
        """
        self._check_parameters()
        known: TwoViewMoments | None = getattr(self, "moments_", None)
        source = self._open_views(X1, X2, sample_weight, reset=known is None)
        if known is None:
            self._check_components(source)
            first = collect_views(
                source,
                None,
                self.n_components,
                kinds=self._kinds,
                strategy="sketch",
                random_state=self._rng(),
            )
            moments = self._tilt(source, first)
        else:
            moments = known + collect_views(source, like=known)
        try:
            self._learn(moments)
        except RankError as error:
            warnings.warn(
                f"{moments.n_rows} rows do not suffice yet: {error} The sums are "
                "kept; go on with more batches.",
                DataWarning,
                stacklevel=2,
            )
        return self

    def fit_moments(self, moments: TwoViewMoments) -> Self:
        """Learn the model from sums that were collected before; no row is read.

        Parameters
        ----------
        moments : TwoViewMoments
            From `tercet.moments.collect_views`, added up.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        if not isinstance(moments, TwoViewMoments):
            raise ParameterError(
                f"moments={moments!r} is not a TwoViewMoments; collect it from rows "
                "with tercet.moments.collect_views(X1, X2, n_components)."
            )
        if moments.kinds != self._kinds:
            raise ParameterError(
                f"moments are of {moments.kinds} views, but {type(self).__name__} "
                f"takes {self._kinds}."
            )
        self._match_views(moments, reset=True)
        self._learn(moments)
        return self

    def transform(self, X1: Any = None, X2: Any = None) -> FloatArray:
        """Return the shared sources of each row, as far as rows tell them.

        The best linear estimate of centred sources of unit variance, given both
        views, or one of them if the other is left out.

        Parameters
        ----------
        X1, X2 : array, sparse array, data frame, blocks, callable, iterator or None
            Rows of the views.

        Returns
        -------
        ndarray of shape (n, n_components)
            Sources by falling weight.
        """
        check_is_fitted(self, "components_")
        readout = self._read_out(X1 is not None, X2 is not None)
        if X1 is not None and X2 is not None:
            source = self._open_views(X1, X2, None, reset=False)
            return project_rows(source, readout)
        side = 0 if X2 is None else 1
        return project_rows(self._open_view((X1, X2)[side], side), readout)

    def cross_predict(
        self,
        X1: Any = None,
        X2: Any = None,
        *,
        features: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the expectation of one view given the other.

        Parameters
        ----------
        X1, X2 : array, sparse array, data frame, blocks, callable, iterator or None
            Rows of one view; leave the other out.
        features : array of feature indices or None
            Features of the view left out that are wanted; None is all of them.

        Returns
        -------
        ndarray of shape (n, n_features)
            Expected rows of the view left out; those of counts not below zero.
        """
        check_is_fitted(self, "components_")
        if (X1 is None) == (X2 is None):
            raise ParameterError(
                "cross_predict predicts one view from the other: give either X1 or X2."
            )
        side = 0 if X2 is None else 1
        other = 1 - side
        readout = self._read_out(side == 0, side == 1)
        sources = project_rows(self._open_view((X1, X2)[side], side), readout)
        loadings, mean = readout.loadings[other], self.means_[other]
        if features is not None:
            chosen = np.asarray(features)
            loadings, mean = loadings[chosen], mean[chosen]
        expected = mean + sources @ loadings.T
        if self._kinds[other] == "counts":
            np.maximum(expected, 0.0, out=expected)
        return np.asarray(expected)

    def score(
        self, X1: Any, X2: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of the rows' cross-covariance that the model explains.

        One less the squared error of `components_[0]' diag(strengths_)
        components_[1]` over the squared norm of the cross-covariance of the rows.
        Sampling noise of the rows counts as unexplained. If both views have more
        than 512 features, both norms are taken against one random sketch.

        Parameters
        ----------
        X1, X2 : array, sparse array, data frame, blocks, callable or iterator
            Rows that the model has not seen, preferably.
        sample_weight : array of shape (n,) or None
            Weights of the pairs of rows.

        Returns
        -------
        float
            One at best; not bounded below.
        """
        check_is_fitted(self, "components_")
        source = self._open_views(X1, X2, sample_weight, reset=False)
        return measure_explained(
            source, self.components_, self.strengths_, np.random.default_rng(0)
        )

    def _check_parameters(self) -> None:
        """Refuse values that cannot be used, before any row is read."""
        check_number("n_components", self.n_components, least=1, whole=True)
        for name, choices in (
            ("targets", _TARGETS),
            ("decomposition", SIMILARITY_METHODS),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise ParameterError(
                    f"{name}={value!r} is not known; choose one of "
                    f"{', '.join(map(repr, choices))}."
                )
        check_number("delta", self.delta, above=0.0)
        CLEANERS[getattr(self, "negative", "simplex")]
        count_threads(self.n_jobs)

    def _check_components(self, source: PairedSource) -> None:
        """Refuse more sources than a view has features."""
        sizes = (source.n_features, source.second_features)
        if self.n_components > min(sizes):
            raise RankError(
                f"n_components={self.n_components} is more than the {min(sizes)} "
                f"features of X{1 + int(np.argmin(sizes))}: the cross-covariance of "
                f"{sizes[0]} and {sizes[1]} features has no higher rank. Ask for "
                f"{min(sizes)} at most.",
                min(sizes),
            )

    def _open_views(
        self, X1: Any, X2: Any, sample_weight: ArrayLike | None, *, reset: bool
    ) -> PairedSource:
        if isinstance(X1, PairedSource):
            if X2 is not None or sample_weight is not None:
                raise ParameterError(
                    "X1 is a source of pairs already; leave X2 and sample_weight out."
                )
            source = X1
        elif X2 is None:
            raise ParameterError(
                "X2=None: two views are wanted, or X1 as a source of pairs from "
                "tercet.intake.open_pair."
            )
        else:
            X1 = take_texts(self, X1, 0, reset=reset)
            X2 = take_texts(self, X2, 1, reset=reset)
            source = open_pair(
                X1,
                X2,
                sample_weight=sample_weight,
                requirements=(VIEW_KINDS[self._kinds[0]], VIEW_KINDS[self._kinds[1]]),
                n_jobs=self.n_jobs,
            )
        self._match_views(source, reset=reset)
        return source

    def view(self, side: int) -> KnownColumns:
        """Return what is known of the columns of a view, for `tercet.read(like=...)`.

        Parameters
        ----------
        side : {0, 1}
            The first or the second view.

        Returns
        -------
        KnownColumns
            Number and names of its columns, and how its texts were cut.
        """
        check_is_fitted(self)
        return recall_columns(self, side)

    def _match_views(
        self, views: PairedSource | TwoViewMoments, *, reset: bool
    ) -> None:
        """Record or check numbers and names of the features of both views."""
        if isinstance(views, TwoViewMoments):
            sizes = views.shape
        else:
            sizes = (views.n_features, views.second_features)
        given = (views.feature_names, views.second_names)
        if reset:
            self.n_features_in_, self.second_features_in_ = sizes
            for attribute, names in zip(
                ("feature_names_in_", "second_names_in_"), given, strict=True
            ):
                self.__dict__.pop(attribute, None)
                if names is not None:
                    setattr(self, attribute, np.array(names, dtype=object))
            return
        for side in (0, 1):
            self._match_view(side, sizes[side], given[side])

    def _match_view(self, side: int, size: int, names: tuple[str, ...] | None) -> None:
        """Check one view against what was seen in `fit`."""
        expected = (self.n_features_in_, self.second_features_in_)[side]
        if size != expected:
            raise DataError(
                f"X{side + 1} has {size} features, but {type(self).__name__} is "
                f"expecting {expected} features as input."
            )
        attribute = ("feature_names_in_", "second_names_in_")[side]
        known = getattr(self, attribute, None)
        if known is not None and names is not None and tuple(known) != tuple(names):
            raise DataError(
                f"The feature names of X{side + 1} should match those that were passed "
                f"during fit; bring its columns into the order of {attribute}."
            )

    def _open_view(self, rows: Any, side: int) -> Any:
        """Open one view alone."""
        from tercet.intake import open_source

        if rows is None:
            raise ParameterError("Give X1, X2 or both.")
        rows = take_texts(self, rows, side, reset=False)
        try:
            source = open_source(
                rows, requirement=VIEW_KINDS[self._kinds[side]], n_jobs=self.n_jobs
            )
        except DataError as error:
            raise DataError(f"X{side + 1}: {error}") from error
        self._match_view(side, source.n_features, source.feature_names)
        return source

    def _tilt(self, source: PairedSource, moments: TwoViewMoments) -> TwoViewMoments:
        """Add tilted sums if they are asked for."""
        if self.targets != "covariances":
            return moments
        if not source.rereadable:
            raise ParameterError(
                "targets='covariances' reads the rows twice, which an iterator cannot "
                "do; use targets='cumulants', or pass callables that give the blocks "
                "anew each time."
            )
        points = find_points(moments, self.n_components, float(self.delta))
        self._say("collecting tilted sums")
        return collect_tilts(source, moments, points)

    def _learn(self, moments: TwoViewMoments) -> None:
        """Set the fitted attributes from sums alone."""
        self.moments_ = moments
        self.n_samples_seen_ = moments.n_rows
        solution = solve_views(
            moments,
            self.n_components,
            self.targets,
            method=self.decomposition,
            negative=getattr(self, "negative", "simplex"),
            rng=self._rng(),
        )
        found = solution.parameters
        self.components_ = (
            np.ascontiguousarray(found.loadings[0].T),
            np.ascontiguousarray(found.loadings[1].T),
        )
        self.strengths_ = found.strengths
        self.weights_ = found.weights
        self.means_ = solution.equations.means
        self.diagnostics_ = solution.diagnostics
        self.outcome_ = solution.outcome
        self.n_iter_ = solution.outcome.iterations
        self._announce(solution.outcome)
        self._warn(solution)

    def _warn(self, solution: ViewSolution) -> None:
        """Say what deserves a second look."""
        diagnostics = solution.diagnostics
        supported = diagnostics["supported"]
        if supported < self.n_components:
            self._caution(
                f"Only {supported} of the n_components={self.n_components} singular "
                "values of the cross-covariance stand out of sampling noise; ask for "
                "fewer components, or give more rows (diagnostics_['clearance'])."
            )
        level = _VISIBLE * (1.0 + 1.0 / np.sqrt(self.n_components))
        hidden = int(np.count_nonzero(diagnostics["visibility"] < level))
        if hidden > 1 and supported >= self.n_components:
            remedy = (
                "Sources that are symmetric show with targets='covariances'"
                if self.targets == "cumulants"
                else "More rows may show more"
            )
            self._caution(
                f"{hidden} of {self.n_components} sources look Gaussian in these rows, "
                "and two Gaussian sources cannot be told apart: their components may "
                f"be mixtures. {remedy}."
            )
        rows = diagnostics.get("effective_rows")
        if rows is not None and np.min(rows) < FEWEST_ROWS:
            self._caution(
                f"At one processing point {np.min(rows):.1f} rows carry all the weight; "
                f"lower delta={self.delta!r}."
            )

    def _caution(self, sentence: str) -> None:
        warnings.warn(sentence, ModelWarning, stacklevel=5)

    def _read_out(self, first: bool, second: bool) -> Readout:
        return make_readout(
            self.moments_, self.components_, self.strengths_, (first, second)
        )

    def _describe(self) -> dict[str, Any]:
        """Return the facts that a pair of views adds."""
        return describe_views(self)
