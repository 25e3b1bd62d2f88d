"""Splitters with one mistake each, which the comparison with slow loops must notice."""

import numpy as np

from tercet.hierarchy import splitting
from tercet.hierarchy.splitting import DataSplitter, ModelSplitter, NodeRows


class ForgetsWeights(DataSplitter):
    """Every row counts once."""

    def split(self, rows):
        """Split without weights."""
        ones = np.ones_like(rows.weights)
        return super().split(NodeRows(rows.members, ones, rows.total))


class ForgetsTheRoot(DataSplitter):
    """Whitens with eigenvalues instead of their roots."""

    def split(self, rows):
        """Split with scales that are wrong."""
        return _with(splitting, "_whiten", _scale_twice, super().split, rows)


class TurnsTheOtherWay(DataSplitter):
    """Takes the transpose of the rotation."""

    def split(self, rows):
        """Split by the inverse rotation."""
        turn = splitting._rotate
        return _with(
            splitting, "_rotate", lambda slices: turn(slices).T, super().split, rows
        )


class ForgetsPairsOfATokenWithItself(ModelSplitter):
    """Takes raw slices for factorial ones."""

    def _sum_slices(self, rows, pairs, whitener):
        return self.coordinates.sum_slices(rows.members, rows.weights, whitener)[1]


class ForgetsTriplesOfATokenWithItself(ModelSplitter):
    """Lacks the third correction, twice the diagonal."""

    def _sum_slices(self, rows, pairs, whitener):
        w = self.coordinates.lift(whitener)
        squares = np.stack([w[:, 0] ** 2, w[:, 0] * w[:, 1], w[:, 1] ** 2], axis=1)
        lost = self.coordinates.lower(2.0 * rows.total[:, None] * squares)
        return super()._sum_slices(rows, pairs, whitener) - lost


class DividesByRows(ModelSplitter):
    """Divides sums over tokens by the number of rows, and the other way round."""

    def _count(self, rows):
        self.by_tokens = not self.by_tokens
        try:
            return super()._count(rows)
        finally:
            self.by_tokens = not self.by_tokens


class SwapsWeights(ModelSplitter):
    """Gives the weight of each pseudo-center to the other."""

    def _find_centers(self, rows):
        centers, weights = super()._find_centers(rows)
        return centers, weights[::-1]


DATA_MUTANTS = (ForgetsWeights, ForgetsTheRoot, TurnsTheOtherWay)
MODEL_MUTANTS = (
    ForgetsPairsOfATokenWithItself,
    ForgetsTriplesOfATokenWithItself,
    DividesByRows,
    SwapsWeights,
)


def _scale_twice(pairs):
    values, vectors = np.linalg.eigh(pairs)
    return vectors[:, :-3:-1] / values[:-3:-1]


def _with(module, name, replacement, call, *arguments):
    known = getattr(module, name)
    setattr(module, name, replacement)
    try:
        return call(*arguments)
    finally:
        setattr(module, name, known)
