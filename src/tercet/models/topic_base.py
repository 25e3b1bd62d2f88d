"""What the topic models share: starts, likelihood steps, inference, scores."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import DataWarning, ParameterError
from tercet.flow import (
    FloatArray,
    MomentPlan,
    Moments,
    Outcome,
    Parameters,
    Source,
)
from tercet.intake import Requirement, make_generator
from tercet.models.decomposing import Solution
from tercet.models.diagnosing import diagnose_solution
from tercet.models.estimators import MomentEstimator, check_number
from tercet.models.passing import LengthPass
from tercet.models.reading import ReadingMixin
from tercet.models.starting import fill_topics, find_lacking, read_topics
from tercet.moments import TallyPass
from tercet.recovery import order_by_weight

__all__ = ["TopicModel"]

# Documents below three tokens are worth a warning from this share on.
_MANY_SHORT = 0.01
_SWEEPS_BEFORE_STEPS = 12


class TopicModel(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, MomentEstimator, ReadingMixin
):
    """Base of topic models: topics are probability vectors over the features.

    A subclass writes `_family()`, `_step(source, start, steps)`, likelihood steps,
    `_infer(source, method)`, topic proportions, and `_score(source, method)`.

    Examples
    --------
    >>> from tercet.models.topic_base import TopicModel
    >>> "components_" in TopicModel.fitted_state
    True
    """

    requirement: ClassVar[Requirement] = Requirement.COUNTS
    fitted_state: ClassVar[tuple[str, ...]] = (
        *MomentEstimator.fitted_state,
        "components_",
        "weights_",
        "concentration_",
        "feature_shares_",
        "mean_length_",
    )
    transform_methods: ClassVar[tuple[str, ...]] = ("variational",)
    score_methods: ClassVar[tuple[str, ...]] = ("bound",)

    negative: str
    refine: int | str
    components_init: ArrayLike | None
    warm_start: bool

    # From rows to parameters --------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the topics from documents.

        Sums are collected, solved, and improved by likelihood steps as `refine`
        says. With `components_init`, or with `warm_start` on a fitted model, the
        steps start there instead and no sums are collected.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts, one row for each document; see `tercet.intake.open_source`.
        y : None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array of shape (n,) or None
            Document weights.

        Returns
        -------
        self
            The fitted model.
        """
        self._check_parameters()
        again = bool(self.warm_start) and hasattr(self, "components_")
        source = self._open_rows(X, sample_weight, reset=not again)
        steps = self._choose_steps(source)
        start = self._find_start(source, again=again)
        if start is None:
            moments = self._collect(source)
            self._remember(moments)
            self._learn(moments)
            self._measure_length(source, moments)
        else:
            self._begin(source, start)
        if steps != 0:
            self._improve(source, steps)
        else:
            self._announce_solution()
        self._warn_of_short()
        return self

    def _learn(self, moments: Moments) -> None:
        """Set the fitted attributes from sums alone."""
        parameters, solution, notes = self._solve_topics(moments)
        self._adopt(parameters)
        # Two tokens of a document are independent given its topics, so that the
        # first sums are all that word frequencies need.
        self.feature_shares_ = moments.first[0] / moments.first[0].sum()
        self.mean_length_ = _mean_length(moments)
        self.outcome_ = solution.factors.outcome
        self.n_iter_ = solution.factors.outcome.iterations
        lacking = find_lacking(self.components_.T, self.weights_, self.feature_shares_)
        notes = {"lacking_mass": float(lacking.sum()), **notes}
        self.diagnostics_ = diagnose_solution(solution, moments) | notes

    def _measure_length(self, source: Source, moments: Moments) -> None:
        """Look at the documents again if three tokens of each were all that was seen."""
        if moments.family.plan.weighting == "three-words" and source.rereadable:
            tally = source.run(TallyPass(source.n_features, MomentPlan("length")))
            self.mean_length_ = float(tally.first[0].sum() / tally.total_weight)

    def _solve_topics(
        self, moments: Moments
    ) -> tuple[Parameters, Solution, dict[str, Any]]:
        """Go from sums to parameters; return them, the way, and notes about it."""
        solution = self._solve(moments)
        return solution.parameters, solution, {}

    def _adopt(self, parameters: Parameters) -> None:
        """Set the fitted attributes that are parameters of the model."""
        self.components_ = np.ascontiguousarray(parameters.centers.T)
        self.weights_ = parameters.weights
        if parameters.concentration is not None:
            self.concentration_ = parameters.concentration

    def _solver_parameters(self) -> dict[str, Any]:
        """Return a smaller budget of sweeps where likelihood steps follow.

        Moments of a model take fewer than ten; noise takes any number of them.
        """
        if self.decomposition == "joint" and self.refine != 0:
            return {"max_sweeps": _SWEEPS_BEFORE_STEPS}
        return {}

    def _announce_solution(self) -> None:
        """Warn of what did not go as asked on the way from sums to topics."""
        self._announce(self.outcome_)
        concentration = self.diagnostics_.get("concentration")
        if concentration is not None:
            self._announce(concentration)

    def _improve(self, source: Source, steps: int | None) -> None:
        """Make likelihood steps and set what they give."""
        self._say("likelihood steps")
        start = replace(self._parameters(), centers=self._positive_centers())
        parameters, outcome, notes = self._step(source, start, steps)
        self._adopt(order_by_weight(parameters))
        self.outcome_ = outcome
        self.n_iter_ = outcome.iterations
        self.diagnostics_ = {**self.diagnostics_, "refinement": notes}
        if steps is None:
            self._announce(outcome)

    @abstractmethod
    def _step(
        self, source: Source, start: Parameters, steps: int | None
    ) -> tuple[Parameters, Outcome, Mapping[str, Any]]:
        """Return parameters after likelihood steps, how they ended, and notes."""

    def _parameters(self) -> Parameters:
        """Return the fitted parameters in the form that families take."""
        return Parameters(
            np.ascontiguousarray(self.components_.T),
            self.weights_,
            concentration=getattr(self, "concentration_", None),
            rate=getattr(self, "rate_", None),
        )

    # Where to start -----------------------------------------------------------

    def _choose_steps(self, source: Source) -> int | None:
        """Return the likelihood steps to make; None leaves the end to a rule."""
        if self.refine == "auto":
            return None if source.rereadable else 0
        steps = int(self.refine)
        if steps and not source.rereadable:
            raise ParameterError(
                f"refine={steps} reads the rows again, which an iterator cannot do; use "
                "refine=0, or pass a callable that gives the blocks anew each time."
            )
        return steps

    def _find_start(self, source: Source, *, again: bool) -> Parameters | None:
        """Return where the likelihood steps start if not at the moments' solution."""
        if again:
            if len(self.components_) != self.n_components:
                raise ParameterError(
                    f"n_components={self.n_components}, but the fitted model has "
                    f"{len(self.components_)} topics; set warm_start=False to learn "
                    "another number of them."
                )
            return self._parameters()
        if self.components_init is None:
            return None
        wanted = (self.n_components, source.n_features)
        centers = read_topics(self.components_init, wanted)
        weights = np.full(self.n_components, 1.0 / self.n_components)
        return Parameters(
            centers,
            weights,
            concentration=self._start_concentration(weights),
        )

    def _start_concentration(self, weights: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return Dirichlet parameters to start from where nothing is known."""
        return None

    def _begin(self, source: Source, start: Parameters) -> None:
        """Set the fitted attributes to a start that is not the moments'."""
        if self._choose_steps(source) == 0:
            raise ParameterError(
                "refine=0 together with components_init or warm_start learns nothing "
                "from the rows; use refine='auto' or a number of steps."
            )
        tally = source.run(TallyPass(source.n_features, MomentPlan("length")))
        self.__dict__.pop("moments_", None)
        self.n_samples_seen_ = tally.n_rows
        self.mean_length_ = float(tally.first[0].sum() / tally.total_weight)
        self.feature_shares_ = tally.first[0] / tally.first[0].sum()
        self._adopt(start)
        # What the moments said of the model decides how a fitted one goes on.
        known = getattr(self, "diagnostics_", {}) if self.warm_start else {}
        self.diagnostics_ = {
            name: known[name] for name in ("residual",) if name in known
        }
        if self._family().plan.by_tokens:
            self.diagnostics_["short_documents"] = tally.short

    def _positive_centers(self) -> FloatArray:
        """Return the topics as columns, with some of the words that they lack."""
        return fill_topics(self.components_.T, self.weights_, self.feature_shares_)

    def _known_centers(self) -> FloatArray:
        """Return the topics as columns; no word of the training rows has mass zero.

        Moments alone may leave a word with no topic at all.
        """
        lost = (self.components_.sum(axis=0) <= 0.0) & (self.feature_shares_ > 0.0)
        if lost.any():
            return self._positive_centers()
        return np.ascontiguousarray(self.components_.T)

    # Checks and messages ------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.refine != "auto":
            if isinstance(self.refine, str):
                raise ParameterError(
                    f"refine={self.refine!r} is not known; give 'auto' or a number of "
                    "steps (0 for moments alone)."
                )
            check_number("refine", self.refine, least=0, whole=True)
        # Families know their own settings best.
        self._family()

    def _warn_of_short(self) -> None:
        short = self.diagnostics_.get("short_documents")
        if short is not None and short[2] > _MANY_SHORT * self.n_samples_seen_:
            warnings.warn(
                f"{int(short[2])} of {self.n_samples_seen_} documents have fewer than "
                "three tokens; they say nothing about triples of words. Join short "
                "documents if you can.",
                DataWarning,
                stacklevel=3,
            )

    # Inference ----------------------------------------------------------------

    def transform(self, X: Any, *, method: str | None = None) -> FloatArray:
        """Return the topic proportions of documents.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        method : str or None
            How they are inferred; see the class. None is the first choice.

        Returns
        -------
        ndarray of shape (n, k)
            Rows sum to one. A document without known words gets the prior.
        """
        check_is_fitted(self, "components_")
        chosen = _choose("method", method, self.transform_methods)
        source = self._open_rows(X, reset=False)
        return self._infer(source, chosen)

    def predict(self, X: Any) -> FloatArray:
        """Return the heaviest topic of each document.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.

        Returns
        -------
        ndarray of shape (n,)
            Indices of topics.
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability that a token of each document is of each topic.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.

        Returns
        -------
        ndarray of shape (n, k)
            Rows sum to one.
        """
        check_is_fitted(self, "components_")
        source = self._open_rows(X, reset=False)
        return self._infer(source, self.transform_methods[0])

    def score(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        *,
        sample_weight: ArrayLike | None = None,
        method: str | None = None,
    ) -> float:
        """Return the log-likelihood of documents for each of their tokens.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Document weights.
        method : str or None
            Which estimate; see the class. None is the first choice.

        Returns
        -------
        float
            Natural logarithm; larger is better. Tokens that no training document
            had are left out.
        """
        check_is_fitted(self, "components_")
        chosen = _choose("method", method, self.score_methods)
        source = self._open_rows(X, sample_weight, reset=False)
        return self._score(source, chosen)

    def perplexity(self, X: Any, *, method: str | None = None) -> float:
        """Return `exp(-score(X))`: how many words a token is as uncertain as.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Counts.
        method : str or None
            As in `score`.

        Returns
        -------
        float
            Smaller is better.
        """
        return float(np.exp(-self.score(X, method=method)))

    def sample(
        self,
        n_samples: int = 1,
        *,
        lengths: int | ArrayLike | None = None,
        random_state: Any = None,
    ) -> tuple[Any, Any]:
        """Draw documents from the fitted model, with their hidden truth.

        Parameters
        ----------
        n_samples : int
            Number of documents.
        lengths : int, array of shape (n_samples,) or None
            Tokens of the documents; None is the mean length at fitting.
        random_state : None, int or Generator
            Source of randomness; None is a fixed seed.

        Returns
        -------
        rows : csr_array of shape (n_samples, d)
            Counts.
        truth : ndarray
            Topic, or topic proportions, of each document.
        """
        check_is_fitted(self, "components_")
        check_number("n_samples", n_samples, least=1, whole=True)
        rng = make_generator(random_state)
        return self._draw(n_samples, lengths, rng)

    def _draw(
        self, n_samples: int, lengths: int | ArrayLike | None, rng: np.random.Generator
    ) -> tuple[Any, Any]:
        """Draw documents from the family with the fitted parameters."""
        if lengths is None:
            lengths = max(1, round(self.mean_length_))
        rows, truth = self._fitted_family().sample(
            self._parameters(), n_samples, rng, lengths=lengths
        )
        return rows, truth

    def _lengths_and_proportions(self, X: Any) -> tuple[FloatArray, FloatArray]:
        source = self._open_rows(X, reset=False)
        lengths = source.run(LengthPass())
        return lengths.join(), self._infer(source, self.transform_methods[0])

    def _fitted_family(self) -> Any:
        """Return the family with the settings that were learned."""
        return self._family()

    @abstractmethod
    def _infer(self, source: Source, method: str) -> FloatArray:
        """Return topic proportions."""

    @abstractmethod
    def _score(self, source: Source, method: str) -> float:
        """Return the log-likelihood for each token."""

    # scikit-learn -------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        """Number of columns that `transform` gives."""
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        """Say what the model takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _describe(self) -> dict[str, Any]:
        """Add short documents and alpha0 to what is told of the model."""
        facts = {"short_documents": self.diagnostics_.get("short_documents")}
        if hasattr(self, "concentration_"):
            facts["alpha0"] = float(self.concentration_.sum())
        return facts


def _mean_length(moments: Moments) -> float:
    """Return the mean number of tokens of a row."""
    if moments.family.plan.weighting in ("length", "rows"):
        return float(moments.first[0].sum() / moments.total_weight)
    return float(moments.lengths[0] / max(moments.n_rows, 1))


def _choose(name: str, value: str | None, choices: tuple[str, ...]) -> str:
    if value is None:
        return choices[0]
    if value not in choices:
        raise ParameterError(
            f"{name}={value!r} is not known; choose one of "
            f"{', '.join(map(repr, choices))}."
        )
    return value
