"""What a spectrum says about the number of components."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from tercet.exceptions import ParameterError, RankError
from tercet.flow import FloatArray, Verdict

__all__ = ["check_rank", "judge_spectrum", "require_components"]

NOISE = 1e-11
"""Eigenvalues below this share of the largest one are rounding errors."""


def judge_spectrum(spectrum: FloatArray, n_components: int) -> Verdict:
    """Say how many components a spectrum supports, and how clearly.

    The pair moment of a model has no negative eigenvalue, so the most negative
    one that was seen measures the noise: eigenvalues above its size count as
    supported.

    Parameters
    ----------
    spectrum : ndarray of shape (p,)
        Eigenvalues, descending by algebraic value.
    n_components : int
        Number of components k that are asked for.

    Returns
    -------
    Verdict
        Rank, gap after the k-th eigenvalue, negative part and condition.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.whitening import judge_spectrum
    >>> verdict = judge_spectrum(np.array([4.0, 2.0, 0.1, -0.2]), 2)
    >>> verdict.supported, round(verdict.gap, 2), round(verdict.condition, 1)
    (2, 0.95, 2.0)
    """
    require_components(n_components)
    if n_components > spectrum.size:
        raise ParameterError(
            f"n_components={n_components} is more than the {spectrum.size} eigenvalues "
            "that are given."
        )
    positive = spectrum[spectrum > 0.0]
    negative = spectrum[spectrum < 0.0]
    largest = float(positive[0]) if positive.size else 0.0
    noise = max(NOISE * largest, -float(negative.min()) if negative.size else 0.0)
    last = float(spectrum[n_components - 1])
    following = (
        float(spectrum[n_components]) if spectrum.size > n_components else float("nan")
    )
    return Verdict(
        supported=int(np.count_nonzero(spectrum > noise)),
        gap=(last - following) / last if last > 0.0 else float("nan"),
        next_eigenvalue=following,
        negative_part=float(abs(negative.sum()) / positive.sum()) if largest else 0.0,
        condition=largest / last if last > 0.0 else float("inf"),
    )


def check_rank(spectrum: FloatArray, n_components: int) -> None:
    """Refuse more components than there are positive eigenvalues.

    Parameters
    ----------
    spectrum : ndarray of shape (p,)
        Eigenvalues, descending by algebraic value.
    n_components : int
        Number of components k that are asked for.

    Raises
    ------
    RankError
        With the number of components that the moments do support.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.whitening.verdicts import check_rank
    >>> check_rank(np.array([1.0, -0.5]), 2)
    Traceback (most recent call last):
    ...
    tercet.exceptions.RankError: n_components=2 is more than the moments support: \
only 1 eigenvalue of the pair moment is above zero (the largest is 1). Ask for \
1 component at most, or collect more data.
    """
    require_components(n_components)
    largest = float(spectrum[0]) if spectrum.size else 0.0
    above = int(np.count_nonzero(spectrum > NOISE * max(largest, 0.0)))
    if largest <= 0.0:
        above = 0
    if n_components <= above:
        return
    if n_components > spectrum.size and above == spectrum.size:
        raise RankError(
            f"n_components={n_components} is more than the {spectrum.size} directions "
            f"that were collected; collect again with n_components={n_components}.",
            above,
        )
    counted = "eigenvalue" if above == 1 else "eigenvalues"
    verb = "is" if above == 1 else "are"
    remedy = (
        f"Ask for {above} component{'s' if above != 1 else ''} at most, or collect more "
        "data."
        if above
        else "Check that the rows share any features at all."
    )
    raise RankError(
        f"n_components={n_components} is more than the moments support: only {above} "
        f"{counted} of the pair moment {verb} above zero (the largest is "
        f"{largest:.3g}). {remedy}",
        above,
    )


def require_components(n_components: object) -> None:
    """Demand a whole number of components of at least one.

    Parameters
    ----------
    n_components : int
        Number of components k that are asked for.

    Examples
    --------
    >>> from tercet.whitening.verdicts import require_components
    >>> require_components(3)
    """
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if not whole or int(str(n_components)) < 1:
        raise ParameterError(
            f"n_components={n_components!r} must be an integer of at least 1."
        )
