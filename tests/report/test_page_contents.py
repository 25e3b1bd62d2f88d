"""What pages say: the same as the model, in bounded size, with text as text."""

from __future__ import annotations

import datetime as dt
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import tercet
from report.page_models import (
    HOSTILE,
    draw_counts,
    fit_clusters,
    fit_topics,
    fit_tree,
    fit_views,
)
from tercet.exceptions import DataError, ParameterError
from tercet.report import Documents, describe_page, render_page, write_report
from tercet.report.contents import rank_terms
from tercet.report.documents import describe_documents, describe_trend
from tercet.report.gathering import gather_documents
from tercet.report.maps import lay_out, measure_divergence
from tercet.report.sentences import explain_diagnostics

MEGABYTE = 1 << 20


def read_data(text: str) -> Any:
    [data] = re.findall(
        r'<script type="application/json" id="page-data">(.*?)</script>',
        text,
        re.DOTALL,
    )
    return json.loads(data)


@pytest.fixture(scope="module")
def topics_page() -> tuple[dict[str, Any], str]:
    model, documents = fit_topics()
    page = describe_page(model, corpus=documents, title="<i>Mine</i>")
    return page, render_page(page)


def test_data_of_a_page_come_back_as_they_were(
    topics_page: tuple[dict[str, Any], str],
) -> None:
    page, text = topics_page
    assert read_data(text) == json.loads(json.dumps(page))


def test_hostile_words_stay_text(topics_page: tuple[dict[str, Any], str]) -> None:
    page, text = topics_page
    shown = {term[0] for part in page["components"] for term in part["terms"]}
    assert set(HOSTILE) <= shown
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<img" not in text
    assert "<b>bold" not in text
    assert "<i>Mine" not in text
    assert "{{ 7 * 7 }}" in html.unescape(text)


def test_page_asks_for_nothing(topics_page: tuple[dict[str, Any], str]) -> None:
    _, text = topics_page
    markup = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href|action)=["'](?!#|data:,)""", markup)
    assert "http" not in re.sub("http-equiv", "", markup)
    assert "default-src 'none'" in text


def test_numbers_are_those_of_the_model() -> None:
    model, documents = fit_topics()
    page = describe_page(model, corpus=documents)
    assert page["kind"] == "topics"
    assert [part["weight"] for part in page["components"]] == model.weights_.tolist()
    names = list(model.feature_names_in_)
    for part, row in zip(page["components"], model.components_, strict=True):
        for name, inside, _ in part["terms"]:
            assert inside == pytest.approx(row[names.index(name)], rel=1e-4)
    shares = model.transform(documents.rows)
    strongest = [part["documents"][0]["share"] for part in page["components"]]
    assert strongest == pytest.approx(shares.max(axis=0).tolist())
    assert np.array(page["trend"]["shares"]).sum(axis=0) == pytest.approx(1.0, abs=1e-3)


def test_slider_finds_the_words_of_relevance() -> None:
    model, _ = fit_topics()
    page = describe_page(model)
    for share in (0.0, 0.3, 0.7, 1.0):
        for part, wanted in zip(
            page["components"], model.top_words(10, relevance=share), strict=True
        ):
            ranked = sorted(
                part["terms"],
                key=lambda term: -np.log(term[1]) + (1 - share) * np.log(term[2]),
            )
            assert {term[0] for term in ranked[:10]} == set(wanted)


def test_clusters_have_a_heat_map() -> None:
    model, documents = fit_clusters()
    page = describe_page(model, corpus=documents)
    assert page["kind"] == "clusters"
    assert len(page["heat"]["rows"]) == 3
    assert {len(row) for row in page["heat"]["rows"]} == {len(page["heat"]["features"])}
    assert 'id="heat-table"' in render_page(page)


def test_trees_and_views_have_pages_of_their_own() -> None:
    tree, rows = fit_tree()
    page = describe_page(tree, corpus=rows)
    assert page["noun"] == "leaf"
    assert page["tree"]["name"] == "All rows"
    assert page["tree"]["size"] == 300
    assert len(page["components"]) == 4
    views, _ = fit_views()
    lists = describe_page(views)["components"]
    assert len(lists) == 3
    first = views.components_[0][0]
    assert lists[0]["lists"][0][0][1] == pytest.approx(first.max(), rel=1e-4)
    names = list(draw_counts(n_words=40).columns)
    assert lists[0]["lists"][0][0][0] == names[first.argmax()]
    assert lists[0]["lists"][1][0][0] == names[views.components_[1][0].argmax()] + "'"


def test_points_are_laid_out_by_their_distances() -> None:
    rows = np.vstack([np.full((40, 2), -3.0), np.full((60, 2), 4.0)])
    rows += np.random.default_rng(0).normal(size=rows.shape)
    page = describe_page(tercet.SphericalGaussianMixture(2).fit(rows))
    places = [part["place"] for part in page["components"]]
    assert sorted(place[0] for place in places) == pytest.approx([-1.0, 1.0])


