"""Reading and counting words, beside scikit-learn's CountVectorizer.

    python benchmarks/counting.py            counting, and where a fit's time goes
    python benchmarks/counting.py --large    memory of a fit to 2 GB of JSON lines

The texts are the 20 Newsgroups of the folder TERCET_DATA, or drawn ones where it is
absent. Times are the best of several alternating runs in one process; a ratio of two
says more than either. `--large` writes the file to a temporary folder (TMPDIR), runs
`tercet fit` on it, and adds up the memory of all its processes four times a second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import tercet

RUNS = 5
REPOSITORY = Path(__file__).resolve().parents[1]


def find_corpus(folder: Path) -> Path:
    """Return the newsgroups, or a file of drawn texts."""
    data = Path(os.environ.get("TERCET_DATA", REPOSITORY.parent / "shared" / "data"))
    path = data / "newsgroups20" / "newsgroups20.jsonl.gz"
    if path.is_file():
        return path
    path = folder / "drawn.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        for text in draw_texts(20_000, 250, np.random.default_rng(0)):
            stream.write(json.dumps({"text": text}) + "\n")
    return path


def draw_texts(n: int, length: int, rng: np.random.Generator) -> list[str]:
    """Return texts of ten topics with words as frequent as those of a language."""
    words = np.array([f"w{rank:x}" for rank in range(100_000)])
    ranks = rng.zipf(1.25, size=(n, length)) % len(words)
    # Half of the words of a text are its topic's own.
    ranks[:, ::2] = (ranks[:, ::2] + 7919 * rng.integers(1, 11, size=(n, 1))) % len(
        words
    )
    return [" ".join(words[row]) for row in ranks]


def read_texts(path: Path) -> list[str]:
    """Return the texts as a user without Tercet would."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line in stream]


def measure(run: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds on the clock, and of all processors together."""
    before = time.perf_counter(), count_processor()
    run()
    return time.perf_counter() - before[0], count_processor() - before[1]


def count_processor() -> float:
    """Return the processor seconds of this process and of those that have ended."""
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    return used


def compare(runs: dict[str, Callable[[], Any]]) -> None:
    """Print the best of alternating runs, as a ratio to the first."""
    best = dict.fromkeys(runs, (np.inf, np.inf))
    for _ in range(RUNS):
        for name, run in runs.items():
            best[name] = min(best[name], measure(run))
    base = next(iter(best.values()))[0]
    for name, (wall, processor) in best.items():
        print(
            f"  {name:44} {wall:6.2f} s   {processor:6.2f} CPU s   "
            f"{base / wall:5.2f} times as fast"
        )


def compare_counting(path: Path) -> None:
    """Print how counting compares, alone and with the reading of the file."""
    texts = read_texts(path)
    expected = CountVectorizer().fit_transform(texts)
    found = tercet.read(texts, n_jobs=2)
    same = (found.to_sparse() != expected).nnz == 0
    print(f"{len(texts):,} texts, {expected.nnz:,} counts, all equal: {same}")
    print("counting texts in memory")
    compare(
        {
            "CountVectorizer": lambda: CountVectorizer().fit_transform(texts),
            "tercet.read, one process": lambda: tercet.read(texts, n_jobs=1).load(),
            "tercet.read, two processes": lambda: tercet.read(texts, n_jobs=2).load(),
        }
    )
    print("reading and counting the file")
    compare(
        {
            "json, gzip and CountVectorizer": lambda: CountVectorizer().fit_transform(
                read_texts(path)
            ),
            "tercet.read, one process": lambda: tercet.read(path, n_jobs=1).load(),
            "tercet.read, two processes": lambda: tercet.read(path, n_jobs=2).load(),
        }
    )


def split_fit(path: Path) -> None:
    """Where the time of a fit goes, with compiled code already loaded."""
    print("reading and counting, and what follows in a fit of 20 topics (seconds)")
    models = {
        "SingleTopicModel, moments": tercet.SingleTopicModel(20, refine=0, n_jobs=2),
        "SingleTopicModel": tercet.SingleTopicModel(20, n_jobs=2),
        "LatentDirichletAllocation, moments": tercet.LatentDirichletAllocation(
            20, refine=0, n_jobs=2
        ),
        "LatentDirichletAllocation": tercet.LatentDirichletAllocation(20, n_jobs=2),
    }
    reader = tercet.read(path, min_df=2, stop_words="english").load()
    for model in models.values():
        model.fit(reader)
    for name, model in models.items():
        opened = tercet.read(path, min_df=2, stop_words="english")
        counting, _ = measure(opened.load)
        fitting, _ = measure(lambda model=model, opened=opened: model.fit(opened))
        share = counting / (counting + fitting)
        print(f"  {name:36} {counting:5.2f} + {fitting:5.2f}   counting {share:4.0%}")


def write_large(path: Path, n_bytes: int) -> int:
    """Write JSON lines until there are enough bytes; return their number."""
    rng = np.random.default_rng(0)
    # Drawing is slower than reading, so 64,000 texts come again under new names.
    drawn = [json.dumps(text) for _ in range(16) for text in draw_texts(4000, 250, rng)]
    written = n_documents = 0
    with path.open("w", encoding="utf-8") as stream:
        while written < n_bytes:
            for text in drawn:
                line = f'{{"id": "document-{n_documents}", "text": {text}}}\n'
                written += stream.write(line)
                n_documents += 1
    return n_documents


def list_tree(root: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [root]
    for process in found:
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                continue
    return found


def measure_memory(process: int) -> int:
    """Return the bytes that a process holds in memory."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(lines[0].split()[1]) << 10 if lines else 0


def fit_large(folder: Path, gigabytes: float) -> None:
    """Print the memory and the time of a fit to a large file."""
    path = folder / "large.jsonl"
    n_documents = write_large(path, int(gigabytes * 1e9))
    size = path.stat().st_size
    print(f"{size / 1e9:.2f} GB of JSON lines, {n_documents:,} documents")
    command = [sys.executable, "-m", "tercet.cli", "fit", str(path), "-k", "10", "-q"]
    command += ["--set", "refine=0", "-o", str(folder / "large.tercet")]
    started, most = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            most = max(most, sum(map(measure_memory, list_tree(run.pid))))
            time.sleep(0.25)
    print(
        f"tercet fit ended with {run.returncode} after {time.perf_counter() - started:.0f}"
        f" s; all its processes held at most {most / 1e9:.2f} GB"
    )


def main() -> None:
    """Print what the module promises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--gigabytes", type=float, default=2.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tercet-") as name:
        folder = Path(name)
        if asked.large:
            fit_large(folder, asked.gigabytes)
            return
        path = find_corpus(folder)
        compare_counting(path)
        split_fit(path)


if __name__ == "__main__":
    main()
