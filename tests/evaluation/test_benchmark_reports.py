"""Kept results of the topic benchmarks can be read, and say what the pages say."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module")
def results(repository):
    folder = repository / "benchmarks" / "results"
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def test_ours_is_the_yardstick_of_every_size(results):
    for size, rows in results["topics"].items():
        table = {row["name"]: row for row in rows}
        assert table["tercet"]["time_ratio"] == pytest.approx(1.0), size
        best = min(row["l1"] for name, row in table.items() if "tercet" not in name)
        assert table["tercet"]["l1"] <= best


def test_refitting_was_seen_to_give_the_same_bits(results):
    assert results["stability"]["same_bits"] is True
