"""Collect the moments of data against a basis, in one pass or a few."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import DataError, ParameterError
from tercet.flow import (
    FAMILIES,
    Family,
    FloatArray,
    IntArray,
    Moments,
    Registry,
    Source,
)
from tercet.intake import ThinnedSource, make_generator, open_source
from tercet.moments.passes import SumsPass, SumsState
from tercet.moments.subspace import GRAM_LIMIT, draw_sketch, find_subspace

__all__ = ["BasisChooser", "Strategy", "collect", "collect_against", "resolve_family"]

Strategy: TypeAlias = Literal["auto", "subspace", "exact", "sketch"]

_STRATEGIES = Registry[str]("strategy")
for _name in ("auto", "subspace", "exact", "sketch"):
    _STRATEGIES.add(_name, _name)


@runtime_checkable
class BasisChooser(Protocol):
    """A family whose basis must have a form of its own."""

    def choose_basis(
        self,
        source: Source,
        n_components: int,
        *,
        strategy: str,
        extra: int,
        n_iterations: int,
        rng: np.random.Generator,
    ) -> FloatArray | None:
        """Return an orthonormal basis (d, p), or None where any one will do."""
        ...


def resolve_family(family: Family | str) -> Family:
    """Return the family itself, or build the one of the given name.

    Examples
    --------
    >>> import tercet
    >>> from tercet.moments import resolve_family
    >>> resolve_family("poisson").name
    'poisson'
    """
    if isinstance(family, str):
        return FAMILIES[family]()
    if isinstance(family, type) or not isinstance(family, Family):
        raise ParameterError(
            f"family={family!r} is neither a family nor its name; give an object of "
            f"tercet.families or one of {', '.join(map(repr, FAMILIES))}."
        )
    return family


def collect(
    X: Any,
    family: Family | str = "single-topic",
    n_components: int = 10,
    *,
    sample_weight: ArrayLike | None = None,
    strategy: Strategy = "auto",
    basis: FloatArray | None = None,
    extra: int = 8,
    n_iterations: int = 2,
    slices: ArrayLike | Literal["all"] | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    block_rows: int | None = None,
    partial: bool = False,
) -> Moments:
    """Collect the sums from which a model with up to `n_components` can be learned.

    Parameters
    ----------
    X : array, sparse array, data frame, blocks, callable, iterator or Source
        Rows of data; see `tercet.intake.open_source`.
    family : Family or str
        The model, as an object of `tercet.families` or its name.
    n_components : int
        Largest number of components that will be asked of these sums.
    sample_weight : array of shape (n,) or None
        Row weights (only for data in memory; blocks carry their own).
    strategy : {"auto", "subspace", "exact", "sketch"}
        How the basis is found. "subspace": randomised subspace iteration,
        `n_iterations + 2` readings of the data; "exact": eigenvectors of the
        Gram matrix, two readings, small d only; "sketch": random directions,
        one reading. "auto" takes "sketch" for rows that can be read once only,
        "exact" up to 256 features, else "subspace".
    basis : ndarray of shape (d, p) or None
        Collect against a given basis instead (that of other `Moments`, so that
        both can be added): one reading.
    extra : int
        Basis columns beyond `n_components`. They make the subspace accurate,
        show the spectrum beyond k, and let coefficients change afterwards. A
        sketch takes `2 * n_components + 2 * extra` columns.
    n_iterations : int
        Subspace iterations.
    slices : "all", array of feature indices, or None
        Features whose whitened slices are to be collected as well.
    random_state : int, Generator or None
        Seed of the starting block or sketch, and of three-word sampling; None is
        a fixed seed, so that the same rows always give the same sums.
    n_jobs : int or None
        Threads; None is one, -1 all.
    block_rows : int or None
        Rows a block; None chooses a size that suits the cache.
    partial : bool
        Whether other sums will be added, so that these rows alone need not
        have three tokens anywhere.

    Returns
    -------
    Moments
        Sums, ready to be merged, saved or decomposed.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.moments import collect
    >>> X = np.random.default_rng(0).poisson(1.0, size=(50, 6))
    >>> moments = collect(X, "poisson", n_components=2, random_state=0)
    >>> moments.n_rows, moments.width
    (50, 6)
    """
    family = resolve_family(family)
    _check_count("n_components", n_components, 1)
    _check_count("extra", extra, 0)
    _check_count("n_iterations", n_iterations, 0)
    _STRATEGIES[strategy]
    rng = make_generator(random_state)
    source = _open(X, family, sample_weight, n_jobs, block_rows)
    if n_components > source.n_features:
        raise ParameterError(
            f"n_components={n_components} is more than the {source.n_features} "
            "features of the data can support; ask for fewer components."
        )
    if family.plan.weighting == "three-words":
        source = ThinnedSource(source, n_tokens=3, seed=int(rng.integers(2**63)))
    if basis is not None:
        directions, orthonormal = _check_basis(basis, source.n_features)
    else:
        directions, orthonormal = _choose_basis(
            source, family, n_components, strategy, extra, n_iterations, rng
        )
    features = _check_features(slices, source.n_features)
    return collect_against(
        source,
        family,
        directions,
        orthonormal=orthonormal,
        features=features,
        partial=partial,
    )


def collect_against(
    source: Source,
    family: Family,
    basis: FloatArray,
    *,
    orthonormal: bool,
    features: IntArray | None = None,
    partial: bool = False,
) -> Moments:
    """Collect sums against a basis in one reading of a source.

    Parameters
    ----------
    source : Source
        Rows.
    family : Family
        Says how rows are weighted.
    basis : ndarray of shape (d, p)
        Directions.
    orthonormal : bool
        Whether they are orthonormal.
    features : ndarray of shape (m,) or None
        Features whose slices are wanted.
    partial : bool
        Whether other sums will be added; see `collect`.

    Returns
    -------
    Moments
        The sums.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families import Poisson
    >>> from tercet.intake import open_source
    >>> from tercet.moments import collect_against
    >>> source = open_source([[2, 1, 0], [0, 1, 4]])
    >>> sums = collect_against(source, Poisson(), np.eye(3), orthonormal=True)
    >>> sums.first[0]
    array([2., 2., 4.])
    """
    work = SumsPass(
        np.ascontiguousarray(basis, dtype=np.float64),
        family.plan,
        features,
        correction=1.0 if family.factorial else 0.0,
    )
    state = source.run(work)
    _check_tokens(state, by_tokens=family.plan.by_tokens and not partial)
    tally = state.tally
    return Moments(
        family=family,
        basis=work.basis,
        orthonormal=orthonormal,
        n_rows=tally.n_rows,
        total_weight=tally.total_weight,
        masses=tally.masses,
        lengths=tally.lengths,
        longest=tally.longest,
        short=tally.short,
        first=tally.first,
        pair=state.pair,
        cross=state.cross,
        third=state.third,
        energy=state.energy,
        power=state.power,
        slices=state.slices,
        slice_features=features,
        feature_names=source.feature_names,
    )


def _open(
    X: Any,
    family: Family,
    sample_weight: ArrayLike | None,
    n_jobs: int | None,
    block_rows: int | None,
) -> Source:
    return open_source(
        X,
        sample_weight=sample_weight,
        requirement=family.requirement,
        n_jobs=n_jobs,
        block_rows=block_rows,
    )


def _choose_basis(
    source: Source,
    family: Family,
    n_components: int,
    strategy: str,
    extra: int,
    n_iterations: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, bool]:
    """Return a basis and whether it is orthonormal."""
    d = source.n_features
    if strategy == "auto":
        several = "exact" if d <= GRAM_LIMIT else "subspace"
        strategy = several if source.rereadable else "sketch"
    if strategy != "sketch" and not source.rereadable:
        raise ParameterError(
            f"strategy={strategy!r} reads the rows several times, which an iterator "
            "cannot do; use strategy='sketch', or pass a callable that gives the "
            "blocks anew each time."
        )
    if isinstance(family, BasisChooser):
        chosen = family.choose_basis(
            source,
            n_components,
            strategy=strategy,
            extra=extra,
            n_iterations=n_iterations,
            rng=rng,
        )
        if chosen is not None:
            return chosen, True
    if strategy == "sketch":
        width = 2 * (n_components + extra)
        if width >= d:
            return np.eye(d), True
        return draw_sketch(d, width, rng), False
    width = min(n_components + extra, d)
    if family.plan.energy:
        # Directions must be left over in which there is nothing but noise.
        width = min(width, max(n_components, (d + n_components) // 2))
    directions = find_subspace(
        source,
        family.plan,
        width,
        rng,
        factorial=family.factorial,
        exact=strategy == "exact",
        n_iterations=n_iterations,
    )
    return directions, True


def _check_count(name: str, value: int, least: int) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError(
            f"{name}={value!r} must be an integer of at least {least}."
        )


def _check_basis(basis: FloatArray, n_features: int) -> tuple[FloatArray, bool]:
    given = np.asarray(basis)
    if given.dtype.kind not in "iuf":
        raise ParameterError(
            f"basis has values of dtype {given.dtype}; give real numbers, for example "
            "the `basis` of other Moments."
        )
    directions = np.ascontiguousarray(given, dtype=np.float64)
    sound = directions.ndim == 2 and directions.shape[0] == n_features
    if not sound or directions.shape[1] == 0:
        raise ParameterError(
            f"basis has shape {directions.shape}, but the data have {n_features} "
            "features; give an array of shape (n_features, p)."
        )
    if not np.isfinite(directions).all():
        raise ParameterError(
            "basis holds NaN or infinite entries; give finite directions, for example "
            "the `basis` of other Moments."
        )
    gram = directions.T @ directions
    return directions, bool(np.allclose(gram, np.eye(gram.shape[0]), atol=1e-10))


def _check_features(
    slices: ArrayLike | Literal["all"] | None, n_features: int
) -> IntArray | None:
    if slices is None:
        return None
    if isinstance(slices, str):
        if slices != "all":
            raise ParameterError(
                f"slices={slices!r} is not known; give 'all', feature indices or None."
            )
        return np.arange(n_features, dtype=np.int64)
    features = np.asarray(slices)
    sound = (
        features.ndim == 1
        and features.dtype.kind in "iu"
        and bool(np.all((features >= 0) & (features < n_features)))
        and np.unique(features).size == features.size
    )
    if not sound:
        raise ParameterError(
            f"slices={slices!r} must be distinct feature indices from 0 to "
            f"{n_features - 1}, 'all' or None."
        )
    return features.astype(np.int64)


def _check_tokens(state: SumsState, *, by_tokens: bool) -> None:
    """Refuse data from which no pair or no triple of tokens can be drawn."""
    tally = state.tally
    if tally.n_rows == 0:
        raise DataError("X has no rows; give at least one.")
    if by_tokens and tally.masses[2] <= 0.0:
        if tally.short[2] < tally.n_rows:
            raise DataError(
                f"Only documents of weight zero have three tokens (of {tally.n_rows}), so "
                "there are no triples to learn from; give longer documents a weight."
            )
        raise DataError(
            f"All {tally.n_rows} documents (over {tally.first.shape[1]} feature(s)) have "
            "fewer than three tokens, so there are no triples to learn from; join short "
            "documents or use longer ones."
        )
    if tally.total_weight <= 0.0:
        raise DataError(
            f"All {tally.n_rows} rows have weight zero; give at least one a positive "
            "weight."
        )
