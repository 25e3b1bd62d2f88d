"""How concentrated the topics of a document are, read from the sums.

The moments of latent Dirichlet allocation depend on `alpha0`, the sum of the
Dirichlet parameters, through three coefficients that enter after the rows have
been summed. For a trial value the small problem is solved, and its eigenvalues
give `alpha_j = 4 alpha0 (alpha0 + 1) / ((alpha0 + 2)^2 lambda_j^2)`; the true
value is the one that these add up to (method section 5). No row is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from tercet.decomposition import solve
from tercet.exceptions import RankError
from tercet.flow import Equations, FloatArray, Outcome, Problem, Status
from tercet.moments.assembly import shift_pair, shift_third
from tercet.whitening import whiten_pair, whiten_third
from tercet.whitening.thirds import contract_modes

__all__ = ["ConcentrationSearch", "find_concentration", "shift_equations"]

# Trial values; topics of documents in the wild lie well inside.
_LEAST, _MOST, _N_TRIALS = 0.01, 100.0, 9
# Fewer topics do not determine it; what is taken then.
_FEWEST, _UNTOLD = 3, 1.0
# Relative accuracy of a crossing, far below its sampling error.
_ACCURACY = 3e-3
# Where the sums leave more than this part of the small tensor unexplained at all trial
# values, there is no alpha0 to be found, only a start for other methods. Many topics
# make a trial costly enough to ask a few values first.
_HOPELESS, _SCOUTS, _MANY = 0.3, (0.1, 1.0, 10.0), 24
# Sweeps of a trial. The first starts from nothing, the others from their
# neighbour, and from noise no number of sweeps would tell more.
_FIRST_SWEEPS, _SWEEPS = 20, 6


@dataclass(frozen=True, eq=False)
class ConcentrationSearch:
    """What was found about `alpha0`.

    Parameters
    ----------
    value : float
        The estimate.
    crossings : ndarray
        Trial values at which the parts add up to the whole, ascending.
    trials : ndarray
        Trial values at which the moments supported all components.
    sums : ndarray
        Sum of the parts at each trial value.
    residuals : ndarray
        Residual of the decomposition at each trial value.
    outcome : Outcome
        `CONVERGED` for a single crossing, `FELL_BACK` for the trial value of
        least residual or where two topics leave it open, `EXACT` for a single
        topic.
    """

    value: float
    crossings: FloatArray
    trials: FloatArray
    sums: FloatArray
    residuals: FloatArray
    outcome: Outcome


def shift_equations(factorial: Equations, total: float) -> Equations:
    """Return the moments of latent Dirichlet allocation from factorial ones.

    Parameters
    ----------
    factorial : Equations
        `F1`, `F2` and `F3` in a basis, not shifted (those of a single-topic
        model).
    total : float
        `alpha0`.

    Returns
    -------
    Equations
        Shifted with `a = alpha0/(alpha0+1)`, `b = alpha0/(alpha0+2)`,
        `c = 2ab`; slices, if there are any, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import LatentDirichlet, SingleTopic
    >>> from tercet.models.concentration import shift_equations
    >>> from tercet.moments import collect
    >>> X = np.random.default_rng(0).poisson(1.0, size=(50, 6))
    >>> sums = collect(X, "latent-dirichlet", 2)
    >>> plain = SingleTopic().equations(sums)
    >>> shifted = LatentDirichlet(concentration=0.5).equations(sums)
    >>> bool(np.allclose(shift_equations(plain, 0.5).third, shifted.third))
    True
    """
    a = total / (total + 1.0)
    b = total / (total + 2.0)
    g = factorial.basis.T @ factorial.first
    lift, pair = shift_pair(factorial.lift, factorial.pair, factorial.first, g, a)
    return replace(
        factorial,
        lift=lift,
        pair=pair,
        third=shift_third(factorial.third, factorial.pair, g, b, 2.0 * a * b),
        slices=None,
        slice_features=None,
    )


def find_concentration(factorial: Equations, n_components: int) -> ConcentrationSearch:
    """Find `alpha0` such that the Dirichlet parameters it implies add up to it.

    Parameters
    ----------
    factorial : Equations
        `F1`, `F2` and `F3` in a basis wider than k by a few columns.
    n_components : int
        Number of components k.

    Returns
    -------
    ConcentrationSearch
        The estimate and what it rests on. With no crossing, or several, the
        estimate is the trial value of least residual; three trial values are all that
        is looked at where the model is far from holding.

    Raises
    ------
    RankError
        If the moments support k components for no trial value.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import LatentDirichlet
    >>> from tercet.flow import Parameters
    >>> from tercet.models.concentration import find_concentration
    >>> rng = np.random.default_rng(0)
    >>> topics = rng.dirichlet(np.full(40, 0.2), size=3).T
    >>> truth = Parameters(topics, np.full(3, 1 / 3))
    >>> F = LatentDirichlet(concentration=1e-9).population(truth)
    >>> round(find_concentration(F, 3).value, 2)
    0.01
    """
    if n_components < _FEWEST:
        return _leave_open(n_components)
    compressed = _compress(factorial)
    if n_components >= _MANY:
        scouted = _scout(_Trial(compressed, n_components))
        if scouted is not None:
            return scouted
    trial = _Trial(compressed, n_components)
    grid = np.geomspace(_LEAST, _MOST, _N_TRIALS)
    found = [values for total in grid if (values := trial.measure(total)) is not None]
    if not found:
        # The least shifted moments say best how many components there are.
        whiten_pair(shift_equations(factorial, _LEAST), n_components)
        raise RankError(
            f"n_components={n_components} is more than the moments support at any "
            "concentration; ask for fewer components.",
            n_components - 1,
        )
    trials, sums, residuals = np.array(found).T
    if residuals.min() > _HOPELESS:
        return _conclude(np.zeros(0), trials, sums, residuals, trial.count)
    excess = np.log(sums / trials)
    crossings = [
        trial.cross(trials[i : i + 2], excess[i : i + 2])
        for i in np.flatnonzero(np.sign(excess[:-1]) * np.sign(excess[1:]) < 0)
    ]
    return _conclude(np.array(crossings), trials, sums, residuals, trial.count)


def _scout(trial: _Trial) -> ConcentrationSearch | None:
    """Return the best of three trial values if the model is far from holding at all."""
    found = [
        values for total in _SCOUTS if (values := trial.measure(total)) is not None
    ]
    if len(found) < len(_SCOUTS):
        return None
    trials, sums, residuals = np.array(found).T
    if residuals.min() <= _HOPELESS:
        return None
    return _conclude(np.zeros(0), trials, sums, residuals, trial.count)


def _leave_open(n_components: int) -> ConcentrationSearch:
    """Return what can be said of one or two topics.

    The proportions of two topics are one number, whose first three moments are
    matched by some pair of topics for every concentration.
    """
    nothing = np.zeros(0)
    if n_components == 1:
        message = "A single topic leaves nothing to be told of its concentration."
        outcome = Outcome(Status.EXACT, 0, 0.0, message)
    else:
        message = (
            f"Moments leave the concentration of two topics open; {_UNTOLD:g} was taken. "
            "Likelihood steps or a number for concentration settle it."
        )
        outcome = Outcome(Status.FELL_BACK, 0, 0.0, message)
    return ConcentrationSearch(_UNTOLD, nothing, nothing, nothing, nothing, outcome)


def _conclude(
    crossings: FloatArray,
    trials: FloatArray,
    sums: FloatArray,
    residuals: FloatArray,
    count: int,
) -> ConcentrationSearch:
    if crossings.size == 1:
        value = float(crossings[0])
        status = Status.CONVERGED
        message = f"The sums of the data give a concentration of {value:.3g}."
    else:
        value = float(trials[np.argmin(residuals)])
        status = Status.FELL_BACK
        number = "more than one" if crossings.size else "no"
        message = (
            f"The sums of the data have {number} concentration that adds up; "
            f"{value:.3g} fits them best and leaves {residuals.min():.2g} unexplained."
        )
    gap = float(np.interp(np.log(value), np.log(trials), np.log(sums / trials)))
    outcome = Outcome(status, count, abs(gap), message)
    return ConcentrationSearch(value, crossings, trials, sums, residuals, outcome)


def _compress(equations: Equations) -> Equations:
    """Return equations of few features with the same spectra and small problems.

    The lift and the first moment are turned into the coordinates of their own
    span; a stand-in for the basis keeps `B' M1`.
    """
    stacked = np.column_stack([equations.lift, equations.first])
    if stacked.shape[0] <= stacked.shape[1]:
        return replace(equations, slices=None, slice_features=None)
    turned = linalg.qr(stacked, mode="r", check_finite=False)[0][: stacked.shape[1]]
    first = np.ascontiguousarray(turned[:, -1])
    g = equations.basis.T @ equations.first
    return Equations(
        first=first,
        lift=np.ascontiguousarray(turned[:, :-1]),
        pair=equations.pair,
        third=equations.third,
        basis=np.outer(first, g) / float(first @ first),
        orthonormal=equations.orthonormal,
    )


class _Trial:
    """Solves the small problem at trial values, each started from the last one."""

    def __init__(self, factorial: Equations, n_components: int) -> None:
        self.factorial = factorial
        self.n_components = n_components
        self.count = 0
        self._columns: FloatArray | None = None

    def measure(self, total: float) -> tuple[float, float, float] | None:
        """Return trial value, sum of the parts and residual, if there is a rank k."""
        self.count += 1
        equations = shift_equations(self.factorial, total)
        try:
            whitening = whiten_pair(equations, self.n_components)
        except RankError:
            return None
        problem = whiten_third(equations, whitening)
        turn = self._start(whitening.coordinates)
        factors = solve(
            _turn(problem, turn),
            "joint",
            tolerance=1e-5,
            max_sweeps=_FIRST_SWEEPS if self._columns is None else _SWEEPS,
        )
        self._columns = (
            equations.pair @ whitening.coordinates @ (turn @ factors.vectors)
        )
        scale = 4.0 * total * (total + 1.0) / (total + 2.0) ** 2
        with np.errstate(divide="ignore"):
            parts = scale / factors.eigenvalues**2
        # A component without a third moment has no part that could be told.
        summed = float(parts.sum())
        if not np.isfinite(summed):
            return None
        return total, summed, factors.residual

    def cross(self, ends: FloatArray, excess: FloatArray) -> float:
        """Return the crossing between two trial values with excesses of unlike signs."""
        low, high = (float(np.log(end)) for end in ends)
        # Measured anew from another rotation, the ends could change their signs.
        known = {low: float(excess[0]), high: float(excess[1])}

        def measure_excess(log_total: float) -> float:
            if log_total not in known:
                values = self.measure(float(np.exp(log_total)))
                found = 0.0 if values is None else float(np.log(values[1] / values[0]))
                known[log_total] = found
            return known[log_total]

        root = brentq(measure_excess, low, high, xtol=_ACCURACY, full_output=False)
        return float(np.exp(root))

    def _start(self, coordinates: FloatArray) -> FloatArray:
        """Return the rotation nearest to the last solution."""
        if self._columns is None:
            return np.eye(self.n_components)
        left, _, right = np.linalg.svd(coordinates.T @ self._columns)
        return np.asarray(left @ right)


def _turn(problem: Problem, rotation: FloatArray) -> Problem:
    """Return the small problem in rotated coordinates."""
    return Problem(
        third=contract_modes(problem.third, rotation),
        eigenvalues=problem.eigenvalues,
        first=rotation.T @ problem.first,
        unwhitening=problem.unwhitening @ rotation,
    )
