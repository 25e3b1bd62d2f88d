"""Every format gives the rows back that were written, plain or zipped."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import io as scipy_io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

import tercet
from tercet.exceptions import DataError, FileFormatError, ParameterError
from tercet.intake import FORMATS
from tercet.intake.formats.writing import WRITTEN_FORMATS, write_counts

TEXTS = [
    "War, and peace; war!",
    "",
    'A "quoted", text\nover two lines, with =1+1',
    "Größe und Straße, naïve café",
    "peace\tand tabs",
]
YEARS = [1945, 1946, 1947, 1948, 1949]
IDS = ["a", "b", "c", "d", "e"]
LINE_TEXTS = [text.replace("\n", " ") for text in TEXTS if text]


def write_jsonl(path: Path) -> None:
    rows = zip(IDS, TEXTS, YEARS, strict=True)
    lines = [json.dumps({"id": i, "text": t, "year": y}) for i, t, y in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_separated(path: Path, separator: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(["id", "text", "year"])
    writer.writerows(zip(IDS, TEXTS, YEARS, strict=True))
    path.write_bytes(text.getvalue().encode())


def write_parquet(path: Path) -> None:
    pl.DataFrame({"id": IDS, "text": TEXTS, "year": YEARS}).write_parquet(path)


RECORDS: dict[str, Callable[[Path], None]] = {
    "jsonl": write_jsonl,
    "csv": lambda path: write_separated(path, ","),
    "tsv": lambda path: write_separated(path, "\t"),
    "parquet": write_parquet,
}


def zip_up(path: Path) -> Path:
    zipped = path.with_name(f"{path.name}.gz")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return zipped


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("form", RECORDS)
def test_records_are_counted_as_scikit_learn_counts_them(
    form: str, zipped: bool, tmp_path: Path
) -> None:
    path = tmp_path / f"texts.{form}"
    RECORDS[form](path)
    if zipped:
        path = zip_up(path)
    reader = tercet.read(path, columns=["year"])
    vectorizer = CountVectorizer()
    expected = vectorizer.fit_transform(TEXTS)
    assert reader.feature_names == tuple(vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(reader.to_sparse().toarray(), expected.toarray())
    assert reader.document_ids == IDS
    assert [int(year) for year in reader.columns["year"]] == YEARS
    assert reader.read_texts([2, 4]) == {2: TEXTS[2], 4: TEXTS[4]}
    facts = reader.describe()
    assert facts["format"] == form
    assert facts["compression"] == ("gzip" if zipped else "none")
    assert facts["n_bad_lines"] == 0


@pytest.mark.parametrize("zipped", [False, True])
def test_lines_are_documents(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n\n".join(LINE_TEXTS) + "\n", encoding="utf-8")
    reader = tercet.read(zip_up(path) if zipped else path)
    expected = CountVectorizer().fit_transform(LINE_TEXTS)
    np.testing.assert_array_equal(reader.to_sparse().toarray(), expected.toarray())
    assert reader.document_ids == ["1", "3", "5", "7"]


def test_files_of_a_folder_are_documents(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "b.txt").write_text(TEXTS[2], encoding="utf-8")
    (tmp_path / "inner" / "a.txt.gz").write_bytes(gzip.compress(TEXTS[3].encode()))
    (tmp_path / "c.bin").write_bytes(b"\x00\xff")
    reader = tercet.read(tmp_path)
    expected = CountVectorizer().fit_transform([TEXTS[2], TEXTS[3]])
    np.testing.assert_array_equal(reader.to_sparse().toarray(), expected.toarray())
    assert reader.document_ids == ["b.txt", "inner/a.txt.gz"]


@pytest.fixture
def counts(rng: np.random.Generator) -> sparse.csr_array:
    """Counts with an empty row, an empty column and a value beyond a byte."""
    table = rng.poisson(0.6, size=(37, 9))
    table[5] = 0
    table[:, 8] = 0
    table[3, 2] = 70000
    return sparse.csr_array(table.astype(np.float64))


class Given:
    """Counts as a reader gives them."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        self.n_rows, self.n_features = matrix.shape
        self.feature_names = tuple(f"w{j}" for j in range(matrix.shape[1]))
        self.document_ids = [str(i + 1) for i in range(matrix.shape[0])]
        self._matrix = matrix

    def __iter__(self):
        yield tercet.flow.Block(self._matrix[:20])
        yield tercet.flow.Block(self._matrix[20:], 20)


