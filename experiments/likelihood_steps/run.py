"""Which likelihood steps topics take after the moments, and when they end.

Choices of `tercet.likelihood.refine_topics`, each measured on corpora that no benchmark
uses (`corpora.py`), with ten topics and fifty: the log-probability of a held-out token by
document completion (one per cent of the word frequencies mixed in), with the Dirichlet
parameters that the steps end with. On drawn documents, L1 error of the topics.

- collapsed, plain variational (weights `exp(psi(alpha + n))`) or MAP steps (`alpha + n`);
- how much of a document's trace in the topics its tokens leave out;
- how much smoothing: pseudo-tokens for each word and topic;
- momentum of topics and of documents;
- when they end: nats for each token that a step must change.

    python experiments/likelihood_steps/run.py

Prints a table for every corpus and keeps all in `results.json` beside this file;
`--report` prints what is kept. Without the data (TERCET_DATA), texts are left out.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from corpora import Corpus, list_corpora
from scipy import sparse

import tercet
from tercet.evaluation import measure_l1_error
from tercet.intake import open_source
from tercet.likelihood import collapsed, refine_topics, score_topics

RESULTS = Path(__file__).parent / "results.json"
STEPS = (5, 10, 20, 40)
FIXED = 20
EXCLUDED = (0.0, 0.25, 0.5, 0.75, 1.0)
SMOOTHINGS = (0.03, 0.1, 0.3)
TOLERANCES = (4e-3, 2e-3, 1e-3, 5e-4)
# Topics, documents: how fast momentum grows (never: infinite), how far shares go on.
MOMENTA = {
    "neither": (np.inf, 0.0),
    "topics": (1.5, 0.0),
    "documents": (np.inf, 1.0),
    "both": (1.5, 1.0),
}

Found = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Start:
    """Where the steps start: as in `LatentDirichletAllocation`."""

    centers: np.ndarray
    alpha: np.ndarray
    update: Any


def find_start(corpus: Corpus, k: int) -> Start:
    """Return topics from moments, with what they lack, and Dirichlet parameters."""
    plain = tercet.LatentDirichletAllocation(k, refine=0).fit(corpus.train)
    lacking = plain.diagnostics_["lacking_mass"]
    mixed = (1 - lacking / 2) * plain.components_ + lacking / 2 * plain.feature_shares_
    if plain.diagnostics_["residual"] <= 0.1:
        return Start(mixed.T, plain.concentration_, "shares")
    return Start(mixed.T, np.full(k, 0.1), True)


def judge(corpus: Corpus, found: Found) -> float:
    """Return the L1 error, or the log-probability of a held-out token."""
    centers, alpha = found
    if corpus.truth is not None:
        return 2.0 * measure_l1_error(corpus.truth, centers.T)
    words = np.asarray(corpus.train.sum(axis=0)).ravel()
    mixed = 0.99 * centers + 0.01 * (words / words.sum())[:, None]
    return score_topics(
        open_source(corpus.test),
        mixed / mixed.sum(axis=0),
        alpha,
        method="completion",
        rng=np.random.default_rng(0),
    ).per_token


def step_map(corpus: Corpus, start: Start, steps: int) -> Found:
    """Make MAP steps: EM on `p(x | theta) prod theta^alpha` and the topics."""
    rows, topics, alpha = corpus.train.astype(float), start.centers, start.alpha
    documents = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    lengths = np.asarray(rows.sum(axis=1)).ravel()
    words = np.asarray(rows.sum(axis=0)).ravel()
    prior = 0.05 * rows.shape[1] * (words / words.sum())[:, None]
    counts = np.repeat(lengths[:, None] / alpha.size, alpha.size, axis=1)
    for made in range(steps):
        for _ in range(2 if made else 5):
            weights = counts + alpha
            mass = np.einsum("ij,ij->i", topics[rows.indices], weights[documents])
            ratio = sparse.csr_array(
                (rows.data / np.maximum(mass, 1e-300), rows.indices, rows.indptr),
                shape=rows.shape,
            )
            counts = weights * (ratio @ topics)
        topics = topics * (ratio.T @ weights) + prior
        topics = topics / topics.sum(axis=0)
    return topics, alpha


def refine(corpus: Corpus, start: Start, **options: Any) -> tuple[Found, int]:
    """Make steps of `refine_topics`; return what they found and their number."""
    made = refine_topics(
        open_source(corpus.train),
        start.centers,
        start.alpha,
        update_concentration=start.update,
        **options,
    )
    return (made.centers, made.concentration), made.outcome.iterations


def with_constants(work: Callable[[], Any], **constants: Any) -> Any:
    """Call with other constants of the collapsed steps."""
    with ExitStack() as stack:
        for name, value in constants.items():
            stack.enter_context(patch.object(collapsed, name, value))
        return work()


def study(corpus: Corpus, k: int) -> dict[str, dict[str, Any]]:
    """Return all tables of a corpus."""
    start = find_start(corpus, k)

    def fixed(**options: Any) -> float:
        return judge(corpus, refine(corpus, start, steps=FIXED, **options)[0])

    table: dict[str, dict[str, Any]] = {}
    for kind in ("collapsed", "variational"):
        table[kind] = {
            str(steps): judge(corpus, refine(corpus, start, kind=kind, steps=steps)[0])
            for steps in STEPS
        }
    table["map"] = {
        str(steps): judge(corpus, step_map(corpus, start, steps)) for steps in STEPS
    }
    table["excluded"] = {
        str(value): with_constants(fixed, EXCLUDED=value) for value in EXCLUDED
    }
    table["smoothing"] = {str(value): fixed(smoothing=value) for value in SMOOTHINGS}
    table["momentum"] = {
        name: with_constants(fixed, _PATIENCE=patience, _STRIDE=stride)
        for name, (patience, stride) in MOMENTA.items()
    }
    table["tolerance"] = {}
    for value in TOLERANCES:
        begun = time.process_time()
        found, steps = refine(corpus, start, tolerance=value)
        spent = time.process_time() - begun
        table["tolerance"][str(value)] = [judge(corpus, found), steps, round(spent, 3)]
    return table


def report() -> None:
    """Print what is kept, and means over the texts."""
    kept = json.loads(RESULTS.read_text())
    for name, tables in kept.items():
        print(f"\n{name}")
        for title, row in tables.items():
            cells = [
                f"{key}: {value[0]:.4f} ({value[1]} steps)"
                if isinstance(value, list)
                else f"{key}: {value:.4f}"
                for key, value in row.items()
            ]
            print(f"  {title:12}", "  ".join(cells))
    texts = [tables for name, tables in kept.items() if not name.startswith("drawn")]
    if not texts:
        return
    print("\nmean over the texts")
    for title, row in texts[0].items():
        cells = []
        for key in row:
            values = [np.atleast_1d(tables[title][key])[0] for tables in texts]
            cells.append(f"{key}: {np.mean(values):.4f}")
        print(f"  {title:12}", "  ".join(cells))


def main() -> None:
    """Measure, keep and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true")
    if not parser.parse_args().report:
        warnings.simplefilter("ignore")
        kept = {}
        for corpus in list_corpora():
            for k in corpus.topics:
                kept[f"{corpus.name}, k = {k}"] = study(corpus, k)
                print(f"{corpus.name}, k = {k}", flush=True)
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    report()


if __name__ == "__main__":
    main()
