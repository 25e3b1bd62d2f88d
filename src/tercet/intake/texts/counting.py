"""Counting words in several processes, with numbers that do not depend on timing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tercet.exceptions import TercetError
from tercet.flow import IntArray
from tercet.intake.texts import tokenizing
from tercet.intake.texts.tokenizing import (
    Numbered,
    Tokenizer,
    pack_strings,
    read_frame,
    unpack_strings,
    write_frame,
)

__all__ = ["Counted", "WordNumbers", "count_words"]

Tag = TypeVar("Tag")

_ALONE_CHARACTERS = 1 << 20
"""Shorter texts are not worth another process."""

_WIDE = 4
"""Columns to an entry beyond which sorting beats counting."""


class Counted(NamedTuple):
    """Word counts of some documents.

    Attributes
    ----------
    indptr, indices, counts : ndarray
        The rows in compressed form; indices are word numbers.
    """

    indptr: IntArray
    indices: NDArray[np.int32]
    counts: NDArray[Any]


class WordNumbers:
    """One numbering of words for all processes.

    Attributes
    ----------
    words : list of str
        Every word, in the order of its number.

    Examples
    --------
    >>> from tercet.intake.texts.counting import WordNumbers
    >>> numbers = WordNumbers()
    >>> numbers.number(["war", "peace", "war"]).tolist(), numbers.words
    ([0, 1, 0], ['war', 'peace'])
    """

    def __init__(self, words: Sequence[str] = ()) -> None:
        self.words = list(words)
        self._known = {word: number for number, word in enumerate(self.words)}

    def number(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the number of each word; new words get the next ones."""
        known, numbers = self._known, []
        for word in words:
            number = known.setdefault(word, len(known))
            if number == len(self.words):
                self.words.append(word)
            numbers.append(number)
        return np.array(numbers, dtype=np.int32)


def count_words(
    blocks: Iterable[tuple[Tag, list[str]]],
    settings: Mapping[str, Any],
    numbers: WordNumbers,
    n_workers: int = 1,
) -> Iterator[tuple[Tag, Counted]]:
    """Count the words of blocks of texts, several blocks at a time.

    Parameters
    ----------
    blocks : iterable of (tag, list of str)
        Texts, and anything that shall come back with their counts.
    settings : mapping
        Of a `Tokenizer`.
    numbers : WordNumbers
        Takes up the words. With a fixed vocabulary in the settings it must hold
        those words already.
    n_workers : int, default=1
        Processes that cut and number words; one stays in this process, as does the
        work on short texts.

    Yields
    ------
    tag, counts
        In the order of the blocks.

    Examples
    --------
    >>> from tercet.intake.texts.counting import WordNumbers, count_words
    >>> numbers = WordNumbers()
    >>> [(tag, counted)] = count_words([("a", ["so so", "and so"])], {}, numbers)
    >>> counted.indices.tolist(), counted.counts.tolist()
    ([0, 0, 1], [2, 1, 1])
    """
    stream = iter(blocks)
    head, enough = _take(stream, _ALONE_CHARACTERS)
    parallel = n_workers > 1 and enough
    with ExitStack() as stack:
        workers: list[_Worker] = []
        for _ in range(n_workers if parallel else 1):
            worker = _Process(settings) if parallel else _Local(settings)
            stack.callback(worker.close)
            workers.append(_Worker(worker, settings.get("vocabulary")))
        pools = [stack.enter_context(ThreadPoolExecutor(1)) for _ in workers]
        waiting: deque[tuple[Tag, _Worker, Future[tuple[list[str], Counted]]]] = deque()
        for turn, (tag, texts) in enumerate(_chain(head, stream)):
            place = turn % len(workers)
            worker_here = workers[place]
            if parallel:
                job = pools[place].submit(worker_here.count, texts)
            else:
                job = Future()
                job.set_result(worker_here.count(texts))
            waiting.append((tag, worker_here, job))
            if len(waiting) > 2 * len(workers):
                yield _finish(*waiting.popleft(), numbers)
        while waiting:
            yield _finish(*waiting.popleft(), numbers)


