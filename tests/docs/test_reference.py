"""The reference leaves out nothing that is public."""

from __future__ import annotations

import re
import types
from pathlib import Path

import tercet

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_every_public_name_has_a_place() -> None:
    text = "\n".join(
        page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")
    )
    rooms = set(re.findall(r"automodule:: tercet\.(\w+)", text))
    single = set(re.findall(r"auto(?:class|function):: (\w+)", text))
    wanted = {name for name in tercet.__all__ if not name.startswith("__")}
    modules = {n for n in wanted if isinstance(getattr(tercet, n), types.ModuleType)}
    assert modules <= rooms
    assert wanted - modules == single
