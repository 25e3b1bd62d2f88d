"""Damaged files of every format end in rows or in an error that says what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import tercet
from intake.test_file_formats import ENDINGS, RECORDS, Given
from tercet.exceptions import TercetError
from tercet.intake.formats.writing import WRITTEN_FORMATS, write_counts

N_QUICK, N_FULL = 80, 1000
STRAY = [
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b"\r\n",
    b'"',
    b",",
    b"-1",
    b"9" * 25,
    b"1e309",
    b"nan",
    b":",
    b"{",
    b"%",
    b"\xe2\x80\xa8",
    b"\\ud800",
    b" " * 3000,
]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, bytes]]:
    """A sound file of each format, by its name and content."""
    folder = tmp_path_factory.mktemp("sound")
    table = np.random.default_rng(0).poisson(0.7, size=(30, 12))
    found = []
    for form, write in RECORDS.items():
        write(folder / f"texts.{form}")
        found.append((f"texts.{form}", (folder / f"texts.{form}").read_bytes()))
    for form in WRITTEN_FORMATS:
        path = folder / ENDINGS[form]
        write_counts(Given(sparse.csr_array(table.astype(float))), path, form)
        found.append((path.name, path.read_bytes()))
    dense = "a,b,c\n" + "\n".join(",".join(map(str, row[:3])) for row in table)
    found.append(("wide.csv", dense.encode()))
    found.append(("lines.txt", b"one text\nanother text\n" * 20))
    found += [(f"{name}.gz", gzip.compress(content)) for name, content in found]
    return found


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip, cut, double, move or insert bytes, up to five times."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        if not data:
            break
        start, stop = sorted(rng.integers(0, len(data) + 1, size=2))
        kind = rng.integers(6)
        if kind == 0:
            data[rng.integers(len(data))] = rng.integers(256)
        elif kind == 1:
            del data[start:stop]
        elif kind == 2:
            data[start:start] = data[start:stop]
        elif kind == 3:
            data[start:start] = STRAY[rng.integers(len(STRAY))]
        elif kind == 4:
            data[start:stop] = rng.bytes(int(stop - start))
        else:
            del data[int(stop) :]
    return bytes(data)


def read_fuzzed(
    place: int, samples: list[tuple[str, bytes]], seed: int, folder: Path
) -> str:
    """Read one damaged file; return what came of it."""
    rng = np.random.default_rng([seed, place])
    name, content = samples[place % len(samples)]
    path = folder / name
    path.write_bytes(damage(content, rng))
    try:
        reader = tercet.read(path, n_jobs=1)
        n_rows = sum(block.n_rows for block in reader)
    except TercetError as error:
        said = str(error)
        assert said, (name, place)
        assert said[-1] in ".!?)'", said
        assert len(said) < 1000
        return "error"
    assert n_rows == reader.n_rows == len(reader.document_ids) > 0
    assert (
        reader.feature_names is None or len(reader.feature_names) == reader.n_features
    )
    assert len(reader.problems.first) <= reader.problems.n_bad
    return "result"


def fuzz(n: int, samples: list[tuple[str, bytes]], seed: int, folder: Path) -> None:
    outcomes = [read_fuzzed(place, samples, seed, folder) for place in range(n)]
    # Damage that no reader notices, or that every reader chokes on, tests nothing.
    assert 0.05 * n < outcomes.count("error") < 0.95 * n


def test_damaged_files_end_in_rows_or_an_error(
    samples: list[tuple[str, bytes]], seed: int, tmp_path: Path
) -> None:
    fuzz(N_QUICK, samples, seed, tmp_path)


@pytest.mark.slow
def test_a_thousand_damaged_files_end_in_rows_or_an_error(
    samples: list[tuple[str, bytes]], seed: int, tmp_path: Path
) -> None:
    fuzz(N_FULL, samples, seed, tmp_path)
