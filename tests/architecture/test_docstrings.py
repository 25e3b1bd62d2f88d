"""Parameters in docstrings are those of signatures, in the same order."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from numpydoc.docscrape import FunctionDoc

import tercet

MODULES = sorted(
    info.name for info in pkgutil.walk_packages(tercet.__path__, prefix="tercet.")
)


def list_documented(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a function, or a class and its public methods, with their names."""
    if inspect.isfunction(value):
        yield name, value
    elif inspect.isclass(value):
        yield name, value
        for member, method in vars(value).items():
            if inspect.isfunction(method) and not member.startswith("_"):
                yield f"{name}.{member}", method


def find_differences(value: Any) -> str | None:
    """Tell how the Parameters section departs from the signature."""
    documented = [
        part.strip().lstrip("*")
        for entry in FunctionDoc(value, doc=inspect.getdoc(value) or "")["Parameters"]
        for part in entry.name.split(",")
    ]
    if not documented:
        return None
    try:
        signature = inspect.signature(value)
    except ValueError:
        return None
    known = [name for name in signature.parameters if name not in ("self", "cls")]
    if documented == [name for name in known if name in documented]:
        missing = [n for n in known if n not in documented and not n.startswith("_")]
        return f"says nothing of {missing}" if missing else None
    return f"documents {documented}, takes {known}"


@pytest.mark.parametrize("module", MODULES)
def test_parameters_are_those_of_the_signature(module: str) -> None:
    room = import_module(module)
    wrong = {
        name: difference
        for public in getattr(room, "__all__", [])
        for name, value in list_documented(getattr(room, public), public)
        if getattr(value, "__module__", "") == module
        and (difference := find_differences(value)) is not None
    }
    assert wrong == {}


def test_differences_are_found() -> None:
    def swapped(first: int, second: int) -> None:
        """Do nothing.

        Parameters
        ----------
        second : int
            One.
        first : int
            Other.
        """

    def lacking(first: int, second: int) -> None:
        """Do nothing.

        Parameters
        ----------
        first : int
            One.
        """

    def inventing(first: int) -> None:
        """Do nothing.

        Parameters
        ----------
        first : int
            One.
        third : int
            None such.
        """

    for function in (swapped, lacking, inventing):
        assert find_differences(function) is not None
