"""Models whose pages the tests look at; their words try to break out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import tercet
from tercet.report import Documents

# Each of these must arrive as the text that it is.
HOSTILE = [
    "</script><script>window.broken=1</script>",
    "<img src=x onerror='window.broken=2'>",
    "<!--<script>",
    '"><b>bold</b>',
    "=HYPERLINK(1)",
    "+1+1",
    "@SUM(A1)",
    "{{ 7 * 7 }}",
    "&amp;&lt;",
    "\u2028line\u2029",
    "javascript:alert(1)",
    "e\u0301\u202egnirts",
]


def name_words(n_words: int) -> list[str]:
    return [*HOSTILE, *(f"word{j}" for j in range(n_words - len(HOSTILE)))]


def draw_counts(
    n_rows: int = 300, n_words: int = 60, n_topics: int = 4, seed: int = 0
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.15), size=n_topics)
    shares = rng.dirichlet(np.full(n_topics, 0.2), size=n_rows)
    counts = np.array([rng.multinomial(80, share @ topics) for share in shares])
    return pd.DataFrame(counts, columns=name_words(n_words))


def fit_topics() -> tuple[Any, Documents]:
    counts = draw_counts()
    model = tercet.LatentDirichletAllocation(4).fit(counts)
    titles = [f"{HOSTILE[i % len(HOSTILE)]} {i}" for i in range(len(counts))]
    texts = [HOSTILE[(3 * i) % len(HOSTILE)] * 9 for i in range(len(counts))]
    times = [1950 + i % 50 for i in range(len(counts))]
    return model, Documents(counts, titles, texts, times)


def fit_clusters() -> tuple[Any, Documents]:
    rows = (draw_counts() > 0).astype(float)
    return tercet.BernoulliMixture(3).fit(rows), Documents(rows)


def fit_tree() -> tuple[Any, Documents]:
    counts = draw_counts()
    return tercet.TopicTree(n_leaves=4).fit(counts), Documents(counts)


def fit_views() -> tuple[Any, None]:
    rng = np.random.default_rng(0)
    sources = rng.gamma(0.4, 20.0, size=(800, 3))
    names = name_words(40)
    views = [
        pd.DataFrame(
            rng.poisson(sources @ rng.dirichlet(np.full(40, 0.2), size=3)),
            columns=[f"{name}{side}" for name in names],
        )
        for side in ("", "'")
    ]
    return tercet.DiscreteCCA(3).fit(*views), None


FITS = {
    "topics": fit_topics,
    "clusters": fit_clusters,
    "tree": fit_tree,
    "views": fit_views,
}
