"""Errors against the number of rows, with the rate that theory promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.plotting.axes import MARKERS, pick_colors, prepare_axes

__all__ = ["ErrorsDisplay"]


class ErrorsDisplay:
    """Curves of errors against sample size, on logarithmic axes.

    Parameters
    ----------
    sizes : array of shape (m,)
        Numbers of rows.
    errors : mapping of str to array of shape (m,) or (m, r)
        Errors of each method; with r repetitions the mean and the range are drawn.
    label : str
        What the errors are.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> from tercet.plotting import ErrorsDisplay
    >>> display = ErrorsDisplay([100, 400], {"moments": [0.2, 0.1]}).plot()
    >>> display.ax_.get_xscale()
    'log'
    """

    def __init__(
        self,
        sizes: ArrayLike,
        errors: Mapping[str, ArrayLike],
        *,
        label: str = "L1 error",
    ) -> None:
        self.sizes = np.asarray(sizes, dtype=np.float64)
        self.errors = {
            name: np.asarray(values, dtype=np.float64)
            for name, values in errors.items()
        }
        self.label = label
        for name, values in self.errors.items():
            if values.shape[:1] != self.sizes.shape or values.ndim > 2:
                raise ParameterError(
                    f"errors[{name!r}] has shape {values.shape} for {self.sizes.size} "
                    "sizes; give one error, or one row of repetitions, for each."
                )

    def plot(self, ax: Any = None, *, rate: bool = True) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.
        rate : bool
            Whether a line of slope -1/2 is drawn through the first method's start.

        Returns
        -------
        ErrorsDisplay
            Itself, drawn.
        """
        self.ax_ = prepare_axes(ax, size=(6.0, 4.0))
        self.figure_ = self.ax_.figure
        colors = pick_colors(len(self.errors))
        for place, (name, values) in enumerate(self.errors.items()):
            mean = values if values.ndim == 1 else values.mean(axis=1)
            self.ax_.plot(
                self.sizes,
                mean,
                marker=MARKERS[place % len(MARKERS)],
                color=colors[place],
                label=name,
            )
            if values.ndim == 2:
                self.ax_.fill_between(
                    self.sizes,
                    values.min(axis=1),
                    values.max(axis=1),
                    color=colors[place],
                    alpha=0.15,
                    linewidth=0.0,
                )
            if rate and place == 0:
                self.ax_.plot(
                    self.sizes,
                    mean[0] * np.sqrt(self.sizes[0] / self.sizes),
                    color="#7a7a7a",
                    linestyle=":",
                    label="slope -1/2",
                )
        self.ax_.set(xscale="log", yscale="log", xlabel="rows", ylabel=self.label)
        self.ax_.set_xticks(self.sizes, [f"{size:,.0f}" for size in self.sizes])
        self.ax_.set_xticks([], minor=True)
        self.ax_.legend(frameon=False)
        return self
