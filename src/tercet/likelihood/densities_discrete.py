"""Densities of discrete mixture components: tokens, zeros and ones, counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, xlogy

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, IntArray
from tercet.likelihood.densities import (
    NO_MASS,
    LinearScores,
    MixtureSums,
    has_mass,
    lift_centers,
    log_weights,
    no_exposure,
    project_shares,
    sum_entries,
)

__all__ = ["Bernoulli", "Multinomial", "Poisson"]


@dataclass(frozen=True)
class Multinomial:
    """Tokens drawn from a probability vector for each component.

    Parameters
    ----------
    floor : float
        Least probability of a feature.
    arrangements : bool
        Whether a row is a bag, whose likelihood counts the orders in which its
        tokens may have come, or (False, paper 000, equation 1) their sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood import Multinomial
    >>> Multinomial().admit(np.array([[3.0, 0.0], [1.0, 2.0]])).round(2)
    array([[0.75, 0.  ],
           [0.25, 1.  ]])
    """

    floor: float = 1e-9
    arrangements: bool = False

    has_variances: ClassVar[bool] = False
    has_exposure: ClassVar[bool] = False

    def shift(self, centers: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return None: counts are not shifted."""
        return None

    def expose(self, rows: Any, where: slice | IntArray) -> FloatArray:  # noqa: ARG002
        """Return zeros: there is no exposure."""
        return no_exposure(rows)

    def base(self, rows: Any, exposure: FloatArray) -> FloatArray | float:  # noqa: ARG002
        """Return the logarithm of the number of arrangements, or zero."""
        if not self.arrangements:
            return 0.0
        lengths = np.asarray(rows @ np.ones(rows.shape[1]))
        return np.asarray(
            gammaln(lengths + 1.0) - sum_entries(rows, lambda x: gammaln(x + 1.0))
        )

    def admit(self, centers: FloatArray) -> FloatArray:
        """Return probability vectors above the floor."""
        return project_shares(np.maximum(centers, 0.0), self.floor)

    def begin(self, centers: FloatArray, weights: FloatArray) -> FloatArray:
        """Return probabilities of at least a part of the pooled ones."""
        return self.admit(lift_centers(self.admit(centers), weights))

    def express(
        self,
        centers: FloatArray,
        weights: FloatArray,
        variances: FloatArray | None,  # noqa: ARG002
    ) -> LinearScores:
        """Return `log omega_j + sum_r x_r log mu_rj`."""
        return LinearScores(
            np.log(centers), log_weights(weights), np.zeros(weights.size)
        )

    def maximize(
        self, sums: MixtureSums, centers: FloatArray, variances: FloatArray | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return the shares of the tokens."""
        tokens = sums.sums.sum(axis=0)
        shares = project_shares(sums.sums, self.floor)
        return np.where(has_mass(tokens), shares, centers), variances


@dataclass(frozen=True)
class Bernoulli:
    """Independent zeros and ones with a probability for each component.

    NaN in dense rows is a missing entry, which has no part in the likelihood.

    Parameters
    ----------
    floor : float
        Least distance of a probability from zero and from one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood import Bernoulli
    >>> Bernoulli(floor=0.01).admit(np.array([[0.5, 0.0]]))
    array([[0.5 , 0.01]])
    """

    floor: float = 1e-7

    has_variances: ClassVar[bool] = False
    has_exposure: ClassVar[bool] = False

    def shift(self, centers: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return None: zeros and ones are not shifted."""
        return None

    def expose(self, rows: Any, where: slice | IntArray) -> FloatArray:  # noqa: ARG002
        """Return zeros: there is no exposure."""
        return no_exposure(rows)

    def base(self, rows: Any, exposure: FloatArray) -> FloatArray | float:  # noqa: ARG002
        """Return zero: every term has a parameter."""
        return 0.0

    def admit(self, centers: FloatArray) -> FloatArray:
        """Return probabilities above the floor and as far below one."""
        return np.clip(centers, self.floor, 1.0 - self.floor)

    def begin(self, centers: FloatArray, weights: FloatArray) -> FloatArray:
        """Return chances of one and of zero of at least a part of the pooled ones."""
        lifted = lift_centers(self.admit(centers), weights)
        return self.admit(1.0 - lift_centers(1.0 - lifted, weights))

    def express(
        self,
        centers: FloatArray,
        weights: FloatArray,
        variances: FloatArray | None,  # noqa: ARG002
    ) -> LinearScores:
        """Return the scores: those of a row of zeros, and log odds for each one."""
        zeros = np.log1p(-centers)
        return LinearScores(
            np.log(centers) - zeros,
            log_weights(weights) + zeros.sum(axis=0),
            np.zeros(weights.size),
            absences=-zeros,
        )

    def maximize(
        self, sums: MixtureSums, centers: FloatArray, variances: FloatArray | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return the shares of ones among the observed entries."""
        seen = sums.mass if sums.missed is None else sums.mass - sums.missed
        known = seen > NO_MASS * max(float(sums.mass.sum()), np.finfo(float).tiny)
        shares = np.divide(sums.sums, seen, out=centers.copy(), where=known)
        return self.admit(shares), variances


@dataclass(frozen=True, eq=False)
class Poisson:
    """Independent Poisson counts with a rate for each component.

    Parameters
    ----------
    exposure : ndarray of shape (n,) or None
        What the rates of each row of the source are multiplied by; None is one.
    floor : float
        Least rate.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.likelihood import Poisson
    >>> Poisson(exposure=np.array([1.0, 2.0])).expose(np.zeros((1, 3)), slice(1, 2))
    array([2.])
    """

    exposure: FloatArray | None = None
    floor: float = 1e-9

    has_variances: ClassVar[bool] = False
    has_exposure: ClassVar[bool] = True

    def shift(self, centers: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return None: counts are not shifted."""
        return None

    def expose(self, rows: Any, where: slice | IntArray) -> FloatArray:
        """Return the exposures of the rows."""
        n_rows = int(rows.shape[0])
        if self.exposure is None:
            return np.ones(n_rows)
        last = where.stop if isinstance(where, slice) else int(where.max(initial=0)) + 1
        if last > self.exposure.size:
            raise ParameterError(
                f"exposure has {self.exposure.size} entries, but there are at least "
                f"{last} rows; give one for each row."
            )
        return np.asarray(self.exposure[where])

    def base(self, rows: Any, exposure: FloatArray) -> FloatArray | float:
        """Return `sum_r x_r log e - log x_r!`."""
        lengths = np.asarray(rows @ np.ones(rows.shape[1]))
        arrangements = sum_entries(rows, lambda x: gammaln(x + 1.0))
        return np.asarray(xlogy(lengths, exposure) - arrangements)

    def admit(self, centers: FloatArray) -> FloatArray:
        """Return rates above the floor."""
        return np.maximum(centers, self.floor)

    def begin(self, centers: FloatArray, weights: FloatArray) -> FloatArray:
        """Return rates of at least a part of the pooled ones."""
        return self.admit(lift_centers(self.admit(centers), weights))

    def express(
        self,
        centers: FloatArray,
        weights: FloatArray,
        variances: FloatArray | None,  # noqa: ARG002
    ) -> LinearScores:
        """Return `log omega_j - e sum_r mu_rj + sum_r x_r log mu_rj`."""
        return LinearScores(np.log(centers), log_weights(weights), -centers.sum(axis=0))

    def maximize(
        self, sums: MixtureSums, centers: FloatArray, variances: FloatArray | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return counts for each unit of exposure."""
        known = np.broadcast_to(has_mass(sums.exposed), centers.shape)
        rates = np.divide(sums.sums, sums.exposed, out=centers.copy(), where=known)
        return self.admit(rates), variances
