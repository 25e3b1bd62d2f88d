"""A few tokens of each row, drawn without replacement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tercet.exceptions import ParameterError
from tercet.flow import Block, FloatArray, Pass, Source
from tercet.intake.requirements import Requirement
from tercet.intake.validation import validate_block

__all__ = ["ThinnedSource", "thin_block"]

State = TypeVar("State")

_WORD = (1 << 64) - 1


class ThinnedSource:
    """A source of which every row keeps a few tokens, drawn at random.

    The draw depends on the seed and on the index of the row only: the same
    tokens come at every reading, however the rows are cut into blocks and
    however many threads there are. A row that has fewer tokens is left as it is
    and gets weight zero.

    Parameters
    ----------
    source : Source
        Rows of whole counts.
    n_tokens : int, default=3
        Tokens that a row keeps.
    seed : int, default=0
        Seed of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.intake import ThinnedSource, open_source
    >>> source = open_source(np.array([[5, 0, 4], [1, 0, 1]]))
    >>> (block,) = ThinnedSource(source, seed=0).blocks()
    >>> block.rows.sum(axis=1), block.weights
    (array([3., 2.]), array([1., 0.]))
    """

    def __init__(self, source: Source, n_tokens: int = 3, seed: int = 0) -> None:
        for name, value, least in (("n_tokens", n_tokens, 1), ("seed", seed, 0)):
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not whole or value < least:
                raise ParameterError(
                    f"{name}={value!r} must be an integer of at least {least}."
                )
        self.n_features = source.n_features
        self.feature_names = source.feature_names
        self.rereadable = source.rereadable
        self.requirement = Requirement.INTEGERS
        self._source = source
        self._n_tokens = int(n_tokens)
        self._seed = int(seed)

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        return self._source.run(_ThinningPass(work, self._n_tokens, self._seed))

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        for block in self._source.blocks():
            yield thin_block(block, self._n_tokens, self._seed)


@dataclass(frozen=True)
class _ThinningPass(Generic[State]):
    """Another pass, which is shown thinned blocks."""

    work: Pass[State]
    n_tokens: int
    seed: int

    def initial(self) -> State:
        """Return the identity of the other pass."""
        return self.work.initial()

    def update(self, state: State, block: Block) -> State:
        """Show the other pass a thinned block."""
        return self.work.update(state, thin_block(block, self.n_tokens, self.seed))

    def merge(self, left: State, right: State) -> State:
        """Merge as the other pass does."""
        return self.work.merge(left, right)


def thin_block(block: Block, n_tokens: int, seed: int) -> Block:
    """Return a block whose rows keep `n_tokens` tokens each, drawn at random.

    Parameters
    ----------
    block : Block
        Rows of whole counts.
    n_tokens : int
        Tokens that a row keeps; rows with fewer get weight zero.
    seed : int
        Seed of the draw.

    Returns
    -------
    Block
        Sparse rows, with weights.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.intake.thinning import thin_block
    >>> float(thin_block(Block(np.array([[7.0, 9.0]])), 3, seed=1).rows.sum())
    3.0
    """
    validate_block(block, Requirement.INTEGERS)
    rows = sparse.csr_array(block.rows)
    ends = np.concatenate(([0.0], np.cumsum(rows.data)))
    before = ends[rows.indptr[:-1]]
    lengths = ends[rows.indptr[1:]] - before
    long = np.flatnonzero(lengths >= n_tokens)
    places = _draw_places(lengths[long], block.start + long, n_tokens, seed)
    tokens = (places + before[long, None]).ravel()
    entries = np.searchsorted(ends, tokens, side="right") - 1
    kept = np.bincount(entries, minlength=rows.nnz).astype(np.float64)
    short = np.repeat(lengths < n_tokens, np.diff(rows.indptr))
    kept[short] = rows.data[short]
    thinned = sparse.csr_array(
        (kept, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape
    )
    thinned.eliminate_zeros()
    weights = np.ones(block.n_rows) if block.weights is None else block.weights
    return Block(thinned, block.start, np.where(lengths >= n_tokens, weights, 0.0))


def _draw_places(
    lengths: FloatArray, indices: NDArray[np.int64], n_tokens: int, seed: int
) -> FloatArray:
    """Draw distinct places below each length; rows sorted, shape (n, n_tokens)."""
    places = np.empty((lengths.size, n_tokens))
    for draw in range(n_tokens):
        place = np.floor(_hash_uniform(indices, draw, seed) * (lengths - draw))
        # The place-th of those that are left: step over what was taken before.
        for taken in range(draw):
            place += place >= places[:, taken]
        places[:, draw] = place
        places[:, : draw + 1].sort(axis=1)
    return places


def _hash_uniform(indices: NDArray[np.int64], draw: int, seed: int) -> FloatArray:
    """Return numbers in [0, 1) that depend on index, draw and seed alone.

    The mixing function of SplitMix64 (Steele, Lea and Flood 2014) is applied to
    the seed, then to the draw, then to the index.
    """
    key = np.array([seed & _WORD], dtype=np.uint64)
    key = _mix(_mix(key) + np.uint64(draw + 1))
    mixed = _mix(key + indices.astype(np.uint64))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
