"""What the front page promises is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import tercet


def python_block(text: str) -> str:
    [block] = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return str(block)


def test_code_runs_and_finds_the_topics(repository: Path) -> None:
    code = python_block((repository / "README.md").read_text(encoding="utf-8"))
    # A process of its own: nothing that another test has imported may help.
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    weights, errors = (
        [float(number) for number in re.findall(r"\d+\.\d*", line)]
        for line in run.stdout.splitlines()
    )
    assert all(
        abs(found - true) <= 0.02
        for found, true in zip(weights, [0.4, 0.3, 0.2, 0.1], strict=True)
    )
    assert len(errors) == 4
    assert max(errors) < 0.3


def test_map_lists_every_room(repository: Path) -> None:
    text = (repository / "README.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    listed = set(re.findall(r"`(\w+)`", table))
    there = {
        path.stem
        for path in (repository / "src" / "tercet").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert listed == there - {"__init__"}


def test_versions_agree(repository: Path) -> None:
    citation = (repository / "CITATION.cff").read_text(encoding="utf-8")
    [cited] = re.findall(r"^version: (\S+)$", citation, re.MULTILINE)
    assert cited == tercet.__version__


def test_ci_runs_what_the_makefile_has(repository: Path) -> None:
    script = (repository / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    asked = re.findall(r"^make (\S+)$", script, re.MULTILINE)
    offered = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    assert {"style", "types", "contracts", "test"} <= set(asked) <= set(offered)
