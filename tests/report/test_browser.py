"""Pages in a real browser: silent, offline, and their controls work."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from report.page_models import FITS, HOSTILE
from tercet.report import write_report

webdriver = pytest.importorskip("selenium.webdriver")
CONTRASTS = Path(__file__).with_name("contrasts.js")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="Chromium and its driver are not installed",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for name, fit in FITS.items():
        model, documents = fit()
        written[name] = folder / f"{name}.html"
        write_report(model, written[name], corpus=documents)
    return written


@pytest.fixture
def visit(browser: Any, pages: dict[str, Path]) -> Callable[[str], Any]:
    def go(name: str) -> Any:
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(pages[name].as_uri())
        return browser

    return go


def list_requests(browser: Any) -> list[str]:
    events = [
        json.loads(entry["message"])["message"]
        for entry in browser.get_log("performance")
    ]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def press(browser: Any, control: str) -> None:
    # Not by coordinates: the page may still be scrolling there.
    browser.execute_script(f"document.getElementById('{control}').click()")


def words_shown(browser: Any) -> list[str]:
    return [
        cell.get_property("textContent")
        for cell in browser.find_elements("css selector", "#words th")
    ]


@pytest.mark.parametrize("name", list(FITS))
def test_page_is_silent_and_offline(name: str, visit: Any) -> None:
    browser = visit(name)
    assert (
        browser.execute_script("return document.documentElement.dataset.ready")
        == "true"
    )
    complaints = [
        e for e in browser.get_log("browser") if e["level"] in ("SEVERE", "WARNING")
    ]
    assert complaints == []
    assert [
        url
        for url in list_requests(browser)
        if not url.startswith(("file:", "data:", "chrome"))
    ] == []
    assert browser.execute_script("return window.broken === undefined")


def test_words_arrive_as_text(visit: Any) -> None:
    browser = visit("topics")
    seen: set[str] = set()
    for topic in range(4):
        browser.execute_script(
            f"document.querySelectorAll('#sizes button')[{topic}].click()"
        )
        for share in (0, 1):
            browser.execute_script(
                "const s=document.getElementById('lambda');"
                f"s.value={share};s.dispatchEvent(new Event('input'))"
            )
            seen |= set(words_shown(browser))
    assert len(seen & set(HOSTILE)) >= 6
    assert (
        browser.find_elements("css selector", "main img, #words script, #words b") == []
    )


def test_slider_and_choices_change_the_words(visit: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = visit("topics")
    before = words_shown(browser)
    slider = browser.find_element("id", "lambda")
    slider.send_keys(Keys.HOME)
    assert browser.find_element("id", "lambda-shown").text == "0.0"
    assert words_shown(browser) != before
    press(browser, "next")
    assert browser.find_element("id", "detail-title").text.startswith("Topic 2")
    assert browser.find_element("id", "choice").get_property("value") == "1"
    press(browser, "previous")
    press(browser, "previous")
    assert browser.find_element("id", "detail-title").text.startswith("Topic 4")


def test_map_answers_to_the_keyboard(visit: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = visit("topics")
    bubble = browser.find_element("css selector", '.bubble-group[data-index="2"]')
    browser.execute_script("arguments[0].focus()", bubble)
    bubble.send_keys(Keys.ENTER)
    assert browser.find_element("id", "detail-title").text.startswith("Topic 3")
    assert bubble.get_attribute("aria-pressed") == "true"


def test_words_are_found_and_themes_turn(visit: Any) -> None:
    browser = visit("topics")
    browser.find_element("id", "find").send_keys("no such word at all")
    assert "0 of 4" in browser.find_element("id", "found").text
    ground = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(ground)
    press(browser, "theme")
    assert browser.execute_script(ground) != before


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", list(FITS))
def test_text_stands_out_from_its_ground(name: str, dark: bool, visit: Any) -> None:
    browser = visit(name)
    browser.execute_script(
        f"document.documentElement.dataset.theme='{'dark' if dark else 'light'}'"
    )
    ratios = browser.execute_script(CONTRASTS.read_text(encoding="utf-8"))
    assert len(ratios) > 10
    worst = min(ratios, key=lambda part: part[1])
    assert worst[1] >= 4.5, worst


@pytest.mark.parametrize("width", [360, 820, 1400])
@pytest.mark.parametrize("name", list(FITS))
def test_nothing_sticks_out_at_any_width(name: str, width: int, visit: Any) -> None:
    browser = visit(name)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    inner, outer = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert inner <= outer
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_branches_open_and_close(visit: Any) -> None:
    browser = visit("tree")
    count = "return document.querySelectorAll('#tree details[open]').length"
    press(browser, "close-all")
    assert browser.execute_script(count) == 0
    press(browser, "open-all")
    assert browser.execute_script(count) == 3
    assert len(browser.find_elements("css selector", "#tree .leaf")) == 4


def test_pictures_and_controls_have_names(visit: Any) -> None:
    browser = visit("topics")
    nameless = browser.execute_script(
        """
        const named = (e) => e.getAttribute("aria-label") || e.textContent.trim()
          || (e.labels && e.labels.length) || e.getAttribute("aria-labelledby");
        return [...document.querySelectorAll("svg,button,select,input,[role=button]")]
          .filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 80));
        """
    )
    assert nameless == []
