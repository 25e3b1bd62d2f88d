"""Coherence and time against the number of topics (paper 000, figures 3a and 4a)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from tercet.evaluation import measure_coherence
from tercet.exceptions import ParameterError
from tercet.plotting.axes import MARKERS, pick_colors, prepare_axes

__all__ = ["CoherenceDisplay"]


class CoherenceDisplay:
    """Two charts over the number of topics: mean coherence, and time to fit.

    Parameters
    ----------
    numbers : sequence of int
        Numbers of topics.
    coherences : mapping of str to array of shape (m,)
        Mean coherence of each model at each number.
    seconds : mapping of str to array of shape (m,)
        Time of each fit.
    kind : str
        What the coherence is called on its axis.

    Attributes
    ----------
    axes_ : tuple of matplotlib.axes.Axes
        Axes of coherence and of time, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> from tercet.plotting import CoherenceDisplay
    >>> display = CoherenceDisplay([2, 3], {"a": [-20, -25]}, {"a": [0.1, 0.2]}).plot()
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['coherence (umass)', 'seconds']
    """

    def __init__(
        self,
        numbers: Sequence[int],
        coherences: Mapping[str, ArrayLike],
        seconds: Mapping[str, ArrayLike],
        *,
        kind: str = "umass",
    ) -> None:
        self.numbers = np.asarray(numbers, dtype=np.int64)
        self.coherences = {k: np.asarray(v, float) for k, v in coherences.items()}
        self.seconds = {k: np.asarray(v, float) for k, v in seconds.items()}
        self.kind = kind
        for name, table in (("coherences", self.coherences), ("seconds", self.seconds)):
            for model, values in table.items():
                if values.shape != self.numbers.shape:
                    raise ParameterError(
                        f"{name}[{model!r}] has shape {values.shape} for "
                        f"{self.numbers.size} numbers of topics; give one value for each."
                    )

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        numbers: Sequence[int],
        *,
        kind: str = "umass",
        n_top: int = 20,
    ) -> Self:
        """Fit models with each number of topics and draw what comes out.

        Parameters
        ----------
        estimators : mapping of str to estimator
            Models with `n_components` and `components_`, of any make; clones are
            fitted.
        X : rows
            Counts.
        numbers : sequence of int
            Numbers of topics.
        kind : {"umass", "npmi"}
            Coherence.
        n_top : int
            Words of each topic that enter it.

        Returns
        -------
        CoherenceDisplay
            Drawn.
        """
        coherences: dict[str, list[float]] = {name: [] for name in estimators}
        seconds: dict[str, list[float]] = {name: [] for name in estimators}
        for name, estimator in estimators.items():
            for k in numbers:
                model = clone(estimator).set_params(n_components=k)
                started = time.perf_counter()
                model.fit(X)
                seconds[name].append(time.perf_counter() - started)
                values = measure_coherence(model.components_, X, kind=kind, n_top=n_top)
                coherences[name].append(float(np.mean(values)))
        return cls(numbers, coherences, seconds, kind=kind).plot()

    def plot(self, axes: Any = None) -> Self:
        """Draw both charts.

        Parameters
        ----------
        axes : pair of matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        CoherenceDisplay
            Itself, drawn.
        """
        if axes is None:
            figure = prepare_axes(size=(9.0, 3.6)).figure
            figure.clear()
            axes = figure.subplots(1, 2)
        self.axes_ = tuple(axes)
        self.figure_ = self.axes_[0].figure
        names = list(self.coherences | self.seconds)
        colors = dict(zip(names, pick_colors(len(names)), strict=True))
        for ax, table, label in (
            (self.axes_[0], self.coherences, f"coherence ({self.kind})"),
            (self.axes_[1], self.seconds, "seconds"),
        ):
            for place, (name, values) in enumerate(table.items()):
                ax.plot(
                    self.numbers,
                    values,
                    marker=MARKERS[place % len(MARKERS)],
                    color=colors[name],
                    label=name,
                )
            ax.set(xlabel="number of topics", ylabel=label)
        self.axes_[0].legend(frameon=False, fontsize="small")
        return self
