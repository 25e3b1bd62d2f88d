"""Files of sums: a changed bit, a missing part, values that no rows can have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tercet.exceptions import FileFormatError, ParameterError
from tercet.families import SingleTopic
from tercet.flow import Moments
from tercet.moments import collect, load_moments, save_moments


@pytest.fixture(scope="module")
def sums() -> Moments:
    X = np.random.default_rng(0).poisson(1.0, size=(40, 8))
    return collect(X, "single-topic", 2, slices=[1, 4], random_state=0)


def test_every_changed_bit_is_noticed(sums: Moments, tmp_path: Path) -> None:
    path = tmp_path / "sums.safetensors"
    save_moments(sums, path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.choice(len(whole), size=150, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"sums\.safetensors"):
            load_moments(path)
    path.write_bytes(whole)
    assert load_moments(path).n_rows == sums.n_rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"basis": np.ones(8)}, "basis has shape"),
        ({"pair": np.ones((8, 3))}, "pair has shape"),
        ({"third": np.ones((3, 3, 3), dtype=np.float32)}, "third has shape"),
        ({"first": np.full((3, 8), np.nan)}, "first holds NaN"),
        ({"masses": np.array([1.0, -1.0, 1.0])}, "negative entries"),
        ({"short": np.zeros(3)}, "short has shape"),
        ({"slices": np.ones((3, 8, 8))}, "slices has shape"),
        ({"slices": None}, "cross, energy or slices"),
        ({"slice_features": np.array([1, 99])}, "not distinct features"),
        ({"slice_features": np.array([1, 1])}, "not distinct features"),
        ({"slice_features": np.array([1.0, 4.0])}, "slice_features has shape"),
        ({"cross": np.ones((8, 8))}, "cross, energy or slices"),
        ({"energy": np.ones(8)}, "cross, energy or slices"),
        ({"family": SingleTopic(weighting="document")}, "cross, energy or slices"),
        ({"n_rows": -5}, "n_rows=-5"),
        ({"n_rows": "many"}, "n_rows='many'"),
        ({"orthonormal": None}, "orthonormal=None"),
        ({"total_weight": float("nan")}, "total_weight=nan"),
        ({"feature_names": ("a", "b")}, "2 feature_names for 8 features"),
    ],
)
def test_values_that_no_rows_can_have(
    sums: Moments, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "sums.safetensors"
    save_moments(replace(sums, **change), path)
    with pytest.raises(FileFormatError, match=message):
        load_moments(path)


def test_only_sums_are_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="moments=ndarray is not a Moments"):
        save_moments(np.eye(2), tmp_path / "sums.safetensors")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
