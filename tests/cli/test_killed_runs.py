"""A run that is killed leaves what was there before, and the next one completes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tercet
from tercet.storage import replace_file

N_QUICK, N_FULL = 2, 20
TOPICS = ("war army soldier battle enemy", "tax budget deficit spending dollar")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("killed") / "speeches.jsonl"
    words = [np.array(topic.split()) for topic in TOPICS]
    with path.open("w") as stream:
        for row in range(4000):
            text = " ".join(rng.choice(words[row % 2], 80))
            stream.write(json.dumps({"text": f"{text} word{row % 997}"}) + "\n")
    return path


def start(*words: object, **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tercet.cli", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
        **options,
    )


def read_whole(path: Path) -> bytes:
    """Return what a file says; the order of a model's metadata says nothing."""
    if path.suffix == ".tercet":
        return tercet.load(path).components_.tobytes()
    return path.read_bytes()


def kill_at_random(
    n: int, jobs: dict[str, tuple[object, ...]], folder: Path, rng: np.random.Generator
) -> int:
    """Kill runs that write a file each, and look at what is left."""
    lasted, sound = {}, {}
    for name, job in jobs.items():
        begun = time.monotonic()
        with start(*job, folder / name) as whole:
            assert whole.wait(120) == 0, whole.stderr.read()
        lasted[name] = time.monotonic() - begun
        sound[name] = read_whole(folder / name)
    there = sorted(path.name for path in folder.iterdir())
    killed = 0
    for turn in range(n):
        name, job = list(jobs.items())[turn % len(jobs)]
        with start(*job, folder / name) as process:
            time.sleep(float(rng.uniform(0.2, 1.0)) * lasted[name])
            os.killpg(process.pid, signal.SIGKILL)
            killed += process.wait(60) == -signal.SIGKILL
        # The old file, or the same one anew.
        assert read_whole(folder / name) == sound[name]
        with start(*job, folder / name) as again:
            assert again.wait(120) == 0, again.stderr.read()
        assert read_whole(folder / name) == sound[name]
        assert sorted(path.name for path in folder.iterdir()) == there
    return killed


def test_killed_runs_leave_no_damage(
    corpus: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    jobs = dict.fromkeys(("counts.mtx", "counts.npz"), ("convert", "-q", corpus))
    kill_at_random(N_QUICK, jobs, tmp_path, rng)


@pytest.mark.slow
def test_twenty_killed_runs_leave_no_damage(
    corpus: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    jobs = {
        "model.tercet": ("fit", corpus, "-k", 2, "--set", "refine=3", "-q", "-o"),
        "counts.mtx": ("convert", "-q", corpus),
    }
    assert kill_at_random(N_FULL, jobs, tmp_path, rng) >= N_FULL // 2


def test_an_interrupt_is_told_and_leaves_no_part(corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "m.tercet"
    words = ("fit", corpus, "-k", 2, "-o", target, "--set", "refine=100000", "-q")
    with start(*words) as process:
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
        said = process.stderr.read().decode()
    if code == 0:
        pytest.skip("the run was over before the interrupt")
    # Python ends by the signal itself if it met some generated code; to a shell
    # both are 130.
    assert code in (130, -signal.SIGINT), said
    assert said.strip().endswith("tercet: interrupted; no output was changed.")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    script = (
        "import os, pathlib, signal\n"
        "from tercet.storage import replace_file\n"
        f"with replace_file({str(target)!r}) as part:\n"
        "    part.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    [part] = tmp_path.iterdir()
    assert part.read_text() == "half"
    with replace_file(target) as first, replace_file(target) as second:
        # Neither takes the other, which is at work, for abandoned.
        assert first != second
        assert not part.exists()
        first.write_text("first")
        second.write_text("second")
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]
