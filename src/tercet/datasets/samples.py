"""Rows together with the truth that they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scipy import sparse

from tercet.flow import FloatArray, IntArray, Parameters

__all__ = ["Sample"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows together with the truth that they were drawn from.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n, d)
        Counts or ones (int32, sparse), or dense values.
    parameters : Parameters
        What the rows were drawn from, components by falling weight.
    labels : ndarray of shape (n,) or None
        Component of each row, where a row has one.
    proportions : ndarray of shape (n, k) or None
        Share of each component in each row, where rows mix components.
    settings : mapping
        What was asked for, every argument by name.

    Examples
    --------
    >>> from tercet.datasets import make_single_topic
    >>> sample = make_single_topic(20, n_features=8, n_components=2)
    >>> sample.rows.shape, sample.parameters.centers.shape, sample.labels.shape
    ((20, 8), (8, 2), (20,))
    >>> sample.proportions is None
    True
    """

    rows: sparse.csr_array | FloatArray
    parameters: Parameters
    labels: IntArray | None = None
    proportions: FloatArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.rows.shape[1])
