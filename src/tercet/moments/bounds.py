"""How far sample moments may lie from their expectation, from lengths alone."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, Moments
from tercet.moments.weighting import measure_lengths

__all__ = ["SampleBound", "bound_errors", "bound_errors_of_lengths"]


@dataclass(frozen=True)
class SampleBound:
    """Bounds that hold with probability `1 - delta`.

    Parameters
    ----------
    pair : float
        Bound on `||F2 - E F2||_F`.
    third : float
        Bound on `||F3 - E F3||_F`.
    delta : float
        Probability that a bound fails.
    version : str
        "paper" or "thesis".

    Examples
    --------
    >>> from tercet.moments import SampleBound
    >>> SampleBound(pair=0.1, third=0.2, delta=0.05, version="thesis").third
    0.2
    """

    pair: float
    third: float
    delta: float
    version: str


def bound_errors_of_lengths(
    lengths: FloatArray,
    *,
    delta: float = 0.05,
    version: Literal["paper", "thesis"] = "thesis",
    pair_norm: float = 0.0,
    third_norm: float = 0.0,
) -> SampleBound:
    """Return the sample-size bound for documents of the given lengths.

    Parameters
    ----------
    lengths : array of shape (n,)
        Tokens of each document.
    delta : float
        Probability that the bound fails.
    version : {"paper", "thesis"}
        Paper 000, theorem 2, or thesis 001, theorem 3.2.2. The printed theorem 2
        is read so that it agrees with its own remark 2: the factor
        `max(c) sqrt(C1) / C2` stands outside the square root of `log(1/delta)`.
    pair_norm, third_norm : float
        Frobenius norms of the expected moments; 0 gives the bound that needs
        nothing but lengths.

    Returns
    -------
    SampleBound
        Both bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments import bound_errors_of_lengths
    >>> few = bound_errors_of_lengths(np.full(100, 50))
    >>> many = bound_errors_of_lengths(np.full(10_000, 50))
    >>> round(few.pair / many.pair, 6)
    10.0
    """
    given = np.asarray(lengths)
    if given.dtype.kind not in "iuf" or given.ndim != 1 or given.size == 0:
        raise DataError(
            f"lengths={lengths!r} must be a one-dimensional array of token counts, one "
            "for each document."
        )
    sizes = given.astype(np.float64)
    faults = ~(np.isfinite(sizes) & (sizes >= 0.0))
    if faults.any():
        place = int(np.argmax(faults))
        raise DataError(
            f"lengths holds {sizes[place]} at document {place}; lengths must be finite "
            "and not negative."
        )
    sums, longest, _ = measure_lengths(sizes)
    return _bound(sums, longest, delta, version, pair_norm, third_norm)


def bound_errors(
    moments: Moments,
    *,
    delta: float = 0.05,
    version: Literal["paper", "thesis"] = "thesis",
    pair_norm: float = 0.0,
    third_norm: float = 0.0,
) -> SampleBound:
    """Return the bound for the documents behind collected sums.

    Parameters
    ----------
    moments : Moments
        Sums of a family that weighs by tokens.
    delta, version, pair_norm, third_norm
        As for `bound_errors_of_lengths`.

    Returns
    -------
    SampleBound
        Both bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments import bound_errors, collect
    >>> X = np.random.default_rng(0).poisson(2.0, size=(50, 6))
    >>> moments = collect(X, "single-topic", n_components=2, random_state=0)
    >>> bound_errors(moments).version
    'thesis'
    """
    given: object = moments
    if not isinstance(given, Moments):
        raise ParameterError(
            f"moments={type(given).__name__} is not a Moments; for document lengths "
            "there is bound_errors_of_lengths."
        )
    if not given.family.plan.by_tokens:
        raise ParameterError(
            f"Moments of {given.family.name!r} do not weigh rows by tokens, so there is no "
            "bound from document lengths; collect them for 'single-topic' or "
            "'latent-dirichlet'."
        )
    return _bound(
        moments.lengths, moments.longest, delta, version, pair_norm, third_norm
    )


def _bound(
    sums: FloatArray,
    longest: float,
    delta: float,
    version: str,
    pair_norm: float,
    third_norm: float,
) -> SampleBound:
    if not isinstance(delta, Real) or not 0.0 < delta < 1.0:
        raise ParameterError(f"delta={delta!r} must lie strictly between 0 and 1.")
    for name, norm in (("pair_norm", pair_norm), ("third_norm", third_norm)):
        if not isinstance(norm, Real) or not 0.0 <= norm < np.inf:
            raise ParameterError(
                f"{name}={norm!r} must be a finite norm, zero where it is not known."
            )
    if version not in ("paper", "thesis"):
        raise ParameterError(f"version={version!r} must be 'paper' or 'thesis'.")
    tokens, pairs, triples, pairs_squared, triples_squared = sums
    if triples <= 0.0:
        raise DataError(
            "No document has three tokens, so there is no third moment to bound."
        )
    surprise = np.log(1.0 / delta)
    bounds = []
    for total, squared, norm, longest_tuples in (
        (pairs, pairs_squared, pair_norm, longest),
        (triples, triples_squared, third_norm, longest * (longest - 1.0)),
    ):
        concentration = squared / total**2
        spread = np.sqrt(concentration * max(0.0, 1.0 - norm**2))
        if version == "paper":
            tail = np.sqrt(surprise) * longest_tuples * np.sqrt(tokens) / total
        else:
            tail = np.sqrt(2.0 * concentration * surprise)
        bounds.append(float(spread + tail))
    return SampleBound(bounds[0], bounds[1], delta, version)
