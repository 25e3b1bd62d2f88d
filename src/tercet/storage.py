"""Files are written beside their place and renamed, so that none is ever half there."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replace_file"]


@contextmanager
def replace_file(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside the target, and rename it to the target at the end.

    On an error or an interrupt the part is deleted and the target stays as it was;
    what a killed run leaves is deleted by the next one that writes the same file.
    Folders on the way to the target are made.

    Parameters
    ----------
    target : path
        Where the file shall be.

    Yields
    ------
    Path
        Where to write it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tercet.storage import replace_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "a.txt"
    ...     with replace_file(target) as part:
    ...         _ = part.write_text("done")
    ...     target.read_text()
    'done'
    """
    place = Path(target)
    place.parent.mkdir(parents=True, exist_ok=True)
    _sweep(place)
    handle, part = _make_part(place)
    try:
        yield part
        # mkstemp makes files that only their owner can read.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
        os.close(handle)


def _make_part(place: Path) -> tuple[int, Path]:
    """Make an empty file beside a place and lock it for as long as we live."""
    while True:
        handle, name = tempfile.mkstemp(
            prefix=f".{place.name}.", suffix=".part", dir=place.parent
        )
        fcntl.flock(handle, fcntl.LOCK_EX)
        if Path(name).exists():
            return handle, Path(name)
        # Another process took it for abandoned just before it was locked.
        os.close(handle)


def _sweep(place: Path) -> None:
    """Delete what runs that were killed have left beside a place."""
    pattern = f".{glob.escape(place.name)}.*.part"
    for part in place.parent.glob(pattern):
        with contextlib.suppress(OSError), part.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()