ENDINGS = {
    "csv": "counts.csv",
    "tsv": "counts.tsv",
    "parquet": "counts.parquet",
    "uci": "docword.counts.txt",
    "mtx": "counts.mtx",
    "svmlight": "counts.svm",
    "npz": "counts.npz",
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("form", WRITTEN_FORMATS)
def test_counts_come_back(
    form: str, zipped: bool, counts: sparse.csr_array, tmp_path: Path
) -> None:
    given = Given(counts)
    path = tmp_path / (ENDINGS[form] + (".gz" if zipped else ""))
    write_counts(given, path, form, zipped=zipped)
    reader = tercet.read(path)
    table = reader.to_sparse().toarray()
    expected = counts.toarray()
    if form in ("csv", "tsv", "parquet"):
        # The long form cannot tell of rows and items that have no entry.
        expected = expected[expected.any(axis=1)][:, :8]
        assert reader.feature_names == given.feature_names[:8]
        assert reader.document_ids == [i for i in given.document_ids if i != "6"]
    elif form == "svmlight":
        expected = expected[:, :8]
        assert reader.describe()["notes"] == ["indices of the file start at 1"]
        assert reader.columns["label"] == [0.0] * 37
    np.testing.assert_array_equal(table, expected)
    assert FORMATS.index(reader.describe()["format"]) >= 0


def test_what_scipy_and_scikit_learn_write_is_read(
    counts: sparse.csr_array, tmp_path: Path
) -> None:
    expected = counts.toarray()
    for form in ("csr", "csc", "coo"):
        sparse.save_npz(tmp_path / f"{form}.npz", counts.asformat(form))
        read = tercet.read(tmp_path / f"{form}.npz").to_sparse().toarray()
        np.testing.assert_array_equal(read, expected)
    scipy_io.mmwrite(tmp_path / "a.mtx", counts)
    np.testing.assert_array_equal(
        tercet.read(tmp_path / "a.mtx").to_sparse().toarray(), expected
    )
    scipy_io.mmwrite(tmp_path / "dense.mtx", expected)
    np.testing.assert_array_equal(
        tercet.read(tmp_path / "dense.mtx").to_sparse().toarray(), expected
    )
    square = np.array([[2.0, 1.0], [1.0, 3.0]])
    scipy_io.mmwrite(
        tmp_path / "sym.mtx", sparse.coo_array(square), symmetry="symmetric"
    )
    np.testing.assert_array_equal(
        tercet.read(tmp_path / "sym.mtx").to_sparse().toarray(), square
    )
    for zero_based in (True, False):
        dump_svmlight_file(
            counts, np.arange(37), str(tmp_path / "b.svm"), zero_based=zero_based
        )
        reader = tercet.read(tmp_path / "b.svm", first_index=int(not zero_based))
        np.testing.assert_array_equal(reader.to_sparse().toarray(), expected[:, :8])
        assert reader.columns["label"] == list(range(37))


def test_scipy_reads_what_is_written(counts: sparse.csr_array, tmp_path: Path) -> None:
    write_counts(Given(counts), tmp_path / "a.npz", "npz")
    np.testing.assert_array_equal(
        sparse.load_npz(tmp_path / "a.npz").toarray(), counts.toarray()
    )
    write_counts(Given(counts), tmp_path / "a.mtx", "mtx")
    np.testing.assert_array_equal(
        scipy_io.mmread(tmp_path / "a.mtx").toarray(), counts.toarray()
    )


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_wide_tables_have_one_column_an_item(form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "patient": ["p1", "p2", "p3"],
            "fever": [1, None, 0],
            "cough": [0.0, 2.5, 1.0],
            "age": [30, 40, 50],
        }
    )
    path = tmp_path / f"table.{form}"
    if form == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="," if form == "csv" else "\t")
    reader = tercet.read(path, ids="patient", columns=["age"])
    assert reader.feature_names == ("fever", "cough")
    assert reader.document_ids == ["p1", "p2", "p3"]
    assert [int(age) for age in reader.columns["age"]] == [30, 40, 50]
    table = np.vstack([block.rows for block in reader])
    np.testing.assert_array_equal(table, [[1, 0], [np.nan, 2.5], [0, 1]])


def test_the_long_form_may_come_in_any_order(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    table = rng.poisson(1.0, size=(50, 20))
    where, what = np.nonzero(table)
    order = rng.permutation(len(where))
    lines = [f"r{where[k]},i{what[k]:02},{table[where[k], what[k]]}" for k in order]
    path = tmp_path / "long.csv"
    path.write_text("who,what,how\n" + "\n".join(lines) + "\n")
    reader = tercet.read(path, ids="who", item="what", count="how")
    ranks = [int(name[1:]) for name in reader.document_ids]
    np.testing.assert_array_equal(reader.to_sparse().toarray(), table[ranks])
    assert reader.feature_names == tuple(f"i{j:02}" for j in range(20))


def test_names_beside_a_matrix_are_found(
    counts: sparse.csr_array, tmp_path: Path
) -> None:
    write_counts(Given(counts), tmp_path / "docword.x.txt", "uci")
    names = [f"word{j}" for j in range(9)]
    (tmp_path / "vocab.x.txt").write_text("\n".join(names) + "\n")
    reader = tercet.read(tmp_path / "docword.x.txt")
    assert reader.feature_names == tuple(names)
    assert reader.describe()["notes"] == ["names of the columns are from vocab.x.txt"]
    (tmp_path / "vocab.x.txt").write_text("one\ntwo\n")
    with pytest.raises(DataError, match="2 names for the 9 columns"):
        tercet.read(tmp_path / "docword.x.txt").load()


def test_an_npz_with_pickled_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, format=np.array([{}], dtype=object), shape=[1, 1])
    with pytest.raises(FileFormatError):
        tercet.read(path).load()


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b'{"text": "a b c"}\n' * 1000)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="damaged gzip"):
        tercet.read(path).load()


def test_unknown_formats_and_missing_columns_say_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "what.ever"
    path.write_bytes(b"\x01\x02\x03")
    with pytest.raises(FileFormatError, match="say format="):
        tercet.read(path)
    with pytest.raises(ParameterError, match="format='xml'"):
        tercet.read(path, format="xml")
    with pytest.raises(FileNotFoundError):
        tercet.read(tmp_path / "absent.csv")
    table = tmp_path / "a.csv"
    table.write_text("one,two\n1,2\n")
    with pytest.raises(
        DataError, match="no column 'three'; its columns are 'one', 'two'"
    ):
        tercet.read(table, text="three").load()