def _take(
    stream: Iterator[tuple[Tag, list[str]]], characters: int
) -> tuple[list[tuple[Tag, list[str]]], bool]:
    """Take blocks from a stream until there is enough to share out."""
    head, size = [], 0
    for tag, texts in stream:
        head.append((tag, texts))
        size += sum(map(len, texts))
        if size > characters:
            return head, True
    return head, False


def _chain(
    head: list[tuple[Tag, list[str]]], stream: Iterator[tuple[Tag, list[str]]]
) -> Iterator[tuple[Tag, list[str]]]:
    while head:
        yield head.pop(0)
    yield from stream


def _finish(
    tag: Tag,
    worker: _Worker,
    job: Future[tuple[list[str], Counted]],
    numbers: WordNumbers,
) -> tuple[Tag, Counted]:
    new_words, counted = job.result()
    return tag, worker.translate(new_words, counted, numbers)


class _Worker:
    """Counts with numbers of its own and knows what they are for all."""

    def __init__(self, engine: _Local | _Process, vocabulary: Any) -> None:
        self._engine = engine
        self._fixed = vocabulary is not None
        self._shared = np.zeros(0, dtype=np.int32)

    def count(self, texts: list[str]) -> tuple[list[str], Counted]:
        """Count the words of texts, by own numbers."""
        found = self._engine.number(texts)
        return found.new_words, _compress(found)

    def translate(
        self, new_words: list[str], counted: Counted, numbers: WordNumbers
    ) -> Counted:
        """Return the counts by the numbers that all share."""
        if self._fixed:
            return counted
        self._shared = np.concatenate([self._shared, numbers.number(new_words)])
        return counted._replace(indices=self._shared[counted.indices])


class _Local:
    """Numbers words in this process."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._tokenizer = Tokenizer(dict(settings))

    def number(self, texts: list[str]) -> Numbered:
        return self._tokenizer.number(texts)

    def close(self) -> None:
        """Nothing to close."""


class _Process:
    """Numbers words in a process of its own."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        script = str(Path(tokenizing.__file__).resolve())
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        # BufferedWriter and BufferedReader are binary streams.
        write_frame(self._requests, json.dumps(dict(settings)).encode())  # type: ignore[arg-type]

    def number(self, texts: list[str]) -> Numbered:
        try:
            write_frame(self._requests, pack_strings(texts))  # type: ignore[arg-type]
            parts = [read_frame(self._answers) for _ in range(3)]  # type: ignore[arg-type]
        except BrokenPipeError:
            parts = [None]
        if None in parts:
            raise TercetError(
                f"A process that counts words has ended (code {self._process.wait()}); "
                "is there enough memory? n_jobs=1 counts in this process."
            )
        words, numbers, lengths = (part or b"" for part in parts)
        return Numbered(unpack_strings(words), array("i", numbers), array("q", lengths))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._requests, self._answers):
            try:
                stream.close()
            except BrokenPipeError:
                continue


def _compress(found: Numbered) -> Counted:
    """Count how often each number stands in each document."""
    numbers = np.frombuffer(found.numbers, dtype=np.int32)
    lengths = np.frombuffer(found.lengths, dtype=np.int64)
    kept = numbers >= 0
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    if not kept.all():
        indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
        numbers = numbers[kept]
    width = int(numbers.max()) + 1 if len(numbers) else 1
    rows = sparse.csr_array(
        (
            np.ones(len(numbers), dtype=np.int32),
            np.array(numbers),
            indptr.astype(np.int32),
        ),
        shape=(len(lengths), width),
    )
    if width < _WIDE * len(numbers):
        # Two transpositions sort by counting, which is quicker than comparing.
        rows = sparse.csr_array(rows.tocsc().tocsr())
    rows.sum_duplicates()
    return Counted(rows.indptr, rows.indices, rows.data)
