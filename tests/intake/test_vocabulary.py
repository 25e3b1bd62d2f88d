"""Words are cut, counted and chosen as scikit-learn does it, however many processes."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import tercet
from tercet.exceptions import DataError, ParameterError
from tercet.intake import LANGUAGES, TextPipeline, list_stop_words
from tercet.intake.texts.counting import WordNumbers, count_words
from tercet.intake.texts.pipelines import choose_columns
from tercet.intake.texts.tokenizing import pack_strings, unpack_strings

TEXTS = [
    "War, and peace; war! Don't_stop 3 x 42 a",
    "",
    "Größe und Straße, naïve CAFÉ; İstanbul ǅ",
    "peace\tand\x1ctabs\u2028lines and peace",
    "the THE The — “quotes” a.b.c e-mail x_1",
    "日本語 テキスト ab",
]

SETTINGS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "stop_words": ["and", "the"]},
    {"stop_words": ["and", "the", "und"]},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"[a-z]+-?([a-z]+)"},
    {"min_df": 2},
    {"max_df": 2},
    {"max_df": 0.34, "min_df": 0.1},
    {"binary": True},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_counts_equal_those_of_scikit_learn(settings: dict[str, Any]) -> None:
    reader = tercet.read(TEXTS, **settings)
    vectorizer = CountVectorizer(**settings)
    expected = vectorizer.fit_transform(TEXTS).toarray()
    assert reader.feature_names == tuple(vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(reader.to_sparse().toarray(), expected)
    analyze = vectorizer.build_analyzer()
    pipeline = TextPipeline(**settings)
    for text in TEXTS:
        assert pipeline.list_words(text) == analyze(text)
    taken = TextPipeline.from_vectorizer(vectorizer)
    assert tercet.read(TEXTS, pipeline=taken).feature_names == reader.feature_names


@given(st.lists(st.text(), min_size=1, max_size=5), st.sampled_from(SETTINGS[:9]))
def test_any_text_is_cut_as_scikit_learn_cuts_it(
    texts: list[str], settings: dict[str, Any]
) -> None:
    analyze = CountVectorizer(**settings).build_analyzer()
    pipeline = TextPipeline(**settings)
    assert [pipeline.list_words(text) for text in texts] == list(map(analyze, texts))


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=()))))
def test_strings_survive_packing(strings: list[str]) -> None:
    assert unpack_strings(pack_strings(strings)) == strings


def make_texts(rng: np.random.Generator, n: int) -> list[str]:
    words = np.array([f"wörd{j}" if j % 7 == 0 else f"word{j}" for j in range(3000)])
    ranks = rng.zipf(1.3, size=(n, 40)) % 3000
    return [" ".join(words[row]) for row in ranks]


def test_processes_count_alike(rng: np.random.Generator) -> None:
    texts = make_texts(rng, 8000)
    assert sum(map(len, texts)) > 1 << 20
    alone, together = (tercet.read(texts, n_jobs=n) for n in (1, 3))
    assert alone.feature_names == together.feature_names
    assert (alone.to_sparse() != together.to_sparse()).nnz == 0
    expected = CountVectorizer().fit_transform(texts)
    assert (together.to_sparse() != expected).nnz == 0


def test_the_numbering_does_not_depend_on_timing(rng: np.random.Generator) -> None:
    texts = make_texts(rng, 8000)
    blocks = [(k, texts[k : k + 500]) for k in range(0, 8000, 500)]
    runs = []
    for _ in range(2):
        numbers = WordNumbers()
        counted = list(count_words(blocks, {}, numbers, 3))
        runs.append((numbers.words, [tag for tag, _ in counted]))
        assert runs[0] == runs[-1]
    assert runs[0][1] == [tag for tag, _ in blocks]


def test_a_worker_that_dies_is_an_error(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tercet.intake.texts import counting

    broken = Path(counting.__file__).with_name("absent.py")
    monkeypatch.setattr(counting.tokenizing, "__file__", str(broken))
    with pytest.raises(tercet.exceptions.TercetError, match="has ended"):
        tercet.read(make_texts(rng, 8000), n_jobs=2).load()


def test_a_worker_ends_with_its_input() -> None:
    from tercet.intake.texts import tokenizing

    run = subprocess.run(
        [sys.executable, "-P", tokenizing.__file__],
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_words(language: str) -> None:
    words = list_stop_words(language)
    assert 150 < len(words) < 400
    for word in words:
        assert word == word.lower() == unicodedata.normalize("NFC", word)
        assert word.isalpha()
    sentence = {
        "english": "the people of the nation were not there",
        "french": "le peuple de la nation était avec nous",
        "german": "das Volk der Nation war nicht bei uns",
        "italian": "il popolo della nazione era con noi",
        "spanish": "el pueblo de la nación estaba con nosotros",
    }[language]
    left = TextPipeline(stop_words=language).list_words(sentence)
    assert len(left) == 2


def test_stop_words_meet_words_without_accents() -> None:
    pipeline = TextPipeline(stop_words="french", strip_accents="unicode")
    assert pipeline.list_words("où étaient les élèves") == ["eleves"]


def test_stems_are_those_of_snowball() -> None:
    stem = snowballstemmer.stemmer("italian").stemWord
    pipeline = TextPipeline(stemming="italian", stop_words="italian")
    words = ["cammin", "vita", "selva", "oscura", "smarrita"]
    assert pipeline.list_words("cammin della vita selva oscura smarrita") == [
        stem(word) for word in words
    ]
    reader = tercet.read(["nations and nation", "national"], stemming="english")
    assert reader.feature_names == ("and", "nation")
    np.testing.assert_array_equal(reader.to_sparse().toarray(), [[1, 2], [0, 1]])


def test_keep_share_keeps_the_fewest_words_that_reach_it() -> None:
    totals = np.array([1.0, 50.0, 9.0, 30.0, 10.0])
    rows = np.ones(5, dtype=np.int64)
    for share, kept in [(0.5, [1]), (0.51, [1, 3]), (0.8, [1, 3]), (0.9, [1, 3, 4])]:
        chosen = choose_columns(rows, totals, 1, keep_share=share)
        assert chosen.tolist() == kept
    assert choose_columns(rows, totals, 1, keep_share=1.0).tolist() == list(range(5))
    assert choose_columns(rows, totals, 1, max_features=2).tolist() == [1, 3]


@pytest.mark.data
def test_keep_share_gives_about_the_vocabularies_of_the_paper(
    data_folder: Path,
) -> None:
    # Paper 000, sections 5.2 and 5.3: 1,820 and 1,184 words; its stop words are not known.
    for name, language, size in [
        ("dante/divina_commedia", "italian", 1820),
        ("sotu/state_union_1945_2006", "english", 1184),
    ]:
        reader = tercet.read(
            data_folder / f"{name}.jsonl.gz", stop_words=language, keep_share=0.7
        )
        # 70 % of the different words would be 9,000 of them.
        assert abs(reader.n_features - size) < 0.2 * size


def test_a_model_counts_as_it_was_taught(tmp_path: Path) -> None:
    texts = ["war and wars of peace", "tax on the taxes of the nation"] * 20
    texts += ["war or peace or war", "nations of nation and tax"] * 10
    reader = tercet.read(texts, stop_words="english", stemming="english")
    model = tercet.SingleTopicModel(2, refine=0).fit(reader)
    model.save(tmp_path / "model.tercet")
    again = tercet.load(tmp_path / "model.tercet")
    assert json.loads(json.dumps(again.text_pipeline_)) == again.text_pipeline_
    raw = ["the nations at war, unknown words", "peace"]
    counted = CountVectorizer(
        vocabulary=reader.feature_names,
        analyzer=TextPipeline(stop_words="english", stemming="english").list_words,
    ).transform(raw)
    like = tercet.read(raw, like=again)
    np.testing.assert_allclose(again.transform(raw), model.transform(like))
    np.testing.assert_allclose(
        again.transform(raw),
        model.transform(
            pd.DataFrame(counted.toarray(), columns=list(reader.feature_names))
        ),
    )
    np.testing.assert_array_equal(like.to_sparse().toarray(), counted.toarray())
    assert like.feature_names == reader.feature_names


def test_a_model_of_counts_does_not_take_texts() -> None:
    model = tercet.SingleTopicModel(2).fit(
        np.random.default_rng(0).poisson(2.0, (90, 5))
    )
    with pytest.raises(DataError, match="list of texts"):
        model.transform(["a text"])
    with pytest.raises(ParameterError, match="fitted to counts"):
        tercet.read(["a text"], like=model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stop_words": "klingon"}, "stop_words='klingon'"),
        ({"stemming": "klingon"}, "stemming='klingon'"),
        ({"token_pattern": "("}, "not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "2 groups"),
        ({"ngram_range": (2, 1)}, "must rise"),
        ({"ngram_range": "ab"}, "pair of integers"),
        ({"min_df": -1}, "min_df=-1"),
        ({"max_df": 1.5}, "max_df=1.5"),
        ({"min_df": True}, "min_df=True"),
        ({"keep_share": 0.0}, "keep_share=0.0"),
        ({"max_features": 0}, "max_features=0"),
        ({"strip_accents": "all"}, "strip_accents='all'"),
        ({"colour": "red"}, "colour is not an argument"),
        ({"max_bad_lines": -1}, "max_bad_lines=-1"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        tercet.read(["a text"], **settings)


def test_what_cannot_be_kept_in_a_file_is_refused() -> None:
    for vectorizer in (
        CountVectorizer(tokenizer=str.split),
        CountVectorizer(preprocessor=str.lower),
        CountVectorizer(analyzer="char"),
    ):
        with pytest.raises(ParameterError, match="count the words yourself"):
            TextPipeline.from_vectorizer(vectorizer)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ([], DataError),
        ([1, 2], DataError),
        (b"bytes", ParameterError),
        (3, ParameterError),
        ([""], DataError),
        (["a b"], DataError),
    ],
)
def test_what_is_no_corpus_is_refused(source: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        tercet.read(source).load()
