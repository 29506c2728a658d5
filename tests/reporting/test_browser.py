"""The page in a real browser: it fits a phone, the map answers, and nothing complains."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import isotrope

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs a Chromium on the path")
    with sync_api.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def test_tables_of_several_runs_fit_a_phone(browser: Any, runs: dict[str, isotrope.Run], tmp_path: Path) -> None:
    """Their heads are paths, which have no blanks to break at."""
    page = isotrope.report(list(runs.values()), texts=40).write(tmp_path / "both.html")
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    opened.goto(page.as_uri())
    table = opened.locator("section:has(#before-and-after) .scroll").first
    assert table.evaluate("e => e.scrollWidth") <= table.evaluate("e => e.clientWidth")
    narrow = "e => [...e.querySelectorAll('tbody th')].every(one => one.offsetWidth > 100)"
    assert table.evaluate(narrow)
    opened.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_fits_and_the_map_answers(
    browser: Any, page: Path, found: isotrope.Report, width: int, scheme: str
) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
    opened.goto(page.as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    dot = opened.locator("#map-points circle").first
    before = dot.get_attribute("cx"), dot.get_attribute("class")
    dot.dispatch_event("click")
    assert found.sample.texts[0] in opened.inner_text("#map-said")
    views = opened.locator("#map-view option").all_inner_texts()
    opened.select_option("#map-view", views[-1])
    opened.select_option("#map-colour", "queue <b>")
    assert (dot.get_attribute("cx"), dot.get_attribute("class")) != before
    assert opened.locator("#map-legend li").all_inner_texts() == ["<i>loans</i>", "cards"]
    opened.fill("#map-find", "alert(1)")
    assert opened.locator("#map-points circle:not(.out)").count() == 1
    assert said == []
    opened.close()
