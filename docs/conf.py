"""Configuration of the documentation site (`make docs`)."""

from __future__ import annotations

import tercet

project = "Tercet"
author = "The Tercet developers"
copyright = author  # noqa: A001 - Sphinx reads this name
version = release = tercet.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = "Tercet"
html_show_sourcelink = False
html_static_path = ["_static"]
nitpicky = False
