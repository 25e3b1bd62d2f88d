"""Error falls as 1/sqrt(n): the study of `experiments/sample_rate`, small."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def study(repository: Path) -> ModuleType:
    path = repository / "experiments" / "sample_rate" / "run.py"
    spec = importlib.util.spec_from_file_location("sample_rate_study", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODELS = ["single topic", "latent Dirichlet", "gamma-Poisson", "Poisson mixture"]


def test_all_four_models_are_studied(study: ModuleType) -> None:
    assert list(study.MODELS) == MODELS


@pytest.mark.parametrize("model", MODELS)
def test_slope_is_minus_one_half(study: ModuleType, model: str) -> None:
    sizes = [2_000, 8_000, 32_000]
    if model == "gamma-Poisson":
        sizes = [8_000, 32_000, 128_000]
    errors, _ = study.study(model, sizes, 2)
    slope = study.fit_exponent([0, 0, 0, *sizes], [0.0, 0.0, 0.0, *errors[0]])
    assert slope == pytest.approx(-0.5, abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_slopes_of_topics_and_weights(study: ModuleType, model: str) -> None:
    sizes = [1000 * 2**power for power in range(9)]
    _, exponents = study.study(model, sizes, 5)
    assert exponents[0] == pytest.approx(-0.5, abs=0.08)
    assert exponents[1] == pytest.approx(-0.5, abs=0.25)
