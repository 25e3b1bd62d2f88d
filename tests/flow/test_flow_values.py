"""Values that pass between rooms, and the registry of names."""

from __future__ import annotations

import numpy as np
import pytest

from tercet.exceptions import ParameterError
from tercet.flow import Block, Outcome, Registry, Status


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    shapes = Registry[int]("shape")
    shapes.add("square", 4)
    shapes.add("circle", 0)
    assert list(shapes) == ["square", "circle"]
    assert len(shapes) == 2
    assert "square" in shapes
    with pytest.raises(
        ParameterError, match=r"shape='sqare' is not known; choose one of 'square', 'ci"
    ) as caught:
        shapes["sqare"]
    assert "Did you mean 'square'?" in str(caught.value)
    with pytest.raises(ParameterError, match="registered twice"):
        shapes.add("square", 5)


@pytest.mark.parametrize(
    ("status", "converged"),
    [
        (Status.EXACT, True),
        (Status.CONVERGED, True),
        (Status.EXHAUSTED, False),
        (Status.FELL_BACK, False),
    ],
)
def test_an_exhausted_budget_is_not_convergence(
    status: Status, converged: bool
) -> None:
    assert Outcome(status, 3, 0.1, "Done.").converged is converged


def test_blocks_know_their_shape() -> None:
    block = Block(np.zeros((3, 2)), start=7)
    assert (block.n_rows, block.n_features, block.is_sparse) == (3, 2, False)
