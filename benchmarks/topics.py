"""Topic models of other makes next to the default `fit`, on corpora with known topics.

Documents of latent Dirichlet allocation: topics from a Dirichlet of 0.1 per word,
proportions from 0.1 per topic, Poisson lengths; `falling` lets the word frequencies
fall like 1 / (rank + 10). Nobody is told the Dirichlet parameters. Quality is the
mean L1 distance of matched topics (between 0 and 2) and the perplexity of documents
that nobody has seen, from one scorer for all (`tercet.evaluation.compare`: document
completion, one per cent of the word frequencies mixed into every topic, Dirichlet
parameters estimated in the same way for all).

Everything runs on one thread in one process. Ours is timed before and after every
peer; its time includes everything from the sparse matrix to the fitted model, a
peer's leaves out the conversion of the corpus. Moments alone are also compared with
one randomised SVD of the same rows; `tercet-collapsed` takes collapsed steps where
the default takes variational ones. `time ratio` is the CPU time of the
peer over ours: above 25 (small: 15) is the aim for the fastest peer whose error is
within a tenth of the best peer's.

    python benchmarks/topics.py --size small
    python benchmarks/topics.py --size middle --peers kl-nmf,tomotopy-200

Results are added to `benchmarks/results/topics.json`, from which
`python benchmarks/topics.py --report` prints the tables again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

import tercet
from tercet.datasets import make_lda
from tercet.evaluation import compare

# name: documents, words, topics, mean length, frequencies
SIZES = {
    "small": (2_000, 1_000, 10, 100, "flat"),
    "middle": (20_000, 5_000, 20, 150, "flat"),
    "falling": (20_000, 5_000, 20, 150, "falling"),
    "large": (100_000, 10_000, 50, 150, "flat"),
}
# Our error over the best peer's, and the peers' time over ours, that are aimed at.
AIMS = {
    "small": (1.0, 15.0),
    "middle": (0.95, 25.0),
    "falling": (0.9, 25.0),
    "large": (0.75, 25.0),
}
RESULTS = Path(__file__).parent / "results" / "topics.json"
N_TEST = 1_000
Topics = np.ndarray
Work = Callable[[], Topics]


def draw_corpus(
    size: str, seed: int = 0
) -> tuple[sparse.csr_array, sparse.csr_array, Topics]:
    """Return training documents, documents to be predicted, and the topics."""
    n, d, k, length, frequencies = SIZES[size]
    sample = make_lda(
        n + N_TEST,
        n_features=d,
        n_components=k,
        mean_length=length,
        frequencies=frequencies,
        concentration=0.1,
        topic_prior=0.1,
        random_state=seed,
    )
    rows = sparse.csr_array(sample.rows)
    return rows[:n], rows[n:], sample.parameters.centers.T


def fit_ours(X: sparse.csr_array, k: int, **options: Any) -> Topics:
    """Fit our default model."""
    model = tercet.LatentDirichletAllocation(k, n_jobs=1, **options)
    return np.asarray(model.fit(X).components_)


def prepare_sklearn(X: sparse.csr_array, k: int, seed: int, method: str) -> Work:
    """Prepare scikit-learn's variational Bayes."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(k, learning_method=method, random_state=seed)
    return lambda: model.fit(X).components_


def prepare_nmf(X: sparse.csr_array, k: int, seed: int) -> Work:
    """Prepare a non-negative factorisation under Kullback and Leibler's divergence."""
    from sklearn.decomposition import NMF

    model = NMF(
        k,
        init="nndsvda",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=200,
        random_state=seed,
    )
    floats = X.astype(np.float64)
    return lambda: model.fit(floats).components_


