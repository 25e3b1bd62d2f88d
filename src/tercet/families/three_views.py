"""Mixtures learned from three views of the features, without any diagonal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy import linalg, sparse

from tercet.exceptions import ParameterError, RankError
from tercet.families.bernoulli import Bernoulli
from tercet.families.counts import Poisson
from tercet.families.population import SliceChoice
from tercet.families.recovering import recover_mixture
from tercet.families.settings import check_count
from tercet.families.shifting import shift_moments
from tercet.flow import (
    Equations,
    Factors,
    FloatArray,
    IntArray,
    MomentPlan,
    Moments,
    Parameters,
    Registry,
    Source,
    Whitening,
)
from tercet.moments.passes import PairPass
from tercet.moments.subspace import orthonormalize

__all__ = ["ThreeViews", "split_features"]

_MIXTURES = Registry[Bernoulli | Poisson]("mixture")
_MIXTURES.add("bernoulli", Bernoulli("raw"))
_MIXTURES.add("poisson", Poisson())


def split_features(n_features: int, seed: int) -> IntArray:
    """Deal features to three views of nearly equal size, at random.

    Parameters
    ----------
    n_features : int
        Number of features d.
    seed : int
        The same number always gives the same views.

    Returns
    -------
    ndarray of shape (d,)
        View of each feature: 0, 1 or 2.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.families.three_views import split_features
    >>> np.bincount(split_features(10, seed=0))
    array([4, 3, 3])
    """
    labels = np.arange(n_features, dtype=np.int64) % 3
    return np.asarray(np.random.default_rng(seed).permutation(labels))


@dataclass(frozen=True)
class ThreeViews:
    """A mixture with independent features, seen in three views (Anandkumar 2012b).

    The features are dealt to three views at random. Given the component the
    views are independent, so that moments across views have no entry in which
    a feature is repeated, and nothing has to be corrected or filled in. With
    `P_uv = E[x_u x_v'] = M_u diag(omega) M_v'`, the map

        T_vu = P_vw P_uw^+        (w is the third view)

    takes the centers of view u to those of view v. It brings all three views
    of `E[x_1 (x) x_2 (x) x_3]` into the same coordinates, where the moment is
    symmetric. Pseudo-inverses are of rank k; there must be at least 3 k
    features.

    Sums are raw sums against a basis whose columns touch one view each
    (`choose_basis`, which `tercet.moments.collect` calls), three times as wide
    as other families need. `complete` makes them symmetric when k is known;
    after that every decomposition works on them.

    Parameters
    ----------
    mixture : {"bernoulli", "poisson"}
        What the features are given the component: it says which values are
        accepted and which range the centers have.
    seed : int
        Deals the features to the views.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> from tercet.datasets import make_bernoulli_mixture
    >>> from tercet.families import ThreeViews
    >>> sample = make_bernoulli_mixture(3000, n_features=30, n_components=2)
    >>> family = ThreeViews("bernoulli")
    >>> moments = tercet.moments.collect(sample.rows, family, n_components=2)
    >>> found = tercet.decompose(moments, 2, method="power")
    >>> bool(np.abs(found.weights - sample.parameters.weights).max() < 0.05)
    True
    """

    mixture: str = "bernoulli"
    seed: int = 0

    name: ClassVar[str] = "three-view"
    factorial: ClassVar[bool] = False
    # Nothing is estimated from parameters, so that one filling is enough.
    rounds: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _MIXTURES[self.mixture]
        check_count("seed", self.seed, 0)

    @property
    def requirement(self) -> str:
        """What the mixture accepts."""
        return _MIXTURES[self.mixture].requirement

    @property
    def plan(self) -> MomentPlan:
        """Sums by rows."""
        return MomentPlan("rows")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Arguments that rebuild the family."""
        return {"mixture": self.mixture, "seed": self.seed}

    def choose_basis(
        self,
        source: Source,
        n_components: int,
        *,
        strategy: str,
        extra: int,
        n_iterations: int,
        rng: Generator,
    ) -> FloatArray:
        """Return an orthonormal basis whose columns touch one view each.

        Parameters
        ----------
        source : Source
            Rows; read `n_iterations + 1` times, or not at all for a sketch.
        n_components : int
            Number of components k.
        strategy : str
            "sketch" takes random directions.
        extra : int
            Columns for each view beyond k.
        n_iterations : int
            Subspace iterations.
        rng : numpy.random.Generator
            Draws the starting block.

        Returns
        -------
        ndarray of shape (d, p)
            Basis; `p = 3 (k + extra)` if the views are wide enough.
        """
        d = source.n_features
        _check_width(d, n_components)
        labels = split_features(d, self.seed)
        width = n_components + extra
        start = []
        for view in range(3):
            size = int(np.count_nonzero(labels == view))
            columns = rng.standard_normal((size, min(width, size)))
            start.append(np.eye(size) if size <= width else orthonormalize(columns))
        basis = _place(start, labels)
        narrow = max(block.shape[0] for block in start) <= width
        if strategy == "sketch" or narrow:
            return basis
        for _ in range(n_iterations + 1):
            pair = source.run(PairPass(basis, self.plan)).pair
            basis = _advance(pair, basis, labels)
        return basis

    def equations(self, moments: Moments) -> Equations:
        """Return raw moments; those inside a view wait for `complete`."""
        raw = shift_moments(moments, 0.0, 0.0, 0.0, factorial=False)
        return replace(raw, hollow=True)

    def complete(
        self, equations: Equations, parameters: Parameters | None, n_components: int
    ) -> Equations:
        """Make moments across views symmetric and fill those inside a view.

        Parameters
        ----------
        equations : Equations
            Raw moments against a basis of `choose_basis`; others are returned
            as they are.
        parameters : Parameters or None
            Not needed.
        n_components : int
            Rank k of the model.

        Returns
        -------
        Equations
            Completed moments.
        """
        del parameters
        if not equations.hollow:
            return equations
        _check_width(equations.n_features, n_components)
        labels = split_features(equations.n_features, self.seed)
        columns = _columns_of_views(equations.basis, labels)
        frames, bridges = _bridge_views(equations.pair, columns, n_components)
        pair = np.zeros_like(equations.pair)
        for u, v in permutations(range(3), 2):
            across = equations.pair[np.ix_(columns[u], columns[v])]
            inner = frames[u].T @ across @ frames[v]
            pair += bridges[u] @ inner @ bridges[v].T / 6.0
        lift = np.zeros_like(equations.lift)
        for u, v in permutations(range(3), 2):
            own = labels == v
            seen = equations.lift[np.ix_(own, columns[u])] @ frames[u]
            lift[own] += seen @ bridges[u].T / 2.0
        return replace(
            equations,
            lift=lift,
            pair=pair,
            third=_join_third(equations.third, columns, frames, bridges),
            slices=_join_slices(equations, labels, columns, frames, bridges),
            hollow=False,
        )

    def recover(
        self, factors: Factors, whitening: Whitening, equations: Equations
    ) -> Parameters:
        """Return centers and weights; all features are recovered at once."""
        most = 1.0 if self.mixture == "bernoulli" else np.inf
        return recover_mixture(factors, whitening, equations, least=0.0, most=most)

    def population(
        self,
        parameters: Parameters,
        *,
        basis: FloatArray | None = None,
        slices: SliceChoice = None,
    ) -> Equations:
        """Return the exact moments of given centers and weights.

        Parameters
        ----------
        parameters : Parameters
            Centers as columns, and weights.
        basis : ndarray of shape (d, p) or None
            Basis to express the moments in; None chooses one.
        slices : "all", array of feature indices, or None
            Features whose slices are wanted.

        Returns
        -------
        Equations
            `sum omega mu`, `sum omega mu mu'`, `sum omega mu^(x)3`.
        """
        return _MIXTURES[self.mixture].population(
            parameters, basis=basis, slices=slices
        )

    def sample(
        self, parameters: Parameters, n_rows: int, rng: Generator
    ) -> tuple[sparse.csr_array, IntArray]:
        """Draw rows and the component of each.

        Parameters
        ----------
        parameters : Parameters
            Centers and weights.
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        rows : csr_array of shape (n_rows, d)
            Ones or counts.
        labels : ndarray of shape (n_rows,)
            Component of each row.
        """
        return _MIXTURES[self.mixture].sample(parameters, n_rows, rng)


