"""Generators of random numbers from what users give as a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tercet.exceptions import ParameterError

__all__ = ["make_generator"]

# The same data give the same answer unless somebody asks for another draw.
_FIXED_SEED = 0


def make_generator(random_state: Any = None) -> np.random.Generator:
    """Return a generator of random numbers from what scikit-learn's users give.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        None is a fixed seed: the same data then always give the same answer.

    Returns
    -------
    numpy.random.Generator
        A generator; a `Generator` is returned as it is.

    Examples
    --------
    >>> from tercet.intake import make_generator
    >>> int(make_generator(None).integers(9)) == int(make_generator(0).integers(9))
    True
    """
    if random_state is None:
        return np.random.default_rng(_FIXED_SEED)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"random_state={random_state!r} cannot seed a generator ({error}); give "
            "None, a non-negative integer or a numpy.random.Generator."
        ) from error
