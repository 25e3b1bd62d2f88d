"""Every module keeps the rules of the house, and every rule can be broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from architecture import rules

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src" / "tercet"

Rule = Callable[[str], list[str]]


def modules_in(*folders: str) -> list[Path]:
    return sorted(
        path for folder in folders for path in (REPOSITORY / folder).rglob("*.py")
    )


def modules_outside(*rooms: str) -> list[Path]:
    closed = {SOURCE / room for room in rooms} | {SOURCE / f"{r}.py" for r in rooms}
    return [path for path in modules_in("src") if not closed & {path, *path.parents}]


def text_files() -> Iterator[Path]:
    endings = {".py", ".md", ".toml", ".rst", ".cff", ".yml", ".yaml", ".html", ".cfg"}
    folders = ["src", "tests", "demo", "docs", "benchmarks", "experiments", ".ci"]
    for folder in folders:
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in endings or path.parent.name == ".ci":
                yield path
    yield from sorted(
        path
        for path in REPOSITORY.iterdir()
        if path.suffix in endings or path.name == "Makefile"
    )


def offences(rule: Rule, paths: list[Path]) -> list[str]:
    assert paths
    return [
        f"{path.relative_to(REPOSITORY)}: {offence}"
        for path in paths
        for offence in rule(path.read_text(encoding="utf-8"))
    ]


EVERYWHERE = modules_in("src", "tests", "demo", "benchmarks", "experiments")
LOWER_ROOMS = modules_outside("cli", "report", "plotting", "hierarchy", "models")
RULES: dict[str, tuple[Rule, list[Path]]] = {
    "bodies are short": (rules.find_long_bodies, EVERYWHERE),
    "modules are short": (rules.find_long_module, EVERYWHERE),
    "nothing pickles": (rules.find_pickling, modules_in("src")),
    "only cli prints": (rules.find_printing, modules_outside("cli")),
    "lower rooms do not warn": (rules.find_warning, LOWER_ROOMS),
    "kernels and moments never draw": (
        rules.find_randomness,
        modules_in("src/tercet/kernels", "src/tercet/moments"),
    ),
    "public interfaces only": (rules.find_private_imports, modules_in("src")),
    "distributed is reached by name": (
        partial(rules.find_imports_of, package="tercet.distributed"),
        modules_outside("distributed"),
    ),
    "references stand alone": (
        partial(rules.find_imports_of, package="tercet"),
        modules_in("tests/references"),
    ),
    "no promises": (rules.find_promises, modules_in("src")),
    "no machine paths": (
        rules.find_machine_paths,
        [path for path in text_files() if path.parent.name != "architecture"],
    ),
}

LONG_BODY = "def f():\n" + "    a = 1\n" * 61
BREACHES: dict[str, str] = {
    "bodies are short": LONG_BODY,
    "modules are short": "a = 1\n" * 501,
    "nothing pickles": "def f():\n    from joblib import dump\n",
    "only cli prints": "def f():\n    print('hello')\n",
    "lower rooms do not warn": "import warnings\nwarnings.warn('x', stacklevel=2)\n",
    "kernels and moments never draw": (
        "import numpy as np\n\ndef f():\n    return np.random.default_rng(0)\n"
    ),
    "public interfaces only": "from sklearn.utils._testing import ignore_warnings\n",
    "distributed is reached by name": "from tercet import distributed\n",
    "references stand alone": "def f():\n    import tercet.moments\n",
    "no promises": "def f():\n    raise NotImplementedError\n",
    "no machine paths": "folder = '/ho" + "me/someone/data'\n",
}


@pytest.mark.parametrize("name", RULES)
def test_rule_is_kept(name: str) -> None:
    rule, paths = RULES[name]
    assert offences(rule, paths) == []


@pytest.mark.parametrize("name", RULES)
def test_rule_finds_a_breach(name: str) -> None:
    rule, _ = RULES[name]
    assert rule(BREACHES[name])


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.find_long_bodies, 'def f():\n    """One.\n' + "\n" * 80 + '    """\n'),
        (rules.find_pickling, "np.load(path, allow_pickle=False)\n"),
        (rules.find_randomness, "def f(rng: np.random.Generator): return rng\n"),
        (rules.find_private_imports, "from tercet._private import a\n"),
        (rules.find_machine_paths, "see https://example.org/home/page\n"),
    ],
)
def test_rule_lets_pass(rule: Rule, text: str) -> None:
    assert rule(text) == []


def test_breach_of_pickle_by_keyword() -> None:
    assert rules.find_pickling("np.load(path, allow_pickle=True)\n")


def test_modules_have_a_room() -> None:
    names = {path.stem for path in EVERYWHERE} | {p.parent.name for p in EVERYWHERE}
    assert not names & rules.NAMES_WITHOUT_A_ROOM


def test_test_files_have_unique_names_and_no_packages() -> None:
    paths = modules_in("tests")
    names = [path.name for path in paths if path.name.startswith("test_")]
    assert sorted(set(names)) == sorted(names)
    assert not [path for path in paths if path.name == "__init__.py"]
