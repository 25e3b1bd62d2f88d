"""Texts as views: how they were counted is kept, and new ones are counted alike."""

from __future__ import annotations

from typing import Any

from tercet.intake import KnownColumns, read

__all__ = ["recall_columns", "take_texts"]

_SIZES = ("n_features_in_", "second_features_in_")
_NAMES = ("feature_names_in_", "second_names_in_")
_PIPELINES = ("text_pipeline_", "second_text_pipeline_")


def recall_columns(model: Any, side: int) -> KnownColumns:
    """Return what a model of two views knows of the columns of one.

    Parameters
    ----------
    model : estimator
        Fitted to two views.
    side : {0, 1}
        Which view.

    Returns
    -------
    KnownColumns
        Number and names, and how texts were cut.
    """
    return KnownColumns(
        getattr(model, _SIZES[side]),
        getattr(model, _NAMES[side], None),
        getattr(model, _PIPELINES[side], None),
    )


def take_texts(model: Any, rows: Any, side: int, *, reset: bool) -> Any:
    """Remember how the texts of a view were counted, or count texts like that.

    Parameters
    ----------
    model : estimator
        A model of two views.
    rows : rows or list of str
        The view.
    side : {0, 1}
        Which view.
    reset : bool
        Whether the model is being fitted to them.

    Returns
    -------
    rows
        As they were, or counts of texts.
    """
    if reset:
        pipeline = getattr(rows, "text_pipeline", None)
        model.__dict__.pop(_PIPELINES[side], None)
        if pipeline is not None:
            setattr(model, _PIPELINES[side], pipeline.settings())
        return rows
    texts = isinstance(rows, list | tuple) and rows and isinstance(rows[0], str)
    if texts and hasattr(model, _PIPELINES[side]):
        return read(rows, like=recall_columns(model, side), n_jobs=1)
    return rows
