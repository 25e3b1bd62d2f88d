"""From texts to word numbers; alone in a process, this module serves another one.

It needs the standard library only, so that a worker starts in a few hundredths of
a second: `python tokenizing.py` reads frames from standard input and answers on
standard output. A frame is a length of eight bytes and its content. The first
frame holds the settings as JSON; every other one holds documents, and its answer
the words that were new, their numbers, and how many words each document has.
Nothing is pickled.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import struct
import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, BinaryIO, NamedTuple

__all__ = [
    "DEFAULT_PATTERN",
    "Numbered",
    "Tokenizer",
    "pack_strings",
    "read_frame",
    "serve",
    "unpack_strings",
    "write_frame",
]

DEFAULT_PATTERN = r"(?u)\b\w\w+\b"

_LENGTH = struct.Struct("<q")
_NONE = -1


class Numbered(NamedTuple):
    """Words of some documents, as numbers.

    Attributes
    ----------
    new_words : list of str
        Words that have not been seen before, in the order of their numbers.
    numbers : array of int32
        Number of each word, document after document; -1 for what does not count.
    lengths : array of int64
        How many of the numbers belong to each document.
    """

    new_words: list[str]
    numbers: array[int]
    lengths: array[int]


class Tokenizer:
    """Cuts texts into words as scikit-learn's vectorizers do, and numbers them.

    Parameters
    ----------
    settings : dict
        `token_pattern`, `lowercase`, `strip_accents`, `ngram_range`, `stop_words`,
        `stemming` and `vocabulary`, as in `TextPipeline`.

    Examples
    --------
    >>> from tercet.intake.texts.tokenizing import Tokenizer
    >>> Tokenizer({}).number(["War and peace", "peace, war"])
    Numbered(new_words=['war', 'and', 'peace'], numbers=array('i', [0, 1, 2, 2, 0]), \
lengths=array('q', [3, 2]))
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._lowercase = bool(settings.get("lowercase", True))
        self._accents = settings.get("strip_accents")
        pattern = str(settings.get("token_pattern") or DEFAULT_PATTERN)
        self._find = re.compile(pattern).findall
        # Runs of two or more word characters: plain ASCII needs no expression.
        self._table = (
            _fold_ascii(self._lowercase) if pattern == DEFAULT_PATTERN else b""
        )
        stop = frozenset(settings.get("stop_words") or ())
        stem = _load_stemmer(settings.get("stemming"))
        low, high = settings.get("ngram_range") or (1, 1)
        self._sizes = range(int(low), int(high) + 1)
        self._plain = (int(low), int(high)) == (1, 1)
        known = settings.get("vocabulary")
        self._short = bool(self._table)
        self._numbers = _Numbers(
            known,
            stop if self._plain else None,
            stem if self._plain else None,
            self._short,
        )
        self._forms = None if self._plain else _Forms(stop, stem, self._short)

    def number(self, texts: Iterable[str]) -> Numbered:
        """Give each word of texts a number, the same from call to call."""
        numbers, lengths = array("i"), array("q")
        look_up = self._numbers.__getitem__
        for text in texts:
            found = array("i", list(map(look_up, self._list_tokens(text))))
            numbers.extend(found)
            lengths.append(len(found))
        return Numbered(self._numbers.take_new(), numbers, lengths)

    def list_words(self, text: str) -> list[str]:
        """Return the words of a text as they are counted."""
        tokens = self._list_tokens(text)
        if not self._plain:
            return tokens
        forms = (self._numbers.form(token) for token in tokens)
        return [form for form in forms if form is not None]

    def _list_tokens(self, text: str) -> list[str]:
        """Return words before stop words and stems; finished n-grams if there are any."""
        if self._table and text.isascii():
            folded = text.encode("ascii").translate(self._table)
            tokens = folded.decode("ascii").split()
        else:
            tokens = self._find(_fold(text, self._lowercase, self._accents))
        if self._forms is None:
            return tokens
        forms = map(self._forms.__getitem__, tokens)
        return _join_ngrams([form for form in forms if form is not None], self._sizes)


class _Forms(dict[str, str | None]):
    """The form in which each token counts, or None; found once for each."""

    def __init__(
        self,
        stop: frozenset[str],
        stem: Callable[[str], str] | None,
        drop_short: bool,
    ) -> None:
        super().__init__()
        self._stop, self._stem, self._drop_short = stop, stem, drop_short

    def __missing__(self, token: str) -> str | None:
        form = self.find(token)
        self[token] = form
        return form

    def find(self, token: str) -> str | None:
        """Return the form, without remembering it."""
        if (self._drop_short and len(token) < 2) or token in self._stop:
            return None
        return self._stem(token) if self._stem else token


