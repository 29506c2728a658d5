"""A recipe's file as nested tables: the text's numbers, what its stages and variants change, and settings on top.

about, paper, section, table    what it is
[views.first] ... [training]    a stage; what is here holds for all stages
[[stages]]                      what each stage has of its own, if there are several, in their order
[variants.official]             what a variant changes, [[variants.official.stages]] included; `over` names another
                                variant, further up, on top of which it stands
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from isotrope.io.errors import IsotropeError, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Table = dict[str, Any]
ABOUT = ("name", "variant", "about", "paper", "section", "table")  # of the recipe; all other keys are a stage's


def parse(text: str, where: str) -> Table:
    """TOML, or an error with its line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = place[1] if place else len(text.splitlines())
        message = str(error)[: place.start()] if place else str(error)
        raise IsotropeError(f"{where}: line {line}: {message}") from error


def variants_of(document: Table, where: str) -> dict[str, Table]:
    """The overlays by name."""
    overlays = document.get("variants", {})
    if not isinstance(overlays, dict) or not all(isinstance(overlay, dict) for overlay in overlays.values()):
        raise IsotropeError(f"{where}: variants are sections, such as [variants.official]")
    if "paper" in overlays:
        raise IsotropeError(f"{where}: variants.paper: the file's own numbers are the variant 'paper'; choose a name")
    return overlays


def resolve(document: Table, variant: str, settings: Mapping[str, Any], where: str) -> Table:
    """What `Recipe` reads. Later wins: the file's sections, its stages, then the same of the variant, then settings."""
    layers = [{key: value for key, value in document.items() if key != "variants"}, *_chain(document, variant, where)]
    about: Table = {}
    stages: list[Table] = [{} for _ in _stages(document, where) or [{}]]
    for layer in layers:
        own = _stages(layer, where)
        if len(own) > len(stages):
            raise IsotropeError(f"{where}: variant '{variant}' has {len(own)} stages, the recipe {len(stages)}")
        about |= {key: value for key, value in layer.items() if key in ABOUT}
        shared = {key: value for key, value in layer.items() if key not in (*ABOUT, "stages")}
        own += [{}] * (len(stages) - len(own))
        stages = [merge(merge(stage, shared), one) for stage, one in zip(stages, own, strict=True)]
    for path, value in settings.items():
        _apply(stages, path, read_value(value), where)
    return {**about, "stages": stages}


def merge(base: Table, over: Table) -> Table:
    """`over` on top of `base`, table by table."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below if isinstance(below, dict) else {}, value) if isinstance(value, dict) else value
    return merged


def read_value(value: Any) -> Any:
    """A string as the TOML value that it spells, or else as it stands: `0.05`, `true`, `["a", "b"]`, `cls`."""
    if not isinstance(value, str):
        return value
    try:
        read = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return value
    plain = isinstance(read["value"], (str, int, float, list, dict))  # a folder may be named like a date
    return read["value"] if plain and len(read) == 1 else value


def _chain(document: Table, variant: str, where: str) -> list[Table]:
    """The variant's overlay, behind the one that it says it stands `over`."""
    if variant == "paper":
        return []
    overlays = variants_of(document, where)
    if variant not in overlays:
        known = ["paper", *overlays]
        raise IsotropeError(
            f"{where} has no variant '{variant}'{nearest(variant, known)}; it has {', '.join(known)}",
        )
    overlay = dict(overlays[variant])
    below = overlay.pop("over", "paper")
    above = ["paper", *overlays][: list(overlays).index(variant) + 1]
    if below not in above:
        raise IsotropeError(
            f"{where}: variants.{variant}.over: one of those above it, {', '.join(above)}; not {below!r}"
        )
    return [*_chain(document, below, where), overlay]


def _stages(layer: Table, where: str) -> list[Table]:
    stages = layer.get("stages", [])
    if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        raise IsotropeError(f"{where}: stages are sections, each headed [[stages]]")
    return list(stages)


def _apply(stages: list[Table], path: str, value: Any, where: str) -> None:
    """Sets a dotted path in every stage, or `stages.0.` and so on in one."""
    chosen = range(len(stages))
    keys = path.split(".")
    if keys[0] == "stages":
        if len(keys) < 3 or not keys[1].isdecimal() or int(keys[1]) >= len(stages):
            there = ", ".join(f"stages.{k}" for k in chosen)
            raise IsotropeError(
                f"{where}: {path}: the stages are {there}; a path is {there[:8]}.training.batch_size, say"
            )
        chosen, keys = range(int(keys[1]), int(keys[1]) + 1), keys[2:]
    for key in reversed(keys):
        value = {key: value}
    for k in chosen:
        stages[k] = merge(stages[k], value)
