"""The picture of the criteria for the number of components."""

from __future__ import annotations

import numpy as np
import pytest

import tercet
from tercet.datasets import make_lda
from tercet.models.selection import ComponentSelection

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_every_criterion_has_its_best_at_one():
    from tercet.plotting import SelectionDisplay

    rows = make_lda(600, n_features=60, n_components=3).rows
    found = tercet.select_components(rows, [2, 3, 4, 5])
    display = SelectionDisplay(found).plot()
    lines = [line for line in display.ax_.get_lines() if len(line.get_xdata()) > 1]
    assert len(lines) == 5
    for line, name in zip(
        lines, ("held_out", "gap", "coherence", "bic", "mdl"), strict=True
    ):
        best = line.get_xdata()[np.argmax(line.get_ydata())]
        assert best == found.choose(name)
        assert max(line.get_ydata()) == pytest.approx(1.0)
        assert min(line.get_ydata()) == pytest.approx(0.0)
        assert str(found.choose(name)) in line.get_label()


def test_criteria_without_values_are_left_out():
    from tercet.plotting import SelectionDisplay

    nothing = np.full(2, np.nan)
    found = ComponentSelection(
        candidates=np.array([2, 3]),
        held_out=np.array([-1.0, -1.0]),
        gap=np.array([0.5, np.nan]),
        coherence=nothing,
        bic=nothing,
        mdl=nothing,
        spectrum=np.array([2.0, 1.0]),
        supported=np.array([True, False]),
    )
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = SelectionDisplay(found).plot(ax)
    assert display.ax_ is ax
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["held-out score: 2", "eigenvalue gap: 2"]
