"""One judge for topics, whoever made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tercet.evaluation.coherence import measure_coherence
from tercet.evaluation.errors import measure_l1_error
from tercet.exceptions import DataError, ParameterError
from tercet.flow import Block, FloatArray, Source
from tercet.intake import Requirement, open_source
from tercet.likelihood import HeldOutScore, fit_concentration, score_topics

__all__ = ["Comparison", "Judgement", "compare"]

_DIGITS = {"per_token": 4, "perplexity": 1, "umass": 1, "npmi": 3, "l1_error": 4}


@dataclass(frozen=True)
class Judgement:
    """What was found about one set of topics.

    Parameters
    ----------
    name : str
        Whose topics.
    n_topics : int
        Number of topics k.
    score : HeldOutScore
        Held-out log-probability of a token.
    umass : float
        Mean UMass coherence.
    npmi : float
        Mean NPMI coherence.
    concentration : ndarray of shape (k,)
        Dirichlet parameters that the score was made with.
    l1_error : float or None
        Error against the true topics, where these are known.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.evaluation import Judgement
    >>> from tercet.likelihood import HeldOutScore
    >>> score = HeldOutScore(-3.0, 40.0, 0.1)
    >>> Judgement("joint", 2, score, -1.5, 0.1, np.ones(2)).facts()["per_token"]
    -3.0
    """

    name: str
    n_topics: int
    score: HeldOutScore
    umass: float
    npmi: float
    concentration: FloatArray
    l1_error: float | None = None

    def facts(self) -> dict[str, Any]:
        """Return the numbers of a row of the table."""
        found: dict[str, Any] = {
            "name": self.name,
            "k": self.n_topics,
            "per_token": self.score.per_token,
            "standard_error": self.score.standard_error,
            "perplexity": self.score.perplexity,
            "umass": self.umass,
            "npmi": self.npmi,
            "concentration": float(self.concentration.sum()),
        }
        if self.l1_error is not None:
            found["l1_error"] = self.l1_error
        return found


@dataclass(frozen=True)
class Comparison:
    """Judgements side by side, the best held-out score first.

    Parameters
    ----------
    judgements : tuple of Judgement
        One for each candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.evaluation import Comparison, Judgement
    >>> from tercet.likelihood import HeldOutScore
    >>> score = HeldOutScore(-3.0, 40.0, 0.1)
    >>> table = Comparison((Judgement("ours", 2, score, -1.5, 0.1, np.ones(2)),))
    >>> table["ours"] is table.best
    True
    """

    judgements: tuple[Judgement, ...]

    @property
    def best(self) -> Judgement:
        """The candidate with the best held-out score."""
        return self.judgements[0]

    def __getitem__(self, name: str) -> Judgement:
        """Return the judgement of a candidate."""
        for judgement in self.judgements:
            if judgement.name == name:
                return judgement
        known = ", ".join(repr(judgement.name) for judgement in self.judgements)
        raise ParameterError(f"name={name!r} was not compared; choose one of {known}.")

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the table as a list of dictionaries."""
        return [judgement.facts() for judgement in self.judgements]

    def __str__(self) -> str:
        """Return the table as text."""
        rows = self.to_rows()
        columns = [name for name in rows[0] if name not in ("standard_error",)]
        lines = [columns]
        for row in rows:
            cells = []
            for column in columns:
                value = row[column]
                digits = _DIGITS.get(column, 2)
                number = isinstance(value, float)
                cells.append(f"{value:.{digits}f}" if number else str(value))
            lines.append(cells)
        widths = [max(len(line[j]) for line in lines) for j in range(len(columns))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if j == 0 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )


def compare(
    candidates: Mapping[str, Any],
    X: Any,
    *,
    train: Any = None,
    truth: ArrayLike | None = None,
    method: str = "completion",
    own_concentration: bool = False,
    mixed_in: float = 0.01,
    n_top: int = 20,
    rng: np.random.Generator | None = None,
) -> Comparison:
    """Judge topics with one and the same held-out score and coherence.

    Perplexities of different packages differ in what they hold out, in how they
    infer proportions and in what they leave out, so that no two agree. Here all
    topics get the same treatment: rows are scaled to sum to one and
    `mixed_in` of the word frequencies of `train` is mixed in, so that no word is
    impossible; unless told otherwise the Dirichlet parameters are estimated from
    `train` in the same way for all.

    Parameters
    ----------
    candidates : mapping of str to object
        Topics by name: an array (k, d); a pair of it and Dirichlet parameters; a
        model with `components_` (Tercet, scikit-learn) or `get_topics()`
        (gensim).
    X : array, sparse array, data frame, blocks, callable or Source
        Documents that no candidate has seen.
    train : array, sparse array, data frame, blocks, callable, Source or None
        Documents for frequencies, Dirichlet parameters and coherence; None
        takes `X`.
    truth : array-like of shape (k, d) or None
        True topics, where they are known; candidates with as many topics get
        their L1 error.
    method : {"completion", "bound", "left-to-right"}
        Held-out score; see `tercet.likelihood.score_topics`.
    own_concentration : bool
        Whether Dirichlet parameters that a candidate brings are used.
    mixed_in : float
        Share of the word frequencies in every topic.
    n_top : int
        Words of the coherences.
    rng : numpy.random.Generator or None
        For the score; all candidates get the same draws. None is a fixed seed.

    Returns
    -------
    Comparison
        A table: `print` it, or take `to_rows()`.

    Examples
    --------
    >>> import tercet
    >>> from tercet.datasets import make_lda
    >>> from tercet.evaluation import compare
    >>> sample = make_lda(600, n_features=50, n_components=3)
    >>> train, test = sample.rows[:500], sample.rows[500:]
    >>> model = tercet.LatentDirichletAllocation(3).fit(train)
    >>> even = [[0.02] * 50] * 3
    >>> found = compare({"even": even, "ours": model}, test, train=train)
    >>> found.best.name
    'ours'
    """
    if not candidates:
        raise ParameterError("candidates is empty; name at least one set of topics.")
    if not 0.0 <= mixed_in < 1.0:
        raise ParameterError(f"mixed_in={mixed_in!r} must lie between 0 and 1.")
    test = _open(X)
    known = test if train is None else _open(train)
    if known.n_features != test.n_features:
        raise DataError(
            f"train has {known.n_features} features and X {test.n_features}; count the "
            "same words, in the same order."
        )
    judge = _Judge(test, known, truth, method, own_concentration, mixed_in, n_top, rng)
    found = [judge.judge(name, candidate) for name, candidate in candidates.items()]
    found.sort(key=lambda judgement: -judgement.score.per_token)
    return Comparison(tuple(found))


