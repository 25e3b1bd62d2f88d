"""How long a fresh process waits for compiled code.

A process fits a small model twice; the difference of the two is what loading or
compiling cost. Compiled code is cached on disk, so that only the first process after an
installation compiles. Each line is a new process, which has loaded the libraries that
anybody who works with data has loaded: they are not what is measured.

Run it with `python benchmarks/first_fit.py`.
"""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import time
import numba
import numpy as np
import scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.special
import sklearn.base, sklearn.utils.validation
import tercet
X = np.random.default_rng(0).poisson(1.0, size=(200, 30)).astype(float)
def fit():
    started = time.process_time()
    {fit}
    return time.process_time() - started
first, second = fit(), fit()
print(f"{{first - second:.2f}}")
"""

FITS = {
    "sums and joint diagonalisation": (
        "tercet.decompose(tercet.moments.collect(X, 'single-topic', 3), 3)"
    ),
    "LatentDirichletAllocation": "tercet.LatentDirichletAllocation(3).fit(X)",
    "SingleTopicModel": "tercet.SingleTopicModel(3).fit(X)",
    "PoissonMixture": "tercet.PoissonMixture(3).fit(X)",
    "BernoulliMixture": "tercet.BernoulliMixture(3).fit((X > 0).astype(float))",
    "TopicTree": "tercet.TopicTree(n_leaves=3).fit(X)",
    "DiscreteCCA": "tercet.DiscreteCCA(2).fit(X[:, :15], X[:, 15:])",
}


def main() -> None:
    """Print the wait of the first and of the second process."""
    print("CPU seconds waited in the first and in the second process")
    for name, fit in FITS.items():
        waits = []
        for _ in range(2):
            run = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", SCRIPT.format(fit=fit)],
                capture_output=True,
                text=True,
                check=False,
            )
            waits.append(run.stdout.strip() or "failed")
        print(f"{name:32} {waits[0]:>7} {waits[1]:>7}")


if __name__ == "__main__":
    main()
