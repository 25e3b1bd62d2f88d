"""How many components: several criteria side by side, from one collection of sums."""

# The steps of an estimator are called one by one here, as its base does.
# ruff: noqa: SLF001

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from tercet.evaluation import measure_coherence
from tercet.exceptions import (
    DataError,
    ParameterError,
    RankError,
    TercetWarning,
)
from tercet.flow import (
    Block,
    Equations,
    Family,
    FloatArray,
    IntArray,
    Moments,
    Pass,
    Registry,
    Source,
)
from tercet.intake import make_generator, open_source
from tercet.models.estimators import MomentEstimator, check_number
from tercet.models.latent_dirichlet import LatentDirichletAllocation
from tercet.models.mixture_base import MixtureModel
from tercet.models.topic_base import TopicModel

__all__ = ["ComponentSelection", "select_components"]

State = TypeVar("State")

# Criteria, and whether larger values are better.
CRITERIA = Registry[bool]("criterion")
for _name, _larger in (
    ("held_out", True),
    ("gap", True),
    ("coherence", True),
    ("bic", False),
    ("mdl", False),
):
    CRITERIA.add(_name, _larger)

_TEST_SHARE, _MOST_TEST, _FEWEST_ROWS = 0.1, 500, 20
# Rows on which likelihood steps are made for one candidate, at least; and rows
# that stand for all in Bayes' criterion of topics.
_STEP_ROWS, _JUDGED_ROWS = 1_000, 300


