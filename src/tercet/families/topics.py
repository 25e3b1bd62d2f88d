"""Topic models: documents of tokens, topics that are probability vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.families.draws import draw_labels, draw_topic_counts
from tercet.families.population import (
    SliceChoice,
    check_components,
    plant_equations,
)
from tercet.families.recovering import keep_from_zero, recover_topics
from tercet.families.settings import check_cleaner, check_positive, check_weighting
from tercet.families.shifting import shift_moments
from tercet.flow import (
    Equations,
    Factors,
    FloatArray,
    IntArray,
    MomentPlan,
    Moments,
    Parameters,
    Weighting,
    Whitening,
)
from tercet.recovery import order_by_weight, recover_weights

__all__ = ["LatentDirichlet", "SingleTopic"]


@dataclass(frozen=True)
class SingleTopic:
    """Documents about one topic each: a mixture of multinomials.

    `M2 = sum_j omega_j mu_j mu_j'` and `M3 = sum_j omega_j mu_j^(x)3` are the
    chances that two and three tokens of a document are given words (paper 000,
    theorem 1; Anandkumar et al. 2012a).

    Parameters
    ----------
    weighting : {"length", "document", "three-words"}
        Long documents count more (Ruffini), all the same (Zou et al.), or all
        the same after three tokens were drawn from each (Anandkumar et al.).
    negative : {"simplex", "truncate"}
        What is done to negative entries of recovered topics: nearest
        distribution, or zero and brought to sum one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import SingleTopic
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.8, 0.2]))
    >>> family = SingleTopic()
    >>> family.population(truth).first
    array([0.76, 0.24])
    >>> rows, topic = family.sample(truth, 3, np.random.default_rng(0), lengths=7)
    >>> rows.sum(axis=1)
    array([7, 7, 7])
    """

    weighting: Weighting = "length"
    negative: str = "simplex"

    name: ClassVar[str] = "single-topic"
    requirement: ClassVar[str] = "counts"
    factorial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_weighting(self.weighting)
        check_cleaner(self.negative)

    @property
    def plan(self) -> MomentPlan:
        """Sums by tokens."""
        return MomentPlan(self.weighting)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {"weighting": self.weighting, "negative": self.negative}

    def equations(self, moments: Moments) -> Equations:
        """Return factorial moments, not shifted."""
        return shift_moments(moments, 0.0, 0.0, 0.0, factorial=True)

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return topics and their weights.

        The weight is `c_j^2` with `E O c = M1`, and again `s_j^2` with the
        column sums s of `E O`, and again `1 / lambda_j^2`; `details` has all
        three.
        """
        topics = recover_topics(factors, whitening, equations, self.negative)
        scales = topics.scales
        by_first = scales.first**2 / scales.pair
        details = topics.details | {
            "weights_by_first": by_first,
            "weights_by_sums": topics.sums**2 * scales.pair,
            "weights_by_third": scales.pair**3 / keep_from_zero(scales.third) ** 2,
        }
        return order_by_weight(
            Parameters(topics.centers, recover_weights(by_first), details=details)
        )

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the exact moments of given topics and weights.

        Parameters
        ----------
        parameters : Parameters
            Topics as columns that sum to one, and weights.
        basis : ndarray of shape (d, p) or None
            Orthonormal basis that holds the topics; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Moments that infinitely many documents would give.
        """
        check_components(parameters)
        w = parameters.weights
        return plant_equations(parameters.centers, w, w, w, basis=basis, slices=slices)

    def sample(
        self,
        parameters: Parameters,
        n_rows: int,
        rng: np.random.Generator,
        *,
        lengths: int | ArrayLike = 100,
    ) -> tuple[sparse.csr_array, IntArray]:
        """Draw documents and the topic of each.

        Parameters
        ----------
        parameters : Parameters
            Topics and weights.
        n_rows : int
            Number of documents.
        rng : numpy.random.Generator
            Source of randomness.
        lengths : int or array of shape (n_rows,)
            Tokens of each document.

        Returns
        -------
        rows : csr_array of shape (n_rows, d)
            Counts.
        labels : ndarray of shape (n_rows,)
            Topic of each document.
        """
        check_components(parameters)
        labels = draw_labels(parameters.weights, n_rows, rng)
        tokens = np.broadcast_to(np.asarray(lengths), n_rows)
        return draw_topic_counts(labels, parameters.centers, tokens, rng), labels


@dataclass(frozen=True)
class LatentDirichlet:
    """Latent Dirichlet allocation: documents that mix topics.

    With `alpha0 = sum(alpha)`, the moments of paper 000, theorem 2, are
    `M2 = sum_j alpha_j / (alpha0 (alpha0 + 1)) mu_j mu_j'` and
    `M3 = sum_j 2 alpha_j / (alpha0 (alpha0 + 1) (alpha0 + 2)) mu_j^(x)3`.

    Parameters
    ----------
    concentration : float
        `alpha0`, the sum of the Dirichlet parameters.
    weighting : {"length", "document", "three-words"}
        How documents are weighted, see `SingleTopic`.
    negative : {"simplex", "truncate"}
        What is done to negative entries of recovered topics: nearest
        distribution, or zero and brought to sum one.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import LatentDirichlet
    >>> from tercet.flow import Parameters
    >>> truth = Parameters(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([0.8, 0.2]))
    >>> family = LatentDirichlet(concentration=0.5)
    >>> family.population(truth).first
    array([0.76, 0.24])
    >>> rng = np.random.default_rng(0)
    >>> rows, proportions = family.sample(truth, 3, rng, lengths=7)
    >>> proportions.sum(axis=1)
    array([1., 1., 1.])
    """

    concentration: float = 1.0
    weighting: Weighting = "length"
    negative: str = "simplex"

    name: ClassVar[str] = "latent-dirichlet"
    requirement: ClassVar[str] = "counts"
    factorial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("concentration", self.concentration)
        check_weighting(self.weighting)
        check_cleaner(self.negative)

    @property
    def plan(self) -> MomentPlan:
        """Sums by tokens."""
        return MomentPlan(self.weighting)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {
            "concentration": self.concentration,
            "weighting": self.weighting,
            "negative": self.negative,
        }

    def equations(self, moments: Moments) -> Equations:
        """Return factorial moments, shifted as `alpha0` says."""
        total = self.concentration
        a = total / (total + 1.0)
        b = total / (total + 2.0)
        return shift_moments(moments, a, b, 2.0 * a * b, factorial=True)

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return topics, weights and Dirichlet parameters.

        With c the coefficients of `E O c = M1`, `alpha_j = c_j^2 alpha0 /
        (alpha0 + 1)`; with the column sums s of `E O`, `alpha_j = alpha0
        (alpha0 + 1) s_j^2`; with the eigenvalues, `alpha_j = 4 alpha0
        (alpha0 + 1) / ((alpha0 + 2)^2 lambda_j^2)`. `details` has all three.
        """
        total = self.concentration
        topics = recover_topics(factors, whitening, equations, self.negative)
        scales = topics.scales
        twice = total * (total + 1.0)
        by_first = scales.first**2 / scales.pair * total / (total + 1.0)
        third = keep_from_zero(scales.third)
        by_third = 4.0 * twice / ((total + 2.0) * third) ** 2
        details = topics.details | {
            "concentration_by_first": by_first,
            "concentration_by_sums": twice * topics.sums**2 * scales.pair,
            "concentration_by_third": by_third * scales.pair**3,
        }
        weights = recover_weights(by_first)
        return order_by_weight(
            Parameters(
                topics.centers,
                weights,
                concentration=total * weights,
                details=details,
            )
        )

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the exact moments of given topics and Dirichlet parameters.

        Parameters
        ----------
        parameters : Parameters
            Topics as columns that sum to one, with `concentration` (its sum
            must be that of the family) or weights alone.
        basis : ndarray of shape (d, p) or None
            Orthonormal basis that holds the topics; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            Moments that infinitely many documents would give.
        """
        check_components(parameters)
        total = self.concentration
        share = self._alpha(parameters) / total
        pair = share / (total + 1.0)
        third = 2.0 * pair / (total + 2.0)
        return plant_equations(
            parameters.centers, share, pair, third, basis=basis, slices=slices
        )

    def sample(
        self,
        parameters: Parameters,
        n_rows: int,
        rng: np.random.Generator,
        *,
        lengths: int | ArrayLike = 100,
    ) -> tuple[sparse.csr_array, FloatArray]:
        """Draw documents and the topic proportions of each.

        Parameters
        ----------
        parameters : Parameters
            Topics, with Dirichlet parameters or weights.
        n_rows : int
            Number of documents.
        rng : numpy.random.Generator
            Source of randomness.
        lengths : int or array of shape (n_rows,)
            Tokens of each document.

        Returns
        -------
        rows : csr_array of shape (n_rows, d)
            Counts.
        proportions : ndarray of shape (n_rows, k)
            Topic proportions of each document.
        """
        check_components(parameters)
        proportions = rng.dirichlet(self._alpha(parameters), size=n_rows)
        tokens = np.broadcast_to(np.asarray(lengths), n_rows)
        rows = draw_topic_counts(proportions, parameters.centers, tokens, rng)
        return rows, proportions

    def _alpha(self, parameters: Parameters) -> FloatArray:
        """Return the Dirichlet parameters, which must add up to the family's sum."""
        if parameters.concentration is None:
            return self.concentration * parameters.weights
        total = float(parameters.concentration.sum())
        if not np.isclose(total, self.concentration, rtol=1e-8):
            raise ParameterError(
                f"parameters.concentration sums to {total:g}, but the family has "
                f"concentration={self.concentration:g}; use "
                f"LatentDirichlet(concentration={total:g})."
            )
        return parameters.concentration
