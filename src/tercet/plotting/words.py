"""Lists of words with bars: what each topic is about, or what two views share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tercet.evaluation import measure_relevance
from tercet.exceptions import ParameterError
from tercet.plotting.axes import COLORS

__all__ = ["WordsDisplay"]

# One list: names and values of the words, the foremost first.
_Words = Sequence[tuple[str, float]]


class WordsDisplay:
    """Small bar charts of leading words, one for each topic.

    Parameters
    ----------
    lists : sequence of sequence of (str, float)
        Words and their values, for each topic.
    titles : sequence of str or None
        Headings; None numbers the topics.
    n_columns : int
        Charts side by side.

    Attributes
    ----------
    axes_ : ndarray of matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> from tercet.plotting import WordsDisplay
    >>> display = WordsDisplay([[("rain", 0.3), ("sun", 0.1)]]).plot()
    >>> [label.get_text() for label in display.axes_[0].get_yticklabels()]
    ['rain', 'sun']
    """

    def __init__(
        self,
        lists: Sequence[_Words],
        *,
        titles: Sequence[str] | None = None,
        n_columns: int = 4,
    ) -> None:
        if not lists:
            raise ParameterError("lists=[] holds no topic; give at least one.")
        self.lists = [list(words) for words in lists]
        self.titles = (
            [str(topic + 1) for topic in range(len(lists))]
            if titles is None
            else [str(title) for title in titles]
        )
        self.n_columns = n_columns

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        n_words: int = 8,
        relevance: float = 0.7,
        components: Sequence[int] | None = None,
        n_columns: int = 4,
    ) -> Self:
        """Draw the leading words of a fitted model.

        Parameters
        ----------
        model : estimator
            Topic model (ranked by relevance), mixture (by lift against everybody)
            or model of two views (lists alternate).
        n_words : int
            Words of each list.
        relevance : float
            Lambda of the relevance.
        components : sequence of int or None
            Which to draw; None draws all.
        n_columns : int
            Charts side by side.

        Returns
        -------
        WordsDisplay
            Drawn.
        """
        check_is_fitted(model)
        tables = model.components_
        both = isinstance(tables, tuple | list)
        names = getattr(model, "feature_names_in_", None)
        second = getattr(model, "second_names_in_", None)
        views = list(zip(tables, (names, second), strict=True)) if both else None
        k = len(tables[0]) if both else len(tables)
        chosen = range(k) if components is None else components
        lists, titles = [], []
        for topic in chosen:
            for side, (table, known) in enumerate(views or [(tables, names)]):
                lists.append(_lead(model, table, known, topic, n_words, relevance))
                titles.append(f"{topic + 1}{'ab'[side] if both else ''}")
        return cls(lists, titles=titles, n_columns=n_columns).plot()

    def plot(self) -> Self:
        """Draw the charts on a figure of their own.

        Returns
        -------
        WordsDisplay
            Itself, drawn.
        """
        import matplotlib.pyplot as plt

        n_columns = min(self.n_columns, len(self.lists))
        n_rows = -(-len(self.lists) // n_columns)
        longest = max(len(words) for words in self.lists)
        self.figure_, grid = plt.subplots(
            n_rows,
            n_columns,
            figsize=(2.6 * n_columns, n_rows * (0.5 + 0.2 * longest)),
            layout="constrained",
            squeeze=False,
        )
        self.axes_ = grid.ravel()
        for ax, words, title in zip(self.axes_, self.lists, self.titles, strict=False):
            places = np.arange(len(words))
            ax.barh(places, [value for _, value in words], color=COLORS[0])
            # A word may hold dollar signs, which would begin a formula.
            shown = [name.replace("$", r"\$") for name, _ in words]
            ax.set_yticks(places, shown, fontsize=8)
            ax.invert_yaxis()
            ax.set_title(title, fontsize=9)
            ax.tick_params(axis="x", labelsize=7)
            ax.spines[["top", "right"]].set_visible(False)
        for ax in self.axes_[len(self.lists) :]:
            ax.set_axis_off()
        return self


def _lead(
    model: Any, table: Any, names: Any, topic: int, n_words: int, relevance: float
) -> list[tuple[str, float]]:
    """Return the foremost words of one row of components."""
    row = table[topic]
    ranked = row
    if hasattr(model, "relevance"):
        ranked = model.relevance(relevance)[topic]
    elif hasattr(model, "weights_") and float(np.min(table)) >= 0.0:
        overall = np.asarray(model.weights_) @ table
        [ranked] = measure_relevance(row[None], overall, relevance)
    order = np.argsort(-ranked, kind="stable")[:n_words]
    return [(f"x{j}" if names is None else str(names[j]), float(row[j])) for j in order]
