"""Every block of Python in the documentation runs, those of a page one after the other.

A block that needs something that is not here (a server, a GPU) is headed `py` instead of `python`, and is not run.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from .pages import PAGES, ROOT, blocks

RUN = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks(page, "python"), 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(block, f"{page.name}, block {number}", "exec"), names)


def test_blocks_that_are_not_run_can_be_read() -> None:
    for page in PAGES:
        for block in blocks(page, "py"):
            compile(block, str(page), "exec")
