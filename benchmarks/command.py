"""Where the time of `tercet fit` on the 20 Newsgroups goes.

The command itself, in fresh processes: seconds on the clock from the start of the
interpreter to its end, split into start-up (interpreter, libraries of the command),
reading and counting, learning, and writing. While texts are counted by processes of
their own, a thread loads the libraries that learning needs. CPU seconds are those of
all processes together. The run with the least time on the clock counts.

    TERCET_DATA=... python benchmarks/command.py
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILE = "newsgroups20/newsgroups20.jsonl.gz"
RESULTS = Path(__file__).parent / "results" / "command.json"

# Runs the command as `tercet` does, and notes when it goes from one part to the next.
WATCHED = """
import json, sys, time
marks = {}
def mark(name, when):
    marks[name] = [when, time.time()]
from tercet.cli import main
import tercet.cli.commands.fit as fit
def watched(name, inner):
    def call(*words, **named):
        start = time.time()
        try:
            return inner(*words, **named)
        finally:
            mark(name, start)
    return call
fit.open_corpus = watched("reading and counting", fit.open_corpus)
fit.fit_reader = watched("learning", fit.fit_reader)
path = sys.argv.pop(1)
code = main()
json.dump(marks, open(path, "w"))
sys.exit(code)
"""
PARTS = ("start-up", "reading and counting", "learning", "writing")


def run_once(file: Path, words: list[str]) -> dict[str, float]:
    """Run the command and return seconds of its parts, of all, and of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder, "marks.json")
        command = ["fit", str(file), "-o", str(Path(folder, "m.tercet")), "-q", *words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.time()
        subprocess.run(
            [sys.executable, "-c", WATCHED, str(marks), *command],
            check=True,
            capture_output=True,
        )
        ended = time.time()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times = json.loads(marks.read_text())
    reading, learning = times["reading and counting"], times["learning"]
    return {
        "start-up": reading[0] - started,
        "reading and counting": reading[1] - reading[0],
        # Between the two the command looks at the values to choose a model.
        "learning": learning[1] - reading[1],
        "writing": ended - learning[1],
        "all": ended - started,
        "CPU": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def main() -> None:
    """Run, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    file = Path(os.environ["TERCET_DATA"], FILE)
    cases = {
        "default": [],
        "one process": ["--jobs", "1"],
        "moments alone": ["--set", "refine=0"],
    }
    run_once(file, [])  # compile
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, words in cases.items():
            runs[name].append(run_once(file, words))
    best = {
        name: min(found, key=lambda run: run["all"]) for name, found in runs.items()
    }
    print(f"{'seconds':22}" + "".join(f"{name:>16}" for name in cases))
    for part in (*PARTS, "all", "CPU"):
        row = ""
        for run in best.values():
            share = "" if part == "CPU" else f" ({run[part] / run['all']:4.0%})"
            row += f"{run[part]:.2f}{share}".rjust(16)
        print(f"{part:22}{row}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(best, indent=1) + "\n")


if __name__ == "__main__":
    main()