# Bases whose columns touch one view each ------------------------------------------


def _check_width(n_features: int, n_components: int) -> None:
    """Refuse more components than the smallest view has features."""
    if n_features < 3 * n_components:
        raise RankError(
            f"n_components={n_components} needs three views of as many features, "
            f"{3 * n_components} in all, but there are {n_features}; ask for at most "
            f"{n_features // 3} components or use other moments.",
            n_features // 3,
        )


def _place(blocks: list[FloatArray], labels: IntArray) -> FloatArray:
    """Put one block for each view side by side."""
    widths = [block.shape[1] for block in blocks]
    basis = np.zeros((labels.size, sum(widths)))
    start = 0
    for view, block in enumerate(blocks):
        basis[labels == view, start : start + widths[view]] = block
        start += widths[view]
    return basis


def _columns_of_views(basis: FloatArray, labels: IntArray) -> list[IntArray]:
    """Return which columns touch which view; no column may touch two."""
    touched = np.stack([np.abs(basis[labels == v]).sum(axis=0) for v in range(3)]) > 0
    if np.any(touched.sum(axis=0) != 1) or not touched.any(axis=1).all():
        raise ParameterError(
            "basis mixes the three views, so that moments across views cannot be told "
            "from those inside; collect with family='three-view' and no basis."
        )
    return [np.flatnonzero(row) for row in touched]


