"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from isotrope.cli import app

TYPES = {"str": "text", "int": "whole number", "int range": "whole number", "float": "number", "float range": "number"}
HEAD = """# Every command and option

This page is made from the commands themselves, as `--help` is. The [guide](../command-line.md) has examples, what they
print, and what to make of it. `isotrope --version` shows the version, and every command has `--help`.
"""


def page() -> str:
    """The page in Markdown."""
    return "\n".join([HEAD, *(section(name, command) for name, command in commands())])


def commands() -> Iterator[tuple[str, Any]]:
    """`train`, `recipes list` ... with typer's object of each; groups come before what is in them."""
    yield from _below("", typer.main.get_command(app))


def _below(path: str, group: Any) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if hasattr(command, "commands"):
            yield from _below(f"{path}{name} ", command)


def section(name: str, command: Any) -> str:
    """What a command does, its arguments and its options."""
    arguments = [one for one in command.params if one.param_type_name == "argument" and not one.hidden]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    depth = "#" * (2 + name.count(" "))
    lines = [f"{depth} isotrope {name}", "", _plain(command.help or ""), ""]
    if not hasattr(command, "commands"):
        placed = " ".join(_placed(one) for one in arguments)
        lines += ["```text", f"isotrope {name} {placed} [OPTIONS]".replace("  ", " "), "```", ""]
    if arguments or options:
        lines += ["| | value | what it is | default |", "|---|---|---|---|"]
        lines += [_row(one) for one in [*arguments, *options]]
    return "\n".join([*lines, ""])


def _placed(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _row(one: Any) -> str:
    if one.param_type_name == "argument":
        name, value = f"`{_placed(one)}`", ""
    else:
        name = ", ".join(f"`{word}`" for word in [*one.opts, *one.secondary_opts])
        value = "" if one.is_flag else _value(one)
    several = " May be given several times." if one.multiple and "epeatable" not in (one.help or "") else ""
    return f"| {name} | {value} | {_cell(one.help or '')}{several} | {_cell(_default(one))} |"


def _value(option: Any) -> str:
    """What stands behind an option: a word for its type, or the words that may stand there."""
    if option.metavar:
        return f"`{_cell(option.metavar)}`"
    shown = option.display_type(None).strip("<>").removeprefix("list[").removesuffix("]")
    if "|" in shown:
        return ", ".join(f"`{word}`" for word in shown.split("|"))
    least = f" from {option.min}" if option.min is not None else ""
    return TYPES.get(shown, shown) + least


def _default(one: Any) -> str:
    if one.required:
        return "required"
    if isinstance(one.show_default, str):
        return one.show_default
    if one.default in (None, False, (), []):
        return ""
    return f"`{one.default}`"


def _plain(text: str) -> str:
    """Without the marks that typer draws; the example as code."""
    text = re.sub(r"\[dim\](Examples?:)\[/\]\s*(.*)", r"\1 `\2`", text)
    return re.sub(r"\[/?[a-z ]*\]", "", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
