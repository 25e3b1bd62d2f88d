"""One cheap sweep over the values of a block, and a precise complaint.

The sweep only answers "is all well?"; who is at fault is looked for after it
has said no, so that good data never pay for the quality of the messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tercet.exceptions import DataError
from tercet.flow import Block, FloatArray
from tercet.intake.requirements import Requirement

__all__ = ["Audit", "validate_block", "validate_weights"]

_WHOLE_KINDS = "iub"

LARGEST = 1e45
"""Above this, sums of triples and of their squares leave the range of float64."""


def validate_block(
    block: Block,
    requirement: Requirement | str,
    *,
    feature_names: tuple[str, ...] | None = None,
    kind: str = "f",
) -> None:
    """Check that every value of a block is one that the model can take.

    Parameters
    ----------
    block : Block
        Rows to check.
    requirement : Requirement or str
        What the model takes.
    feature_names : tuple of str or None, default=None
        Names of the columns, for the message.
    kind : str, default="f"
        NumPy kind (``"f"``, ``"i"``, ``"u"`` or ``"b"``) of the values before
        they were converted to float64; whole numbers need fewer checks.

    Raises
    ------
    DataError
        With the row in the whole source, the column, the value and a remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Block
    >>> from tercet.intake import validate_block
    >>> validate_block(Block(np.array([[0.0, 2.0]])), "integers")
    >>> validate_block(Block(np.array([[0.0, 2.5]]), start=7), "integers")
    Traceback (most recent call last):
    ...
    tercet.exceptions.DataError: X holds 2.5 at row 7, column 1, but integer \