def _advance(pair: FloatArray, basis: FloatArray, labels: IntArray) -> FloatArray:
    """Return the leading directions of every view as the other two see it."""
    columns = _columns_of_views(basis, labels)
    blocks = []
    for view in range(3):
        own, width = labels == view, columns[view].size
        others = np.concatenate([columns[v] for v in range(3) if v != view])
        across = pair[np.ix_(own, others)]
        if across.shape[0] <= width:
            blocks.append(np.eye(across.shape[0]))
        else:
            blocks.append(linalg.svd(across, full_matrices=False)[0][:, :width])
    return _place(blocks, labels)


# From view to view ------------------------------------------------------------------


def _bridge_views(
    pair: FloatArray, columns: list[IntArray], n_components: int
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return for each view its k directions and the map from them to all columns.

    A frame U_u spans the centers of view u; the bridge takes coordinates in U_u
    to the columns of all views: `T_vu` for v other than u, `U_u` itself for u.
    """
    frames = []
    for u in range(3):
        others = np.concatenate([columns[v] for v in range(3) if v != u])
        across = pair[np.ix_(columns[u], others)]
        frames.append(linalg.svd(across, full_matrices=False)[0][:, :n_components])

    def inner(u: int, v: int) -> FloatArray:
        return np.asarray(
            frames[u].T @ pair[np.ix_(columns[u], columns[v])] @ frames[v]
        )

    bridges = []
    for u in range(3):
        bridge = np.zeros((pair.shape[0], n_components))
        bridge[columns[u]] = frames[u]
        for v in range(3):
            if v != u:
                w = 3 - u - v
                mapped = _divide(inner(v, w), inner(u, w))
                bridge[columns[v]] = frames[v] @ mapped
        bridges.append(bridge)
    return frames, bridges


def _divide(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return `above @ below^-1`, or say how many components the views share."""
    singular = linalg.svdvals(below)
    supported = int(np.count_nonzero(singular > 1e-12 * singular[0]))
    if supported < below.shape[0]:
        raise RankError(
            f"n_components={below.shape[0]}, but two of the three views share only "
            f"{supported}; ask for at most {supported} components, or deal the "
            "features otherwise (seed).",
            supported,
        )
    return np.asarray(linalg.solve(below.T, above.T).T)


def _join_third(
    third: FloatArray,
    columns: list[IntArray],
    frames: list[FloatArray],
    bridges: list[FloatArray],
) -> FloatArray:
    """Bring `E[z_1 (x) z_2 (x) z_3]` to all columns and make it symmetric."""
    across = third[np.ix_(*columns)]
    lifts = [bridges[u] @ frames[u].T for u in range(3)]
    full = np.einsum("abc,ia,jb,lc->ijl", across, *lifts, optimize=True)
    both = full + full.transpose(0, 2, 1)
    return np.asarray((both + both.transpose(1, 0, 2) + both.transpose(2, 1, 0)) / 6.0)


def _join_slices(
    equations: Equations,
    labels: IntArray,
    columns: list[IntArray],
    frames: list[FloatArray],
    bridges: list[FloatArray],
) -> FloatArray | None:
    """Do the same to slices: a feature of one view sees the other two."""
    if equations.slices is None or equations.slice_features is None:
        return None
    joined = np.zeros_like(equations.slices)
    for view in range(3):
        u, v = (other for other in range(3) if other != view)
        mine = np.flatnonzero(labels[equations.slice_features] == view)
        across = equations.slices[np.ix_(mine, columns[u], columns[v])]
        left, right = bridges[u] @ frames[u].T, bridges[v] @ frames[v].T
        full = np.einsum("mab,ia,jb->mij", across, left, right, optimize=True)
        joined[mine] = (full + full.transpose(0, 2, 1)) / 2.0
    return joined
