"""Topic models of several makes on real corpora, in five folds.

AP, KOS and NIPS (1987 to 1999) as bags of words, 20 Newsgroups as text. Documents are
parted into folds at random; 400, 600, 315 and 1,500 of them are held out at a time, as
in thesis 002, section 3.5.5 (of NIPS the same share, for the volumes are fewer).

The score is the log-probability of a held-out token by document completion
(`tercet.evaluation.compare`, one per cent of the word frequencies mixed into every
topic): once with Dirichlet parameters estimated in one way for all (`score`), and once
with those that a package brings (`own`; tomotopy optimises its own, and so do we).
`variational-random` makes 50 variational steps from random topics,
`variational-moments` the same steps from the solution of the moments: the thesis's VI
against VI-JD; so do `collapsed-random` and `collapsed-moments` with the steps of the
default. The time of a peer is its CPU seconds over those of ours before and after it.

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
from tercet.likelihood import STEPS, refine_topics
from tercet.likelihood.topic_steps import Kind

DATA = Path(
    os.environ.get("TERCET_DATA", Path(__file__).parents[2] / "shared" / "data")
)
RESULTS = Path(__file__).parent / "results" / "topics_real.json"
BAGS = {"ap": "ap/ap", "kos": "kos/kos", "nips": "nips/nips_1_17"}
HELD_OUT = {"ap": 400, "kos": 600, "nips": 315, "newsgroups": 1_500}
LAST_YEAR_OF_NIPS = "1999"
N_STEPS = 50
FOLDS = 5
ORDER = (
    "tercet",
    "tercet-moments",
    *(f"{kind}-{start}" for kind in STEPS for start in ("moments", "random")),
    *PEERS,
)


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


def prepare_steps(
    X: sparse.csr_array, k: int, seed: int, start: str, kind: Kind
) -> Work:
    """Prepare a number of likelihood steps from random topics or from moments."""

    def work() -> Topics:
        if start == "moments":
            model = tercet.LatentDirichletAllocation(k, refine=N_STEPS, steps=kind)
            return np.asarray(model.fit(X).components_)
        topics = np.random.default_rng(seed).dirichlet(np.ones(X.shape[1]), size=k)
        alpha = np.full(k, 0.1)
        source = open_source(X)
        found = refine_topics(source, topics.T, alpha, kind=kind, steps=N_STEPS)
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
        for kind in STEPS:
            for start in ("moments", "random"):
                works[f"{kind}-{start}"] = prepare_steps(train, k, fold, start, kind)
    if only in ("all", "peers"):
        works |= {peer: PEERS[peer](train, k, fold) for peer in peers}
    rows = []
    for who, work in works.items():
        beside = [spend(prepare_ours(train, k))[1]] if who in peers else []
        topics, processor, _ = spend(work)
        if beside:
            beside.append(spend(prepare_ours(train, k))[1])
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
        if beside:
            rows[-1]["time_ratio"] = round(processor / float(np.mean(beside)), 2)
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


def take_better(row: dict[str, Any]) -> float:
    """Return the better of the two scores of a row."""
    return float(max(row["score"], row["own"]))


def compare_rows(
    rows: list[dict[str, Any]], ours: dict[int, dict[str, Any]]
) -> tuple[str, str]:
    """Return by how much ours are better on the same folds, and the time over ours."""
    both = [row for row in rows if row["fold"] in ours]
    if not both:
        return "", ""
    gap = np.mean([take_better(ours[row["fold"]]) - take_better(row) for row in both])
    # Side by side in one run, where it was measured so.
    ratios = [row["time_ratio"] for row in both if "time_ratio" in row] or [
        row["cpu_seconds"] / ours[row["fold"]]["cpu_seconds"] for row in both
    ]
    folds = "" if len(both) == FOLDS else f" ({len(both)})"
    return f"{gap:+.4f}{folds}", f"{np.median(ratios):.1f}"


def report() -> None:
    """Print tables: our score, by how much it is better than others, and time over ours."""
    known = json.loads(RESULTS.read_text())
    settings = sorted({(row["data"], row["k"]) for row in known})
    names = [name for name in ORDER if any(row["name"] == name for row in known)]
    head = " | ".join(f"{name}, {k}" for name, k in settings)
    scores = {name: [] for name in names}
    times = {name: [] for name in names}
    for setting in settings:
        chosen = [row for row in known if (row["data"], row["k"]) == setting]
        ours = {row["fold"]: row for row in chosen if row["name"] == "tercet"}
        for name in names:
            mine = [row for row in chosen if row["name"] == name]
            gap, time = compare_rows(mine, ours)
            if name == "tercet":
                gap = f"{np.mean([take_better(row) for row in mine]):.4f}"
                time = f"{np.mean([row['cpu_seconds'] for row in mine]):.2f} s"
            scores[name].append(gap)
            times[name].append(time)
    for title, table in (("ours is better by", scores), ("time over ours", times)):
        print(f"\n| {title} | {head} |")
        print("| --- |" + " ---: |" * len(settings))
        for name, cells in table.items():
            print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    """Measure, keep and print."""
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="ap,kos,nips,newsgroups")
    parser.add_argument("--topics", default="10,50")
    parser.add_argument("--folds", type=int, default=FOLDS)
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
