"""Binary rows in components with independent features."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.exceptions import DataError
from tercet.families import Bernoulli
from tercet.flow import (
    FAMILIES,
    Block,
    Equations,
    Family,
    FloatArray,
    Moments,
    Parameters,
    Source,
)
from tercet.intake import Requirement
from tercet.likelihood import Bernoulli as BernoulliDensity
from tercet.likelihood import Density
from tercet.models.decomposing import Solution
from tercet.models.estimators import check_number
from tercet.models.mapped_rows import MappedSource, fill_gaps, threshold_block
from tercet.models.mixture_base import MixtureModel
from tercet.models.observed_rows import count_observed, solve_observed

__all__ = ["BernoulliMixture"]

_THREE_VIEWS = "three-view"

# Share of itself to which the diagonal of the pair moment is found for EM.
_START_TOLERANCE = 1e-3


class BernoulliMixture(MixtureModel):
    """A mixture of binary rows whose features are independent in each component.

    Moments give a start that does not depend on luck, EM the local maximum of
    the likelihood next to it. A step of EM costs `nnz k` on sparse rows. In dense
    rows NaN is a missing entry: moments then come from the pairs and triples that
    were observed, and EM looks at observed entries only.

    Parameters
    ----------
    n_components : int, default=2
        Number of components k.
    moments : {"completed", "factorial", "raw", "three-view"}, default="completed"
        What stands in the moments where a feature is repeated: what the model
        says, zero, or what rows show there (with `decomposition="svtd"` the ASVTD
        of thesis 001). "three-view" splits the features into three views
        (Anandkumar et al. 2012b) and needs `3 k` of them: 3V-MoM with
        `decomposition="svd"`, 3V-TPM with "power".
    decomposition : str, default="sidiwo"
        How the small tensor is decomposed; see `tercet.decomposition.DECOMPOSITIONS`.
    refine : int or "auto", default="auto"
        Steps of EM after the moments: 0 for moments alone, "auto" until `rule`
        is met.
    rule : {"likelihood", "weights", "centers", "thesis"}, default="likelihood"
        When EM has converged: the mean log-likelihood of a row will rise by less
        than 1e-5 in all steps to come; or the weights change by less than 0.01
        (thesis 001, section 4.5), the centers by less than 0.0001 (section 6.4),
        or both.
    tolerance : float or None, default=None
        What the residual of the rule must fall below; None is the rule's own.
    max_iter : int, default=500
        Largest number of EM steps under "auto".
    binarize : float or None, default=None
        Values above it are ones, all others zeros; None asks for binary rows.
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
        Probability of a one for each feature, by falling weight.
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
    >>> sample = tercet.datasets.make_bernoulli_mixture(
    ...     500, n_features=30, n_components=3, random_state=0
    ... )
    >>> model = tercet.BernoulliMixture(3).fit(sample.rows)
    >>> model.components_.shape, model.outcome_.converged
    ((3, 30), True)
    """

    fitted_state: ClassVar[tuple[str, ...]] = MixtureModel.fitted_state

    def __init__(
        self,
        n_components: int = 2,
        *,
        moments: str = "completed",
        decomposition: str = "sidiwo",
        refine: int | str = "auto",
        rule: str = "likelihood",
        tolerance: float | None = None,
        max_iter: int = 500,
        binarize: float | None = None,
        strategy: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.moments = moments
        self.decomposition = decomposition
        self.refine = refine
        self.rule = rule
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.binarize = binarize
        self.strategy = strategy
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def requirement(self) -> Requirement:  # type: ignore[override]
        """What values rows may hold."""
        return (
            Requirement.BINARY_OR_MISSING
            if self.binarize is None
            else Requirement.REALS
        )

    def _open_rows(
        self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool
    ) -> Source:
        source = super()._open_rows(X, sample_weight, reset=reset)
        if self.binarize is not None:
            return MappedSource(
                source, partial(threshold_block, threshold=self.binarize)
            )
        return source

    def _learn_rows(self, source: Source, exposure: FloatArray | None) -> None:
        observed = count_observed(source) if source.rereadable else None
        if observed is None or observed.complete:
            super()._learn_rows(source, exposure)
            return
        if self.moments == _THREE_VIEWS:
            raise DataError(
                "X has missing entries (NaN), for which moments='three-view' has no "
                "equations; use moments='completed'."
            )
        self._check_count(observed.n_rows)
        self._say("collecting moments of observed entries")
        family = Bernoulli("factorial" if self.moments == "factorial" else "completed")
        solution = solve_observed(
            source, observed, family, self.n_components, self.decomposition, self._rng()
        )
        self.__dict__.pop("moments_", None)
        self.n_samples_seen_ = observed.n_rows
        self._adopt(solution.parameters)
        self.outcome_ = solution.factors.outcome
        self.n_iter_ = solution.factors.outcome.iterations
        self.diagnostics_: dict[str, Any] = {
            "spectrum": solution.whitening.spectrum,
            "residual": solution.factors.residual,
            "missing_share": observed.missing_share,
        }

    def _collect(
        self, source: Source, *, strategy: str | None = None, partial: bool = False
    ) -> Moments:
        # The family has no equations for gaps, and is shown that there are none.
        whole = MappedSource(source, _refuse_gaps)
        return super()._collect(whole, strategy=strategy, partial=partial)

    def _collect_more(self, source: Source, known: Moments) -> Moments:
        return super()._collect_more(MappedSource(source, _refuse_gaps), known)

    def _solve_equations(self, equations: Equations, family: Family) -> Solution:
        # What more digits and another round of filling in would change, EM does
        # better.
        if getattr(self, "_em_follows", False) and isinstance(family, Bernoulli):
            family = replace(family, rounds=0, tolerance=_START_TOLERANCE)
        return super()._solve_equations(equations, family)

    def _find_splits(
        self, source: Source, n_rows: int, exposure: FloatArray | None
    ) -> Parameters:
        means = count_observed(source).means
        filled = MappedSource(source, partial(fill_gaps, values=means))
        return super()._find_splits(filled, n_rows, exposure)

    def _family(self) -> Family:
        if self.moments == _THREE_VIEWS:
            return FAMILIES[_THREE_VIEWS]()
        return Bernoulli(self.moments)

    def _sampler(self) -> Any:
        return Bernoulli()

    def _density(self, exposure: FloatArray | None = None) -> Density:  # noqa: ARG002
        return BernoulliDensity()

    def _count_parameters(self) -> int:
        return self.components_.size + self.weights_.size - 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binarize is not None:
            check_number("binarize", self.binarize, least=0.0)

    def __sklearn_tags__(self) -> Any:
        """Say what the model takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.binarize is None
        return tags


def _refuse_gaps(block: Block) -> Block:
    """Return the block, whose entries must all be there."""
    rows: Any = block.rows
    values = rows.data if sparse.issparse(rows) else rows
    if np.isnan(values).any():
        raise DataError(
            "X has missing entries (NaN), which only fit takes, and only from rows that "
            "can be read again: an array, or a callable that gives the blocks anew."
        )
    return block
