"""Every block of Python in the documentation runs, in the order of its page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^```(?:\{code-block\} )?python\n(.*?)^```", re.DOTALL | re.MULTILINE
)
PAGES = sorted(
    path
    for path in (REPOSITORY / "docs").rglob("*.md")
    if "_build" not in path.parts and BLOCK.search(path.read_text(encoding="utf-8"))
)


def join_blocks(text: str) -> str:
    """Return the code of a page, each block on the lines where it stands."""
    lines = [""] * (text.count("\n") + 1)
    for match in BLOCK.finditer(text):
        first = text.count("\n", 0, match.start(1))
        for offset, line in enumerate(match.group(1).splitlines()):
            lines[first + offset] = line
    return "\n".join(lines)


def test_blocks_keep_their_line_numbers() -> None:
    page = "One\n```python\nx = 1\n```\ntwo\n```python\ny = x\n```\n"
    assert join_blocks(page).split("\n") == [
        "",
        "",
        "x = 1",
        *[""] * 3,
        "y = x",
        "",
        "",
    ]


@pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(REPOSITORY)) for page in PAGES]
)
def test_page_runs(page: Path, tmp_path: Path) -> None:
    script = tmp_path / (page.stem + ".py")
    script.write_text(join_blocks(page.read_text(encoding="utf-8")), encoding="utf-8")
    # In a folder of its own, so that what a page writes is gone afterwards.
    run = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert run.returncode == 0, run.stderr
