"""How long the command and the import take to answer, beside `import sklearn`.

Every line is the best of several fresh processes, run in turn with the others; the
interpreter alone is shown too, since each of them pays for it.

Run it with `python benchmarks/startup.py`.
"""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 7
CASES = {
    "python alone": ["-c", "pass"],
    "import sklearn": ["-c", "import sklearn"],
    "import tercet": ["-c", "import tercet"],
    "import tercet, one model": ["-c", "import tercet; tercet.SingleTopicModel"],
    "tercet --help": ["-m", "tercet.cli", "--help"],
    "tercet --version": ["-m", "tercet.cli", "--version"],
    "tercet fit --help": ["-m", "tercet.cli", "fit", "--help"],
}


def main() -> None:
    """Print seconds on the clock, and beside `import sklearn`."""
    best = dict.fromkeys(CASES, float("inf"))
    for _ in range(RUNS):
        for name, words in CASES.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *words], capture_output=True, check=True)
            best[name] = min(best[name], time.perf_counter() - started)
    base = best["import sklearn"]
    print(f"{'':28} {'seconds':>8} {'of import sklearn':>18}")
    for name, seconds in best.items():
        print(f"{name:28} {seconds:8.2f} {seconds / base:18.2f}")


if __name__ == "__main__":
    main()
