"""From sums of two views to aligned loadings: whiten, diagonalise, recover."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tercet.decomposition import diagonalize_by_similarity
from tercet.decomposition.targets import off_diagonal_ratio
from tercet.exceptions import ParameterError
from tercet.families.two_view import (
    TwoViewParameters,
    ViewEquations,
    form_cumulants,
    form_tilted,
)
from tercet.families.two_view_recovery import (
    ViewTargets,
    choose_points,
    cumulant_targets,
    measure_visibility,
    recover_loadings,
    tilted_targets,
)
from tercet.flow import FloatArray, Outcome
from tercet.moments.views import Pair, TwoViewMoments
from tercet.whitening import ViewWhitening, whiten_views
from tercet.whitening.view_pairs import measure_clearance

__all__ = ["ViewSolution", "find_points", "solve_views", "whiten_equations"]

NOISY = 0.9
"""Singular values below this share of the level of noise are taken for noise."""

FEWEST_ROWS = 10.0
"""Tilted sums that rest on fewer rows than this say little."""


@dataclass(frozen=True, eq=False)
class ViewSolution:
    """Loadings of two views and everything on the way to them.

    Parameters
    ----------
    parameters : TwoViewParameters
        Loadings and strengths.
    equations : ViewEquations
        Cumulants inside the bases.
    whitening : ViewWhitening
        The whitening pair.
    targets : ViewTargets
        What was diagonalised.
    outcome : Outcome
        How the diagonalisation ended.
    diagnostics : dict
        Spectrum and its verdict, clearance above sampling noise, visibility of
        each source, off-diagonal share that is left, and what recovery found.
    """

    parameters: TwoViewParameters
    equations: ViewEquations
    whitening: ViewWhitening
    targets: ViewTargets
    outcome: Outcome
    diagnostics: dict[str, Any]


def solve_views(
    moments: TwoViewMoments,
    n_components: int,
    targets: str = "cumulants",
    *,
    method: str = "sh-rt",
    negative: str = "simplex",
    rng: np.random.Generator | None = None,
) -> ViewSolution:
    """Go from the sums of two views to aligned loadings; no row is read.

    Parameters
    ----------
    moments : TwoViewMoments
        Sums; with tilted ones for `targets="covariances"`.
    n_components : int
        Number of shared sources k.
    targets : {"cumulants", "covariances"}
        What is diagonalised.
    method : {"sh-rt", "just", "jdtm", "eigen"}
        How; see `tercet.decomposition.diagonalize_by_similarity`.
    negative : {"simplex", "truncate"}
        What is done to negative loadings of counts.
    rng : numpy.random.Generator or None
        For `method="eigen"`.

    Returns
    -------
    ViewSolution
        Loadings and everything on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.models.view_solving import solve_views
    >>> from tercet.moments import collect_views
    >>> rng = np.random.default_rng(0)
    >>> sources = rng.gamma(0.3, 60.0, size=(4000, 2))
    >>> D1 = np.array([[0.8, 0.1], [0.1, 0.8], [0.1, 0.1]])
    >>> X1, X2 = rng.poisson(sources @ D1.T), rng.poisson(sources @ D1[::-1].T)
    >>> found = solve_views(collect_views(X1, X2, 2), 2).parameters
    >>> order = found.loadings[0][0].argsort()[::-1]
    >>> bool(np.abs(found.loadings[0][:, order] - D1).max() < 0.03)
    True
    """
    equations = form_cumulants(moments)
    whitening = whiten_equations(equations, n_components)
    if targets == "cumulants":
        chosen = cumulant_targets(equations, whitening)
    elif targets == "covariances":
        tilted = form_tilted(moments)
        tilts = moments.tilts
        assert tilts is not None  # form_tilted has seen to it
        chosen = tilted_targets(
            tilted, tilts.points, tilts.effective_rows, equations, whitening
        )
    else:
        raise ParameterError(
            f"targets={targets!r} is not known; choose 'cumulants' or 'covariances'."
        )
    vectors, inverse, outcome = diagonalize_targets(chosen, method, rng)
    parameters = recover_loadings(
        vectors, inverse, equations, whitening, negative=negative
    )
    visibility = measure_visibility(chosen, vectors, inverse, equations, whitening)
    diagnostics = _diagnose(parameters, equations, whitening, n_components)
    diagnostics |= {
        "visibility": visibility[np.asarray(parameters.details["order"])],
        "off_diagonal": float(off_diagonal_ratio(inverse @ chosen.stack @ vectors)),
    }
    if targets == "covariances":
        diagnostics["effective_rows"] = chosen.n_rows
    return ViewSolution(parameters, equations, whitening, chosen, outcome, diagnostics)


def diagonalize_targets(
    targets: ViewTargets,
    method: str = "sh-rt",
    rng: np.random.Generator | None = None,
    rounds: int = 2,
) -> tuple[FloatArray, FloatArray, Outcome]:
    """Diagonalise targets, each group weighed by the errors that it shows.

    What a group leaves outside the diagonals is its sampling error. Third
    cumulants of heavy-tailed rows are better known than fourth ones, those of a
    view with much noise worse than those of the other; how much so is only seen
    after a first solution.

    Parameters
    ----------
    targets : ViewTargets
        Targets in groups.
    method : {"sh-rt", "just", "jdtm", "eigen"}
        How they are diagonalised.
    rng : numpy.random.Generator or None
        For `method="eigen"`.
    rounds : int
        Solutions with new weights after the first one.

    Returns
    -------
    Q, Q_inverse : ndarray of shape (k, k)
        The solution.
    outcome : Outcome
        How the last round ended, sweeps of all rounds together.
    """
    vectors, inverse, outcome = diagonalize_by_similarity(
        targets.stack, method, rng=rng
    )
    size = len(vectors)
    if size == 1 or method == "eigen":
        return vectors, inverse, outcome
    sweeps = outcome.iterations
    outside = ~np.eye(size, dtype=bool)
    for _ in range(rounds):
        turned = inverse @ targets.stack @ vectors
        errors = (turned[:, outside] ** 2).mean(axis=1)
        means = np.bincount(targets.groups, errors) / np.bincount(targets.groups)
        if not means.max() > 0.0:
            break
        # Exact targets leave rounding errors, which say nothing.
        weights = 1.0 / np.sqrt(np.maximum(means, 1e-12 * means.max()))
        weighted = targets.stack * (weights / weights.max())[targets.groups, None, None]
        vectors, inverse, outcome = diagonalize_by_similarity(
            weighted, method, start=vectors, rng=rng
        )
        sweeps += outcome.iterations
    return vectors, inverse, replace(outcome, iterations=sweeps)


def _diagnose(
    parameters: TwoViewParameters,
    equations: ViewEquations,
    whitening: ViewWhitening,
    n_components: int,
) -> dict[str, Any]:
    """Return what is worth knowing about spectrum and recovery."""
    clearance = measure_clearance(
        equations.cross,
        equations.within,
        equations.bases,
        equations.spreads,
        equations.n_rows,
    )
    low = np.flatnonzero(clearance < NOISY)
    found: dict[str, Any] = {"spectrum": whitening.spectrum}
    found |= asdict(whitening.verdict)
    found["clearance"] = clearance[:n_components]
    found["supported"] = int(low[0]) if low.size else int(clearance.size)
    for name, value in parameters.details.items():
        if name != "order":
            found[name] = value
    return found


def whiten_equations(equations: ViewEquations, n_components: int) -> ViewWhitening:
    """Whiten the cross-covariance of two views.

    Parameters
    ----------
    equations : ViewEquations
        Cumulants.
    n_components : int
        Number of shared sources k.

    Returns
    -------
    ViewWhitening
        The whitening pair.
    """
    return whiten_views(
        equations.cross, equations.lifts, equations.within, n_components
    )


def find_points(moments: TwoViewMoments, n_components: int, delta: float) -> Pair:
    """Choose the processing points that given sums suggest (paper 002, 4.47).

    Parameters
    ----------
    moments : TwoViewMoments
        Sums, without tilted ones.
    n_components : int
        Number of shared sources k.
    delta : float
        The paper's delta; see `choose_points`.

    Returns
    -------
    pair of ndarray, (k, d1) and (k, d2)
        Points of each view.
    """
    equations = form_cumulants(moments)
    whitening = whiten_equations(equations, n_components)
    points: tuple[FloatArray, FloatArray] = choose_points(
        moments, equations, whitening, delta
    )
    return points
