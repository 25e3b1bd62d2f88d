"""What topics lack before the likelihood steps, and what giving it back is worth.

Topics from moments, weighted, should add up to the words of the corpus. For AP and
KOS (`TERCET_DATA`, by default ../shared/data; every fifth document held out, words of
at least three documents) and for synthetic corpora (topics from a Dirichlet of 0.1 per
word, 0.1 per topic) this prints the mass that they lack, and the default fit with
nothing, half and all of it given back: steps made, perplexity by document completion
of held-out documents, and the L1 error of synthetic topics.

    python experiments/starting_topics/run.py
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

import tercet
from tercet.evaluation import measure_l1_error
from tercet.families import LatentDirichlet
from tercet.flow import Parameters
from tercet.models import starting

SIZES = ((2_000, 1_000, 10), (5_000, 2_000, 20))


def open_texts() -> Iterator[tuple[str, int, object, object, None]]:
    """Yield bags of words in two parts."""
    folder = Path(
        os.environ.get("TERCET_DATA", Path(__file__).parents[3] / "shared/data")
    )
    for name in ("ap", "kos"):
        path = folder / name / f"{name}.npz"
        if not path.is_file():
            sys.stdout.write(f"{path.name} is not there\n")
            continue
        X = sparse.csr_array(sparse.load_npz(path))
        out = np.arange(X.shape[0]) % 5 == 0
        seen = np.asarray((X[~out] > 0).sum(axis=0)).ravel() >= 3
        for k in (10, 50):
            yield name, k, X[~out][:, seen], X[out][:, seen], None


def draw_corpora() -> Iterator[tuple[str, int, object, object, np.ndarray]]:
    """Yield synthetic corpora in two parts, with their topics."""
    for n, d, k in SIZES:
        rng = np.random.default_rng([n, d, k])
        topics = np.ascontiguousarray(rng.dirichlet(np.full(d, 0.1), size=k).T)
        lengths = rng.poisson(100, size=n + 500)
        X, _ = LatentDirichlet(0.1 * k).sample(
            Parameters(topics, np.full(k, 1.0 / k)), n + 500, rng, lengths=lengths
        )
        yield f"synthetic {d}", k, X[:n], X[n:], topics


def main() -> None:
    """Fit every corpus three times."""
    warnings.simplefilter("ignore")
    for name, k, train, held, topics in (*open_texts(), *draw_corpora()):
        for part in (0.0, 0.5, 1.0):
            starting.GIVEN_BACK = part
            model = tercet.LatentDirichletAllocation(k).fit(train)
            figures = f"{model.perplexity(held, method='completion'):8.1f}"
            if topics is not None:
                error = measure_l1_error(topics.T, model.components_)
                figures += f"  L1 {error:.4f}"
            lacking = model.diagnostics_["lacking_mass"]
            sys.stdout.write(
                f"{name:14s} {k:3d}  lacking {lacking:.3f}  given back {part:.1f}: "
                f"{model.n_iter_:3d} steps  {figures}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
