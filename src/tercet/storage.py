"""Files are written beside their place and renamed, so that none is ever half there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replace_file"]


@contextmanager
def replace_file(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path beside the target, and rename it to the target at the end.

    On an error or an interrupt the part is deleted and the target stays as it was.
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
    handle, name = tempfile.mkstemp(
        prefix=f".{place.name}.", suffix=".part", dir=place.parent
    )
    os.close(handle)
    part = Path(name)
    try:
        yield part
        # mkstemp makes files that only their owner can read.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