def prepare_gensim(X: sparse.csr_array, k: int, seed: int, passes: int) -> Work:
    """Prepare gensim's online variational Bayes."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    corpus = list(Sparse2Corpus(X, documents_columns=False))
    words = {j: str(j) for j in range(X.shape[1])}
    return lambda: LdaModel(
        corpus, num_topics=k, id2word=words, passes=passes, random_state=seed
    ).get_topics()


def prepare_tomotopy(X: sparse.csr_array, k: int, seed: int, iterations: int) -> Work:
    """Prepare tomotopy's collapsed Gibbs sampler, with its optimised alpha."""
    import tomotopy

    model = tomotopy.LDAModel(k=k, seed=seed + 1)
    names = np.array([str(j) for j in range(X.shape[1])])
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        tokens = np.repeat(X.indices[part], X.data[part].astype(int))
        if tokens.size:
            model.add_doc(names[tokens].tolist())

    def work() -> Topics:
        model.train(iterations, workers=1)
        table = np.zeros((k, X.shape[1]))
        places = np.array([int(name) for name in model.used_vocabs])
        for j in range(k):
            table[j, places] = model.get_topic_word_dist(j)
        work.alpha = np.asarray(model.alpha)  # type: ignore[attr-defined]
        return table

    return work


def prepare_lda(X: sparse.csr_array, k: int, seed: int, iterations: int) -> Work:
    """Prepare the collapsed Gibbs sampler of the package lda."""
    import lda

    model = lda.LDA(n_topics=k, n_iter=iterations, random_state=seed)
    counts = sparse.csr_matrix(X).astype(np.int64)
    # lda refuses words and documents that never occur.
    words = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel())
    kept = counts[:, words]
    kept = kept[np.flatnonzero(np.asarray(kept.sum(axis=1)).ravel())]

    def work() -> Topics:
        table = np.zeros((k, X.shape[1]))
        table[:, words] = model.fit(kept).components_
        return table

    return work


PEERS: dict[str, Callable[[sparse.csr_array, int, int], Work]] = {
    "kl-nmf": prepare_nmf,
    "tomotopy-200": lambda X, k, seed: prepare_tomotopy(X, k, seed, 200),
    "lda-200": lambda X, k, seed: prepare_lda(X, k, seed, 200),
    "gensim-1": lambda X, k, seed: prepare_gensim(X, k, seed, 1),
    "sklearn-online": lambda X, k, seed: prepare_sklearn(X, k, seed, "online"),
    "sklearn-batch": lambda X, k, seed: prepare_sklearn(X, k, seed, "batch"),
    "gensim-10": lambda X, k, seed: prepare_gensim(X, k, seed, 10),
    "tomotopy-1000": lambda X, k, seed: prepare_tomotopy(X, k, seed, 1_000),
}
RANDOM_STARTS = tuple(name for name in PEERS if name != "kl-nmf")


def spend(work: Work) -> tuple[Topics, float, float]:
    """Return what a call gives, its CPU seconds and its wall seconds."""
    processor, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings(), contextlib.suppress(KeyboardInterrupt):
        warnings.simplefilter("ignore")
        topics = work()
    return topics, time.process_time() - processor, time.perf_counter() - wall


def judge(
    topics: Topics, test: sparse.csr_array, train: sparse.csr_array, truth: Topics
) -> tuple[float, float]:
    """Return the mean L1 distance of the topics and the held-out perplexity."""
    found = compare({"it": topics}, test, train=train[:5_000], truth=truth)["it"]
    return 2.0 * float(found.l1_error or 0.0), found.score.perplexity


def run(size: str, peers: list[str], seed: int, repeats: int) -> list[dict[str, Any]]:
    """Measure ours and some peers side by side."""
    X, test, truth = draw_corpus(size, seed)
    k = truth.shape[0]

    def ours() -> Topics:
        return fit_ours(X, k)

    def moments() -> Topics:
        return fit_ours(X, k, refine=0)

    fit_ours(X[:500], k)  # compile
    rows = []
    before = [spend(ours) for _ in range(repeats)]
    rows.append(_tell("tercet", before, before, judge(before[0][0], test, X, truth)))
    plain = [spend(moments) for _ in range(repeats)]
    rows.append(
        _tell("tercet-moments", plain, before, judge(plain[0][0], test, X, truth))
    )
    other = spend(lambda: fit_ours(X, k, steps="collapsed"))
    quality = judge(other[0], test, X, truth)
    rows.append(_tell("tercet-collapsed", [other], before, quality))
    floats = X.astype(np.float64)
    svd = [spend(lambda: randomized_svd(floats, k)[2]) for _ in range(repeats)]
    rows[1]["over_svd"] = round(rows[1]["cpu_seconds"] / _middle(svd), 3)
    for name in peers:
        spent = spend(PEERS[name](X, k, seed))
        after = [spend(ours) for _ in range(repeats)]
        quality = judge(spent[0], test, X, truth)
        rows.append(_tell(name, [spent], before + after, quality))
        before = after
        keep(size, rows)
        print(_format(rows[-1]), flush=True)
    return rows