counts are needed. Round the counts, or choose a model that takes real numbers.
    """
    wanted = Requirement(requirement)
    values = _list_values(block)
    if values.size == 0 or _all_well(values, wanted, kind):
        return
    flat = int(np.argmax(_find_faults(values, wanted)))
    if block.is_sparse:
        rows = cast(sparse.csr_array, block.rows)
        row = int(np.searchsorted(rows.indptr, flat, side="right")) - 1
        column = int(rows.indices[flat])
    else:
        row, column = divmod(flat, block.n_features)
    place = f"row {block.start + row}, column {column}"
    if feature_names is not None:
        place += f" ({feature_names[column]!r})"
    raise DataError(_describe_fault(float(values.ravel()[flat]), place, wanted))


def validate_weights(weights: ArrayLike, n_rows: int, start: int = 0) -> FloatArray:
    """Return row weights as float64, after a check.

    Parameters
    ----------
    weights : array-like of shape (n_rows,)
        Weights of the rows.
    n_rows : int
        Number of rows that the weights belong to.
    start : int, default=0
        Index of the first of these rows in the whole source.

    Returns
    -------
    ndarray of shape (n_rows,)
        Finite, non-negative weights.

    Examples
    --------
    >>> from tercet.intake import validate_weights
    >>> validate_weights([1, 2], 2)
    array([1., 2.])
    """
    try:
        checked = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight cannot be read as numbers: {error}.") from None
    if checked.ndim != 1 or checked.shape[0] != n_rows:
        raise DataError(
            f"sample_weight has shape {checked.shape}, but {n_rows} rows need shape "
            f"({n_rows},): one weight for each row."
        )
    faults = ~(np.isfinite(checked) & (checked >= 0))
    if faults.any():
        row = int(np.argmax(faults))
        raise DataError(
            f"sample_weight holds {checked[row]} at row {start + row}; weights must be "
            "finite and not negative (a weight of 0 leaves a row out)."
        )
    return checked


@dataclass
class Audit:
    """What has been seen of a source: the facts that no single block can tell.

    Parameters
    ----------
    n_rows : int, default=0
        Rows seen.
    has_values : bool, default=False
        Whether anything but zeros was seen.
    has_weight : bool, default=False
        Whether any row had a positive weight.
    """

    n_rows: int = 0
    has_values: bool = False
    has_weight: bool = False

    def add(self, block: Block) -> None:
        """Take in a block."""
        self.n_rows += block.n_rows
        if not self.has_values:
            self.has_values = bool(np.any(_list_values(block)))
        if not self.has_weight:
            weights = block.weights
            self.has_weight = (
                block.n_rows > 0 if weights is None else bool(weights.any())
            )

    def join(self, other: Audit) -> None:
        """Take in what was seen elsewhere."""
        self.n_rows += other.n_rows
        self.has_values = self.has_values or other.has_values
        self.has_weight = self.has_weight or other.has_weight

    def conclude(self, requirement: Requirement) -> None:
        """Raise a `DataError` if the source as a whole says nothing."""
        if self.n_rows == 0:
            raise DataError("X has no rows: there is nothing to learn from.")
        if not self.has_weight:
            raise DataError(
                f"sample_weight is zero for all {self.n_rows} rows; give at least one "
                "row a positive weight."
            )
        if requirement.needs_tokens and not self.has_values:
            raise DataError(
                f"X holds no counts: all entries of its {self.n_rows} rows are zero. "
                "Check the vocabulary or the columns that were selected."
            )


def _list_values(block: Block) -> FloatArray:
    """Return the values that are stored: all of them, or all but the zeros."""
    return cast(FloatArray, block.rows.data if block.is_sparse else block.rows)


def _all_well(values: FloatArray, wanted: Requirement, kind: str) -> bool:
    whole = kind in _WHOLE_KINDS
    if kind == "b" or (whole and wanted is Requirement.REALS):
        return True
    if kind == "u" and wanted.needs_tokens:
        return True
    if wanted.is_binary:
        return not _find_faults(values, wanted).any()
    # NaN wins in both reductions and then fails every comparison.
    with np.errstate(invalid="ignore"):
        lowest, highest = float(values.min()), float(values.max())
    if wanted is Requirement.REALS:
        return lowest >= -LARGEST and highest <= LARGEST
    if not (lowest >= 0 and highest <= LARGEST):
        return False
    if wanted is Requirement.COUNTS or whole:
        return True
    return bool((np.rint(values) == values).all())


def _find_faults(values: FloatArray, wanted: Requirement) -> NDArray[np.bool_]:
    if wanted.is_binary:
        allowed: NDArray[np.bool_] = (values == 0) | (values == 1)
        if wanted is Requirement.BINARY_OR_MISSING:
            allowed |= np.isnan(values)
        return ~allowed
    faults: NDArray[np.bool_] = ~(np.abs(values) <= LARGEST)
    if wanted.needs_tokens:
        faults |= values < 0
    if wanted is Requirement.INTEGERS:
        faults |= np.rint(values) != values
    return faults


def _describe_fault(value: float, place: str, wanted: Requirement) -> str:
    if np.isnan(value):
        return (
            f"X holds NaN at {place}; {wanted.describe()} are needed. Drop the row or "
            "fill the missing value in."
        )
    if np.isinf(value):
        return (
            f"X holds {value} (infinity) at {place}; {wanted.describe()} are needed. "
            "Look for an overflow or a division by zero where the data come from."
        )
    if not wanted.is_binary and abs(value) > LARGEST:
        return (
            f"X holds {value} at {place}; sums of products of three such values "
            f"overflow, the largest value that can be used is {LARGEST:g}. Give the "
            "values in a larger unit."
        )
    if wanted.is_binary:
        return (
            f"X holds {value} at {place}, but {wanted.describe()} are needed. Turn the "
            "values into 0 and 1, for example with `X > 0`."
        )
    if value < 0:
        return (
            f"Negative values in data passed to a model of counts: X holds {value} at "
            f"{place}, but {wanted.describe()} are needed. Remove the values below "
            "zero, or choose a model that takes real numbers."
        )
    return (
        f"X holds {value} at {place}, but integer counts are needed. Round the counts, "
        "or choose a model that takes real numbers."
    )
