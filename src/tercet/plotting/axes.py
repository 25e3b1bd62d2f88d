"""Axes to draw on, and the colours that every picture shares."""

from __future__ import annotations

from typing import Any

__all__ = ["COLORS", "MARKERS", "pick_colors", "prepare_axes"]

COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#8C6D1F",
    "#5B4B9A",
    "#7A7A7A",
    "#3B8E3B",
)
"""Colours that people with any kind of colour vision can tell apart, in order."""

MARKERS = "osD^vPX*<>"
"""Marks of curves, so that they can be told apart without colours."""


def prepare_axes(ax: Any = None, *, size: tuple[float, float] = (7.0, 4.0)) -> Any:
    """Return axes to draw on: those given, or new ones.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Axes to use; None makes a figure.
    size : tuple of float
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib.axes.Axes
        Axes of a figure that is laid out by constraints.

    Examples
    --------
    >>> from tercet.plotting.axes import prepare_axes
    >>> ax = prepare_axes(size=(4.0, 3.0))
    >>> ax.figure.get_size_inches().tolist()
    [4.0, 3.0]
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib; install it with `pip install 'tercet[plots]'`."
        ) from error
    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def pick_colors(count: int) -> list[Any]:
    """Return colours for so many things, as distinct as they can be.

    Parameters
    ----------
    count : int
        How many.

    Returns
    -------
    list
        Colours that matplotlib knows.

    Examples
    --------
    >>> from tercet.plotting.axes import pick_colors
    >>> pick_colors(2)
    ['#0072B2', '#E69F00']
    """
    if count <= len(COLORS):
        return list(COLORS[:count])
    from matplotlib import colormaps

    return [colormaps["turbo"]((i + 0.5) / count) for i in range(count)]