def _middle(spent: list[tuple[Topics, float, float]]) -> float:
    """Return the median of CPU seconds."""
    return float(np.median([one[1] for one in spent]))


def _tell(
    name: str,
    spent: list[tuple[Topics, float, float]],
    ours: list[tuple[Topics, float, float]],
    quality: tuple[float, float],
) -> dict[str, Any]:
    processor, mine = _middle(spent), _middle(ours)
    wall = float(np.median([one[2] for one in spent]))
    return {
        "name": name,
        "l1": round(quality[0], 4),
        "perplexity": round(quality[1], 2),
        "cpu_seconds": round(processor, 3),
        "wall_seconds": round(wall, 3),
        "ours_cpu_seconds": round(mine, 3),
        "time_ratio": round(processor / mine, 2),
    }


def _format(row: dict[str, Any]) -> str:
    return (
        f"{row['name']:16} {row['l1']:8.4f} {row['perplexity']:11.2f} "
        f"{row['cpu_seconds']:9.2f} {row['time_ratio']:10.2f}"
    )


def keep(size: str, rows: list[dict[str, Any]]) -> None:
    """Add rows to the file of results."""
    RESULTS.parent.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    table = {row["name"]: row for row in known.get(size, [])}
    table.update({row["name"]: row for row in rows})
    known[size] = list(table.values())
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


def report() -> None:
    """Print the kept results as tables, and whether the aims were reached."""
    known = json.loads(RESULTS.read_text())
    for size, (n, d, k, _, frequencies) in SIZES.items():
        if size not in known:
            continue
        kind = "" if frequencies == "flat" else f", {frequencies}"
        print(f"\n| {size}: {n:,} x {d:,}, k = {k}{kind} ", end="")
        print("| L1 error | perplexity | time over ours |")
        print("| --- | ---: | ---: | ---: |")
        table = {row["name"]: row for row in known[size]}
        for name in ("tercet", "tercet-moments", "tercet-collapsed", *PEERS):
            if name in table:
                row = table[name]
                print(
                    f"| {name} | {row['l1']:.3f} | {row['perplexity']:,.0f} "
                    f"| {row['time_ratio']:.1f} |"
                )
        others = [row for row in table.values() if row["name"] in PEERS]
        if not others or "tercet" not in table:
            continue
        ours, (quality, speed) = table["tercet"], AIMS[size]
        best = min(row["l1"] for row in others)
        near = [row for row in others if row["l1"] <= 1.1 * best]
        fastest = min(near, key=lambda row: row["time_ratio"])
        lowest = min(row["perplexity"] for row in others)
        print(
            f"\nL1 over the best peer's: {ours['l1'] / best:.3f} (aim {quality}); "
            f"perplexity: {ours['perplexity'] / lowest:.4f} (aim 1); fastest peer within "
            f"a tenth of the best: {fastest['name']}, {fastest['time_ratio']:.1f} times "
            f"ours (aim {speed:.0f})"
        )
        svd = table["tercet-moments"].get("over_svd")
        if svd is not None:
            print(
                f"Moments alone over one randomised SVD of the rows: {svd:.2f} (aim 1)"
            )
        missing = [name for name in PEERS if name not in table]
        if missing:
            print("Not run:", ", ".join(missing))


def main() -> None:
    """Measure, keep and print."""
    # Some of the peers speak at every iteration, and switch on others.
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=list(SIZES), default="small")
    parser.add_argument("--peers", default=",".join(PEERS), help="names, or none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    if not arguments.report:
        peers = [name for name in arguments.peers.split(",") if name in PEERS]
        rows = run(arguments.size, peers, arguments.seed, arguments.repeats)
        keep(arguments.size, rows)
    report()


if __name__ == "__main__":
    main()
