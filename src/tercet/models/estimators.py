"""What every estimator shares: opening rows, sums, saving, speaking.

`TercetEstimator` is for anything that is fitted to rows (mixtures, trees, views):

- `_open_rows(X, sample_weight, reset=True)` gives a `Source`; `reset=True` (in
  `fit`) records `n_features_in_` and `feature_names_in_`, `reset=False` (in
  `predict`, `transform` ...) checks X against them with scikit-learn's messages;
- `requirement` (class attribute) says what values X may hold;
- `fitted_state` (class attribute) names, in one tuple, the fitted attributes that
  a file keeps; a subclass writes `fitted_state = (*Parent.fitted_state, "labels_")`.
  Arrays, numbers, strings, None, dicts, lists, `Outcome`, `Verdict`, `Moments` and
  families are understood (see `tercet.models.files`);
- `_rng()` is a generator seeded by `random_state`; None is a fixed seed, so that
  the same data always give the same answer;
- `_announce(outcome)` issues a `ConvergenceWarning` for a budget that ran out and
  a `ModelWarning` for a method that had to be replaced;
- `_say(sentence)` speaks if `verbose` is set;
- `save`, `print(model)` and the HTML representation come for free.

`MomentEstimator` adds what is learned from sums: `fit`, `partial_fit` and
`fit_moments`. A subclass has the parameters `n_components`, `decomposition`,
`strategy`, `random_state`, `n_jobs` and `verbose`, and writes

- `_check_parameters()`: refuse bad values (call `super()._check_parameters()`);
- `_family()`: the family that its parameters ask for;
- `_learn(moments)`: set the fitted attributes from sums alone; the usual first
  line is `solution = self._solve(moments)`;
- `_refine(source)`: optional likelihood steps, given the rows.
"""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tercet.exceptions import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    ModelWarning,
    ParameterError,
    RankError,
)
from tercet.flow import Equations, Family, Moments, Outcome, Source, Status
from tercet.intake import (
    CorpusReader,
    Requirement,
    count_threads,
    make_generator,
    open_source,
    read,
)
from tercet.intake.memory import MemorySource
from tercet.models.decomposing import Solution, solve_equations
from tercet.models.facts import describe_model, render_html, render_text
from tercet.models.files import save_model
from tercet.models.passing import LaterSource
from tercet.moments import collect

__all__ = ["MomentEstimator", "TercetEstimator", "check_number"]

_LOG = logging.getLogger("tercet")


