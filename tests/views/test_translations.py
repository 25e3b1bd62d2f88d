"""Aligned topics of the Hansard: a text is found by its translation."""

from __future__ import annotations

import gzip
import json
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import tercet
from tercet.exceptions import TercetWarning
from tercet.intake import open_source


def read_documents(folder: Path) -> tuple[list[str], list[str]]:
    sittings = defaultdict(list)
    path = folder / "hansard" / "hansard36_en_fr.jsonl.gz"
    if not path.exists():
        pytest.skip("no Hansard pairs in the data folder")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            sittings[pair["doc"]].append(pair)
    english, french = [], []
    for pairs in list(sittings.values())[:30]:
        for start in range(0, len(pairs) - 39, 40):
            part = pairs[start : start + 40]
            english.append(" ".join(pair["en"] for pair in part))
            french.append(" ".join(pair["fr"] for pair in part))
    return english, french


def test_texts_are_found_by_their_translations(data_folder: Path) -> None:
    texts = read_documents(data_folder)
    held = np.arange(len(texts[0])) % 5 == 4
    train, test = [], []
    for side, language in zip(texts, ("english", "french"), strict=True):
        reader = tercet.read(
            side, stop_words=language, stemming=language, max_features=3000, n_jobs=1
        )
        rows = sparse.vstack(
            [block.rows for block in open_source(reader).blocks()], format="csr"
        )
        train.append(rows[np.flatnonzero(~held)])
        test.append(rows[np.flatnonzero(held)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TercetWarning)
        model = tercet.DiscreteCCA(10).fit(*train)
    sides = [model.transform(test[0]), model.transform(X2=test[1])]
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
    likeness = units[0] @ units[1].T
    ranks = 1 + (likeness > likeness.diagonal()[:, None]).sum(axis=1)
    assert np.mean(1.0 / ranks) > 0.4
