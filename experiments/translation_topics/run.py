"""Translation topics: thesis 002, section 4.6.3, on the Hansard pairs.

Consecutive pairs of sentences of one sitting, those of fewer than eight words left
out, are joined to documents; words are
lower-cased, freed of stop words, stemmed and counted, the 15 most frequent stems of
each language left out and the 5,000 next ones kept. DiscreteCCA learns K = 20 aligned
topics from four fifths of the documents.

Retrieval: each held-out document is looked for by its translation, by the cosine of
what a model says of either; the figure is the mean reciprocal rank over both
directions. Peers on the same vectors: classical CCA of scikit-learn (trained on
centred rows turned into the space that they span, which CCA does not notice), and one
latent Dirichlet allocation of stacked views, asked for the topics of one half.

    python experiments/translation_topics/run.py [--pairs 20] [--topics 20]

Prints the table of topics, most frequent spellings of the stems, and the figures;
keeps them in `results.json` and `results.md` beside this file. The data are read from
TERCET_DATA; without them there is nothing to do.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import snowballstemmer  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.cross_decomposition import CCA  # noqa: E402

from tercet import DiscreteCCA, LatentDirichletAllocation  # noqa: E402

DATA = Path(
    os.environ.get("TERCET_DATA", Path(__file__).parents[3] / "shared" / "data")
)
HERE = Path(__file__).parent
LANGUAGES = {"en": "english", "fr": "french"}
WORD = re.compile(r"[^\W\d_]{2,}")
# Forms of the stop words of the thesis that are left in either list.
OFTEN_EN = """
ask become believe can could come cost cut do done follow get give go know let like
listen live look lost make may met move must need put say see show take think talk
use want will also another back day certain certainly even final finally first
future general good high just last long major many new next now one point since
thing time today way well without would should said going much
"""
OFTEN_FR = """
demander doit devenir dit devoir donner met parler penser pourrait pouvoir prendre
savoir aller voir vouloir actuellement apres aujourd hui autres bien beaucoup besoin
cas cause cela certain chose deja dernier egal entre facon grand jour lorsque neuf
passe plus point present prets prochain quelque suivant unique cette fait faire tout
tous comme dire peut si faut sans sous tres dont etre avoir meme deux fois ainsi
encore tant alors toute toutes leur leurs ont sont
"""
OFTEN = {"en": set(OFTEN_EN.split()), "fr": set(OFTEN_FR.split())}
N_WORDS, N_FREQUENT, N_SHOWN, N_LEAST = 5_000, 15, 10, 8


def read_documents(n_pairs: int) -> list[dict[str, str]]:
    """Join consecutive pairs of each sitting to documents."""
    sittings = defaultdict(list)
    path = DATA / "hansard" / "hansard36_en_fr.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            # Shorter lines are names, headings and formulas of procedure.
            if len(pair["en"].split()) >= N_LEAST:
                sittings[pair["doc"]].append(pair)
    documents = []
    for pairs in sittings.values():
        for start in range(0, len(pairs) - n_pairs + 1, n_pairs):
            part = pairs[start : start + n_pairs]
            documents.append(
                {code: " ".join(pair[code] for pair in part) for code in LANGUAGES}
            )
    return documents


def count_stems(
    texts: list[str], code: str
) -> tuple[sparse.csr_array, list[str], Counter[str]]:
    """Count stems; return rows, the stems' most frequent spellings and all counts."""
    stop = set((DATA / "stopwords" / f"nltk_{LANGUAGES[code]}.txt").read_text().split())
    stop |= OFTEN[code] | {"mr", "hon", "ne", "que", "qui", "les", "des"}
    stemmer = snowballstemmer.stemmer(LANGUAGES[code])
    known: dict[str, str] = {}
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    rows: list[Counter[str]] = []
    for text in texts:
        row: Counter[str] = Counter()
        for word in WORD.findall(text.lower()):
            if word in stop:
                continue
            if word not in known:
                known[word] = stemmer.stemWord(word)
            spellings[known[word]][word] += 1
            row[known[word]] += 1
        rows.append(row)
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row)
    chosen = [s for s, _ in total.most_common(N_FREQUENT + N_WORDS)][N_FREQUENT:]
    place = {stem: j for j, stem in enumerate(chosen)}
    entries = [
        (i, place[stem], count)
        for i, row in enumerate(rows)
        for stem, count in row.items()
        if stem in place
    ]
    i, j, values = (np.array(part) for part in zip(*entries, strict=True))
    table = sparse.coo_array((values.astype(float), (i, j)), (len(rows), len(chosen)))
    names = [spellings[stem].most_common(1)[0][0] for stem in chosen]
    return sparse.csr_array(table), names, total


