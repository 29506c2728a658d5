"""What the documentation says in code: blocks of Python, and command lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from isotrope.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
FENCE = re.compile(r"^(?P<marks>`{3,})(?P<language>\w*)[^\n`]*\n(?P<text>.*?)^(?P=marks)$", re.DOTALL | re.MULTILINE)
COMMAND: Any = typer.main.get_command(app)
LIST = re.compile(r"(?<=[\w-])[|,].*")  # `list|show`: the first of several


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of three backticks; those of four include a script, which is tested by itself."""
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [one["text"] for one in found if one["language"] == language and len(one["marks"]) == 3]


def command_lines(page: Path) -> Iterator[list[str]]:
    """Every `isotrope ...` in console blocks, indented blocks and inline code, as words."""
    text = page.read_text(encoding="utf-8")
    joined = re.sub(r"\\\n\s*", " ", text)
    for line in joined.splitlines():
        if found := re.match(r"(?:\$ | {4})(?:torchrun .* -m |.*\| )?(isotrope .*)", line):
            yield from _commands(found[1])
    prose = FENCE.sub("", joined)
    for code in re.findall(r"`(isotrope [^`]+)`", " ".join(prose.split())):
        yield from _commands(code)


def _commands(line: str) -> Iterator[list[str]]:
    for part in re.split(r"\s[|;>]\s|&&|\s#|;\s|<\(", line):
        try:
            words = shlex.split(part)
        except ValueError:  # a quotation mark of the prose
            words = part.split()
        if words[:1] == ["isotrope"]:
            yield words[1:]


def wrong_with(words: list[str]) -> str:
    """Why a command line can't be: no such verb, no such option; empty if it can."""
    command: Any = COMMAND
    rest = list(words)
    while rest and hasattr(command, "commands"):
        if rest[0].startswith("-") or rest[0] == "...":
            break
        name = LIST.sub("", rest.pop(0)).rstrip(".,:")
        if name.isupper():  # VERB, KIND: any
            return ""
        if name not in command.commands:
            return f"no command '{name}'"
        command = command.commands[name]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    named = [re.split(r"[=|\]]", word.lstrip("["))[0] for word in rest if re.match(r"\[?--?[a-z]", word)]
    unknown = [option for option in named if option not in known]
    return f"{command.name} has no {', '.join(unknown)}" if unknown else ""


def all_options() -> set[str]:
    """Options of any command."""

    def below(command: Any) -> Iterator[str]:
        for one in (param for param in command.params if param.param_type_name == "option"):
            yield from (*one.opts, *one.secondary_opts)
        for inner in getattr(command, "commands", {}).values():
            yield from below(inner)

    return set(below(COMMAND))