class _Numbers(dict[str, int]):
    """The number of each token; tokens of one form share it."""

    def __init__(
        self,
        vocabulary: Sequence[str] | None,
        stop: frozenset[str] | None,
        stem: Callable[[str], str] | None,
        drop_short: bool,
    ) -> None:
        super().__init__()
        plain = stop is not None
        self._forms = _Forms(stop or frozenset(), stem, drop_short and plain)
        self._fixed = vocabulary is not None
        self._words = {word: number for number, word in enumerate(vocabulary or ())}
        self._new: list[str] = []

    def __missing__(self, token: str) -> int:
        form = self._forms.find(token)
        if form is None:
            number = _NONE
        elif form in self._words:
            number = self._words[form]
        elif self._fixed:
            # Not remembered: strange words must not fill the memory.
            return _NONE
        else:
            number = len(self._words)
            self._words[form] = number
            self._new.append(form)
        self[token] = number
        return number

    def form(self, token: str) -> str | None:
        """Return the form in which a token counts."""
        return self._forms.find(token)

    def take_new(self) -> list[str]:
        """Return the words that have been new since the last call."""
        new, self._new = self._new, []
        return new


def _fold_ascii(lowercase: bool) -> bytes:
    """Return a table that turns all but word characters into spaces."""
    table = bytearray(b" " * 256)
    for code in range(128):
        character = chr(code)
        if character.isalnum() or character == "_":
            table[code] = ord(character.lower() if lowercase else character)
    return bytes(table)


def _fold(text: str, lowercase: bool, accents: str | None) -> str:
    if lowercase:
        text = text.lower()
    if accents is None or text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    if accents == "ascii":
        return parts.encode("ascii", "ignore").decode("ascii")
    return "".join(part for part in parts if not unicodedata.combining(part))


def _join_ngrams(words: list[str], sizes: range) -> list[str]:
    grams: list[str] = []
    for size in sizes:
        if size == 1:
            grams += words
        else:
            grams += map(" ".join, zip(*(words[i:] for i in range(size)), strict=False))
    return grams


def _load_stemmer(language: str | None) -> Callable[[str], str] | None:
    if language is None:
        return None
    from snowballstemmer import stemmer

    find_stem: Callable[[str], str] = stemmer(language).stemWord
    return find_stem


def pack_strings(strings: Sequence[str]) -> bytes:
    """Return strings as bytes: how many, their lengths, their UTF-8.

    Examples
    --------
    >>> from tercet.intake.texts.tokenizing import pack_strings, unpack_strings
    >>> unpack_strings(pack_strings(["a", "", "né"]))
    ['a', '', 'né']
    """
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    lengths = array("q", map(len, encoded))
    return b"".join([_LENGTH.pack(len(encoded)), lengths.tobytes(), *encoded])


def unpack_strings(data: bytes) -> list[str]:
    """Return the strings that `pack_strings` packed.

    Examples
    --------
    >>> from tercet.intake.texts.tokenizing import unpack_strings
    >>> unpack_strings(bytes(8))
    []
    """
    (n_strings,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size * (1 + n_strings)
    lengths = array("q")
    lengths.frombytes(data[_LENGTH.size : start])
    strings = []
    for length in lengths:
        strings.append(data[start : start + length].decode("utf-8", "surrogatepass"))
        start += length
    return strings


def write_frame(stream: BinaryIO, *parts: bytes) -> None:
    """Write one frame.

    Examples
    --------
    >>> import io
    >>> from tercet.intake.texts.tokenizing import write_frame
    >>> stream = io.BytesIO()
    >>> write_frame(stream, b"ab", b"c")
    >>> len(stream.getvalue())
    11
    """
    stream.write(_LENGTH.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Read one frame; None at the end of the stream.

    Examples
    --------
    >>> import io
    >>> from tercet.intake.texts.tokenizing import read_frame
    >>> read_frame(io.BytesIO(b"")) is None
    True
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    return stream.read(length)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more.

    Parameters
    ----------
    requests : binary stream
        Frames with settings, then with documents.
    answers : binary stream
        Where an answer to each frame of documents goes.
    """
    settings = read_frame(requests)
    if settings is None:
        return
    tokenizer = Tokenizer(json.loads(settings))
    while (request := read_frame(requests)) is not None:
        found = tokenizer.number(unpack_strings(request))
        for part in (
            pack_strings(found.new_words),
            found.numbers.tobytes(),
            found.lengths.tobytes(),
        ):
            write_frame(answers, part)


if __name__ == "__main__":
    # An interrupt is for the process that asks; this one ends with its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)
