"""Bad lines are numbered, counted and left out; a limit stops the run; nothing is guessed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import tercet
from tercet.exceptions import DataError, FileFormatError
from tercet.intake.formats.entries import EntryRows
from tercet.intake.formats.stores import RowStore

GOOD = json.dumps({"id": "x", "text": "war and peace"})


def write(path: Path, *lines: str | bytes) -> Path:
    data = [line.encode() if isinstance(line, str) else line for line in lines]
    path.write_bytes(b"\n".join(data) + b"\n")
    return path


def test_lines_of_json_that_cannot_be_used_are_numbered(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        GOOD,
        "{not json",
        "",
        "[1, 2]",
        '{"id": "y"}',
        '{"id": "z", "text": 3}',
        b'{"id": "caf\xe9", "text": "x"}',
        '{"text": "no id"}',
        "[" * 100000,
        GOOD,
    )
    reader = tercet.read(path)
    assert reader.n_rows == 2
    reasons = {bad.line: bad.reason for bad in reader.problems.first}
    assert list(reasons) == [2, 4, 5, 6, 7, 8, 9]
    assert reasons[2].startswith("not JSON")
    assert reasons[4] == "JSON of type list, not an object"
    assert reasons[5] == "no column 'text' (there are: 'id')"
    assert reasons[6] == "int, not text, in column 'text'"
    assert "not utf-8; say encoding=" in reasons[7]
    assert reasons[8] == "no column 'id'"
    facts = reader.describe()
    assert facts["n_bad_lines"] == 7
    assert facts["first_bad_lines"][0]["line"] == 2


def test_the_limit_stops_the_run_and_says_where(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", GOOD, "{", GOOD, "{", GOOD, "{")
    assert tercet.read(path, max_bad_lines=3).n_rows == 3
    with pytest.raises(
        DataError, match=r"3 bad lines are more than max_bad_lines=2"
    ) as e:
        tercet.read(path, max_bad_lines=2).load()
    for number in (2, 4, 6):
        assert f"line {number}:" in str(e.value)
    with pytest.raises(DataError, match="1 bad line is more than max_bad_lines=0"):
        tercet.read(path, max_bad_lines=0).load()


def test_a_file_of_nothing_but_bad_lines_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"body": "x"}', '{"body": "y"}')
    with pytest.raises(
        DataError, match=r"2 lines were left out: line 1: no column 'text'"
    ):
        tercet.read(path).load()


def test_lines_of_csv_with_other_fields_are_numbered(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "id,text,year",
        'a,"over\ntwo lines",1',
        "b,too few",
        "c,one,two,three",
        b"d,caf\xe9 au lait,4",
        'e,"bad"quote,5',
        "f,good enough,6",
    )
    reader = tercet.read(path)
    assert reader.document_ids == ["a", "f"]
    assert [bad.line for bad in reader.problems.first] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("encoding", "known_by"),
    [
        ("utf-8-sig", "byte order mark"),
        ("utf-16", "byte order mark"),
        ("utf-32", "byte order mark"),
        ("latin-1", "given"),
        ("cp1252", "given"),
        ("utf-16-le", "given"),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_encodings_are_read_and_reported(
    encoding: str, known_by: str, form: str, tmp_path: Path
) -> None:
    text = (
        'id,text\na,"naïve café"\n'
        if form == "csv"
        else json.dumps({"id": "a", "text": "naïve café"}, ensure_ascii=False) + "\n"
    )
    path = tmp_path / f"a.{form}"
    path.write_bytes(text.encode(encoding))
    given = encoding if known_by == "given" else None
    reader = tercet.read(path, encoding=given)
    assert reader.feature_names == ("café", "naïve")
    assert f"({known_by})" in reader.describe()["encoding"]


def test_an_encoding_that_is_not_said_is_not_guessed(tmp_path: Path) -> None:
    lines = [f"ligne {k} très naïve".encode("latin-1") for k in range(5)]
    path = write(tmp_path / "a.txt", *lines, "plain")
    reader = tercet.read(path)
    assert (reader.n_rows, reader.problems.n_bad) == (1, 5)
    assert tercet.read(path, encoding="latin-1").n_rows == 6
    with pytest.raises(tercet.exceptions.ParameterError, match="encoding='klingon'"):
        tercet.read(path, encoding="klingon").load()


def test_bad_files_of_a_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("war and peace")
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"text " * 999)[:30])
    reader = tercet.read(tmp_path)
    assert reader.document_ids == ["good.txt"]
    assert [bad.line for bad in reader.problems.first] == ["bad.txt", "cut.txt.gz"]


def test_lines_of_numbers_that_cannot_be_used_are_numbered(tmp_path: Path) -> None:
    uci = write(
        tmp_path / "docword.a.txt", "3", "4", "9", "1 1 2", "1 2", "x 1 1", "4 1 1",
        "2 5 1", "2 1.5 1", "3 4 nan", "", "3 4 7",
    )  # fmt: skip
    reader = tercet.read(uci)
    np.testing.assert_array_equal(
        reader.to_sparse().toarray(), [[2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 7]]
    )
    lines = sorted(int(bad.line) for bad in reader.problems.first)
    assert lines == [5, 6, 7, 8, 9, 10]
    svm = write(
        tmp_path / "a.svm", "1 1:2 3:1 # note", "one 1:2", "0 qid:4 2:1", "1 2", "1 -1:2",
        "# nothing", "2 1:inf", "3",
    )  # fmt: skip
    reader = tercet.read(svm)
    np.testing.assert_array_equal(
        reader.to_sparse().toarray(), [[2, 0, 1], [0, 1, 0], [0, 0, 0]]
    )
    assert [bad.line for bad in reader.problems.first] == [2, 4, 5, 7]
    wide = write(tmp_path / "a.csv", "a,b", "1,2", "1,x", "inf,1", ",3", "4")
    reader = tercet.read(wide)
    assert [bad.line for bad in reader.problems.first] == [3, 4, 6]
    assert reader.n_rows == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("docword.a.txt", b"3\nfour\n5\n"),
        ("docword.a.txt", b""),
        ("docword.a.txt", b"999999999999\n4\n1\n1 1 1\n"),
        ("docword.a.txt", b"2000000000\n4\n1\n1 1 1\n"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate complex general\n1 1 0\n"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n1 one 0\n"),
        ("a.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n"),
        ("a.mtx", b"hello"),
        ("a.npz", b"PK\x03\x04 and no more"),
        ("a.npz", b""),
        ("a.parquet", b"PAR1PAR1"),
        ("a.jsonl.gz", b"\x1f\x8b and no more"),
        ("a.csv", b""),
        ("a.csv", b"a,a\n1,2\n"),
    ],
)
def test_damaged_headers_are_errors(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises((DataError, FileFormatError)):
        tercet.read(path).load()


def test_rows_beyond_the_memory_come_back_from_the_file(
    rng: np.random.Generator,
) -> None:
    table = rng.poisson(0.5, size=(300, 40)).astype(float)
    table[7, 3], table[8, 3], table[9, 3] = 300.0, 1e9, 0.25
    stores = RowStore(), RowStore(memory_bytes=3000)
    for store in stores:
        for start in range(0, 300, 25):
            part = table[start : start + 25]
            where, columns = np.nonzero(part)
            indptr = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=25))])
            store.add(indptr, columns, part[where, columns])
    mapping = np.where(np.arange(40) % 3 == 0, -1, np.arange(40)[::-1])
    mapping[mapping >= 0] = np.argsort(np.argsort(mapping[mapping >= 0]))
    expected = np.zeros((300, int(mapping.max()) + 1))
    expected[:, mapping[mapping >= 0]] = table[:, mapping >= 0]
    for store in stores:
        plain = np.vstack([block.toarray() for block in store.blocks()])
        np.testing.assert_array_equal(plain, table)
        store.settle(mapping)
        for _ in range(2):
            rows = list(store.blocks())
            np.testing.assert_array_equal(
                np.vstack([block.toarray() for block in rows]), expected
            )
            assert all(block.has_sorted_indices for block in rows)
        np.testing.assert_array_equal(store.row_counts, (table > 0).sum(axis=0))


@pytest.mark.parametrize("order", ["rising", "random", "late step back"])
def test_entries_in_any_order_make_the_same_rows(
    order: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tercet.intake.formats.entries._BLOCK_ENTRIES", 50)
    table = rng.poisson(0.4, size=(200, 30)).astype(float)
    where, columns = np.nonzero(table)
    places = np.arange(len(where))
    if order == "random":
        places = rng.permutation(places)
    elif order == "late step back":
        places = np.roll(places, -3)
    store = RowStore()
    entries = EntryRows(store)
    for start in range(0, len(places), 37):
        part = places[start : start + 37]
        entries.add(where[part], columns[part], table[where[part], columns[part]])
    entries.finish(200)
    rows = np.vstack([block.toarray() for block in store.blocks()])
    np.testing.assert_array_equal(
        np.pad(rows, ((0, 0), (0, 30 - rows.shape[1]))), table
    )