class TercetEstimator(BaseEstimator):
    """Base of everything that is fitted to rows; see the top of this module.

    Examples
    --------
    >>> from tercet.models.estimators import TercetEstimator
    >>> TercetEstimator.fitted_state[:2]
    ('n_features_in_', 'feature_names_in_')
    """

    requirement: ClassVar[Requirement] = Requirement.COUNTS
    fitted_state: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "text_pipeline_",
        "n_samples_seen_",
        "n_iter_",
        "outcome_",
        "diagnostics_",
    )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a safetensors file with readable metadata.

        Parameters
        ----------
        path : path
            Where to write; `tercet.load` reads it back.
        """
        check_is_fitted(self)
        save_model(self, path)

    def _open_rows(
        self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Source:
        """Open X, and record or check the number and the names of its features."""
        X = self._take_texts(X, reset=reset)
        given = isinstance(X, Source)
        source = open_source(
            X,
            sample_weight=sample_weight,
            requirement=self.requirement,
            # A source was opened with threads of its own.
            n_jobs=None if given else getattr(self, "n_jobs", None),
        )
        given |= isinstance(X, CorpusReader)  # its source may be a table, it is none
        if not reset and source.n_features != self.n_features_in_:
            raise DataError(
                f"X has {source.n_features} features, but {type(self).__name__} is "
                f"expecting {self.n_features_in_} features as input."
            )
        if isinstance(source, MemorySource) and not given:
            try:
                validate_data(self, X, reset=reset, skip_check_array=True)
            except ValueError as error:
                raise DataError(str(error)) from error
        else:
            self._match_names(source, reset=reset)
        return source

    def _take_texts(self, X: Any, *, reset: bool) -> Any:
        """Remember how texts were counted, or count texts as they were at the fit."""
        if reset:
            pipeline = getattr(X, "text_pipeline", None)
            self.__dict__.pop("text_pipeline_", None)
            if pipeline is not None:
                self.text_pipeline_ = pipeline.settings()
            return X
        texts = isinstance(X, list | tuple) and X and isinstance(X[0], str)
        if texts and hasattr(self, "text_pipeline_"):
            return read(X, like=self, n_jobs=1)
        return X

    def _match_names(self, source: Source, *, reset: bool) -> None:
        """Record or check the features of rows that come in blocks."""
        names = source.feature_names
        if reset:
            self.n_features_in_ = source.n_features
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            return
        known = getattr(self, "feature_names_in_", None)
        if known is not None and names is not None and tuple(known) != tuple(names):
            raise DataError(
                "The feature names should match those that were passed during fit; "
                "bring the columns of X into the order of feature_names_in_."
            )

    def _rng(self) -> np.random.Generator:
        """Return a generator; `random_state=None` is a fixed seed."""
        return make_generator(getattr(self, "random_state", None))

    def _announce(self, outcome: Outcome) -> None:
        """Warn of an outcome that is not the one that was asked for."""
        if outcome.status is Status.EXHAUSTED:
            warnings.warn(outcome.message, ConvergenceWarning, stacklevel=4)
        elif outcome.status is Status.FELL_BACK:
            warnings.warn(outcome.message, ModelWarning, stacklevel=4)

    def _say(self, sentence: str) -> None:
        """Log a sentence if the user asked for it."""
        if getattr(self, "verbose", 0):
            with _audible():
                _LOG.info("%s: %s", type(self).__name__, sentence)

    def __str__(self) -> str:
        """Return a summary of the fitted model; the parameters if it is not fitted."""
        facts = describe_model(self)
        return render_text(facts) if facts["fitted"] else repr(self)

    def _repr_html_(self) -> str:
        """Return the summary as HTML, for notebooks."""
        return render_html(describe_model(self))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return both forms of the summary; notebooks choose."""
        return {"text/plain": str(self), "text/html": self._repr_html_()}


