"""The spectrum of the pair moments: where the data stop supporting components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from tercet.exceptions import ParameterError
from tercet.flow import FloatArray
from tercet.plotting.axes import COLORS, prepare_axes

__all__ = ["SpectrumDisplay"]


class SpectrumDisplay:
    """Eigenvalues of the pair moments, the number of components marked.

    Parameters
    ----------
    spectrum : array of shape (p,)
        Eigenvalues by falling algebraic value.
    n_components : int or None
        Number of components k; the gap after it is marked.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes, after `plot`.
    figure_ : matplotlib.figure.Figure
        Figure, after `plot`.

    Examples
    --------
    >>> from tercet.plotting import SpectrumDisplay
    >>> display = SpectrumDisplay([3.0, 2.0, 0.1, -0.1], n_components=2).plot()
    >>> display.ax_.get_xlabel()
    'number'
    """

    def __init__(self, spectrum: ArrayLike, *, n_components: int | None = None) -> None:
        self.spectrum: FloatArray = np.asarray(spectrum, dtype=np.float64)
        if self.spectrum.ndim != 1 or self.spectrum.size == 0:
            raise ParameterError(
                f"spectrum has shape {self.spectrum.shape}; give a list of eigenvalues."
            )
        self.n_components = n_components

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the spectrum that a fitted model saw.

        Parameters
        ----------
        model : estimator
            Fitted from moments.
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        SpectrumDisplay
            Drawn.
        """
        check_is_fitted(model)
        spectrum = getattr(model, "diagnostics_", {}).get("spectrum")
        if spectrum is None:
            raise ParameterError(
                f"model={type(model).__name__} keeps no spectrum: it was not learned "
                "from moments. Fit it without components_init."
            )
        return cls(spectrum, n_components=getattr(model, "n_components", None)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the eigenvalues.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Axes to use.

        Returns
        -------
        SpectrumDisplay
            Itself, drawn.
        """
        self.ax_ = prepare_axes(ax, size=(6.0, 3.6))
        self.figure_ = self.ax_.figure
        numbers = np.arange(1, self.spectrum.size + 1)
        k = self.spectrum.size if self.n_components is None else self.n_components
        for chosen, color, label in (
            (numbers <= k, COLORS[0], "components"),
            (numbers > k, "#9a9a9a", "next"),
        ):
            if chosen.any():
                self.ax_.bar(
                    numbers[chosen], self.spectrum[chosen], color=color, label=label
                )
        if 0 < k < self.spectrum.size:
            self.ax_.axvline(k + 0.5, color=COLORS[5], linestyle="--", linewidth=1.2)
            self.ax_.legend(frameon=False)
        self.ax_.axhline(0.0, color="black", linewidth=0.8)
        self.ax_.set(xlabel="number", ylabel="eigenvalue of the pair moments")
        return self
