"""Tercet: latent variable models from the first three moments of the data.

Public names are loaded when they are first asked for, so that `import tercet`
costs little.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
