"""Topic models of several makes on real corpora, in five folds.

AP, KOS and NIPS (1987 to 1999) as bags of words, 20 Newsgroups as text. Documents are
parted into folds at random; 400, 600, 315 and 1,500 of them are held out at a time, as
in thesis 002, section 3.5.5 (of NIPS the same share, for the volumes are fewer).

The score is the log-probability of a held-out token by document completion
(`tercet.evaluation.compare`, one per cent of the word frequencies mixed into every
topic): once with Dirichlet parameters estimated in one way for all (`score`), and once
with those that a package brings (`own`; tomotopy optimises its own, and so do we).
`vi-random` makes 50 of our variational steps from random topics, `vi-moments` the same
steps from the solution of the moments: the thesis's VI against VI-JD.

    python benchmarks/topics_real.py --data ap,kos --topics 10,50 --folds 5
    python benchmarks/topics_real.py --report

Set TERCET_DATA to the folder of the data. Results are kept in
`benchmarks/results/topics_real.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from topics import PEERS, Topics, Work, spend

import tercet
from tercet.evaluation import compare
from tercet.intake import open_source
from tercet.likelihood import refine_topics

DATA = Path(
    os.environ.get("TERCET_DATA", Path(__file__).parents[2] / "shared" / "data")
)
RESULTS = Path(__file__).parent / "results" / "topics_real.json"
BAGS = {"ap": "ap/ap", "kos": "kos/kos", "nips": "nips/nips_1_17"}
HELD_OUT = {"ap": 400, "kos": 600, "nips": 315, "newsgroups": 1_500}
LAST_YEAR_OF_NIPS = "1999"
VI_STEPS = 50


def read_corpus(name: str) -> sparse.csr_array:
    """Return a corpus as counts; documents below three tokens are left out."""
    if name == "newsgroups":
        rows = count_newsgroups()
    else:
        rows = sparse.csr_array(sparse.load_npz(DATA / f"{BAGS[name]}.npz"))
    if name == "nips":
        # Later volumes of this collection share pieces of one paper.
        with gzip.open(DATA / f"{BAGS[name]}.docs.txt.gz", "rt") as names:
            years = np.array([line[:4] for line in names])
        rows = rows[np.flatnonzero(years <= LAST_YEAR_OF_NIPS)]
    long = np.flatnonzero(np.asarray(rows.sum(axis=1)).ravel() >= 3)
    return rows[long]


def count_newsgroups() -> sparse.csr_array:
    """Count the words of 20 Newsgroups that are neither rare nor stop words."""
    from sklearn.feature_extraction.text import CountVectorizer

    path = DATA / "newsgroups20" / "newsgroups20.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    counter = CountVectorizer(
        stop_words="english", min_df=20, max_df=0.3, token_pattern=r"[a-z]{3,}"
    )
    return sparse.csr_array(counter.fit_transform(texts))


def part(
    rows: sparse.csr_array, name: str, fold: int
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return training and held-out documents, on words of the former."""
    order = np.random.default_rng(0).permutation(rows.shape[0])
    held = order[fold * HELD_OUT[name] : (fold + 1) * HELD_OUT[name]]
    train = rows[np.setdiff1d(order, held)]
    words = np.flatnonzero(np.asarray(train.sum(axis=0)).ravel() > 0)
    return train[:, words], rows[held][:, words]


def prepare_ours(X: sparse.csr_array, k: int, refine: Any = "auto") -> Work:
    """Prepare our model."""

    def work() -> Topics:
        model = tercet.LatentDirichletAllocation(k, refine=refine).fit(X)
        work.alpha = model.concentration_  # type: ignore[attr-defined]
        return np.asarray(model.components_)

    return work


def prepare_steps(X: sparse.csr_array, k: int, seed: int, start: str) -> Work:
    """Prepare a number of variational steps from random topics or from moments."""

    def work() -> Topics:
        if start == "moments":
            return prepare_ours(X, k, VI_STEPS)()
        topics = np.random.default_rng(seed).dirichlet(np.ones(X.shape[1]), size=k)
        alpha = np.full(k, 1.0 / k)
        found = refine_topics(open_source(X), topics.T, alpha, steps=VI_STEPS)
        return np.asarray(found.centers.T)

    return work


