"""Choosing and fitting a model for the commands that learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tercet.cli.models import MODELS, find_model, make_model
from tercet.cli.outputs import format_json
from tercet.cli.progress import Watch
from tercet.cli.reading import note
from tercet.exceptions import ParameterError
from tercet.intake import CorpusReader

__all__ = [
    "check_views",
    "describe_fit",
    "fit_reader",
    "guess_model",
    "list_candidates",
    "load_ahead",
    "name_output",
    "read_size",
]

_MOST_CANDIDATES = 40


def guess_model(reader: CorpusReader) -> str:
    """Return the name of a model that suits the rows.

    Parameters
    ----------
    reader : CorpusReader
        Already read.

    Returns
    -------
    str
        "lda" for texts, the long form and files of counts; for tables "bernoulli",
        "poisson" or "gaussian" by their values.

    Examples
    --------
    >>> import tercet
    >>> from tercet.cli.fitting import guess_model
    >>> guess_model(tercet.read(["so it goes"]))
    'lda'
    """
    if reader.layout.kind != "wide":
        return "lda"
    found = "bernoulli"
    for block in reader:
        values: Any = block.rows.data if sparse.issparse(block.rows) else block.rows
        values = values[~np.isnan(values)]
        if not np.isin(values, (0.0, 1.0)).all():
            found = "poisson"
        if (values < 0).any() or (values != np.floor(values)).any():
            return "gaussian"
    return found


def read_size(text: str | None) -> int | str | None:
    """Return a number of components, "auto" or None.

    Parameters
    ----------
    text : str or None
        What the user said.

    Returns
    -------
    int, "auto" or None
        None takes the default of the model.

    Examples
    --------
    >>> from tercet.cli.fitting import read_size
    >>> read_size("18"), read_size("auto"), read_size(None)
    (18, 'auto', None)
    """
    if text is None or text == "auto":
        return text
    if not text.isdigit() or int(text) < 1:
        raise ParameterError(
            f"n_components={text!r} is not a number of components; give a positive "
            "integer or auto."
        )
    return int(text)


def fit_reader(
    readers: list[CorpusReader],
    name: str,
    size: int | str | None,
    settings: dict[str, Any],
    bars: Watch,
    *,
    quiet: bool = False,
) -> Any:
    """Fit a model to one reader, or to two views.

    Parameters
    ----------
    readers : list of CorpusReader
        One or two.
    name : str
        One of `MODELS`.
    size : int, "auto" or None
        Number of components.
    settings : dict
        Further parameters.
    bars : Watch
        Shows how far it is.
    quiet : bool
        Whether to keep silent.

    Returns
    -------
    estimator
        The fitted model.
    """
    if size == "auto":
        size = _choose_size(readers, name, settings, bars, quiet=quiet)
    estimator = make_model(name, None if size is None else int(size), settings)
    return estimator.fit(*(bars.rows(reader) for reader in readers))


def check_views(name: str, n_files: int) -> None:
    """Refuse a model that learns from another number of files.

    Parameters
    ----------
    name : str
        One of `MODELS`.
    n_files : int
        Files that were named.

    Examples
    --------
    >>> from tercet.cli.fitting import check_views
    >>> check_views("lda", 1)
    """
    views = find_model(name).views
    if views != (n_files == 2):
        wanted, given = ("two files", "one") if views else ("one file", "two")
        raise ParameterError(
            f"model={name!r} learns from {wanted}, but {given} was given; models of two "
            f"views are {', '.join(key for key, m in MODELS.items() if m.views)}."
        )


def load_ahead(name: str) -> None:
    """Load the libraries of a model, and what runs compiled loops.

    Half a second and more, in which a core waits for texts that others count.

    Parameters
    ----------
    name : str
        One of `MODELS`.

    Examples
    --------
    >>> from tercet.cli.fitting import load_ahead
    >>> load_ahead("lda")
    """
    make_model(name, None, {})
    from tercet.kernels.variational import longest_row

    longest_row(np.zeros(1, dtype=np.int32))


def _choose_size(
    readers: list[CorpusReader],
    name: str,
    settings: dict[str, Any],
    bars: Watch,
    *,
    quiet: bool,
) -> int:
    """Let the data say how many components they support."""
    from tercet import select_components

    if len(readers) == 2 or MODELS[name].size != "n_components":
        raise ParameterError(
            f"n_components='auto' is not there for model={name!r}; give a number."
        )
    most = min(_MOST_CANDIDATES, readers[0].n_features, readers[0].n_rows)
    estimator = make_model(name, None, settings)
    rows = bars.rows(readers[0])
    found = select_components(rows, list_candidates(most), estimator)
    chosen = int(found.choose())
    note(f"n_components={chosen} predicts held-out rows best", quiet=quiet)
    return chosen


def list_candidates(most: int) -> list[int]:
    """Return numbers of components worth a look, up to a largest one.

    Examples
    --------
    >>> from tercet.cli.fitting import list_candidates
    >>> list_candidates(20)
    [2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20]
    """
    steps = [2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40]
    return [step for step in steps if step <= most] or [1]


def name_output(source: Path, output: Path | None) -> Path:
    """Return where a model goes: beside nothing, in the present folder.

    Parameters
    ----------
    source : Path
        What was read.
    output : Path or None
        What the user said.

    Returns
    -------
    Path
        That, or the name of the source with the ending ".tercet".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tercet.cli.fitting import name_output
    >>> str(name_output(Path("texts/speeches.jsonl.gz"), None))
    'speeches.tercet'
    """
    if output is not None:
        return output
    name = source.resolve().name.removesuffix(".gz")
    return Path(f"{name.partition('.')[0] or 'model'}.tercet")


def describe_fit(model: Any, reader: CorpusReader, target: Path) -> str:
    """Return facts about a model, its data and its file as JSON.

    Parameters
    ----------
    model : estimator
        Fitted.
    reader : CorpusReader
        What it was fitted to.
    target : Path
        Where it was saved.

    Returns
    -------
    str
        JSON.
    """
    from tercet.models.facts import describe_model

    facts = describe_model(model)
    return format_json(facts | {"data": reader.describe(), "file": str(target)})
