"""Every command, in the way a person or a program calls it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tercet
from tercet.cli import main
from tercet.cli.application import COMMANDS, EXIT_CODES
from tercet.exceptions import TercetError

TOPICS = (
    "war army soldier battle enemy",
    "tax budget deficit spending dollar",
    "school teacher student college class",
)

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must end well, and give what it printed."""

    def call(*words: object, code: int = 0) -> str:
        found = main([str(word) for word in words])
        captured = capsys.readouterr()
        assert found == code, captured.err
        return captured.err if code else captured.out

    return call


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("corpus") / "speeches.jsonl"
    words = [topic.split() for topic in TOPICS]
    lines = []
    for row in range(240):
        topic = row % 3
        text = " ".join(rng.choice(words[topic], 30)) + " the the and"
        lines.append(
            json.dumps({"id": f"d{row}", "text": text, "year": 1900 + row % 50})
        )
    lines.insert(3, "{damaged")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "speeches.tercet"
    words = ["fit", corpus, "-o", path, "-k", 3, "--stop-words", "english", "-q"]
    assert main([str(word) for word in words]) == 0
    return path


@pytest.fixture
def table(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Binary records of two kinds of patients, with a name that is a formula."""
    rates = np.array(
        [[0.9, 0.8, 0.85, 0.1, 0.1, 0.15], [0.1, 0.2, 0.1, 0.8, 0.9, 0.85]]
    )
    values = rng.random((300, 6)) < rates[np.arange(300) % 2]
    path = tmp_path / "visits.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["patient", *[f"item{j}" for j in range(5)], "=1+1"])
        writer.writerows(
            [f"=cmd|{i}", *map(int, row)] for i, row in enumerate(values.tolist())
        )
    return path


def test_fit_says_what_was_left_out_and_prints_the_model(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "a.tercet"
    assert main(["fit", str(corpus), "-k", "3", "-o", str(target)]) == 0
    captured = capsys.readouterr()
    assert "LatentDirichletAllocation(n_components=3" in captured.out
    assert "read 240 documents" in captured.err
    assert "1 bad line left out: line 4: not JSON" in captured.err
    assert target.is_file()


def test_fit_names_the_model_after_its_source(
    corpus: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    facts = json.loads(
        run("fit", corpus, "-k", 3, "-m", "single-topic", "--json", "--seed", 5)
    )
    assert facts["file"] == "speeches.tercet"
    assert facts["n_components"] == 3
    assert facts["parameters"]["random_state"] == 5
    assert facts["data"]["n_bad_lines"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["speeches.tercet"]


def test_topics_are_found_and_printed(model: Path, run: Run, tmp_path: Path) -> None:
    lines = run("topics", model, "-n", 5).splitlines()
    found = {frozenset(line.split()[2:]) for line in lines}
    assert found == {frozenset(topic.split()) for topic in TOPICS}
    facts = json.loads(run("topics", model, "--json"))
    assert len(facts["components"]) == 3
    for ending in ("csv", "json", "parquet"):
        run("topics", model, "-n", 2, "-o", tmp_path / f"t.{ending}")
    assert len(json.loads((tmp_path / "t.json").read_text())) == 6
    assert pl.read_parquet(tmp_path / "t.parquet").shape == (6, 5)
    assert (
        (tmp_path / "t.csv").read_text().startswith("component,weight,rank,name,value")
    )


def test_transform_counts_as_the_model_did(
    model: Path, corpus: Path, run: Run, tmp_path: Path
) -> None:
    run("transform", model, corpus, "--column", "year", "-o", tmp_path / "s.csv")
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    assert len(rows) == 240
    assert rows[0]["id"] == "d0"
    assert rows[0]["year"] == "1900"
    largest = [row["largest"] for row in rows]
    assert len({(k % 3, topic) for k, topic in enumerate(largest)}) == 3
    shares = [float(rows[0][f"component_{k}"]) for k in range(3)]
    assert sum(shares) == pytest.approx(1.0)
    assert json.loads(run("transform", model, corpus, "--json"))[5]["id"] == "d5"


def test_score_is_that_of_the_model(model: Path, corpus: Path, run: Run) -> None:
    facts = json.loads(run("score", model, corpus, "--json"))
    assert facts["n_rows"] == 240
    assert facts["perplexity"] == pytest.approx(np.exp(-facts["score"]))
    assert "perplexity:" in run("score", model, corpus)


def test_report_is_one_page(
    model: Path, corpus: Path, run: Run, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    words = (
        "report",
        model,
        "--corpus",
        corpus,
        "--time",
        "year",
        "-o",
        page,
        "--json",
    )
    facts = json.loads(run(*words))
    assert facts["bytes"] == page.stat().st_size > 10000
    assert "budget" in page.read_text(encoding="utf-8")


def test_info_tells_models_from_data(model: Path, corpus: Path, run: Run) -> None:
    assert json.loads(run("info", model, "--json"))["n_features"] == 15
    facts = json.loads(run("info", corpus, "--json"))
    assert (facts["n_rows"], facts["n_bad_lines"]) == (240, 1)
    assert "format: jsonl" in run("info", corpus)
    assert "fitted" in run("info", model)


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.tsv.gz", "a.parquet", "docword.a.txt", "a.mtx.gz", "a.svm", "a.npz"],
)
def test_converted_counts_give_the_same_topics(
    name: str, corpus: Path, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / name
    run("convert", corpus, target, "--stop-words", "english")
    facts = json.loads(run("info", target, "--json"))
    assert (facts["n_rows"], facts["n_features"], facts["has_names"]) == (240, 15, True)
    run("fit", target, "-k", 3, "-o", tmp_path / "b.tercet")
    lines = run("topics", tmp_path / "b.tercet", "-n", 5).splitlines()
    assert {frozenset(line.split()[2:]) for line in lines} == {
        frozenset(topic.split()) for topic in TOPICS
    }


def test_a_model_becomes_a_table(model: Path, run: Run, tmp_path: Path) -> None:
    run("convert", model, tmp_path / "m.parquet")
    frame = pl.read_parquet(tmp_path / "m.parquet")
    assert frame.shape == (45, 5)
    assert frame["value"].sum() == pytest.approx(3.0)


def test_tree_is_learned_and_printed(corpus: Path, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "tree.tercet"
    words = ("tree", corpus, "-k", 3, "--stop-words", "english", "-o", target)
    printed = run(*words)
    assert printed.strip() == run("tree", target).strip()
    assert json.loads(run("tree", target, "--json"))["size"] == 240
    leaves = run("transform", target, corpus).splitlines()
    assert leaves[0] == "id,leaf"
    assert len({line.split(",")[1] for line in leaves[1:]}) == 3


def test_clusters_are_found_and_formulas_are_not_run(
    table: Path, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "c.csv"
    saved = tmp_path / "c.tercet"
    words = (
        "cluster",
        table,
        "--ids",
        "patient",
        "-k",
        2,
        "-o",
        target,
        "--save",
        saved,
    )
    facts = json.loads(run(*words, "--json"))
    assert facts["model"] == "BernoulliMixture"
    rows = list(csv.DictReader(target.read_text().splitlines()))
    agree = np.mean([int(row["largest"]) == k % 2 for k, row in enumerate(rows)])
    assert max(agree, 1 - agree) > 0.95
    assert rows[3]["id"] == "'=cmd|3"
    run("topics", saved, "-o", tmp_path / "t.csv")
    assert "'=1+1" in (tmp_path / "t.csv").read_text()
    run("convert", table, tmp_path / "long.tsv", "--ids", "patient")
    assert "\n'=cmd|3\t" in (tmp_path / "long.tsv").read_text()


def test_two_files_are_two_views(corpus: Path, run: Run, tmp_path: Path) -> None:
    lines = [
        json.loads(line) for line in corpus.read_text().splitlines() if "id" in line
    ]
    path = tmp_path / "pairs.jsonl"
    both = [{"en": row["text"], "xx": row["text"].replace("e", "ë")} for row in lines]
    path.write_text("\n".join(map(json.dumps, both)))
    words = ("fit", path, path, "--text", "en", "--second-text", "xx", "-k", 2)
    saved = tmp_path / "v.tercet"
    facts = json.loads(run(*words, "-o", saved, "--json"))
    assert facts["model"] == "DiscreteCCA"
    one = run("transform", saved, path, "--text", "en").splitlines()
    two = run("transform", saved, path, path, "--text", "en", "--second-text", "xx")
    assert len(one) == len(two.splitlines()) == 241
    assert one != two.splitlines()
    model = tercet.load(saved)
    texts = [[row[name] for row in both] for name in ("en", "xx")]
    readers = [tercet.read(texts[k], like=model.view(k)) for k in (0, 1)]
    np.testing.assert_array_equal(model.transform(*texts), model.transform(*readers))
    assert readers[1].to_sparse().sum() > 0


@pytest.mark.parametrize("kind", ["lda", "single-topic", "bernoulli", "gaussian"])
def test_simulated_rows_are_read_again(kind: str, run: Run, tmp_path: Path) -> None:
    for name in ("a.csv", "a.npz"):
        target, truth = tmp_path / name, tmp_path / "truth.json"
        run(
            "simulate",
            kind,
            "-o",
            target,
            "-n",
            60,
            "-d",
            12,
            "-k",
            2,
            "--truth",
            truth,
        )
        facts = json.loads(run("info", target, "--json"))
        assert facts["n_rows"] == 60
        assert np.shape(json.loads(truth.read_text())["centers"]) == (12, 2)


def test_numbers_of_components_are_compared(
    corpus: Path, run: Run, tmp_path: Path
) -> None:
    words = ("select", corpus, "--stop-words", "english", "-k", "2:4")
    facts = json.loads(run(*words, "--json"))
    assert facts["chosen"] == 3
    assert [row["k"] for row in facts["candidates"]] == [2, 3, 4]
    run(*words, "-o", tmp_path / "k.csv")
    assert len((tmp_path / "k.csv").read_text().splitlines()) == 4
    assert "held_out" in run(*words, "-m", "single-topic")


def test_auto_takes_what_predicts_best(
    corpus: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tercet.cli.fitting.list_candidates", lambda _: [2, 3])
    words = ("fit", corpus, "--stop-words", "english", "-k", "auto", "--json")
    facts = json.loads(run(*words, "-o", tmp_path / "a.tercet"))
    assert facts["n_components"] == 3


ERRORS = [
    (["fit", "{absent}"], 6, "no such file"),
    (["fit", "{corpus}", "--text", "body"], 3, "no column 'body'"),
    (["fit", "{corpus}", "-k", "many"], 2, "n_components='many'"),
    (["fit", "{corpus}", "-k", "500"], 2, "n_components=500"),
    (["fit", "{corpus}", "-k", "14"], 5, "n_components=14"),
    (["fit", "{corpus}", "--set", "colour=red"], 2, "'colour' is not a parameter"),
    (["fit", "{corpus}", "--set", "refine"], 2, "name=value"),
    (["fit", "{corpus}", "--max-bad-lines", "0"], 3, "line 4: not JSON"),
    (["fit", "{corpus}", "--stop-words", "klingon"], 2, "klingon"),
    (["fit", "{corpus}", "--model", "discrete-cca"], 2, "two files"),
    (["fit", "{corpus}", "--second-text", "x"], 2, "second file"),
    (["fit", "{corpus}", "{corpus}", "--model", "lda"], 2, "one file"),
    (["fit", "{model}"], 2, "is a model"),
    (["topics", "{corpus}"], 4, "is not a model"),
    (["topics", "{model}", "-o", "{folder}/a.xls"], 2, "'.xls'"),
    (["tree", "{model}"], 2, "has no tree"),
    (["score", "{folder}/no.tercet", "{corpus}"], 6, "no such file"),
    (["report", "{model}", "--time", "year"], 2, "add --corpus"),
    (["convert", "{corpus}", "{folder}/a.xls"], 2, "not written"),
    (["simulate", "lda", "-o", "{folder}/a.npz", "--set", "x=1"], 2, "'x' is not"),
    (["select", "{corpus}", "--candidates", "few"], 2, "candidates='few'"),
    (["fit", "{corpus}", "--min-df", "lots"], 2, "neither a number nor a share"),
    (["fti"], 2, "Did you mean 'fit'"),
]


@pytest.mark.parametrize(("words", "code", "message"), ERRORS)
def test_errors_are_one_sentence_with_a_code(
    words: list[str],
    code: int,
    message: str,
    corpus: Path,
    model: Path,
    run: Run,
    tmp_path: Path,
) -> None:
    places = {
        "corpus": corpus,
        "model": model,
        "folder": tmp_path,
        "absent": tmp_path / "absent.jsonl",
    }
    said = run(*[word.format(**places) for word in words], code=code)
    assert message in said
    last = said.strip().splitlines()[-1]
    assert last.startswith(("tercet: ", "Error: "))
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str, run: Run) -> None:
    text = run(name, "--help")
    assert "Examples:" in text
    assert f"tercet {name}" in text


def test_every_command_that_prints_has_json(run: Run) -> None:
    for name in COMMANDS:
        assert "--json" in run(name, "--help")


def test_exit_codes_are_told_and_differ(run: Run) -> None:
    text = run("--help")
    codes = list(EXIT_CODES.values())
    assert len(set(codes)) == len(codes)
    for code in (0, *codes, 7, 130):
        assert f"{code} " in text
    assert all(issubclass(kind, TercetError | OSError) for kind in EXIT_CODES)


def test_memory_and_interrupts_have_codes(
    corpus: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, code, said in [
        (MemoryError(), 7, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ]:

        def fail(*_: object, failure: BaseException = error, **__: object) -> None:
            raise failure

        monkeypatch.setattr("tercet.cli.commands.info.open_corpus", fail)
        assert said in run("info", corpus, code=code)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_helped_to_complete(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TERCET_COMPLETE", f"{shell}_source")
    if shell == "bash":
        monkeypatch.setattr(
            "click.shell_completion.BashComplete._check_version", lambda _: None
        )
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 0
    assert "_TERCET_COMPLETE" in capsys.readouterr().out


def test_names_of_commands_are_completed_without_loading_them() -> None:
    import click

    from tercet.cli.application import application

    context = click.Context(application, info_name="tercet")
    found = [item.value for item in application.shell_complete(context, "t")]
    assert found == ["tree", "topics", "transform"]
