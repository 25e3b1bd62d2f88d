"""Lay out a page and put it in its place."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import resources
from typing import Any

from tercet.report.contents import describe_page
from tercet.report.gathering import gather_documents
from tercet.storage import replace_file

__all__ = ["render_page", "write_report"]

# Inside a script element these could end it or open a comment; as escapes they
# mean the same to a reader of JSON and nothing to a reader of HTML.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_ESCAPES |= {"\u2028": "\\u2028", "\u2029": "\\u2029"}


def render_page(page: Mapping[str, Any]) -> str:
    """Return a page as one HTML document that asks the network for nothing.

    Parameters
    ----------
    page : mapping
        From `describe_page`.

    Returns
    -------
    str
        HTML; all text from the data is escaped.

    Examples
    --------
    >>> from tercet.report import render_page
    >>> page = {
    ...     "kind": "views",
    ...     "noun": "source",
    ...     "title": "<i>Two</i>",
    ...     "facts": {"model": "DiscreteCCA"},
    ...     "diagnostics": [],
    ...     "components": [],
    ... }
    >>> "&lt;i&gt;Two&lt;/i&gt;" in render_page(page)
    True
    """
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "Pages need jinja2; install it with `pip install 'tercet[report]'`."
        ) from error

    files = resources.files("tercet.report")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(
            lambda name: (files / "assets" / name).read_text(encoding="utf-8")
        ),
    )
    environment.filters["percent"] = lambda share: f"{share:.1%}"
    template = environment.get_template("page.html.jinja")
    return template.render(
        page=page,
        data=_embed(page),
        style=(files / "assets" / "page.css").read_text(encoding="utf-8"),
        script=(files / "assets" / "page.js").read_text(encoding="utf-8"),
    )


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    corpus: Any = None,
    times: Any = None,
    title: str | None = None,
) -> None:
    """Write an interactive page about a model to one HTML file.

    Parameters
    ----------
    model : estimator
        A fitted model of Tercet.
    path : path
        Where the page shall be. It is written beside that place and renamed, so
        that an interrupted run leaves what was there.
    corpus : Documents, CorpusReader, rows or None
        Documents to show beside the model.
    times : sequence, str or None
        A time for each document, or the name of a column of the corpus.
    title : str or None
        Heading of the page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import tercet
    >>> from tercet.report import write_report
    >>> X = np.random.default_rng(0).poisson([5.0, 1, 3], size=(60, 3))
    >>> model = tercet.SingleTopicModel(1).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "page.html"
    ...     write_report(model, page, corpus=X)
    ...     page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    documents = gather_documents(corpus, times)
    text = render_page(describe_page(model, corpus=documents, title=title))
    with replace_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _embed(page: Mapping[str, Any]) -> Any:
    """Return the page's values as JSON that is safe inside a script element."""
    from markupsafe import Markup

    text = json.dumps(page, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return Markup(text)
