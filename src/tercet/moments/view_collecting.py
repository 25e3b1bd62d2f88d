"""Collect the sums of two aligned views against bases that suit both."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, Registry
from tercet.intake import PairedSource, make_generator, open_pair
from tercet.moments.subspace import GRAM_LIMIT, draw_sketch, orthonormalize
from tercet.moments.tilted_pass import TiltedPass
from tercet.moments.view_passes import CrossPass, CrossState, ViewsPass
from tercet.moments.views import Pair, TwoViewMoments

__all__ = ["VIEW_KINDS", "collect_tilts", "collect_views", "find_view_bases"]

VIEW_KINDS = Registry[str]("kinds")
"""Kinds of views with what `tercet.intake` requires of their values."""
VIEW_KINDS.add("counts", "counts")
VIEW_KINDS.add("reals", "reals")

_STRATEGIES = Registry[str]("strategy")
for _name in ("auto", "subspace", "exact", "sketch"):
    _STRATEGIES.add(_name, _name)


def collect_views(
    X1: Any,
    X2: Any = None,
    n_components: int = 10,
    *,
    kinds: tuple[str, str] = ("counts", "counts"),
    sample_weight: ArrayLike | None = None,
    strategy: str = "auto",
    like: TwoViewMoments | None = None,
    extra: int = 8,
    n_iterations: int = 2,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    block_rows: int | None = None,
) -> TwoViewMoments:
    """Collect the sums of two views of the same rows.

    Parameters
    ----------
    X1, X2 : array, sparse array, data frame, blocks, callable or iterator
        The views; or X1 a `PairedSource` and X2 left out.
    n_components : int
        Largest number of shared sources that will be asked of these sums.
    kinds : pair of {"counts", "reals"}
        Whether a view carries Poisson noise.
    sample_weight : array of shape (n,) or None
        Weights of the pairs of rows.
    strategy : {"auto", "subspace", "exact", "sketch"}
        How the bases are found. "subspace": randomised SVD of the implicit
        cross-covariance, `2 * n_iterations + 3` readings; "exact": SVD of the
        cross-covariance itself, few features only; "sketch": random directions,
        one reading. "auto" takes "sketch" for rows that can be read once only,
        "exact" up to 256 features, else "subspace".
    like : TwoViewMoments or None
        Sums to which the new ones shall be added: their bases, shifts and
        points are taken over.
    extra : int
        Basis columns beyond `n_components`; a sketch takes
        `2 * n_components + 2 * extra`.
    n_iterations : int
        Iterations of the randomised SVD.
    random_state : int, Generator or None
        Seed of the starting block or sketch.
    n_jobs : int or None
        Threads; None is one, -1 all.
    block_rows : int or None
        Rows a block; None chooses a size that suits the cache.

    Returns
    -------
    TwoViewMoments
        Sums, ready to be merged, saved or learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments import collect_views
    >>> rng = np.random.default_rng(0)
    >>> sums = collect_views(rng.poisson(1.0, (50, 6)), rng.poisson(1.0, (50, 4)), 2)
    >>> sums.n_rows, sums.shape, sums.widths
    (50, (6, 4), (6, 4))
    """
    _check_whole("n_components", n_components, 1)
    _check_whole("extra", extra, 0)
    _check_whole("n_iterations", n_iterations, 0)
    _STRATEGIES[strategy]
    if like is not None:
        kinds = like.kinds
    requirements = (VIEW_KINDS[kinds[0]], VIEW_KINDS[kinds[1]])
    if isinstance(X1, PairedSource):
        source = X1
    else:
        source = open_pair(
            X1,
            X2,
            sample_weight=sample_weight,
            requirements=requirements,
            n_jobs=n_jobs,
            block_rows=block_rows,
        )
    if like is None:
        rng = make_generator(random_state)
        bases, shifts, orthonormal = find_view_bases(
            source, kinds, n_components, strategy, extra, n_iterations, rng
        )
        return _collect_against(source, kinds, bases, shifts, orthonormal=orthonormal)
    if like.shape != (source.n_features, source.second_features):
        raise DataError(
            f"X1 and X2 have {source.n_features} and {source.second_features} features, "
            f"but like= has {like.shape[0]} and {like.shape[1]}."
        )
    found = _collect_against(
        source, kinds, like.bases, like.shifts, orthonormal=like.orthonormal
    )
    if like.tilts is None:
        return found
    return collect_tilts(source, found, like.tilts.points)


def collect_tilts(
    source: PairedSource, moments: TwoViewMoments, points: Pair
) -> TwoViewMoments:
    """Add the sums for generalised covariances to those of the same rows.

    Parameters
    ----------
    source : PairedSource
        The rows that `moments` were collected from.
    moments : TwoViewMoments
        Their sums.
    points : pair of ndarray, (P1, d1) and (P2, d2)
        Processing points of each view.

    Returns
    -------
    TwoViewMoments
        The same sums with `tilts`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import open_pair
    >>> from tercet.moments import collect_tilts, collect_views
    >>> rng = np.random.default_rng(0)
    >>> pair = open_pair(rng.poisson(1.0, (50, 3)), rng.poisson(1.0, (50, 2)))
    >>> points = np.full((1, 3), 0.1), np.zeros((1, 2))
    >>> collect_tilts(pair, collect_views(pair, None, 1), points).tilts.crosses.shape
    (2, 3, 2)
    """
    work = TiltedPass(points, moments.bases, moments.shifts, moments.kinds)
    return replace(moments, tilts=source.run(work))


def find_view_bases(
    source: PairedSource,
    kinds: tuple[str, str],
    n_components: int,
    strategy: str,
    extra: int,
    n_iterations: int,
    rng: np.random.Generator,
) -> tuple[Pair, Pair, bool]:
    """Choose directions for each view, and where projected rows are shifted to.

    Parameters
    ----------
    source : PairedSource
        Rows.
    kinds : pair of {"counts", "reals"}
        Counts are near zero already and need no shift.
    n_components, strategy, extra, n_iterations
        As in `collect_views`.
    rng : numpy.random.Generator
        Draws starting blocks and sketches.

    Returns
    -------
    bases : pair of ndarray, (d1, p1) and (d2, p2)
        C-ordered directions.
    shifts : pair of ndarray, (p1,) and (p2,)
        Centers of the projected rows, nearly; zero for rows read once.
    orthonormal : bool
        Whether the bases are orthonormal, or random sketches.
    """
    sizes = (source.n_features, source.second_features)
    strategy = _choose_strategy(source, sizes, strategy)
    means = [np.zeros(size) for size in sizes]
    if source.rereadable and "reals" in kinds:
        state = source.run(_totals_pass(sizes))
        means = [total / max(state.total_weight, 1e-300) for total in state.totals]
    width = n_components + extra
    if strategy == "sketch":
        bases = [
            np.eye(size) if 2 * width >= size else draw_sketch(size, 2 * width, rng)
            for size in sizes
        ]
        orthonormal = all(2 * width >= size for size in sizes)
    else:
        bases = _find_subspaces(
            source, sizes, width, means, n_iterations, rng, exact=strategy == "exact"
        )
        orthonormal = True
    first, second = (np.ascontiguousarray(basis) for basis in bases)
    return (first, second), (means[0] @ first, means[1] @ second), orthonormal


def _choose_strategy(
    source: PairedSource, sizes: tuple[int, int], strategy: str
) -> str:
    if strategy == "auto":
        if not source.rereadable:
            return "sketch"
        return "exact" if max(sizes) <= GRAM_LIMIT else "subspace"
    if strategy != "sketch" and not source.rereadable:
        raise ParameterError(
            f"strategy={strategy!r} reads the rows several times, which an iterator "
            "cannot do; use strategy='sketch', or pass a callable that gives the "
            "blocks anew each time."
        )
    return strategy


def _totals_pass(sizes: tuple[int, int]) -> CrossPass:
    return CrossPass(np.zeros((sizes[0], 0)), np.zeros(0), 0, sizes[1])


def _find_subspaces(
    source: PairedSource,
    sizes: tuple[int, int],
    width: int,
    means: list[FloatArray],
    n_iterations: int,
    rng: np.random.Generator,
    *,
    exact: bool,
) -> list[FloatArray]:
    """Return bases of the leading left and right singular vectors."""

    def multiply(basis: FloatArray, side: int) -> FloatArray:
        basis = np.ascontiguousarray(basis)
        work = CrossPass(basis, means[side] @ basis, side, sizes[1 - side])
        return _center(source.run(work), side)

    if max(sizes) <= width:
        return [np.eye(size) for size in sizes]
    if exact:
        left, _, right = linalg.svd(multiply(np.eye(sizes[1]), 1), full_matrices=False)
        bases = [left[:, :width], right[:width].T]
    else:
        second = rng.standard_normal((sizes[1], min(width, *sizes)))
        for _ in range(n_iterations + 1):
            first = orthonormalize(multiply(second, 1))
            second = orthonormalize(multiply(first, 0))
        bases = [first, second]
    return [
        np.eye(size) if size <= width else basis
        for size, basis in zip(sizes, bases, strict=True)
    ]


def _center(state: CrossState, side: int) -> FloatArray:
    """Return the product of the cross-covariance and the basis, up to a factor."""
    mass = max(state.total_weight, 1e-300)
    mean = state.totals[1 - side] / mass
    return state.lift / mass - np.outer(mean, state.center / mass)


def _collect_against(
    source: PairedSource,
    kinds: tuple[str, str],
    bases: Pair,
    shifts: Pair,
    *,
    orthonormal: bool,
) -> TwoViewMoments:
    """Collect all sums in one reading."""
    state = source.run(ViewsPass(bases, shifts))
    return TwoViewMoments(
        kinds=(str(kinds[0]), str(kinds[1])),
        bases=bases,
        shifts=shifts,
        orthonormal=orthonormal,
        n_rows=state.n_rows,
        total_weight=state.total_weight,
        magnitudes=state.magnitudes,
        totals=state.totals,
        squares=state.squares,
        centers=state.centers,
        lifts=state.lifts,
        within=state.within,
        cross=state.cross,
        thirds=state.thirds,
        feature_names=source.feature_names,
        second_names=source.second_names,
    )


def _check_whole(name: str, value: int, least: int) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError(
            f"{name}={value!r} must be an integer of at least {least}."
        )
