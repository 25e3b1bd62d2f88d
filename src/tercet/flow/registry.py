"""Names for choices, with an error that lists the valid ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib import import_module
from typing import Generic, TypeVar

from tercet.exceptions import ParameterError

__all__ = ["Registry"]

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Names for choices, with an error that lists the valid ones.

    Parameters
    ----------
    argument : str
        Name of the argument by which users choose, for error messages.
    filled_by : str or None
        Module that adds the entries; it is imported when somebody first looks.
        So a lower room can offer names without importing the room above it.

    Examples
    --------
    >>> from tercet.flow import Registry
    >>> shapes = Registry[int]("shape")
    >>> shapes.add("square", 4)
    >>> shapes["square"]
    4
    """

    def __init__(self, argument: str, filled_by: str | None = None) -> None:
        self.argument = argument
        self._filled_by = filled_by
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Add an entry; names are unique."""
        if name in self._entries:
            raise ParameterError(f"{self.argument} {name!r} is registered twice.")
        self._entries[name] = entry

    def __getitem__(self, name: str) -> Entry:
        """Return the entry, or say which names there are."""
        if name not in self:
            known = ", ".join(repr(known) for known in self._entries)
            close = difflib.get_close_matches(str(name), self._entries, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ParameterError(
                f"{self.argument}={name!r} is not known; choose one of {known}.{hint}"
            )
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Whether the name is known."""
        self._fill()
        # What is no string may not be hashable either.
        return isinstance(name, str) and name in self._entries

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in order of registration."""
        self._fill()
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of names."""
        self._fill()
        return len(self._entries)

    def _fill(self) -> None:
        """Import the module that adds the entries, once."""
        if self._filled_by is not None:
            import_module(self._filled_by)
            self._filled_by = None
