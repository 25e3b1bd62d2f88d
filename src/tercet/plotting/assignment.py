"""Which topics the documents belong to, along the corpus (paper 000, figures 3c, 4b)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray
from tercet.plotting.axes import pick_colors, prepare_axes

__all__ = ["AssignmentDisplay"]


class AssignmentDisplay:
    """Stacked areas of topic shares over documents in their order.

    Parameters
    ----------
    shares : ndarray of shape (n, k)
        Share of each topic in each document; rows sum to one.
    positions : array of shape (n,) or None
        Where the documents stand on the axis, such as years; None counts them.
    names : sequence of str or None
        Names of the topics.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.plotting import AssignmentDisplay
    >>> display = AssignmentDisplay(np.array([[0.9, 0.1], [0.4, 0.6]])).plot()
    >>> len(display.ax_.collections)
    2
    """

    def __init__(
        self,
        shares: ArrayLike,
        *,
        positions: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.shares: FloatArray = np.asarray(shares, dtype=np.float64)
        if self.shares.ndim != 2:
            raise ParameterError(
                f"shares has shape {self.shares.shape}; give an array of shape (n, k)."
            )
        n_rows, n_topics = self.shares.shape
        self.positions = (
            np.arange(1, n_rows + 1) if positions is None else np.asarray(positions)
        )
        if self.positions.shape != (n_rows,):
            raise ParameterError(
                f"positions has shape {self.positions.shape} for {n_rows} documents; "
                "give one for each."
            )
        self.names = (
            [str(topic + 1) for topic in range(n_topics)]
            if names is None
            else [str(name) for name in names]
        )

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        positions: ArrayLike | None = None,
        n_words: int = 3,
        ax: Any = None,
    ) -> Self:
        """Draw the topic assignment of documents by a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted; posterior probabilities of a single-topic model or a mixture,
            topic proportions of others.
        X : rows
            Documents, in the order of the axis.
        positions : array of shape (n,) or None
            Where they stand.
        n_words : int
            Words by which the legend names each topic; 0 numbers them.
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        AssignmentDisplay
            Drawn.
        """
        infer = getattr(model, "predict_proba", None) or model.transform
        names = None
        if n_words and hasattr(model, "top_words"):
            names = [
                f"{topic + 1}: {', '.join(words)}"
                for topic, words in enumerate(model.top_words(n_words, relevance=0.7))
            ]
        return cls(infer(X), positions=positions, names=names).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the areas.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        AssignmentDisplay
            Itself, drawn.
        """
        self.ax_ = prepare_axes(ax, size=(8.0, 3.6))
        self.figure_ = self.ax_.figure
        order = np.argsort(self.positions, kind="stable")
        self.ax_.stackplot(
            self.positions[order],
            self.shares[order].T,
            labels=self.names,
            colors=pick_colors(len(self.names)),
            linewidth=0.0,
        )
        self.ax_.set(ylim=(0.0, 1.0), ylabel="share", xlabel="document")
        self.ax_.margins(x=0.0)
        self.ax_.legend(
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8
        )
        return self
