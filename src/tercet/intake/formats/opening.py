"""Bytes and lines of a file, unzipped and decoded, in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from tercet.exceptions import FileFormatError, ParameterError

__all__ = [
    "MARK",
    "find_encoding",
    "is_gzip",
    "iterate_chunks",
    "iterate_lines",
    "metering",
    "open_bytes",
    "open_text",
    "unzipped_path",
]

LONGEST_LINE = 64 << 20
"""Characters of a line; a longer one is taken for damage."""

MARK = "\udcff"
"""Stands for bytes that are not text in the encoding of the file."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _mark_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return MARK, error.end


codecs.register_error("tercet.mark", _mark_bytes)


def is_gzip(path: Path) -> bool:
    """Return whether a file begins like gzip, whatever its name.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import is_gzip
    >>> is_gzip(pathlib.Path(__file__))
    False
    """
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


_METER: ContextVar[Callable[[int], None] | None] = ContextVar("meter", default=None)


@contextmanager
def metering(advance: Callable[[int], None]) -> Iterator[None]:
    """Tell a function how many bytes of files are read meanwhile, as they are read.

    Parameters
    ----------
    advance : callable
        Takes a number of bytes.

    Yields
    ------
    None
        Nothing; readers need not know.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import metering, open_bytes
    >>> seen = []
    >>> path = pathlib.Path(__file__)
    >>> with metering(seen.append), open_bytes(path) as stream:
    ...     text = stream.read()
    >>> sum(seen) == len(text)
    True
    """
    token = _METER.set(advance)
    try:
        yield
    finally:
        _METER.reset(token)


class _MeteredFile(io.FileIO):
    """A file that tells how much of it has been read."""

    def __init__(self, path: Path, advance: Callable[[int], None]) -> None:
        super().__init__(path, "rb")
        self._advance = advance

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        n_read = super().readinto(buffer) or 0
        self._advance(n_read)
        return n_read

    def readall(self) -> bytes:
        """Read what is left."""
        data = super().readall() or b""
        self._advance(len(data))
        return data


def _open_metered(path: Path) -> Any:
    advance = _METER.get()
    if advance is None:
        return path.open("rb")
    return io.BufferedReader(_MeteredFile(path, advance), 1 << 16)


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, through gzip where it is zipped.

    Parameters
    ----------
    path : Path
        File to read.

    Yields
    ------
    binary stream
        Its content; a damaged archive is a `FileFormatError`.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import open_bytes
    >>> with open_bytes(pathlib.Path(__file__)) as stream:
    ...     stream.read(3)
    b'\"\"\"'
    """
    with ExitStack() as stack:
        stream: Any = stack.enter_context(_open_metered(path))
        if is_gzip(path):
            stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
        try:
            yield stream
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFormatError(
                f"{path} is a damaged gzip file ({error}); get it again."
            ) from error


@contextmanager
def unzipped_path(path: Path) -> Iterator[Path]:
    """Give a path of the content of a file, for readers that must jump about.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.

    Yields
    ------
    Path
        The file itself, or a temporary copy of what is in it.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import unzipped_path
    >>> with unzipped_path(pathlib.Path(__file__)) as path:
    ...     path.suffix
    '.py'
    """
    if not is_gzip(path):
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="tercet-") as copy:
        with open_bytes(path) as stream:
            shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        yield Path(copy.name)


def find_encoding(path: Path, encoding: str | None) -> tuple[str, str]:
    """Return the encoding of a file and how it is known.

    Parameters
    ----------
    path : Path
        File to read.
    encoding : str or None
        What the user said; None looks for a byte order mark and else takes UTF-8.

    Returns
    -------
    encoding, reason : str
        Name that Python knows, and "given", "byte order mark" or "default".

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import find_encoding
    >>> find_encoding(pathlib.Path(__file__), None)
    ('utf-8', 'default')
    """
    if encoding is not None:
        try:
            found = codecs.lookup(encoding)
        except (LookupError, ValueError):
            raise ParameterError(
                f"encoding={encoding!r} is not known; give a name such as 'utf-8', "
                "'latin-1' or 'cp1252'."
            ) from None
        if not getattr(found, "_is_text_encoding", True):
            raise ParameterError(
                f"encoding={encoding!r} does not encode text; give a name such as "
                "'utf-8', 'latin-1' or 'cp1252'."
            )
        return found.name, "given"
    with open_bytes(path) as stream:
        head = stream.read(4)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name, "byte order mark"
    return "utf-8", "default"


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Open a file as text; bytes that are none become `MARK`.

    Parameters
    ----------
    path : Path
        File to read, zipped or not.
    encoding : str
        From `find_encoding`.

    Yields
    ------
    text stream
        Ends of lines are left as they are.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import open_text
    >>> with open_text(pathlib.Path(__file__), "utf-8") as stream:
    ...     stream.read(3)
    '\"\"\"'
    """
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(
            stream, encoding=encoding, errors="tercet.mark", newline=""
        )
        try:
            yield text
        except UnicodeError as error:
            raise FileFormatError(
                f"{path} is not {encoding} throughout ({error}); say its encoding."
            ) from error
        finally:
            text.detach()


def iterate_lines(stream: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, from 1; an endless line comes in part.

    Parameters
    ----------
    stream : text stream
        From `open_text`.

    Yields
    ------
    number, line : int, str
        The line without its end. One longer than 64 million characters is cut,
        and ends with `MARK`.

    Examples
    --------
    >>> import pathlib
    >>> from tercet.intake.formats.opening import iterate_lines, open_text
    >>> with open_text(pathlib.Path(__file__), "utf-8") as stream:
    ...     next(iterate_lines(stream))[0]
    1
    """
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) >= LONGEST_LINE and not line.endswith(("\n", "\r")):
            while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith("\n"):
                pass
            yield number, line[:100] + MARK
            continue
        yield number, line.rstrip("\r\n")


def iterate_chunks(
    stream: BinaryIO, size: int = 4 << 20
) -> Iterator[tuple[int, bytes]]:
    r"""Yield runs of whole lines, with the number of lines before each.

    Parameters
    ----------
    stream : binary stream
        From `open_bytes`.
    size : int
        Bytes of a run, about.

    Yields
    ------
    before, lines : int, bytes
        Lines that were read before, and some more lines.

    Examples
    --------
    >>> import io
    >>> from tercet.intake.formats.opening import iterate_chunks
    >>> list(iterate_chunks(io.BytesIO(b"a\nbc\nd"), size=3))
    [(0, b'a\n'), (1, b'bc\n'), (2, b'd')]
    """
    before, rest = 0, b""
    while data := stream.read(size):
        data = rest + data
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) < LONGEST_LINE:
            rest = data
            continue
        cut = cut or len(data)
        yield before, data[:cut]
        before += data.count(b"\n", 0, cut)
        rest = data[cut:]
    if rest:
        yield before, rest