def run(
    name: str, k: int, fold: int, peers: list[str], only: str = "all"
) -> list[dict[str, Any]]:
    """Fit every model on a fold and judge it."""
    train, test = part(read_corpus(name), name, fold)
    prepare_ours(train[:300], 3)()  # compile
    works: dict[str, Work] = {}
    if only != "peers":
        works["tercet"] = prepare_ours(train, k)
    if only in ("all", "ours"):
        works["tercet-moments"] = prepare_ours(train, k, 0)
        works["vi-moments"] = prepare_steps(train, k, fold, "moments")
        works["vi-random"] = prepare_steps(train, k, fold, "random")
    if only in ("all", "peers"):
        works |= {peer: PEERS[peer](train, k, fold) for peer in peers}
    rows = []
    for who, work in works.items():
        topics, processor, _ = spend(work)
        alpha = getattr(work, "alpha", None)
        shared = compare({who: topics}, test, train=train)[who]
        own = shared
        if alpha is not None:
            pair = {who: (topics, np.asarray(alpha, dtype=float))}
            own = compare(pair, test, train=train, own_concentration=True)[who]
        rows.append(
            {
                "name": who,
                "data": name,
                "k": k,
                "fold": fold,
                "score": round(shared.score.per_token, 4),
                "own": round(own.score.per_token, 4),
                "npmi": round(shared.npmi, 4),
                "cpu_seconds": round(processor, 3),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def keep(rows: list[dict[str, Any]]) -> None:
    """Add rows to the file of results."""
    RESULTS.parent.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else []

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["data"], row["k"], row["fold"], row["name"]

    table = {key(row): row for row in known} | {key(row): row for row in rows}
    lines = ",\n".join(json.dumps(table[place]) for place in sorted(table))
    RESULTS.write_text(f"[\n{lines}\n]\n")


def report() -> None:
    """Print the mean over folds of every corpus and number of topics."""
    known = json.loads(RESULTS.read_text())
    for name, k in sorted({(row["data"], row["k"]) for row in known}):
        chosen = [row for row in known if (row["data"], row["k"]) == (name, k)]
        folds = sorted({row["fold"] for row in chosen})
        print(f"\n{name}, k = {k}, folds {folds}")
        print(
            "                    score      own     npmi    CPU s  over ours  ours better by"
        )
        ours = {row["fold"]: row for row in chosen if row["name"] == "tercet"}
        for who in dict.fromkeys(row["name"] for row in chosen):
            mine = [row for row in chosen if row["name"] == who]
            means = [
                float(np.mean([row[column] for row in mine]))
                for column in ("score", "own", "npmi", "cpu_seconds")
            ]
            ratio = np.median(
                [
                    row["cpu_seconds"] / ours[row["fold"]]["cpu_seconds"]
                    for row in mine
                    if row["fold"] in ours
                ]
            )
            # On the same folds, each with the better of its two scores.
            gap = np.mean(
                [
                    max(ours[row["fold"]]["score"], ours[row["fold"]]["own"])
                    - max(row["score"], row["own"])
                    for row in mine
                    if row["fold"] in ours
                ]
            )
            part_of = "" if len(mine) == len(folds) else f"  ({len(mine)} folds)"
            print(
                f"{who:16} {means[0]:8.4f} {means[1]:8.4f} {means[2]:8.3f} "
                f"{means[3]:8.2f} {ratio:8.1f} {gap:12.4f}{part_of}"
            )


def main() -> None:
    """Measure, keep and print."""
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="ap,kos,nips,newsgroups")
    parser.add_argument("--topics", default="10,50")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--first-fold", type=int, default=0)
    parser.add_argument("--peers", default=",".join(PEERS), help="names, or none")
    parser.add_argument(
        "--only", choices=["all", "default", "ours", "peers"], default="all"
    )
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    peers = [peer for peer in arguments.peers.split(",") if peer in PEERS]
    if not arguments.report and not DATA.is_dir():
        print(f"There is no folder {DATA}; set TERCET_DATA. What was kept:")
    elif not arguments.report:
        for name in arguments.data.split(","):
            for k in map(int, arguments.topics.split(",")):
                for fold in range(arguments.first_fold, arguments.folds):
                    keep(run(name, k, fold, peers, arguments.only))
    report()


if __name__ == "__main__":
    main()
