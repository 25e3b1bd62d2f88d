"""Displays draw what they are given, and say what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation

import tercet
from tercet.evaluation import measure_coherence
from tercet.exceptions import ParameterError
from tercet.plotting import (
    AssignmentDisplay,
    CoherenceDisplay,
    ErrorsDisplay,
    SpectrumDisplay,
    WordsDisplay,
)
from tercet.plotting.axes import COLORS, pick_colors, prepare_axes

mpl.use("agg")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sample() -> tercet.datasets.Sample:
    return tercet.datasets.make_lda(400, n_features=40, n_components=3, random_state=0)


@pytest.fixture(scope="module")
def model(sample: tercet.datasets.Sample) -> tercet.LatentDirichletAllocation:
    return tercet.LatentDirichletAllocation(3, concentration=0.3).fit(sample.rows)


def test_assignment_stacks_to_one(
    model: tercet.LatentDirichletAllocation, sample: tercet.datasets.Sample
) -> None:
    display = AssignmentDisplay.from_estimator(model, sample.rows[:30])
    assert len(display.ax_.collections) == 3
    tops = display.ax_.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert tops == pytest.approx(1.0)
    words = [", ".join(top) for top in model.top_words(3, relevance=0.7)]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == [f"{i}: {shown}" for i, shown in enumerate(words, 1)]


def test_assignment_stands_where_it_is_told() -> None:
    shares = np.array([[1.0, 0.0], [0.0, 1.0]])
    display = AssignmentDisplay(shares, positions=[2001, 1999]).plot()
    assert display.ax_.get_xlim() == (1999, 2001)
    with pytest.raises(ParameterError, match=r"positions has shape \(3,\)"):
        AssignmentDisplay(shares, positions=[1, 2, 3])
    with pytest.raises(ParameterError, match="shares has shape"):
        AssignmentDisplay(shares[0])


def test_spectrum_marks_the_gap(model: tercet.LatentDirichletAllocation) -> None:
    display = SpectrumDisplay.from_estimator(model)
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert heights == pytest.approx(model.diagnostics_["spectrum"].tolist())
    assert display.ax_.lines[0].get_xdata()[0] == 3.5
    with pytest.raises(ParameterError, match="spectrum has shape"):
        SpectrumDisplay([])


def test_spectrum_of_a_model_without_moments(sample: tercet.datasets.Sample) -> None:
    start = sample.parameters.centers.T
    model = tercet.LatentDirichletAllocation(3, components_init=start, refine=1)
    with pytest.raises(ParameterError, match="keeps no spectrum"):
        SpectrumDisplay.from_estimator(model.fit(sample.rows))


def test_words_are_those_of_the_model(model: tercet.LatentDirichletAllocation) -> None:
    display = WordsDisplay.from_estimator(model, n_words=5, components=[2, 0])
    shown = [
        [label.get_text() for label in ax.get_yticklabels()] for ax in display.axes_
    ]
    wanted = model.top_words(5, relevance=0.7)
    assert shown[:2] == [wanted[2], wanted[0]]
    with pytest.raises(ParameterError, match="no topic"):
        WordsDisplay([])


def test_words_of_two_views_alternate() -> None:
    rng = np.random.default_rng(0)
    sources = rng.gamma(0.4, 20.0, size=(600, 2))
    views = [
        rng.poisson(sources @ rng.dirichlet(np.full(12, 0.2), size=2)) for _ in range(2)
    ]
    model = tercet.DiscreteCCA(2).fit(*views)
    display = WordsDisplay.from_estimator(model, n_words=3)
    assert [ax.get_title() for ax in display.axes_] == ["1a", "1b", "2a", "2b"]
    lead = display.axes_[3].get_yticklabels()[0].get_text()
    assert lead == f"x{model.components_[1][1].argmax()}"


def test_words_that_look_like_formulas_stay_words() -> None:
    display = WordsDisplay([[("$x^2$", 0.5), ("a_b", 0.2)]]).plot()
    display.figure_.canvas.draw()
    assert display.axes_[0].get_yticklabels()[0].get_text() == r"\$x^2\$"


def test_errors_follow_the_rate() -> None:
    sizes = np.array([100, 400, 1600])
    errors = {
        "ours": np.array([[0.2, 0.3], [0.1, 0.2], [0.05, 0.1]]),
        "other": 1 / sizes,
    }
    display = ErrorsDisplay(sizes, errors).plot()
    labels = [line.get_label() for line in display.ax_.lines]
    assert labels == ["ours", "slope -1/2", "other"]
    assert display.ax_.lines[0].get_ydata() == pytest.approx([0.25, 0.15, 0.075])
    assert display.ax_.lines[1].get_ydata()[-1] == pytest.approx(0.25 / 4)
    with pytest.raises(ParameterError, match="for 3 sizes"):
        ErrorsDisplay(sizes, {"ours": [1.0]})


def test_coherence_and_time_of_models_of_any_make(
    sample: tercet.datasets.Sample,
) -> None:
    models = {
        "joint": tercet.LatentDirichletAllocation(refine=0, concentration=0.3),
        "peer": LatentDirichletAllocation(max_iter=2, random_state=0),
    }
    display = CoherenceDisplay.from_estimators(
        models, sample.rows, [2, 3], kind="npmi", n_top=5
    )
    again = tercet.LatentDirichletAllocation(3, refine=0, concentration=0.3)
    found = again.fit(sample.rows).components_
    wanted = measure_coherence(found, sample.rows, kind="npmi", n_top=5)
    assert display.coherences["joint"][1] == pytest.approx(wanted.mean())
    assert all((times > 0.0).all() for times in display.seconds.values())
    left, right = display.axes_
    assert [line.get_label() for line in left.lines] == ["joint", "peer"]
    assert right.lines[0].get_ydata() == pytest.approx(display.seconds["joint"])
    with pytest.raises(ParameterError, match=r"seconds\['a'\] has shape \(1,\)"):
        CoherenceDisplay([2, 3], {"a": [1.0, 2.0]}, {"a": [1.0]})


def test_axes_are_those_given() -> None:
    _, ax = plt.subplots()
    assert prepare_axes(ax) is ax
    assert SpectrumDisplay([1.0]).plot(ax).ax_ is ax


def test_colours_are_distinct() -> None:
    assert pick_colors(3) == list(COLORS[:3])
    assert len({tuple(color) for color in pick_colors(33)}) == 33
