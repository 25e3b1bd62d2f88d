"""Seeds, data and Hypothesis profiles for every test.

`--seed 7` changes the seed of every random test, `--seed 0:20` runs each of them
with twenty seeds. `HYPOTHESIS_PROFILE=thorough` tries many more examples.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent

# The same examples at every run, so that a red test means a change in the code;
# `thorough` is the profile that goes looking for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("ci", settings.get_profile("default"), print_blob=True)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=1000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)


def read_seeds(text: str) -> list[int]:
    """Read `7` or the half-open range `0:20`."""
    first, colon, stop = text.partition(":")
    seeds = list(range(int(first), int(stop))) if colon else [int(first)]
    if not seeds or min(seeds) < 0:
        raise pytest.UsageError(f"--seed {text}: give a seed (7) or a range (0:20).")
    return seeds


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seed",
        default="0",
        metavar="SEED",
        help="seed of the random tests: a number, or a range such as 0:20",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    seeds = read_seeds(metafunc.config.getoption("--seed"))
    chosen_by_test = any(
        "seed" in str(mark.args[0]).replace(",", " ").split()
        for mark in metafunc.definition.iter_markers("parametrize")
        if mark.args
    )
    if len(seeds) > 1 and "seed" in metafunc.fixturenames and not chosen_by_test:
        metafunc.parametrize("seed", seeds)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Seed of the test, from `--seed`."""
    return read_seeds(request.config.getoption("--seed"))[0]


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Generator seeded by `--seed`."""
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the public data sets; the test is skipped where there is none."""
    folder = Path(os.environ.get("TERCET_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no data folder; set TERCET_DATA to read one")
    return folder
