"""What clusters hold: a heat map of the rows, and how frequent features are in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray, IntArray
from tercet.intake import open_source
from tercet.plotting.axes import pick_colors, prepare_axes

__all__ = ["ClustersDisplay", "FrequencyDisplay"]

# Bands of rows that are drawn; more rows are averaged.
_MOST_BANDS = 600

# Share of the cluster's colour in the background of its rows.
_TINT = 0.22


class ClustersDisplay:
    """Heat map of the rows, cluster by cluster (thesis 001, figure 4.3a).

    A row of the picture is a row of the data, or the mean of some in a row if
    there are many; a column is a feature. The background tells the cluster,
    dark spots are where entries are. Features stand beside those that are
    frequent in the same cluster.

    Parameters
    ----------
    rows : array or sparse array of shape (n, d)
        Rows of the data.
    labels : array of shape (n,)
        Cluster of each row.
    names : sequence of str or None
        Names of the features.
    n_features : int
        Features shown: the most frequent ones.

    Attributes
    ----------
    features : ndarray of int
        Features shown, from left to right.
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.plotting import ClustersDisplay
    >>> rows = np.repeat([[1, 1, 0], [0, 0, 1]], 4, axis=0)
    >>> ClustersDisplay(rows, np.repeat([0, 1], 4)).plot().features.tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        rows: Any,
        labels: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        n_features: int = 60,
    ) -> None:
        matrix = sparse.csr_array(rows)
        self.labels: IntArray = np.asarray(labels)
        if self.labels.shape != (matrix.shape[0],):
            raise ParameterError(
                f"labels has shape {self.labels.shape}, but there are {matrix.shape[0]} "
                "rows; give one label for each."
            )
        means = _mean_rows(matrix, self.labels)
        share = np.bincount(self.labels, minlength=len(means)) / self.labels.size
        shown = np.argsort(-(share @ means), kind="stable")[: max(1, n_features)]
        # Next to each other: features that stand out in the same cluster.
        lift = means[:, shown] / np.maximum(share @ means[:, shown], 1e-12)
        home = np.argmax(lift, axis=0)
        order = np.lexsort((-means[home, shown], home))
        self.features: IntArray = shown[order]
        self.rows = sparse.csr_array(matrix[:, self.features])
        self.names = _pick_names(names, self.features)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        n_features: int = 60,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw rows by the clusters of a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted, with `predict`.
        X : array, sparse array, data frame or blocks of shape (n, d)
            Rows.
        n_features : int
            Features shown.
        names : sequence of str or None
            Names of the features; None takes those that the model knows.
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        ClustersDisplay
            Drawn.
        """
        check_is_fitted(model)
        display = cls(
            _gather(X),
            model.predict(X),
            names=_find_names(model, names),
            n_features=n_features,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        ClustersDisplay
            Itself, drawn.
        """
        width = float(np.clip(2.0 + 0.16 * self.features.size, 5.0, 13.0))
        self.ax_ = prepare_axes(ax, size=(width, 6.0))
        self.figure_ = self.ax_.figure
        order = np.argsort(self.labels, kind="stable")
        counts = np.bincount(self.labels)
        picture = self._paint(order, counts)
        n = self.labels.size
        self.ax_.imshow(
            picture,
            aspect="auto",
            interpolation="nearest",
            extent=(-0.5, self.features.size - 0.5, n, 0.0),
        )
        edges = np.concatenate([[0], np.cumsum(counts)])
        for edge in edges[1:-1]:
            self.ax_.axhline(edge, color="white", linewidth=1.0)
        self.ax_.set_yticks(
            0.5 * (edges[1:] + edges[:-1]),
            [f"{j}  ({count:,})" for j, count in enumerate(counts)],
        )
        self.ax_.set_xticks(np.arange(self.features.size), self.names)
        self.ax_.tick_params(axis="x", rotation=90, labelsize=7, length=0)
        self.ax_.tick_params(axis="y", labelsize=8, length=0)
        self.ax_.set(xlabel="feature", ylabel="cluster (rows)")
        return self

    def _paint(self, order: IntArray, counts: IntArray) -> FloatArray:
        """Return the colours of bands of rows, all of about the same height."""
        from matplotlib.colors import to_rgb

        n = order.size
        step = max(1, -(-n // _MOST_BANDS))
        tops = np.arange(0, n, step)
        bands = np.repeat(np.arange(tops.size), step)[:n]
        heights = np.bincount(bands)
        mix = sparse.csr_array(
            (1.0 / heights[bands], (bands, order)), shape=(tops.size, n)
        )
        dense = np.minimum((mix @ (self.rows > 0).astype(np.float64)).toarray(), 1.0)
        # A band counts as its middle row's cluster; the root shows rare entries.
        middle = np.minimum(tops + step // 2, n - 1)
        owners = np.searchsorted(np.cumsum(counts), middle, side="right")
        colors = np.array([to_rgb(color) for color in pick_colors(counts.size)])
        tint = 1.0 - _TINT * (1.0 - colors[owners])
        ink = np.sqrt(dense)[:, :, None]
        dark = 0.45 * colors[owners]
        return np.asarray(tint[:, None, :] * (1.0 - ink) + dark[:, None, :] * ink)


class FrequencyDisplay:
    """How frequent features are in each cluster (thesis 001, figure 4.3b).

    Parameters
    ----------
    frequencies : array of shape (k, d)
        Share of the rows of each cluster that have a feature.
    weights : array of shape (k,)
        Share of all rows in each cluster.
    names : sequence of str or None
        Names of the features.
    n_features : int
        Features shown: the most frequent ones in all rows.

    Attributes
    ----------
    features : ndarray of int
        Features shown, from the top.
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> from tercet.plotting import FrequencyDisplay
    >>> display = FrequencyDisplay([[0.9, 0.1], [0.2, 0.3]], [0.5, 0.5]).plot()
    >>> display.features.tolist()
    [0, 1]
    """

    def __init__(
        self,
        frequencies: ArrayLike,
        weights: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        n_features: int = 20,
    ) -> None:
        self.frequencies: FloatArray = np.asarray(frequencies, dtype=np.float64)
        self.weights: FloatArray = np.asarray(weights, dtype=np.float64)
        if self.frequencies.shape[:1] != self.weights.shape:
            raise ParameterError(
                f"frequencies has shape {self.frequencies.shape} and weights has shape "
                f"{self.weights.shape}; give (k, d) and (k,)."
            )
        overall = self.weights @ self.frequencies / self.weights.sum()
        order = np.argsort(-overall, kind="stable")
        self.features: IntArray = order[: max(1, n_features)]
        self.names = _pick_names(names, self.features)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        n_features: int = 20,
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the frequencies in the clusters of a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted: a tree or a mixture, with `components_` and `weights_`.
        X : array, sparse array, data frame, blocks or None
            Rows to count in; None takes the centers of the model, which are
            frequencies if the rows were zeros and ones.
        n_features : int
            Features shown.
        names : sequence of str or None
            Names of the features; None takes those that the model knows.
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        FrequencyDisplay
            Drawn.
        """
        check_is_fitted(model)
        frequencies, weights = model.components_, model.weights_
        if X is not None:
            labels = np.asarray(model.predict(X))
            present = (_gather(X) != 0).astype(np.float64)
            frequencies = _mean_rows(present, labels, len(weights))
            weights = np.bincount(labels, minlength=len(weights)) / labels.size
        found = _find_names(model, names)
        return cls(frequencies, weights, names=found, n_features=n_features).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw a column of bars for each cluster.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        FrequencyDisplay
            Itself, drawn.
        """
        k, m = self.weights.size, self.features.size
        self.ax_ = prepare_axes(
            ax, size=(min(16.0, 2.2 + 0.95 * k), min(12.0, 1.2 + 0.27 * m))
        )
        self.figure_ = self.ax_.figure
        shown = self.frequencies[:, self.features]
        # All columns share a scale, on which the largest bar fills its column.
        largest = max(float(shown.max()), np.finfo(float).tiny)
        places = np.arange(m)
        for j, color in enumerate(pick_colors(k)):
            bars = 0.66 * shown[j] / largest
            self.ax_.barh(places, bars, left=j, height=0.74, color=color)
            self.ax_.axvline(j, color="#bbbbbb", linewidth=0.8)
            for place, bar, value in zip(places, bars, shown[j], strict=True):
                text = _write_share(float(value))
                self.ax_.text(j + bar + 0.03, place, text, va="center", fontsize=7)
        shares = self.weights / self.weights.sum()
        self.ax_.set_xticks(
            np.arange(k) + 0.4, [f"{j}\n{share:.0%}" for j, share in enumerate(shares)]
        )
        self.ax_.set_yticks(places, self.names)
        self.ax_.xaxis.tick_top()
        self.ax_.xaxis.set_label_position("top")
        self.ax_.tick_params(length=0, labelsize=8)
        self.ax_.set(
            xlabel="cluster, share of the rows; bars: share of its rows with the feature",
            xlim=(-0.02, k),
            ylim=(m - 0.4, -0.6),
        )
        for side in ("top", "right", "bottom", "left"):
            self.ax_.spines[side].set_visible(False)
        return self


def _write_share(value: float) -> str:
    """Return a percentage, or nothing for one that would read as zero."""
    return f"{value:.0%}" if value >= 0.005 else ""


def _gather(X: Any) -> Any:
    """Return rows in sparse form."""
    blocks = open_source(X, requirement="reals").blocks()
    pieces = [sparse.csr_array(block.rows) for block in blocks]
    return sparse.csr_array(sparse.vstack(pieces, format="csr"))


def _mean_rows(rows: Any, labels: IntArray, k: int | None = None) -> FloatArray:
    """Return the mean row of each cluster."""
    count = int(labels.max()) + 1 if k is None else k
    sizes = np.bincount(labels, minlength=count)
    member = sparse.csr_array(
        (np.ones(labels.size), (labels, np.arange(labels.size))),
        shape=(count, labels.size),
    )
    means = (member @ rows).toarray() / np.maximum(sizes, 1)[:, None]
    return np.asarray(means)


def _find_names(model: Any, names: Sequence[str] | None) -> Sequence[str] | None:
    return names if names is not None else getattr(model, "feature_names_in_", None)


def _pick_names(names: Sequence[str] | None, features: IntArray) -> list[str]:
    if names is None:
        return [f"x{j}" for j in features]
    return [str(names[j]) for j in features]
