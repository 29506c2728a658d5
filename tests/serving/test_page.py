"""The page in a real browser: Debian's chromium, driven by Playwright."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

import isotrope
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:60]
NASTY = '<img src=x onerror="document.title=1"> & "quotes"'
KEY = "a-key-of-some-length"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs chromium: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def serving(models: Any, **options: Any) -> str:
    address: queue.Queue[str] = queue.Queue()
    given = {"port": 0, "device": "cpu", "ready": address.put, **options}
    threading.Thread(target=isotrope.serve, args=(models,), kwargs=given, daemon=True).start()
    return address.get(timeout=60)


@pytest.fixture(scope="module")
def small() -> isotrope.Encoder:
    return isotrope.load("small", device="cpu")


@pytest.fixture(scope="module")
def two(encoder: isotrope.Encoder, small: isotrope.Encoder, index_folder: Path) -> str:
    return serving({"bundled": encoder, "small": small}, indexes={"rows": index_folder})


@pytest.fixture
def page(browser: Any, two: str) -> Iterator[Any]:
    """The page, open; nothing on it may fail or be kept out by the policy of content."""
    context = browser.new_context(accept_downloads=True)
    opened, problems = context.new_page(), []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if _is_problem(said) else None)
    opened.on("request", lambda asked: problems.append(asked.url) if not asked.url.startswith((two, "blob:")) else None)
    opened.goto(two)
    opened.wait_for_selector("body[data-ready]")
    yield opened
    context.close()
    assert problems == []


def _is_problem(said: Any) -> bool:
    """Refusals of the server are no problems of the page, which shows them."""
    return said.type == "error" and "the server responded with a status of 4" not in said.text


def test_sentences_become_a_matrix(page: Any, small: isotrope.Encoder) -> None:
    sentences = [TEXTS[0], TEXTS[1], NASTY]
    page.fill("#sentences", "\n".join([*sentences, "", TEXTS[0]]))
    page.select_option("#matrix-form select", "small")
    page.click("text=Compare")
    page.wait_for_selector("table")
    cells = page.locator("td").all_inner_texts()
    wanted = small.similarity(sentences)
    assert cells == ["" if i == j else f"{wanted[i, j]:.2f}" for i in range(3) for j in range(3)]
    assert page.locator("tbody th").all_inner_texts()[2] == f"3 {NASTY}"
    assert page.title() == "Isotrope"
    assert "by small" in page.inner_text("#matrix-title")
    page.fill("#sentences", "one")
    page.click("text=Compare")
    assert page.inner_text("[role=alert]") == "At least two different sentences are needed."


def test_a_file_is_searched(page: Any, encoder: isotrope.Encoder, tmp_path: Path) -> None:
    rows = "".join(f"{i};{text}\n" for i, text in enumerate([*TEXTS, NASTY, ""]))
    (tmp_path / "x.csv").write_text("id;said\n" + rows)
    page.click("text=Search")
    page.set_input_files("#file", tmp_path / "x.csv")
    page.wait_for_selector("text=61 texts from x.csv, column said; 1 row blank")
    page.select_option("#column", "id")
    page.wait_for_selector("text=62 texts from x.csv, column id")
    page.select_option("#column", "said")
    page.wait_for_selector("text=61 texts from x.csv, column said")
    page.fill("#query", "Some people are talking")
    page.press("#query", "Enter")
    page.wait_for_selector("#search-result li")
    texts = [*TEXTS, '& "quotes"']  # HTML is taken out of a file
    cosines = encoder.similarity("Some people are talking", texts)[0]
    best = np.argsort(-cosines, kind="stable")[:10]
    wanted = [f"{cosines[i]:.3f}\n{texts[i]}" for i in best]
    assert page.locator("#search-result li").all_inner_texts() == wanted
    page.select_option("#where", "rows")
    assert page.is_hidden("#corpus")
    page.click("#search-form button")
    page.wait_for_selector("#search-result dl")
    assert page.locator("#search-result dl").count() == 10
    assert page.locator("#search-result dd:nth-of-type(2)").first.inner_text().endswith("& so on")  # no tags
    assert "<" not in page.inner_text("#search-result")
    (tmp_path / "x.pdf").write_text("x")
    page.select_option("#where", "")
    page.set_input_files("#file", tmp_path / "x.pdf")
    page.wait_for_selector("[role=alert]:not([hidden])")
    assert page.inner_text("[role=alert]").startswith("x.pdf: unknown kind of file")


def test_two_models_side_by_side(page: Any, encoder: isotrope.Encoder, small: isotrope.Encoder) -> None:
    page.click("text=Side by side")
    page.fill("#pasted", "\n".join(TEXTS))
    page.fill("#beside-query", TEXTS[5])
    page.press("#beside-query", "Enter")
    page.wait_for_selector("#beside-result h2")
    assert page.locator("#beside-result h2").all_inner_texts() == ["bundled", "small"]
    near = []
    for model in (encoder, small):
        cosines = model.similarity(TEXTS[5], TEXTS)[0]
        near.append([i for i in np.argsort(-cosines, kind="stable").tolist() if i != 5][:8])
    shown = [text.split("\n")[1] for text in page.locator("#beside-result li").all_inner_texts()]
    assert shown == [TEXTS[i] for i in (*near[0], *near[1])]
    marked = {TEXTS[i] for i in set(near[0]) ^ set(near[1])}
    assert set(page.locator("#beside-result mark").all_inner_texts()) == marked
    page.click("text=Where do they differ most?")
    page.wait_for_selector("#beside-result .linkish")
    page.locator("#beside-result .linkish").first.click()
    page.wait_for_selector("#beside-result h2")


def test_pairs_are_graded_with_the_keyboard_and_the_file_is_of_use(
    page: Any, encoder: isotrope.Encoder, tmp_path: Path
) -> None:
    page.click("text=Grade pairs")
    page.fill("#pasted", "\n".join(TEXTS))
    page.fill("#count", "14")
    page.click("text=Choose pairs")
    page.wait_for_selector("#grading:not([hidden])")
    seen, wanted = [], []
    for turn in range(12):
        pair = (page.inner_text("#pair-first"), page.inner_text("#pair-second"))
        seen.append(pair)
        if turn == 4:
            page.keyboard.press("s")
            continue
        page.keyboard.press(str(turn % 6))
        wanted.append((str(turn % 6), *pair))
    page.keyboard.press("Backspace")
    assert page.get_attribute("#grades button:nth-child(6)", "aria-pressed") == "true"  # what was given is shown
    page.click("#grades button:nth-child(3)")
    wanted[-1] = ("2", *wanted[-1][1:])
    page.on("dialog", lambda dialog: dialog.accept())  # leaving with grades that are not downloaded is asked about
    page.reload()
    page.wait_for_selector("#grading:not([hidden])")
    assert page.inner_text("#grade-place") == "Pair 13 of 14, 11 graded"
    page.click("summary")
    page.wait_for_selector("#scores li")
    assert len(page.locator("#scores li").all_inner_texts()) == 2
    with page.expect_download() as waited:
        page.click("text=Download 11 grades")
    file = tmp_path / waited.value.suggested_filename
    waited.value.save_as(file)
    assert file.name == "grades.tsv"
    lines = file.read_text().splitlines()
    assert lines[0] == "score\tsentence1\tsentence2"
    assert [tuple(line.split("\t")) for line in lines[1:]] == wanted
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("(pre => pre.scrollWidth <= pre.clientWidth)(document.querySelector('#scores pre'))")
    assert "--pairs grades.tsv" in page.inner_text("#scores pre")
    for key in "50":
        assert page.is_visible("#grade-keys")
        page.keyboard.press(key)
    assert page.inner_text("#grade-place") == "All 14 pairs seen, 13 graded. Download them below."
    assert page.is_hidden("#grade-keys")  # there is nothing left to press them for
    results = isotrope.evaluate(["bundled"], tasks=[], pairs=file, cache=False)
    assert f"{100 * _spearman(file, encoder):.2f}" in results.markdown()
    options: dict[str, Any] = {"model": "bundled", "recipe": "simcse:bundled", "steps": 1, "dev": file, "device": "cpu"}
    run = isotrope.train(bundled_sentences()[:80], output=tmp_path / "run", **options)
    assert set(run.scores) == {"before", "after"}


def _spearman(file: Path, encoder: isotrope.Encoder) -> float:
    rows = [line.split("\t") for line in file.read_text().splitlines()[1:]]
    cosines = [float(encoder.similarity(first, second)[0, 0]) for _, first, second in rows]
    return float(spearmanr(cosines, [float(score) for score, _, _ in rows])[0])


def test_the_keyboard_is_enough(page: Any) -> None:
    page.focus("[role=tab][aria-selected=true]")
    for name in ("search", "beside", "grade", "matrix"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.getAttribute('aria-controls')") == name
        assert page.is_visible(f"#{name}")
    unlabelled = "e => !e.labels?.length && !e.getAttribute('aria-label')"
    fields = "[...document.querySelectorAll('input, select, textarea')]"
    assert page.evaluate(f"{fields}.filter({unlabelled}).map(e => e.id)") == []
    page.set_viewport_size({"width": 360, "height": 640})
    for name in ("matrix", "search", "beside", "grade"):
        page.click(f"#tab-{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    labels = "[...document.querySelectorAll('.choice')].filter(e => e.offsetHeight > 50).map(e => e.innerText)"
    assert page.evaluate(labels) == []  # each on one line
    page.click("#tab-search")
    page.fill("#query", "x")
    page.press("#query", "Enter")
    assert page.inner_text("[role=alert]").startswith("First paste at least two texts")
    page.click("#tab-matrix")
    page.click("text=Compare")
    page.wait_for_selector("table")
    cut = "[...document.querySelectorAll('tbody th')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
    assert page.evaluate(cut) == []  # sentences are read whole


def test_a_key_is_asked_for(browser: Any, encoder: isotrope.Encoder) -> None:
    address = serving({"only": encoder}, keys=[KEY])
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(address)
    opened.wait_for_selector("#key-form:not([hidden])")
    opened.fill("#key", "wrong")
    opened.press("#key", "Enter")
    opened.wait_for_selector("text=a key is needed")
    opened.fill("#key", KEY)
    opened.press("#key", "Enter")
    opened.wait_for_selector("body[data-ready]")
    assert opened.inner_text("#serving") == "serves only (256 dimensions)"
    opened.click("text=Compare")
    opened.wait_for_selector("table")
    assert KEY not in opened.url
    opened.click("text=Grade pairs")
    opened.fill("#pasted", "\n".join(TEXTS[:9]))
    opened.fill("#count", "4")
    opened.click("text=Choose pairs")
    opened.wait_for_selector("text=Pair 1 of 4")
    context.close()
