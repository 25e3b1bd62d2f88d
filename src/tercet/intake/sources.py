"""The door of the house: whatever holds rows becomes a source."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike

from tercet.exceptions import DataError, ParameterError
from tercet.flow import Registry, Source
from tercet.intake.execution import count_threads
from tercet.intake.memory import MemorySource
from tercet.intake.readers import read_table
from tercet.intake.requirements import Requirement
from tercet.intake.validation import validate_weights

__all__ = ["open_source"]

_REQUIREMENTS = Registry[Requirement]("requirement")
for _requirement in Requirement:
    _REQUIREMENTS.add(_requirement.value, _requirement)


def open_source(
    X: Any,
    *,
    sample_weight: ArrayLike | None = None,
    requirement: Requirement | str = Requirement.INTEGERS,
    n_jobs: int | None = None,
    block_rows: int | None = None,
    feature_names: Sequence[str] | None = None,
) -> Source:
    """Open anything that holds rows as a source that passes can run over.
    """
    wanted = _REQUIREMENTS[str(requirement)]
    n_threads = count_threads(n_jobs)
    _check_block_rows(block_rows)
    table = read_table(X)
    if table.n_rows == 0 or table.n_features == 0:
        raise DataError("empty")
    weights = (
        None if sample_weight is None else validate_weights(sample_weight, table.n_rows)
    )
    return MemorySource(
        table,
        wanted,
        weights,
        n_threads,
        block_rows,
        tuple(feature_names) if feature_names is not None else table.names,
    )


def _check_block_rows(block_rows: int | None) -> None:
    if block_rows is None:
        return
    whole = isinstance(block_rows, Integral) and not isinstance(block_rows, bool)
    if not whole or block_rows < 1:
        raise ParameterError(
            f"block_rows={block_rows!r} is not a number of rows; give a positive "
            "integer, or None for a size that suits the cache."
        )