def measure_retrieval(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mean reciprocal rank of aligned rows, over both directions."""
    sides = [
        side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-300)
        for side in (first, second)
    ]
    likeness = sides[0] @ sides[1].T
    own = likeness.diagonal()
    ranks = [
        1 + (likeness > own[:, None]).sum(axis=1),
        1 + (likeness > own[None, :]).sum(axis=0),
    ]
    return float(np.mean([np.mean(1.0 / rank) for rank in ranks]))


def retrieve_by_cca(
    train: list[sparse.csr_array], test: list[sparse.csr_array], k: int
) -> float:
    """Classical CCA on rows in the space that they span."""
    turned, held = [], []
    for rows, others in zip(train, test, strict=True):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        _, values, turn = np.linalg.svd(rows.toarray() - mean, full_matrices=False)
        turn = turn[values > 1e-9 * values[0]]
        turned.append((rows.toarray() - mean) @ turn.T)
        held.append((others.toarray() - mean) @ turn.T)
    model = CCA(k, scale=False, max_iter=100).fit(*turned)
    return measure_retrieval(*model.transform(*held))


def retrieve_by_lda(
    train: list[sparse.csr_array], test: list[sparse.csr_array], k: int
) -> float:
    """Return retrieval by one LDA of stacked views."""
    model = LatentDirichletAllocation(k).fit(sparse.hstack(train, format="csr"))
    empty = [sparse.csr_array(rows.shape) for rows in test]
    first = model.transform(sparse.hstack([test[0], empty[1]], format="csr"))
    second = model.transform(sparse.hstack([empty[0], test[1]], format="csr"))
    return measure_retrieval(first, second)


def list_topics(model: DiscreteCCA, names: list[list[str]]) -> list[str]:
    """Return the table of aligned topics as lines of Markdown."""
    lines = ["| topic | weight | English | French |", "| --- | --- | --- | --- |"]
    for k, weight in enumerate(model.weights_):
        words = [
            ", ".join(given[j] for j in np.argsort(-table[k])[:N_SHOWN])
            for table, given in zip(model.components_, names, strict=True)
        ]
        lines.append(f"| {k + 1} | {weight:.3f} | {words[0]} | {words[1]} |")
    return lines


def main() -> None:
    """Print the table of topics and the figures, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20, help="pairs a document")
    parser.add_argument("--topics", type=int, default=20)
    arguments = parser.parse_args()
    if not (DATA / "hansard").is_dir():
        print(f"There are no Hansard pairs in {DATA}; set TERCET_DATA.")
        return
    documents = read_documents(arguments.pairs)
    views, names = [], []
    for code in LANGUAGES:
        rows, words, _ = count_stems([text[code] for text in documents], code)
        views.append(rows)
        names.append(words)
    held = np.arange(len(documents)) % 5 == 4
    train = [rows[np.flatnonzero(~held)] for rows in views]
    test = [rows[np.flatnonzero(held)] for rows in views]
    k = arguments.topics
    print(f"{len(documents)} documents, {int(held.sum())} held out; {views[0].shape}")
    warnings.simplefilter("ignore")
    DiscreteCCA(k).fit(train[0][:300], train[1][:300])
    start = time.perf_counter()
    model = DiscreteCCA(k).fit(*train)
    seconds = time.perf_counter() - start
    table = list_topics(model, names)
    print("\n".join(table))
    found = {
        "documents": len(documents),
        "held out": int(held.sum()),
        "words": [int(rows.shape[1]) for rows in views],
        "supported": int(model.diagnostics_["supported"]),
        "seconds": round(seconds, 2),
        "explained cross-covariance, held out": round(model.score(*test), 4),
        "mean reciprocal rank": {
            "DiscreteCCA": measure_retrieval(
                model.transform(test[0]), model.transform(X2=test[1])
            ),
            "shared LDA": retrieve_by_lda(train, test, k),
            "scikit-learn CCA": retrieve_by_cca(train, test, k),
            "chance": float(np.mean(1.0 / np.arange(1, held.sum() + 1))),
        },
    }
    print(json.dumps(found, indent=1))
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "results.md").write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
