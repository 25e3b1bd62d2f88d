"""Configuration of the documentation site (`make docs`)."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

import tercet

project = "Tercet"
author = "The Tercet developers"
copyright = author  # noqa: A001 - Sphinx reads this name
version = release = tercet.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx-mathjax-offline",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = "Tercet"
html_show_sourcelink = False

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def draw_pictures(app: Any) -> None:  # noqa: ARG001 - Sphinx hands it over
    """Run the code of each page that shows pictures, in the folder it shows."""
    os.environ.setdefault("MPLBACKEND", "agg")
    PICTURES.mkdir(exist_ok=True)
    for page in sorted(HERE.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if "savefig" not in text:
            continue
        code = "\n".join(BLOCK.findall(text))
        with contextlib.chdir(PICTURES), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(page), "exec"), {"__name__": "__main__"})


def skip_foreign(
    app: Any,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,
    value: Any,
    skip: bool,  # noqa: ARG001
    options: Any,  # noqa: ARG001
) -> bool | None:
    """Leave out what scikit-learn's mixins bring along; it is explained there."""
    foreign = (getattr(value, "__module__", "") or "").startswith("sklearn")
    return True if foreign or name == "set_output" else None


def setup(app: Any) -> None:
    """Draw pictures before pages are read."""
    app.connect("builder-inited", draw_pictures)
    app.connect("autodoc-skip-member", skip_foreign)
