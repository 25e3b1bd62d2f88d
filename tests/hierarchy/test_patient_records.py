"""The study of patients reads its records, and finds in them what it claims."""

import importlib.util
import sys

import numpy as np
import pytest

import tercet
from tercet.evaluation import measure_stability


@pytest.fixture(scope="module")
def records(repository):
    place = repository / "experiments" / "patients" / "records.py"
    spec = importlib.util.spec_from_file_location("patient_records", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules["patient_records"] = module
    spec.loader.exec_module(module)
    return module


def test_mimic_demo_is_read(records, data_folder):
    found = records.read_mimic(data_folder)
    assert found.rows.shape[0] == found.target.size == 129
    assert found.rows.shape[1] == len(found.names) == len(set(found.names))
    assert set(np.unique(found.rows.data)) == {1.0}
    tree = tercet.BisectingMoments(4).fit(found.rows)
    assert tree.n_leaves_ == 4


def test_diabetes_records_are_read_and_their_tree_is_stable(records, data_folder):
    found = records.read_diabetes(data_folder)
    assert found.rows.shape[0] > 100_000
    assert {"insulin", "metformin", "250"} <= set(found.names)
    frequency = found.rows.mean(axis=0)
    assert 0.5 < frequency[found.names.index("insulin")] < 0.56
    stable = measure_stability(found.rows, tercet.BisectingMoments(16), n_repeats=2)
    assert stable.mean > 0.9


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("250.83", "250"),
        ("V57", "V57"),
        ("E8791", "E879"),
        (" 8 ", "8"),
        ("4019", "401"),
    ],
)
def test_codes_are_cut_to_three_characters(records, code, expected):
    assert records.shorten(code) == expected