class _Judge:
    """Everything that all candidates share."""

    def __init__(
        self,
        test: Source,
        train: Source,
        truth: ArrayLike | None,
        method: str,
        own_concentration: bool,
        mixed_in: float,
        n_top: int,
        rng: np.random.Generator | None,
    ) -> None:
        self.test, self.train, self.truth = test, train, truth
        self.method, self.own, self.mixed_in = method, own_concentration, mixed_in
        self.n_top = n_top
        self.seed = 0 if rng is None else int(rng.integers(2**63))
        counts = train.run(_WordPass(train.n_features))
        self.frequencies = counts / counts.sum()

    def judge(self, name: str, candidate: Any) -> Judgement:
        """Judge one candidate."""
        table, own = _read_candidate(name, candidate)
        if table.shape[1] != self.test.n_features:
            raise DataError(
                f"candidates[{name!r}] has {table.shape[1]} columns, but the documents "
                f"have {self.test.n_features} features; bring both to one vocabulary."
            )
        mixed = (1.0 - self.mixed_in) * table + self.mixed_in * self.frequencies
        centers = np.ascontiguousarray((mixed / mixed.sum(axis=1, keepdims=True)).T)
        alpha = own if self.own else None
        if alpha is None:
            alpha = fit_concentration(self.train, centers)
        score = score_topics(
            self.test,
            centers,
            alpha,
            method=self.method,
            rng=np.random.default_rng(self.seed),
        )
        coherences = [
            measure_coherence(table, self.train, kind=kind, n_top=self.n_top)
            for kind in ("umass", "npmi")
        ]
        umass, npmi = (_mean(values) for values in coherences)
        error = None
        if self.truth is not None and np.shape(self.truth) == table.shape:
            error = measure_l1_error(np.asarray(self.truth, dtype=np.float64), table)
        return Judgement(name, table.shape[0], score, umass, npmi, alpha, error)


@dataclass(frozen=True)
class _WordPass:
    """Count the words of all documents."""

    n_features: int

    def initial(self) -> FloatArray:
        """Return zeros."""
        return np.zeros(self.n_features)

    def update(self, state: FloatArray, block: Block) -> FloatArray:
        """Count the words of a block."""
        state += np.asarray(block.rows.sum(axis=0)).ravel()
        return state

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Add the counts."""
        left += right
        return left


def _mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _open(rows: Any) -> Source:
    if isinstance(rows, Source):
        return rows
    return open_source(rows, requirement=Requirement.COUNTS)


def _read_candidate(name: str, candidate: Any) -> tuple[FloatArray, FloatArray | None]:
    """Return topics as rows that sum to one, and their own Dirichlet parameters."""
    given: Any = candidate
    alpha: Any = None
    if isinstance(candidate, tuple) and len(candidate) == 2:
        given, alpha = candidate
    elif hasattr(candidate, "components_"):
        given = candidate.components_
        alpha = getattr(candidate, "concentration_", None)
        prior = getattr(candidate, "doc_topic_prior_", None)
        if alpha is None and prior is not None:
            alpha = np.full(len(given), float(prior))
    elif callable(getattr(candidate, "get_topics", None)):
        given, alpha = candidate.get_topics(), getattr(candidate, "alpha", None)
    table = np.asarray(given, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or table.min(initial=0.0) < 0.0:
        raise ParameterError(
            f"candidates[{name!r}] must be non-negative and finite, one row for each "
            f"topic; its shape is {table.shape}."
        )
    totals = table.sum(axis=1, keepdims=True)
    if not (totals > 0.0).all():
        empty = int(np.argmin(totals))
        raise ParameterError(f"candidates[{name!r}]: topic {empty} is all zeros.")
    own = None if alpha is None else np.asarray(alpha, dtype=np.float64)
    return table / totals, own
