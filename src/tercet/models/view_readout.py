"""What a fitted pair of views says about rows: sources, and what is explained."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from tercet.families.two_view import form_cumulants
from tercet.flow import Block, FloatArray, Source
from tercet.intake import PairedBlock, PairedSource
from tercet.moments.view_passes import CrossPass, project_block
from tercet.moments.views import Pair, TwoViewMoments

__all__ = ["Readout", "make_readout", "measure_explained", "project_rows"]

_WIDEST = 512
_SKETCH = 256
# A share of the mean variance that keeps the estimate of sources from rows
# finite where a direction has no variance at all.
_RIDGE = 1e-9


_TINY = float(np.finfo(np.float64).tiny)


class Readout(NamedTuple):
    """A linear estimate of sources of unit variance from rows.

    Parameters
    ----------
    directions : tuple of ndarray (d_j, k) or None
        What rows of each view are multiplied by; None for a view not given.
    offset : ndarray of shape (k,)
        Value of centred rows, negative.
    loadings : pair of ndarray, (d1, k) and (d2, k)
        Loadings on sources of unit variance.
    """

    directions: tuple[FloatArray | None, FloatArray | None]
    offset: FloatArray
    loadings: Pair


def make_readout(
    moments: TwoViewMoments,
    components: Pair,
    strengths: FloatArray,
    given: tuple[bool, bool],
) -> Readout:
    """Return the best linear estimate of the sources from projected rows.

    `E(a | y) = cov(a, y) cov(y)^-1 (y - mean)`, y being the given views inside
    their bases, view-specific noise included. Cross-moments fix the product of a
    source's loadings in both views, not their ratio; it is chosen so that both
    views tell equally much of the source.

    Parameters
    ----------
    moments : TwoViewMoments
        Sums that the model was learned from.
    components : pair of ndarray, (k, d1) and (k, d2)
        Loadings.
    strengths : ndarray of shape (k,)
        Strengths of the sources.
    given : pair of bool
        Which views rows will be given of.

    Returns
    -------
    Readout
        Directions, offset and loadings.
    """
    equations = form_cumulants(moments)
    inside = [equations.bases[j].T @ components[j].T for j in (0, 1)]
    told = [
        np.einsum("pk,pk->k", part, _solve(within, part))
        for part, within in zip(inside, equations.within, strict=True)
    ]
    balance = (np.maximum(told[1], _TINY) / np.maximum(told[0], _TINY)) ** 0.25
    roots = np.sqrt(strengths)
    loadings = (
        components[0].T * (roots * balance),
        components[1].T * (roots / balance),
    )
    sides = [j for j in (0, 1) if given[j]]
    scales = (roots * balance, roots / balance)
    if len(sides) == 2:
        covariance = np.block(
            [
                [equations.within[0], equations.cross],
                [equations.cross.T, equations.within[1]],
            ]
        )
    else:
        covariance = equations.within[sides[0]]
    weights = _solve(covariance, np.vstack([inside[j] * scales[j] for j in sides]))
    directions: list[FloatArray | None] = [None, None]
    offset = np.zeros(len(strengths))
    start = 0
    for j in sides:
        width = equations.bases[j].shape[1]
        direction = np.ascontiguousarray(
            equations.bases[j] @ weights[start : start + width]
        )
        directions[j] = direction
        offset -= equations.means[j] @ direction
        start += width
    return Readout((directions[0], directions[1]), offset, loadings)


def _solve(covariance: FloatArray, right: FloatArray) -> FloatArray:
    """Return `covariance^-1 right`, directions without variance left alone."""
    ridge = _RIDGE * float(np.trace(covariance)) / len(covariance)
    regular = covariance + ridge * np.eye(len(covariance))
    return np.asarray(linalg.lstsq(regular, right)[0])


def project_rows(source: Source | PairedSource, readout: Readout) -> FloatArray:
    """Return the sources of all rows of a source, in order.

    Parameters
    ----------
    source : Source or PairedSource
        Rows of the views that the readout is for.
    readout : Readout
        The linear estimate.

    Returns
    -------
    ndarray of shape (n, k)
        Sources.
    """
    parts = []
    for block in source.blocks():
        views = _views(block, readout)
        sources = np.tile(readout.offset, (block.n_rows, 1))
        for view, direction in views:
            sources += project_block(view, direction)
        parts.append(sources)
    return np.concatenate(parts) if parts else np.zeros((0, readout.offset.size))


def _views(block: Block, readout: Readout) -> list[tuple[Block, Any]]:
    """Return the views of a block with the directions that they are read along."""
    if isinstance(block, PairedBlock):
        views = (block.first_block, block.second_block)
        return list(zip(views, readout.directions, strict=True))
    direction = next(part for part in readout.directions if part is not None)
    return [(block, direction)]


def measure_explained(
    source: PairedSource,
    components: Pair,
    strengths: FloatArray,
    rng: np.random.Generator,
) -> float:
    """Return the share of the cross-covariance of rows that loadings explain.

    Parameters
    ----------
    source : PairedSource
        Rows.
    components : pair of ndarray, (k, d1) and (k, d2)
        Loadings.
    strengths : ndarray of shape (k,)
        Strengths of the sources.
    rng : numpy.random.Generator
        Draws the sketch against which large matrices are compared.

    Returns
    -------
    float
        One less squared error over squared norm.
    """
    sizes = (source.n_features, source.second_features)
    side = int(np.argmin(sizes))
    if sizes[side] <= _WIDEST:
        basis = np.eye(sizes[side])
    else:
        basis = rng.standard_normal((sizes[side], _SKETCH))
    center = np.zeros(basis.shape[1])
    state = source.run(CrossPass(basis, center, side, sizes[1 - side]))
    n = state.total_weight
    mean = state.totals[1 - side] / n
    observed = (state.lift - np.outer(mean, state.center)) / max(n - 1.0, 1.0)
    modelled = (components[1 - side].T * strengths) @ (components[side] @ basis)
    total = float((observed**2).sum())
    if total == 0.0:
        return 0.0
    return 1.0 - float(((observed - modelled) ** 2).sum()) / total
