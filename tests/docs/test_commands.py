"""Every command and option that the documentation names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import FENCE, PAGES, ROOT, all_options, command_lines, wrong_with

# options of other programs that the prose names
FOREIGN = {"--help", "--nproc-per-node", "--strict", "--no-deps", "--num_processes", "--num-processes"}
OTHERS = r"(python|pip|torchrun|accelerate|mkdocs|embedding-atlas) "
BENCH = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "bench").glob("*.py"))
CURRENT = [page for page in PAGES if page.name != "CHANGELOG.md"]


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines(page: Path) -> None:
    wrong = {" ".join(words): why for words in command_lines(page) if (why := wrong_with(words))}
    assert not wrong


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_in_the_prose(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    code = [found for found in re.findall(r"`([^`]+)`", prose) if not re.match(OTHERS, found)]
    named = {option for one in code for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", one)}
    of_benches = {option for option in named if f'"{option}"' in BENCH}
    assert named - all_options() - FOREIGN - of_benches == set()


def test_a_lie_is_found() -> None:
    assert wrong_with(["train", "x.txt", "--recipe", "sg-opt", "--output", "y"]) == ""
    assert wrong_with(["train", "x.txt", "--recipes", "sg-opt"]) == "train has no --recipes"
    assert wrong_with(["recipes", "lists"]) == "no command 'lists'"
    assert wrong_with(["recipes", "list|show"]) == ""


def test_enough_is_looked_at() -> None:
    found = [words for page in CURRENT for words in command_lines(page)]
    assert len(found) > 100
    assert {words[0] for words in found if words} >= {"train", "evaluate", "encode", "search", "recipes", "pairs"}
