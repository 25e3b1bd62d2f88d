"""Rows of data on their way through a pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from scipy import sparse

from tercet.flow.arrays import FloatArray

__all__ = ["Block", "Pass", "Source"]

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class Block:
    """A run of consecutive rows.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n, d)
        Float64 values; CSR with sorted, unique column indices, or C-ordered.
    start : int
        Index of the first row in the whole source.
    weights : ndarray of shape (n,) or None
        Row weights; None means one each.
    """

    rows: sparse.csr_array | FloatArray
    start: int = 0
    weights: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows in the block."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are kept in compressed sparse row form."""
        return bool(sparse.issparse(self.rows))


@runtime_checkable
class Pass(Protocol[State]):
    """Work over rows as a commutative monoid.

    `update` and `merge` may change and return their first argument; `initial`
    gives a fresh identity each time.
    """

    def initial(self) -> State:
        """Return the identity of `merge`."""
        ...

    def update(self, state: State, block: Block) -> State:
        """Return the state with one block of rows taken in."""
        ...

    def merge(self, left: State, right: State) -> State:
        """Return the state of both halves together."""
        ...


@runtime_checkable
class Source(Protocol):
    """Rows that a pass can be run over."""

    n_features: int
    feature_names: tuple[str, ...] | None
    rereadable: bool

    def run(self, work: Pass[State]) -> State:
        """Run a pass over every row and return its final state."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield the rows block by block, in order."""
        ...
