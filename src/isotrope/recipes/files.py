"""The files of recipes: isotrope's own by name, `sg-opt:official`; a user's by path, `mine.toml:variant`.

Imports no torch, so that a name that is not there is found at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from isotrope.io.errors import IsotropeError, nearest
from isotrope.text.files import open_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Table = dict[str, Any]
FOLDER = files("isotrope.recipes") / "presets"
SUFFIX = ".toml"
OTHER_COLUMNS = re.compile(r"\b(column|texts|negative|also|supervision|stages)\b")  # by which a recipe may read those
DEEPEST = 16  # tables and lists within each other
TOO_DEEP = f"sections or lists are more than {DEEPEST} deep; a recipe has a few"


def names() -> list[str]:
    """The recipes that come with isotrope."""
    return sorted(file.name.removesuffix(SUFFIX) for file in FOLDER.iterdir() if file.name.endswith(SUFFIX))


def variants(name: str | Path) -> list[str]:
    """`paper`, the numbers of the text, and what else the file has."""
    where, _ = split_name(name)
    return ["paper", *variants_of(read(where), shown_name(where))]


def source(name: str | Path) -> str:
    """The text of the file, comments included: for reading, and for copying."""
    where, _ = split_name(name)
    if where.endswith(SUFFIX):
        with open_bytes(where) as stream:
            text = stream.read()
        try:
            return text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            raise IsotropeError(f"{where}: line {line}: not UTF-8; convert the file") from error
    if where not in names():
        known = ", ".join(names())
        raise IsotropeError(
            f"unknown recipe '{where}'{nearest(where, names())}; one of {known}, or a file that ends in {SUFFIX}"
        )
    return (FOLDER / f"{where}{SUFFIX}").read_text(encoding="utf-8")


def read(name: str | Path) -> Table:
    """The file as nested tables, its variants among them."""
    where, _ = split_name(name)
    return parse(source(where), shown_name(where))


def reads_text_alone(name: str | Path, settings: Iterable[str] = ()) -> bool:
    """Whether it is plain from the file and the keys of settings that nothing but the column `text` is read."""
    return not any(OTHER_COLUMNS.search(text) for text in (source(name), *settings))


def check_name(name: str | Path) -> None:
    """That there is such a file, that it is TOML, and that it has the variant."""
    where, variant = split_name(name)
    known = variants(where)
    if variant and variant not in known:
        raise IsotropeError(
            f"{shown_name(where)} has no variant '{variant}'{nearest(variant, known)}; it has {', '.join(known)}"
        )


def parse(text: str, where: str) -> Table:
    """TOML, or an error with its line."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = place[1] if place else len(text.splitlines())
        message = str(error)[: place.start()] if place else str(error)
        raise IsotropeError(f"{where}: line {line}: {message}") from error
    except RecursionError as error:
        raise IsotropeError(f"{where}: {TOO_DEEP}") from error
    except ValueError as error:  # Python reads no more than 4,300 digits
        raise IsotropeError(f"{where}: a number in it has thousands of digits") from error
    check_depth(document, where)
    return document


def check_depth(value: Any, where: str) -> None:
    """Refuses tables and lists within each other beyond anything that a recipe has."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
    if level:
        raise IsotropeError(f"{where}: {TOO_DEEP}")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else ()


def read_value(value: Any) -> Any:
    """A string as the TOML value that it spells, or else as it stands: `0.05`, `true`, `["a", "b"]`, `cls`."""
    if not isinstance(value, str):
        return value
    try:
        read = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        return value
    plain = isinstance(read["value"], (str, int, float, list, dict))  # a folder may be named like a date
    return read["value"] if plain and len(read) == 1 else value


def variants_of(document: Table, where: str) -> dict[str, Table]:
    """The overlays by name."""
    overlays = document.get("variants", {})
    if not isinstance(overlays, dict) or not all(isinstance(overlay, dict) for overlay in overlays.values()):
        raise IsotropeError(f"{where}: variants are sections, such as [variants.official]")
    if "paper" in overlays:
        raise IsotropeError(f"{where}: variants.paper: the file's own numbers are the variant 'paper'; choose a name")
    return overlays


def split_name(name: str | Path) -> tuple[str, str | None]:
    """`sg-opt:official` -> the recipe or file, and the variant, None where none is named."""
    text = str(name)
    if text.endswith(SUFFIX):  # a drive's colon, or a folder's, is no variant's
        return text, None
    where, _, variant = text.rpartition(":") if ":" in text else (text, "", "")
    return where, variant or None


def shown_name(name: str) -> str:
    """How a message names it: a file by its path."""
    return name if SUFFIX in name else f"recipe {name}"
