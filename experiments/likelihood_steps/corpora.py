"""Corpora on which likelihood steps were chosen: none of those of the benchmarks.

The State of the Union addresses and Wikipedia in stretches of some hundred words,
PlanetMath, AG News, and sittings of the Canadian parliament, 25 sentences at a time; and
documents of latent Dirichlet allocation with known topics.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from tercet.datasets import make_lda

DATA = Path(
    os.environ.get("TERCET_DATA", Path(__file__).parents[3] / "shared" / "data")
)
WORD = r"(?u)[^\W\d_]{3,}"


@dataclass(frozen=True)
class Corpus:
    """Documents to learn from, documents to predict, and the topics where known."""

    name: str
    train: sparse.csr_array
    test: sparse.csr_array
    topics: tuple[int, ...]
    truth: np.ndarray | None = None


def read_lines(path: str) -> list[dict[str, str]]:
    """Return the records of a gzipped file of JSON lines."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def cut(texts: list[str], size: int) -> list[str]:
    """Cut texts into stretches of so many words; short ends are left out."""
    stretches = []
    for text in texts:
        words = text.split()
        for first in range(0, len(words), size):
            part = words[first : first + size]
            if len(part) >= size // 2:
                stretches.append(" ".join(part))
    return stretches


def join_sentences(size: int) -> list[str]:
    """Join the English sentences of sittings of parliament, some at a time."""
    sittings: dict[str, list[str]] = {}
    for row in read_lines("hansard/hansard36_en_fr.jsonl.gz"):
        sittings.setdefault(row["doc"], []).append(row["en"])
    return [
        " ".join(sentences[first : first + size])
        for sentences in sittings.values()
        for first in range(0, len(sentences), size)
        if len(sentences[first : first + size]) > size // 5
    ]


def part(name: str, texts: list[str], rarest: int) -> Corpus:
    """Count words and hold every fifth document out."""
    counter = CountVectorizer(
        stop_words="english", min_df=rarest, max_df=0.3, token_pattern=WORD
    )
    rows = sparse.csr_array(counter.fit_transform(texts))
    rows = rows[np.flatnonzero(np.asarray(rows.sum(axis=1)).ravel() >= 3)]
    order = np.random.default_rng(5).permutation(rows.shape[0])
    held = rows.shape[0] // 5
    train, test = rows[order[held:]], rows[order[:held]]
    words = np.flatnonzero(np.asarray(train.sum(axis=0)).ravel() > 0)
    return Corpus(name, train[:, words], test[:, words], (10, 50))


def draw(name: str, n: int, d: int, k: int, length: int, falling: bool) -> Corpus:
    """Draw documents with known topics, as in `benchmarks/topics.py`."""
    sample = make_lda(
        n + 1_000,
        n_features=d,
        n_components=k,
        mean_length=length,
        frequencies="falling" if falling else "flat",
        concentration=0.1,
        topic_prior=0.1,
        random_state=100,
    )
    rows = sparse.csr_array(sample.rows)
    return Corpus(name, rows[:n], rows[n:], (k,), sample.parameters.centers.T)


def list_corpora() -> Iterator[Corpus]:
    """Return all corpora; without the data only those that are drawn."""
    yield draw("drawn", 2_000, 1_000, 10, 100, falling=False)
    yield draw("drawn, falling", 10_000, 5_000, 20, 150, falling=True)
    if not DATA.is_dir():
        return
    addresses = [row["text"] for row in read_lines("sotu/sotu_1790_2026.jsonl.gz")]
    yield part("addresses", cut(addresses, 400), 5)
    articles = [
        row["text"]
        for name in ("enwiki_106", "wiki_math_english")
        for row in read_lines(f"wikipedia/{name}.jsonl.gz")
    ]
    yield part("Wikipedia", cut(articles, 300), 5)
    for name, path, rarest in (
        ("PlanetMath", "planetmath/planetmath.jsonl.gz", 3),
        ("AG News", "ag_news/ag_news_test.jsonl.gz", 5),
    ):
        yield part(name, [row["text"] for row in read_lines(path)], rarest)
    yield part("Hansard", join_sentences(25), 4)