def test_page_stays_small() -> None:
    rng = np.random.default_rng(0)
    k, d = 100, 5000
    model, _ = fit_topics()
    model.components_ = rng.dirichlet(np.full(d, 0.05), size=k)
    model.weights_ = np.full(k, 1 / k)
    model.concentration_ = np.full(k, 0.1)
    model.feature_shares_ = model.components_.mean(axis=0)
    model.feature_names_in_ = np.array([f"a rather long word {j}" for j in range(d)])
    assert len(render_page(describe_page(model)).encode()) < 5 * MEGABYTE


def test_writing_replaces_or_leaves(tmp_path: Path) -> None:
    model, documents = fit_topics()
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(DataError, match=r"times has 2 entries for 300 rows"):
        write_report(model, target, corpus=Documents(documents.rows, times=[1, 2]))
    assert target.read_text() == "old"
    write_report(model, target, corpus=documents.rows)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [target]


def test_what_has_no_components_is_refused() -> None:
    fitted = StandardScaler().fit(np.eye(2))
    with pytest.raises(ParameterError, match="StandardScaler has no components"):
        describe_page(fitted)


def test_times_are_read_from_many_forms() -> None:
    shares = np.array([[1.0], [0.0], [0.5], [0.5], [0.2]])
    times = [
        dt.date(1990, 1, 2),
        "1990-05-06",
        np.datetime64("1991-01-01"),
        1991.0,
        "unknown",
    ]
    trend = describe_trend(shares, times)
    assert trend["periods"] == ["1990", "1991"]
    assert trend["shares"] == [[0.5, 0.5]]
    assert trend["dropped"] == 1
    with pytest.raises(DataError, match="no time that can be read"):
        describe_trend(shares[:1], ["soon"])


def test_many_times_become_periods() -> None:
    times = np.arange(200)
    trend = describe_trend(np.ones((200, 1)), times.tolist())
    assert len(trend["periods"]) == 30
    assert sum(trend["sizes"]) == 200


def test_names_of_times_are_those_of_columns() -> None:
    with pytest.raises(
        ParameterError, match="times='year' is not a column that was kept"
    ):
        gather_documents(draw_counts(), "year")
    with pytest.raises(ParameterError, match="names a column"):
        gather_documents(Documents(None), "year")
    assert gather_documents(None) is None


def test_excerpts_are_cut() -> None:
    long = "word " * 1000
    [[shown]] = describe_documents(np.ones((1, 1)), Documents(None, texts=[long]))
    assert len(shown["excerpt"]) < 250


@pytest.mark.parametrize("seed", range(3))
def test_map_keeps_distances_that_a_plane_can_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(7, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    placed = lay_out(distances)
    again = np.linalg.norm(placed[:, None] - placed[None], axis=2)
    ratios = again[distances > 0] / distances[distances > 0]
    assert ratios == pytest.approx(ratios[0])


def test_divergence_against_scipy() -> None:
    from scipy.spatial.distance import jensenshannon

    rows = np.random.default_rng(1).dirichlet(np.full(9, 0.3), size=3)
    wanted = [[jensenshannon(a, b, base=2) for b in rows] for a in rows]
    assert measure_divergence(rows) == pytest.approx(np.array(wanted), abs=1e-7)


def test_terms_cover_both_ends_of_the_slider() -> None:
    component = np.array([0.5, 0.3, 0.2, 1e-6])
    overall = np.array([0.6, 0.39, 0.01, 1e-9])
    assert rank_terms(component, overall, 1) == [0, 2, 3]


@pytest.mark.parametrize(
    ("facts", "level", "words"),
    [
        (
            {"n_components": 1, "diagnostics": {"spectrum": [9.0, 1.0]}},
            "good",
            "9 times",
        ),
        (
            {"n_components": 1, "diagnostics": {"spectrum": [9.0, 6.0]}},
            "fair",
            "Probably",
        ),
        (
            {"n_components": 1, "diagnostics": {"spectrum": [9.0, 8.9]}},
            "fair",
            "single",
        ),
        ({"n_components": 1, "diagnostics": {"spectrum": [9.0, -1.0]}}, "good", "not"),
        ({"diagnostics": {"negative_mass": [0.01, 0.3]}}, "poor", "component 2"),
        (
            {"n_samples": 10, "diagnostics": {"short_documents": [1, 2, 8]}},
            "poor",
            "8 of 10",
        ),
        (
            {
                "n_samples": 10,
                "diagnostics": {
                    "spectrum": [1.0],
                    "sample_bound": {"pair": 4.0, "third": 2.0, "delta": 0.05},
                },
            },
            "fair",
            "640 rows",
        ),
    ],
)
def test_diagnostics_in_words(facts: dict[str, Any], level: str, words: str) -> None:
    [said] = explain_diagnostics(facts)
    assert said["level"] == level
    assert words in said["answer"]


def test_fitted_models_answer_the_questions() -> None:
    model, _ = fit_topics()
    questions = [part["question"] for part in describe_page(model)["diagnostics"]]
    assert len(questions) >= 4
