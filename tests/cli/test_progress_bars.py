"""Bars are drawn for a terminal that watches, and for nobody else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import tercet
from tercet.cli.progress import Watch, WatchedReader


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "speeches.txt"
    lines = ["war army enemy battle", "tax budget deficit dollar"]
    path.write_text("\n".join(lines * 4000) + "\n")
    return path


def call(corpus: Path, name: str, *words: str, terminal: bool) -> str:
    """Run a command and return what it wrote to standard error."""
    command = [sys.executable, "-m", "tercet.cli", name, str(corpus), *words]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TERM": "xterm",
    }
    if not terminal:
        run = subprocess.run(
            command, capture_output=True, env=environment, text=True, check=True
        )
        return run.stderr
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be opened here: {error}")
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        assert process.wait(60) == 0
    os.close(ours)
    return b"".join(parts).decode()


def test_a_terminal_sees_bars_and_the_time_left(corpus: Path) -> None:
    target = str(corpus.with_suffix(".tercet"))
    words = ("-k", "2", "-m", "single-topic", "--set", "refine=0", "-o", target)
    said = call(corpus, "fit", *words, terminal=True)
    assert "reading speeches.txt" in said
    assert "pass 1 over the rows" in said
    assert "left" in said


def test_a_pipe_sees_notes_only(corpus: Path) -> None:
    said = call(corpus, "convert", str(corpus.with_suffix(".npz")), terminal=False)
    assert said.splitlines()[0].startswith("tercet: read 8,000 documents")
    assert "\x1b" not in said
    assert "left" not in said.replace("left out", "")


def test_quiet_is_quiet(corpus: Path) -> None:
    words = ("convert", str(corpus.with_suffix(".npz")), "--quiet")
    assert call(corpus, *words, terminal=True) == ""


class Counting:
    """Stands for rich's Progress and remembers what was drawn."""

    def __init__(self) -> None:
        self.totals: list[int | None] = []
        self.done: list[float] = []

    def add_task(self, title: str, total: int | None) -> int:
        self.totals.append(total)
        self.done.append(0)
        return len(self.totals) - 1

    def advance(self, task: int, amount: int) -> None:
        self.done[task] += amount

    def remove_task(self, task: int) -> None:
        pass


def test_bars_reach_their_ends(corpus: Path) -> None:
    progress = Counting()
    watch = Watch(progress)
    reader = watch.load(tercet.read(corpus))
    assert progress.totals == [corpus.stat().st_size]
    # The first bytes are read once more, to find the encoding.
    assert progress.done[0] >= progress.totals[0]
    rows = watch.rows(reader)
    assert isinstance(rows, WatchedReader)
    for _ in range(2):
        assert sum(block.n_rows for block in rows) == 8000
    assert progress.totals[1:] == progress.done[1:] == [8000, 8000]
