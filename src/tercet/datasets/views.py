"""Two views of the same rows, drawn from the models of aligned views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.families.draws import draw_poisson_counts
from tercet.families.settings import check_count, check_positive
from tercet.flow import FloatArray, Registry

__all__ = [
    "ViewSample",
    "ViewTruth",
    "make_discrete_cca",
    "make_mixed_cca",
    "make_non_gaussian_cca",
]

Rows: TypeAlias = sparse.csr_array | FloatArray


@dataclass(frozen=True, eq=False)
class ViewTruth:
    """Loadings that two views are drawn with.

    Parameters
    ----------
    loadings : pair of ndarray, (d1, k) and (d2, k)
        Columns by which the shared sources enter each view.
    noise_loadings : pair of ndarray, (d1, k1) and (d2, k2)
        Columns by which the noise sources of each view enter it.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.datasets import ViewTruth, make_discrete_cca
    >>> eye, ones = np.eye(2), np.ones((2, 1)) / 2.0
    >>> truth = ViewTruth((eye, eye), (ones, ones))
    >>> make_discrete_cca(9, truth=truth).sources.shape
    (9, 2)
    """

    loadings: tuple[FloatArray, FloatArray]
    noise_loadings: tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class ViewSample:
    """Two views of the same rows together with the truth behind them.

    Parameters
    ----------
    views : pair of csr_array or ndarray, (n, d1) and (n, d2)
        Counts (int32, sparse) or dense values.
    truth : ViewTruth
        Loadings.
    sources : ndarray of shape (n, k)
        Shared sources of each row.
    settings : mapping
        What was asked for, every argument by name.

    Examples
    --------
    >>> from tercet.datasets import make_discrete_cca
    >>> sample = make_discrete_cca(10, setting="2D")
    >>> sample.views[0].shape, sample.truth.loadings[0].shape, sample.sources.shape
    ((10, 2), (2, 1), (10, 1))
    """

    views: tuple[Rows, Rows]
    truth: ViewTruth
    sources: FloatArray
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Setting:
    """Sizes and shapes of a setting of section 4.6.1."""

    n_features: tuple[int, int]
    n_components: int
    n_noise: tuple[int, int]
    shape: float
    noise_shape: float
    length: float


_SETTINGS = Registry[_Setting]("setting")
_SETTINGS.add("2D", _Setting((2, 2), 1, (2, 2), 0.1, 0.1, 100.0))
_SETTINGS.add("20D", _Setting((20, 20), 10, (20, 20), 0.3, 0.1, 1000.0))

_LOADINGS_2D = np.array([[0.5], [0.5]])
_NOISE_2D = np.array([[0.9, 0.1], [0.1, 0.9]])


def make_discrete_cca(
    n_rows: int = 1000,
    *,
    setting: str = "20D",
    n_features: Sequence[int] | None = None,
    n_components: int | None = None,
    n_noise: Sequence[int] | None = None,
    shape: float | None = None,
    noise_shape: float | None = None,
    length: float | None = None,
    noise_length: float | None = None,
    prior: float = 0.5,
    truth: ViewTruth | None = None,
    random_state: int | Generator | None = 0,
) -> ViewSample:
    """Draw two views of counts from linear discrete CCA (paper 002, equation 4.50).

    Sources are gamma numbers; the rates make rows `length` tokens long on average
    through the shared sources and `noise_length` through those of each view.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    setting : {"20D", "2D"}
        Where the other arguments come from when they are left out: "2D" has two
        features a view, one shared source and the fixed loadings of figure 4-2,
        "20D" twenty features, ten shared sources and twenty noise sources a view.
    n_features : pair of int or None
        Features of the views.
    n_components : int or None
        Shared sources.
    n_noise : pair of int or None
        Noise sources of the views.
    shape, noise_shape : float or None
        Gamma shapes of shared and noise sources.
    length, noise_length : float or None
        Expected tokens of a row from shared and from noise sources.
    prior : float
        Dirichlet parameter of loadings.
    truth : ViewTruth or None
        Loadings; None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each time.

    Returns
    -------
    ViewSample
        Counts with the truth.

    Examples
    --------
    >>> from tercet.datasets import make_discrete_cca
    >>> first = make_discrete_cca(5, random_state=0)
    >>> again = make_discrete_cca(8, truth=first.truth, random_state=1)
    >>> again.views[1].shape, again.truth is first.truth
    ((8, 20), True)
    """
    rng = np.random.default_rng(random_state)
    base = _SETTINGS[setting]
    sizes = _pair("n_features", n_features or base.n_features)
    noises = _pair("n_noise", n_noise or base.n_noise)
    k = base.n_components if n_components is None else n_components
    check_count("n_components", k, 1)
    check_positive("prior", prior)
    own = setting == "2D" and (sizes, noises, k) == ((2, 2), (2, 2), 1)
    if truth is None and own:
        truth = ViewTruth((_LOADINGS_2D, _LOADINGS_2D), (_NOISE_2D, _NOISE_2D))
    elif truth is None:
        truth = ViewTruth(
            _draw_pair(rng, sizes, (k, k), prior), _draw_pair(rng, sizes, noises, prior)
        )
    settings = {
        "n_rows": n_rows,
        "setting": setting,
        "shape": base.shape if shape is None else shape,
        "noise_shape": base.noise_shape if noise_shape is None else noise_shape,
        "length": base.length if length is None else length,
        "noise_length": base.length if noise_length is None else noise_length,
        "prior": prior,
    }
    sources, noise = _draw_sources(rng, truth, settings)
    views = [
        draw_poisson_counts(
            np.hstack([sources, noise[j]]),
            np.hstack([truth.loadings[j], truth.noise_loadings[j]]),
            rng,
        )
        for j in (0, 1)
    ]
    return ViewSample(
        (views[0], views[1]), truth, sources, _tell(settings, truth, random_state)
    )


def make_non_gaussian_cca(
    n_rows: int = 1000,
    *,
    n_features: Sequence[int] = (20, 20),
    n_components: int = 10,
    n_noise: Sequence[int] | None = None,
    shape: float = 0.1,
    noise_shape: float = 0.1,
    length: float = 1000.0,
    noise_length: float = 1000.0,
    symmetric: bool = True,
    truth: ViewTruth | None = None,
    random_state: int | Generator | None = 0,
) -> ViewSample:
    """Draw two continuous views from linear non-Gaussian CCA (equation 4.51).

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : pair of int
        Features of the views.
    n_components : int
        Shared sources.
    n_noise : pair of int or None
        Noise sources of the views; None takes as many as shared ones.
    shape, noise_shape : float
        Gamma shapes of shared and noise sources.
    length, noise_length : float
        Expected sum of the sizes of the shared and of the noise sources.
    symmetric : bool
        Whether sources have random signs, as in the paper, or are skewed.
    truth : ViewTruth or None
        Loadings; None draws them uniformly, columns of unit l1-norm.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each time.

    Returns
    -------
    ViewSample
        Values with the truth.

    Examples
    --------
    >>> from tercet.datasets import make_non_gaussian_cca
    >>> sample = make_non_gaussian_cca(50, n_features=(6, 4), n_components=2)
    >>> sample.views[0].shape, sample.views[1].shape
    ((50, 6), (50, 4))
    """
    rng = np.random.default_rng(random_state)
    sizes = _pair("n_features", n_features)
    check_count("n_components", n_components, 1)
    noises = _pair("n_noise", n_noise or (n_components, n_components))
    if truth is None:
        k = n_components
        truth = ViewTruth(
            _draw_signed(rng, sizes, (k, k)), _draw_signed(rng, sizes, noises)
        )
    settings = {
        "n_rows": n_rows,
        "shape": shape,
        "noise_shape": noise_shape,
        "length": length,
        "noise_length": noise_length,
        "symmetric": symmetric,
    }
    sources, noise = _draw_sources(rng, truth, settings, symmetric=symmetric)
    views = [
        sources @ truth.loadings[j].T + noise[j] @ truth.noise_loadings[j].T
        for j in (0, 1)
    ]
    return ViewSample(
        (views[0], views[1]), truth, sources, _tell(settings, truth, random_state)
    )


def make_mixed_cca(
    n_rows: int = 1000,
    *,
    n_features: Sequence[int] = (20, 20),
    n_components: int = 10,
    n_noise: Sequence[int] | None = None,
    shape: float = 0.3,
    noise_shape: float = 0.1,
    length: float = 1000.0,
    noise_length: float = 1000.0,
    prior: float = 0.5,
    truth: ViewTruth | None = None,
    random_state: int | Generator | None = 0,
) -> ViewSample:
    """Draw a continuous view and a view of counts that share gamma sources (4.11).

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_features : pair of int
        Features of the continuous view and of the view of counts.
    n_components : int
        Shared sources.
    n_noise : pair of int or None
        Noise sources of the views; None takes as many as features.
    shape, noise_shape : float
        Gamma shapes of shared and noise sources.
    length, noise_length : float
        Expected sum of the shared and of the noise sources.
    prior : float
        Dirichlet parameter of the loadings of counts; those of the continuous
        view are uniform, columns of unit l1-norm.
    truth : ViewTruth or None
        Loadings; None draws them.
    random_state : int, Generator or None
        The same number always gives the same sample; None gives another each time.

    Returns
    -------
    ViewSample
        Values and counts with the truth.

    Examples
    --------
    >>> from tercet.datasets import make_mixed_cca
    >>> sample = make_mixed_cca(50, n_features=(6, 4), n_components=2)
    >>> sample.views[1].dtype
    dtype('int32')
    """
    rng = np.random.default_rng(random_state)
    sizes = _pair("n_features", n_features)
    check_count("n_components", n_components, 1)
    check_positive("prior", prior)
    noises = _pair("n_noise", n_noise or sizes)
    if truth is None:
        k = n_components
        signed = _draw_signed(rng, sizes, (k, k)), _draw_signed(rng, sizes, noises)
        counted = (
            _draw_pair(rng, sizes, (k, k), prior),
            _draw_pair(rng, sizes, noises, prior),
        )
        truth = ViewTruth((signed[0][0], counted[0][1]), (signed[1][0], counted[1][1]))
    settings = {
        "n_rows": n_rows,
        "shape": shape,
        "noise_shape": noise_shape,
        "length": length,
        "noise_length": noise_length,
        "prior": prior,
    }
    sources, noise = _draw_sources(rng, truth, settings)
    values = sources @ truth.loadings[0].T + noise[0] @ truth.noise_loadings[0].T
    counts = draw_poisson_counts(
        np.hstack([sources, noise[1]]),
        np.hstack([truth.loadings[1], truth.noise_loadings[1]]),
        rng,
    )
    return ViewSample(
        (values, counts), truth, sources, _tell(settings, truth, random_state)
    )


def _pair(name: str, values: Sequence[int]) -> tuple[int, int]:
    if len(values) != 2:
        raise ParameterError(f"{name}={values!r} must hold a number for each view.")
    for value in values:
        check_count(name, value, 1)
    return int(values[0]), int(values[1])


def _draw_pair(
    rng: Generator, sizes: tuple[int, int], counts: tuple[int, int], prior: float
) -> tuple[FloatArray, FloatArray]:
    """Draw probability vectors as columns for each view."""
    first, second = (
        np.ascontiguousarray(rng.dirichlet(np.full(size, prior), size=count).T)
        for size, count in zip(sizes, counts, strict=True)
    )
    return first, second


def _draw_signed(
    rng: Generator, sizes: tuple[int, int], counts: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Draw uniform columns of unit l1-norm for each view."""
    drawn = [
        rng.uniform(-1.0, 1.0, size=(size, count))
        for size, count in zip(sizes, counts, strict=True)
    ]
    first, second = (columns / np.abs(columns).sum(axis=0) for columns in drawn)
    return first, second


