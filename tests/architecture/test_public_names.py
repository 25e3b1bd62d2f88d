"""`import tercet` is light, and every public name is there and explained."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path

import pytest

import tercet

HEAVY = ["numba", "sklearn", "matplotlib", "pandas", "polars", "dask"]
NAMES = [name for name in tercet.__all__ if not name.startswith("__")]


def public_objects() -> Iterator[tuple[str, object]]:
    """Functions and classes a user can reach, each once, by their full name."""
    seen: set[int] = set()
    for name in NAMES:
        value = getattr(tercet, name)
        rooms = isinstance(value, types.ModuleType)
        inner = getattr(value, "__all__", []) if rooms else []
        for full, thing in [
            (name, value),
            *((f"{name}.{part}", getattr(value, part)) for part in inner),
        ]:
            explained = inspect.isclass(thing) or inspect.isfunction(thing)
            if explained and id(thing) not in seen:
                seen.add(id(thing))
                yield full, thing


def needs_example(thing: object) -> bool:
    """Errors, protocols, enumerations and records are shown where they are used."""
    if not inspect.isclass(thing):
        return True
    return not (
        (thing.__module__.startswith("tercet.flow.") and is_dataclass(thing))
        or issubclass(thing, BaseException)
        or getattr(thing, "_is_protocol", False)
        or hasattr(thing, "__members__")
    )


def test_import_is_light(repository: Path) -> None:
    code = f"import sys, tercet; print([m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=repository / "src",
    )
    assert run.stdout.strip() == "[]"


def test_table_list_and_types_agree() -> None:
    tree = ast.parse(inspect.getsource(tercet))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    typed = [
        alias.asname
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(tercet._HOMES) == sorted(NAMES) == sorted(typed)
    assert dir(tercet) == sorted(tercet.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_public_name_resolves_and_is_explained(name: str) -> None:
    assert inspect.getdoc(getattr(tercet, name))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tercet.no_such_name


def test_every_public_function_and_class_has_an_example() -> None:
    lacking = [
        full
        for full, thing in public_objects()
        if needs_example(thing) and ">>>" not in (inspect.getdoc(thing) or "")
    ]
    assert lacking == []
