"""What the criteria say about the number of components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tercet.models.selection import ComponentSelection
from tercet.plotting.axes import COLORS, prepare_axes

__all__ = ["SelectionDisplay"]

_LABELS = {
    "held_out": "held-out score",
    "gap": "eigenvalue gap",
    "coherence": "coherence (NPMI)",
    "bic": "BIC",
    "mdl": "MDL of the tensor rank",
}


class SelectionDisplay:
    """Criteria over the number of components, each scaled to run from 0 to 1.

    The criteria have units of their own; what matters is where each of them is
    best, so all are drawn with one as the best value, which has a ring.

    Parameters
    ----------
    selection : ComponentSelection
        From `tercet.select_components`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> import tercet
    >>> from tercet.datasets import make_lda
    >>> from tercet.plotting import SelectionDisplay
    >>> rows = make_lda(800, n_features=60, n_components=3).rows
    >>> display = SelectionDisplay(tercet.select_components(rows, [2, 3, 4])).plot()
    >>> display.ax_.get_xlabel()
    'number of components'
    """

    def __init__(self, selection: ComponentSelection) -> None:
        self.selection = selection

    def plot(self, ax: Any = None) -> Self:
        """Draw the criteria.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        SelectionDisplay
            Itself, drawn.
        """
        self.ax_ = prepare_axes(ax, size=(6.5, 4.0))
        self.figure_ = self.ax_.figure
        numbers = self.selection.candidates
        for color, (name, label) in zip(COLORS, _LABELS.items(), strict=False):
            values = np.asarray(getattr(self.selection, name), dtype=np.float64)
            known = np.isfinite(values)
            if not known.any():
                continue
            chosen = self.selection.choose(name)
            best = values[numbers == chosen][0]
            spread = np.abs(values[known] - best).max()
            heights = 1.0 - np.abs(values - best) / (spread if spread > 0.0 else 1.0)
            self.ax_.plot(
                numbers[known],
                heights[known],
                marker="o",
                markersize=4,
                color=color,
                label=f"{label}: {chosen}",
            )
            self.ax_.plot(
                chosen, 1.0, "o", markersize=10, color=color, fillstyle="none"
            )
        self.ax_.set(
            xlabel="number of components",
            ylabel="criterion, 1 is best",
            ylim=(-0.05, 1.1),
        )
        self.ax_.legend(frameon=False, fontsize="small")
        return self