def _draw_sources(
    rng: Generator,
    truth: ViewTruth,
    settings: Mapping[str, Any],
    *,
    symmetric: bool = False,
) -> tuple[FloatArray, list[FloatArray]]:
    """Draw shared sources, and noise sources of each view."""
    n_rows = settings["n_rows"]
    check_count("n_rows", n_rows, 1)
    for name in ("shape", "noise_shape", "length", "noise_length"):
        check_positive(name, settings[name])

    def draw(count: int, shape: float, length: float) -> FloatArray:
        scale = length / (count * shape)
        values = rng.gamma(shape, scale, size=(n_rows, count))
        return (
            values * rng.choice([-1.0, 1.0], size=values.shape) if symmetric else values
        )

    sources = draw(truth.loadings[0].shape[1], settings["shape"], settings["length"])
    noise = [
        draw(part.shape[1], settings["noise_shape"], settings["noise_length"])
        for part in truth.noise_loadings
    ]
    return sources, noise


def _tell(
    settings: Mapping[str, Any],
    truth: ViewTruth,
    random_state: int | Generator | None,
) -> dict[str, Any]:
    """Return what was asked for, a generator as None."""
    sizes = [part.shape for part in truth.loadings]
    return {
        **settings,
        "n_features": (sizes[0][0], sizes[1][0]),
        "n_components": sizes[0][1],
        "n_noise": tuple(part.shape[1] for part in truth.noise_loadings),
        "random_state": None if isinstance(random_state, Generator) else random_state,
    }
