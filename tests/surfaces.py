"""Every surface as a picture, to be looked at: the report and the server's page, wide and narrow, light and dark.

    python tests/surfaces.py FOLDER [--run RUN]... [--only report|page]

Needs playwright and a chromium. Without `--run` two short runs are made on a messy table of the package's sentences.
Looking is the test: text that is cut off or overlaps, colours that can't be read, a page that is wider than the screen
(which is said, too).
"""

from __future__ import annotations

import argparse
import csv
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import isotrope
from isotrope.text import bundled_sentences

WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
SHAPE: dict[str, Any] = {"columns": "Subject,Body", "join": ". ", "strip_html": True}
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu"]


def main() -> None:
    """Takes the pictures and says where they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--run", type=Path, action="append", help="A run to report on; repeatable.")
    parser.add_argument("--only", choices=("report", "page"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, sync_playwright() as driver:
        table = messy_table(Path(work) / "tickets.csv")
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        if given.only != "page":
            runs = given.run or [train(table, "smooth", work), train(table, "simcse:bundled", work)]
            for name, some in (("report", runs[:1]), ("reports", runs)):
                page = isotrope.report(some).write(Path(work) / f"{name}.html")
                take(browser, given.folder, name, lambda opened, page=page: opened.goto(page.as_uri()))
        if given.only != "report":
            address = serve(table, Path(work) / "index")
            for name, steps in PAGES.items():
                take(browser, given.folder, name, lambda opened, steps=steps: steps(at(opened, address), table))
        browser.close()
    print(f"pictures: {given.folder}")


def messy_table(file: Path) -> Path:
    """As tickets come out of a help desk."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "Subject", "Body", "queue"])
        for number, text in enumerate(bundled_sentences()[:1200]):
            body = ("", "N/A", f'He said "{text}"\n\nThanks', f"<p>Hello,</p><p>{text}<br>&amp; so on</p>")
            writer.writerow([number, text[:40], body[number % 4], ("cards", "loans", "")[number % 3]])
    return file


def train(table: Path, recipe: str, work: str) -> Path:
    """A run of few steps."""
    quick = {} if recipe == "smooth" else {"steps": 30, "set": {"training.eval_steps": 5}}
    folder = Path(work) / recipe.partition(":")[0]
    model = "small" if recipe == "smooth" else "bundled"
    isotrope.train(table, None if recipe == "smooth" else recipe, model, folder, **quick, **SHAPE)
    return folder


def serve(table: Path, index: Path) -> str:
    """Two models and an index; where they are."""
    isotrope.index(table, "small", index, **SHAPE)
    address: queue.Queue[str] = queue.Queue()
    options: dict[str, Any] = {"indexes": {"tickets": index}, "port": 0, "ready": address.put}
    threading.Thread(target=isotrope.serve, args=(["bundled", "small"],), kwargs=options, daemon=True).start()
    return address.get(timeout=120)


def take(browser: Any, folder: Path, name: str, steps: Callable[[Any], Any]) -> None:
    """One picture for each width and scheme."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            with opened_page(browser, width, scheme) as opened:
                steps(opened)
                opened.wait_for_timeout(300)
                wide = opened.evaluate("document.documentElement.scrollWidth")
                print(f"{name} {width} {scheme}" + (f": {wide} pixels wide" if wide > width else ""))
                opened.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


@contextmanager
def opened_page(browser: Any, width: int, scheme: str) -> Iterator[Any]:
    """What a page complains about is printed."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = context.new_page()
    opened.on("pageerror", lambda error: print(f"error: {error}"))
    opened.on("console", lambda said: print(f"console: {said.text}"))
    yield opened
    context.close()


def at(opened: Any, address: str) -> Any:
    """The server's page, ready."""
    opened.goto(address)
    opened.wait_for_selector("body[data-ready]")
    return opened


def matrix(opened: Any, table: Path) -> None:
    """Sentences against each other."""
    opened.click("text=Compare")
    opened.wait_for_selector("table")


def empty(opened: Any, table: Path) -> None:
    """A search without text."""
    opened.click("#tab-search")
    opened.fill("#query", "A man with a guitar")
    opened.press("#query", "Enter")
    opened.wait_for_selector("[role=alert]:not([hidden])")


def upload(opened: Any, table: Path) -> None:
    """In a file."""
    opened.click("#tab-search")
    opened.set_input_files("#file", table)
    opened.wait_for_selector("text=from tickets.csv")
    opened.fill("#query", "A man with a guitar")
    opened.press("#query", "Enter")
    opened.wait_for_selector("#search-result li", timeout=120_000)


def index(opened: Any, table: Path) -> None:
    """In an index."""
    opened.click("#tab-search")
    opened.select_option("#where", "tickets")
    opened.fill("#query", "A man with a guitar")
    opened.press("#query", "Enter")
    opened.wait_for_selector("#search-result dl")


def differ(opened: Any, table: Path) -> None:
    """Where two models differ most."""
    opened.click("#tab-beside")
    opened.click("#example")
    opened.wait_for_selector("text=400 texts")
    opened.click("#differ")
    opened.wait_for_selector("#beside-result .linkish", timeout=120_000)


def beside(opened: Any, table: Path) -> None:
    """Neighbours under both."""
    differ(opened, table)
    opened.locator("#beside-result .linkish").first.click()
    opened.wait_for_selector("#beside-result h2")


def grade(opened: Any, table: Path) -> None:
    """A pair, after some."""
    opened.click("#tab-grade")
    opened.click("#example")
    opened.wait_for_selector("text=400 texts")
    opened.fill("#count", "20")
    opened.click("#grade-form button")
    opened.wait_for_selector("#grading:not([hidden])", timeout=120_000)
    for turn in range(12):
        opened.keyboard.press(str(turn % 6))
    opened.click("summary")


def graded(opened: Any, table: Path) -> None:
    """All of them."""
    grade(opened, table)
    for turn in range(8):
        opened.keyboard.press(str(turn % 6))


PAGES = {one.__name__: one for one in (matrix, empty, upload, index, differ, beside, grade, graded)}

if __name__ == "__main__":
    main()
