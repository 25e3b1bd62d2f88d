"""Which reader an object in memory needs."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from tercet.intake.tables import Table, read_array, read_sparse

__all__ = ["read_table"]


def read_table(X: Any) -> Table:
    """Read rows."""
    if sparse.issparse(X):
        return read_sparse(X)
    return read_array(X)