@dataclass(frozen=True, eq=False)
class ComponentSelection:
    """What several criteria say about each number of components.

    Parameters
    ----------
    candidates : ndarray of shape (m,)
        Numbers of components k, ascending.
    held_out : ndarray of shape (m,)
        Mean log-likelihood of rows that were held back: for each token by
        document completion (topics), for each row (mixtures).
    gap : ndarray of shape (m,)
        `(lambda_k - lambda_{k+1}) / lambda_k` of the pair moment.
    coherence : ndarray of shape (m,)
        Mean NPMI of the components' foremost features; NaN for real values.
    bic : ndarray of shape (m,)
        `-2 log L + p log n`, smaller is better; L is extrapolated from some of
        the rows, and a lower bound for topics that mix.
    mdl : ndarray of shape (m,)
        Description length of the third moment at rank k; smaller is better.
    spectrum : ndarray
        Eigenvalues of the pair moment for the largest k that it supports.
    supported : ndarray of bool, shape (m,)
        Whether the moments support so many components; criteria are NaN
        elsewhere.
    """

    candidates: IntArray
    held_out: FloatArray
    gap: FloatArray
    coherence: FloatArray
    bic: FloatArray
    mdl: FloatArray
    spectrum: FloatArray
    supported: IntArray

    def choose(self, criterion: str = "held_out") -> int:
        """Return the number of components that a criterion prefers.

        Parameters
        ----------
        criterion : {"held_out", "gap", "coherence", "bic", "mdl"}
            Which one.

        Returns
        -------
        int
            The candidate with the best value.
        """
        larger = CRITERIA[criterion]
        values = np.asarray(getattr(self, criterion), dtype=np.float64)
        if not np.isfinite(values).any():
            raise ParameterError(
                f"criterion={criterion!r} has no value for any candidate; choose "
                "another one."
            )
        best = np.nanargmax(values) if larger else np.nanargmin(values)
        return int(self.candidates[best])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the table as a list of dictionaries."""
        return [
            {
                "k": int(k),
                "supported": bool(self.supported[i]),
                **{name: float(getattr(self, name)[i]) for name in CRITERIA},
            }
            for i, k in enumerate(self.candidates)
        ]

    def __str__(self) -> str:
        """Return the table as text; a star marks the best value of a criterion."""
        names = list(CRITERIA)
        lines = [["k", *names]]
        best = {
            name: self.choose(name) if np.isfinite(getattr(self, name)).any() else None
            for name in names
        }
        for row in self.to_rows():
            cells = [str(row["k"])]
            for name in names:
                star = "*" if best[name] == row["k"] else " "
                value = row[name]
                text = "-" if not np.isfinite(value) else f"{value:.6g}"
                cells.append(text + star)
            lines.append(cells)
        widths = [max(len(line[j]) for line in lines) for j in range(len(names) + 1)]
        return "\n".join(
            "  ".join(
                cell.rjust(width) for cell, width in zip(line, widths, strict=True)
            )
            for line in lines
        )


def select_components(
    X: Any,
    candidates: Sequence[int],
    model: MomentEstimator | None = None,
    *,
    steps: int = 2,
    n_top: int = 10,
    random_state: Any = None,
) -> ComponentSelection:
    """Compare numbers of components by several criteria.

    The sums are collected once, for the largest candidate, without a tenth of
    the rows (five hundred at most). Every candidate is learned from these sums and
    improved by a few likelihood steps on its share of the rows, so that all
    candidates together take about as many steps over the data as one fit.

    The description length takes the third moment in the basis, T (p x p x p), as
    a message: `m/2 log(|T - T_k|^2 / |T|^2) + k (p + 1)/2 log m`, with
    `m = p (p + 1) (p + 2) / 6` distinct entries and T_k the best combination of
    the k components' cubes (thesis 001, outlook, after Grunwald 2004).

    Parameters
    ----------
    X : array, sparse array, data frame, blocks, callable or Source
        Rows that can be read again.
    candidates : sequence of int
        Numbers of components to compare.
    model : estimator or None
        Topic model or mixture, whose parameters are taken; None is
        `LatentDirichletAllocation()`.
    steps : int
        Likelihood steps of each candidate.
    n_top : int
        Features of each component that enter the coherence.
    random_state : None, int or Generator
        Which rows are held back.

    Returns
    -------
    ComponentSelection
        The criteria; `print` it, `choose` with it, or draw it with
        `tercet.plotting.SelectionDisplay`.

    Examples
    --------
    >>> import tercet
    >>> from tercet.datasets import make_lda
    >>> sample = make_lda(1500, n_features=100, n_components=4)
    >>> found = tercet.select_components(sample.rows, [2, 3, 4, 5, 6])
    >>> found.choose("held_out"), found.choose("gap")
    (4, 4)
    """
    numbers = _check_candidates(candidates)
    check_number("steps", steps, least=0, whole=True)
    check_number("n_top", n_top, least=2, whole=True)
    template = LatentDirichletAllocation() if model is None else model
    if not isinstance(template, TopicModel | MixtureModel):
        raise ParameterError(
            f"model={type(template).__name__} is neither a topic model nor a mixture."
        )
    largest = clone(template).set_params(n_components=int(numbers[-1]))
    largest._check_parameters()
    source = largest._open_rows(X, reset=True)
    if not source.rereadable:
        raise DataError(
            "X can be read only once; pass a callable that gives the blocks anew each "
            "time, or rows in memory."
        )
    samples = _draw_samples(source, numbers.size, make_generator(random_state))
    moments = largest._collect(_MaskedSource(source, samples.test))
    sweep = _Sweep(template, moments, samples, steps, n_top)
    return sweep.run(numbers)


def _check_candidates(candidates: Sequence[int]) -> IntArray:
    """Return the candidates in order."""
    for k in candidates:
        check_number("candidates", k, least=1, whole=True)
    numbers = np.unique(np.asarray(candidates, dtype=np.int64))
    if numbers.size == 0:
        raise ParameterError("candidates is empty; name at least one number.")
    return numbers


@dataclass(frozen=True, eq=False)
class _Samples:
    """Rows that are looked at more closely; `test` marks those held back."""

    test: IntArray
    test_rows: Any
    step_rows: Any


def _draw_samples(
    source: Source, n_candidates: int, rng: np.random.Generator
) -> _Samples:
    """Choose rows to hold back, and rows for the steps of a candidate."""
    n_rows = sum(block.n_rows for block in source.blocks())
    if n_rows < _FEWEST_ROWS:
        raise DataError(
            f"X has {n_rows} rows; at least {_FEWEST_ROWS} are needed to hold some back."
        )
    order = rng.permutation(n_rows)
    n_test = min(_MOST_TEST, int(np.ceil(_TEST_SHARE * n_rows)))
    n_step = max(_STEP_ROWS, n_rows // n_candidates)
    test, step = np.sort(order[:n_test]), np.sort(order[n_test : n_test + n_step])
    gathered: dict[str, list[Any]] = {"test": [], "step": []}
    for block in source.blocks():
        for name, chosen in (("test", test), ("step", step)):
            first, last = np.searchsorted(
                chosen, [block.start, block.start + block.n_rows]
            )
            if last > first:
                gathered[name].append(block.rows[chosen[first:last] - block.start])
    return _Samples(test, _stack(gathered["test"]), _stack(gathered["step"]))


def _stack(pieces: list[Any]) -> Any:
    """Join runs of rows."""
    if sparse.issparse(pieces[0]):
        return sparse.csr_array(sparse.vstack(pieces, format="csr"))
    return np.concatenate(pieces)


@dataclass(frozen=True, eq=False)
class _MaskedPass(Generic[State]):
    """Another pass, to which some rows weigh nothing."""

    work: Pass[State]
    hidden: IntArray

    def initial(self) -> State:
        """Return the identity of the other pass."""
        return self.work.initial()

    def update(self, state: State, block: Block) -> State:
        """Show the other pass a block with fewer weights."""
        return self.work.update(state, _mask(block, self.hidden))

    def merge(self, left: State, right: State) -> State:
        """Merge as the other pass does."""
        return self.work.merge(left, right)


class _MaskedSource:
    """A source some of whose rows weigh nothing."""

    def __init__(self, source: Source, hidden: IntArray) -> None:
        self.n_features = source.n_features
        self.feature_names = source.feature_names
        self.rereadable = source.rereadable
        self.requirement = getattr(source, "requirement", None)
        self._source, self._hidden = source, hidden

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        return self._source.run(_MaskedPass(work, self._hidden))

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        for block in self._source.blocks():
            yield _mask(block, self._hidden)


def _mask(block: Block, hidden: IntArray) -> Block:
    first, last = np.searchsorted(hidden, [block.start, block.start + block.n_rows])
    if first == last:
        return block
    weights = np.ones(block.n_rows) if block.weights is None else block.weights.copy()
    weights[hidden[first:last] - block.start] = 0.0
    return Block(block.rows, block.start, weights)


class _Sweep:
    """Learns every candidate from the same sums and measures it."""

    def __init__(
        self,
        template: MomentEstimator,
        moments: Moments,
        samples: _Samples,
        steps: int,
        n_top: int,
    ) -> None:
        self.template, self.moments, self.samples = template, moments, samples
        self.steps, self.n_top = steps, n_top
        self.n_rows = moments.n_rows - samples.test.size

    def run(self, numbers: IntArray) -> ComponentSelection:
        """Return the criteria of all candidates."""
        columns = {name: np.full(numbers.size, np.nan) for name in CRITERIA}
        supported = np.zeros(numbers.size, dtype=bool)
        spectrum = np.empty(0)
        models: dict[int, Any] = {}
        for i, k in enumerate(numbers):
            model = clone(self.template).set_params(n_components=int(k))
            try:
                # What a candidate's own solution warns of is in the table.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", TercetWarning)
                    model.fit_moments(self.moments)
                    # The samples below are arrays, which have no names.
                    model.__dict__.pop("feature_names_in_", None)
                    models[i] = copy(model)
                    found = self._measure(model)
            except RankError:
                models.pop(i, None)
                continue
            supported[i] = True
            spectrum = np.asarray(model.diagnostics_["spectrum"])
            for name, value in found.items():
                columns[name][i] = value
        if not supported.any():
            raise RankError(
                f"candidates={numbers.tolist()}: the moments support none of these "
                "numbers of components; try smaller ones.",
                0,
            )
        # One tensor for all: that of the candidate which predicts best.
        best = models[int(np.nanargmax(columns["held_out"]))]
        equations = self.moments.with_family(_settle(best)).equations()
        for i, model in models.items():
            columns["mdl"][i] = describe_length(model.components_, equations)
        return ComponentSelection(
            numbers, spectrum=spectrum, supported=supported, **columns
        )

    def _measure(self, model: Any) -> dict[str, float]:
        """Return the criteria of a candidate that was learned from the sums."""
        found = {"gap": float(model.diagnostics_["gap"])}
        rows, test = self.samples.step_rows, self.samples.test_rows
        source = open_source(rows, requirement=model.requirement, n_jobs=model.n_jobs)
        if isinstance(model, MixtureModel):
            if self.steps:
                model._improve(source, model._density(), self.steps)
            found["held_out"] = float(model.score(test))
            price = model._count_parameters()
            likelihood = float(model.score(rows)) * self.n_rows
        else:
            if self.steps:
                model._improve(source, self.steps)
            found["held_out"] = self._predict(model, test)
            price = model.components_.size
            tokens = float(rows.sum()) / rows.shape[0] * self.n_rows
            likelihood = float(model.score(rows[:_JUDGED_ROWS])) * tokens
        found["bic"] = -2.0 * likelihood + price * float(np.log(self.n_rows))
        found["coherence"] = self._cohere(model, rows)
        return found

    @staticmethod
    def _predict(model: Any, test: Any) -> float:
        """Return the held-out score of topics."""
        methods = model.score_methods
        method = "completion" if "completion" in methods else methods[0]
        return float(model.score(test, method=method))

    def _cohere(self, model: Any, rows: Any) -> float:
        """Return the mean coherence, where features are counts."""
        if sparse.issparse(rows):
            counted = bool((rows.data >= 0.0).all())
        else:
            counted = bool((rows == np.floor(rows)).all() and (rows >= 0.0).all())
        if not counted:
            return float("nan")
        n_top = min(self.n_top, model.components_.shape[1])
        if n_top < 2:
            return float("nan")
        values = measure_coherence(model.components_, rows, kind="npmi", n_top=n_top)
        known = values[np.isfinite(values)]
        return float(known.mean()) if known.size else float("nan")


def _settle(model: Any) -> Family:
    """Return the family with the settings that were learned."""
    family: Family = getattr(model, "_fitted_family", model._family)()
    return family


def describe_length(components: FloatArray, equations: Equations) -> float:
    """Return the description length of the third moment at the rank of a model.

    Parameters
    ----------
    components : ndarray of shape (k, d)
        Components; only their directions matter.
    equations : Equations
        Moments in a basis, the same for all models compared.

    Returns
    -------
    float
        See `select_components`.

    Examples
    --------
    >>> import tercet
    >>> from tercet.datasets import make_single_topic
    >>> from tercet.models.selection import describe_length
    >>> rows = make_single_topic(5000, n_features=40, n_components=3).rows
    >>> sums = tercet.moments.collect(rows, "single-topic", 5)
    >>> lengths = [
    ...     describe_length(
    ...         tercet.SingleTopicModel(k).fit_moments(sums).components_,
    ...         sums.equations(),
    ...     )
    ...     for k in (2, 3, 4)
    ... ]
    >>> lengths.index(min(lengths))
    1
    """
    third, width = equations.third, equations.third.shape[0]
    columns = equations.basis.T @ components.T
    norms = np.linalg.norm(columns, axis=0)
    columns = columns[:, norms > 0.0] / norms[norms > 0.0]
    gram = (columns.T @ columns) ** 3
    cubes = np.einsum(
        "abc,ak,bk,ck->k", third, columns, columns, columns, optimize=True
    )
    sizes = np.linalg.lstsq(gram, cubes, rcond=None)[0]
    whole = float((third**2).sum())
    left = max(whole - float(cubes @ sizes), np.finfo(float).eps * whole)
    entries = width * (width + 1) * (width + 2) / 6.0
    price = components.shape[0] * (width + 1) / 2.0 * np.log(entries)
    return float(entries / 2.0 * np.log(left / whole) + price)