class MomentEstimator(TercetEstimator, ABC):
    """Base of estimators that learn from sums; see the top of this module.

    Examples
    --------
    >>> from tercet.models.estimators import MomentEstimator
    >>> "moments_" in MomentEstimator.fitted_state
    True
    """

    fitted_state: ClassVar[tuple[str, ...]] = (
        *TercetEstimator.fitted_state,
        "moments_",
    )

    n_components: int
    decomposition: str
    strategy: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def _family(self) -> Family:
        """Return the family that the parameters ask for."""

    @abstractmethod
    def _learn(self, moments: Moments) -> None:
        """Set the fitted attributes from sums alone."""

    def _refine(self, source: Source) -> None:
        """Improve the fitted attributes with likelihood steps over the rows."""

    def _check_parameters(self) -> None:
        """Refuse values that cannot be used, before any row is read."""
        check_number("n_components", self.n_components, least=1, whole=True)
        count_threads(self.n_jobs)

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the model from rows.

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
        source = self._open_rows(X, sample_weight, reset=True)
        moments = self._collect(source)
        self._remember(moments)
        self._learn(moments)
        self._refine(source)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add the sums of more rows and learn the model from all sums so far.

        Sums add up, so neither the order nor the size of the batches matters.
        The first call chooses a basis that does not depend on the data (the
        random sketch of `strategy="sketch"`), hence any number of batches
        equals one `fit` of all rows with `strategy="sketch"` and no likelihood
        steps. After a `fit`, batches are added to its sums, against its basis.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            More rows.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        self
            The updated model. While the sums support fewer components than were
            asked for, a `DataWarning` says so and there are no components yet.
        """
        self._check_parameters()
        known: Moments | None = getattr(self, "moments_", None)
        source = self._open_rows(X, sample_weight, reset=known is None)
        if known is None:
            moments = self._collect(source, strategy="sketch", partial=True)
        else:
            moments = known + self._collect_more(source, known)
        self._remember(moments)
        try:
            if moments.masses[2] <= 0.0:
                raise DataError("no row has three tokens yet.")
            self._learn(moments)
        except (RankError, DataError) as error:
            warnings.warn(
                f"{moments.n_rows} rows do not suffice yet: {error} The sums are "
                "kept; go on with more batches.",
                DataWarning,
                stacklevel=2,
            )
        return self

    def fit_moments(self, moments: Moments) -> Self:
        """Learn the model from sums that were collected before; no row is read.

        Parameters
        ----------
        moments : Moments
            From `tercet.moments.collect`, added up or loaded from a file.

        Returns
        -------
        self
            The fitted model, without likelihood steps.
        """
        self._check_parameters()
        if not isinstance(moments, Moments):
            raise ParameterError(
                f"moments={moments!r} is not a Moments; collect it from rows with "
                "tercet.moments.collect(X, family, n_components)."
            )
        self.n_features_in_ = moments.n_features
        self.__dict__.pop("feature_names_in_", None)
        if moments.feature_names is not None:
            self.feature_names_in_ = np.array(moments.feature_names, dtype=object)
        moments = moments.with_family(self._family())
        self._remember(moments)
        self._learn(moments)
        return self

    def _collect(
        self, source: Source, *, strategy: str | None = None, partial: bool = False
    ) -> Moments:
        """Collect the sums of a source against a fresh basis."""
        self._say("collecting moments")
        return collect(
            source,
            self._family(),
            self.n_components,
            strategy=strategy or self.strategy,  # type: ignore[arg-type]
            random_state=self._rng(),
            partial=partial,
        )

    def _collect_more(self, source: Source, known: Moments) -> Moments:
        """Collect the sums of a source against the basis of earlier sums."""
        return collect(
            LaterSource(source, known.n_rows),
            known.family,
            min(self.n_components, known.n_features),
            basis=known.basis,
            random_state=self._rng(),
            partial=True,
        )

    def _remember(self, moments: Moments) -> None:
        self.moments_ = moments
        self.n_samples_seen_ = moments.n_rows

    def _solve(self, moments: Moments, family: Family | None = None) -> Solution:
        """Go from sums to parameters with the chosen decomposition."""
        family = family or self._family()
        return self._solve_equations(moments.with_family(family).equations(), family)

    def _solve_equations(self, equations: Equations, family: Family) -> Solution:
        """Go from the moments of a model to its parameters."""
        return solve_equations(
            equations,
            family,
            self.n_components,
            self.decomposition,
            rng=self._rng(),
            **self._solver_parameters(),
        )

    def _solver_parameters(self) -> dict[str, Any]:
        """Return parameters of the decomposition that are not its defaults."""
        return {}


def check_number(
    name: str,
    value: Any,
    *,
    least: float = -np.inf,
    above: float = -np.inf,
    whole: bool = False,
) -> None:
    """Refuse a parameter that is not a number in its range.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    least : float
        Smallest value allowed.
    above : float
        Value that must be exceeded.
    whole : bool
        Whether only integers will do.

    Examples
    --------
    >>> from tercet.models.estimators import check_number
    >>> check_number("n_components", 0, least=1, whole=True)
    Traceback (most recent call last):
    ...
    tercet.exceptions.ParameterError: n_components=0 must be an integer of at least 1.
    """
    kind = Integral if whole else (Integral, float, np.floating)
    sound = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    if sound and np.isfinite(value) and value >= least and value > above:
        return
    noun = "an integer" if whole else "a finite number"
    ranges = [f"of at least {least:g}"] if least > -np.inf else []
    ranges += [f"above {above:g}"] if above > -np.inf else []
    raise ParameterError(f"{name}={value!r} must be {' '.join([noun, *ranges])}.")


@contextmanager
def _audible() -> Iterator[None]:
    """Let the log reach standard error if nobody has set logging up."""
    if _LOG.hasHandlers():
        level = _LOG.level
        _LOG.setLevel(logging.INFO)
        try:
            yield
        finally:
            _LOG.setLevel(level)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    _LOG.addHandler(handler)
    level = _LOG.level
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.setLevel(level)
        _LOG.removeHandler(handler)
