"""What a fitted mixture can be asked: posteriors, likelihoods, criteria, draws."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from tercet.flow import FloatArray, Parameters
from tercet.intake import make_generator
from tercet.likelihood import Density, infer_mixture, score_mixture, sum_mixture
from tercet.models.estimators import MomentEstimator, check_number

__all__ = ["FittedMixture"]


class FittedMixture(DensityMixin, MomentEstimator):
    """The part of a mixture that needs nothing but its parameters.

    Examples
    --------
    >>> from tercet.models.mixture_inference import FittedMixture
    >>> "weights_" in FittedMixture.fitted_state
    True
    """

    fitted_state: ClassVar[tuple[str, ...]] = (
        *MomentEstimator.fitted_state,
        "components_",
        "weights_",
        "variances_",
        "log_likelihoods_",
    )

    @abstractmethod
    def _density(self, exposure: FloatArray | None = None) -> Density:
        """Return the density of the components."""

    @abstractmethod
    def _count_parameters(self) -> int:
        """Return the number of free parameters of the fitted model."""

    def _values(self) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Return centers as columns, weights, and variances if there are any."""
        return (
            np.ascontiguousarray(self.components_.T),
            self.weights_,
            getattr(self, "variances_", None),
        )

    def predict(self, X: Any) -> FloatArray:
        """Return the most probable component of each row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Indices of components.
        """
        return np.asarray(self._infer(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the posterior probability of each component.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        ndarray of shape (n, k)
            Rows sum to one.
        """
        return self._infer(X)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the exact log-likelihood of each row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Natural logarithms.
        """
        return self._score_rows(X)

    def score(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean log-likelihood of a row.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.
        y : None
            Not used.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        float
            Natural logarithm; larger is better.
        """
        total, weight = self._total(X, sample_weight)
        return total / weight

    def bic(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return Bayes' information criterion; smaller is better.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.
        sample_weight : array of shape (n,) or None
            Row weights; their sum counts as the number of rows.

        Returns
        -------
        float
            `-2 log L + p log n` with p free parameters.
        """
        total, weight = self._total(X, sample_weight)
        return self._judge(total, float(np.log(weight)))

    def aic(self, X: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return Akaike's information criterion; smaller is better.

        Parameters
        ----------
        X : array, sparse array, data frame, blocks, callable, iterator or Source
            Rows.
        sample_weight : array of shape (n,) or None
            Row weights.

        Returns
        -------
        float
            `-2 log L + 2 p` with p free parameters.
        """
        total, _ = self._total(X, sample_weight)
        return self._judge(total, 2.0)

    def _judge(self, total: float, price: float) -> float:
        """Return a criterion with a price for each free parameter."""
        return -2.0 * total + price * self._count_parameters()

    def sample(
        self, n_samples: int = 1, *, random_state: Any = None
    ) -> tuple[Any, Any]:
        """Draw rows from the fitted mixture, with the component of each.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : None, int or Generator
            Source of randomness; None is a fixed seed.

        Returns
        -------
        rows : csr_array or ndarray of shape (n_samples, d)
            The rows.
        labels : ndarray of shape (n_samples,)
            Their components.
        """
        check_is_fitted(self, "components_")
        check_number("n_samples", n_samples, least=1, whole=True)
        rows, labels = self._sampler().sample(
            self._parameters(), n_samples, make_generator(random_state)
        )
        return rows, labels

    def _sampler(self) -> Any:
        """Return the family that draws."""
        return self._family()

    def _parameters(self) -> Parameters:
        """Return the fitted parameters in the form that families take."""
        centers, weights, variances = self._values()
        return Parameters(centers, weights, variances=variances)

    def _infer(self, X: Any, exposure: FloatArray | None = None) -> FloatArray:
        check_is_fitted(self, "components_")
        source = self._open_rows(X, reset=False)
        centers, weights, variances = self._values()
        return infer_mixture(
            source,
            self._density(exposure),
            centers,
            weights,
            variances=variances,
        )

    def _score_rows(self, X: Any, exposure: FloatArray | None = None) -> FloatArray:
        check_is_fitted(self, "components_")
        source = self._open_rows(X, reset=False)
        centers, weights, variances = self._values()
        return score_mixture(
            source, self._density(exposure), centers, weights, variances=variances
        )

    def _total(
        self,
        X: Any,
        sample_weight: ArrayLike | None,
        exposure: FloatArray | None = None,
    ) -> tuple[float, float]:
        """Return the log-likelihood of all rows, and their weight."""
        check_is_fitted(self, "components_")
        source = self._open_rows(X, sample_weight, reset=False)
        centers, weights, variances = self._values()
        return sum_mixture(
            source, self._density(exposure), centers, weights, variances=variances
        )
