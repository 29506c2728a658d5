"""A recipe's file as nested tables: the text's numbers, what its stages and variants change, and settings on top.

about, paper, section, table    what it is
[views.first] ... [training]    a stage; what is here holds for all stages
[[stages]]                      what each stage has of its own, if there are several, in their order
[variants.official]             what a variant changes, [[variants.official.stages]] included; `over` names another
                                variant, further up, on top of which it stands
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args, get_origin

from pydantic import BaseModel

from isotrope.io.errors import IsotropeError, nearest, one_line
from isotrope.parts import Registry, registry_of, shared_keys
from isotrope.recipes.files import Table, check_depth, read_value, variants_of
from isotrope.recipes.schema import Stage

Rooms: TypeAlias = "dict[str, Registry[Any] | Rooms]"
ANY = "*"  # a key that the writer chooses
ABOUT = ("name", "variant", "about", "paper", "section", "table")  # of the recipe; all other keys are a stage's


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
    chosen = _overlays(settings, len(stages), where)
    return {**about, "stages": [merge(stage, over) for stage, over in zip(stages, chosen, strict=True)]}


def merge(base: Table, over: Table, rooms: Rooms | None = None, *, keep: bool = False) -> Table:
    """`over` on top of `base`, table by table; `objective = "info-nce"` is short for a table with that kind.

    Where `over` changes the kind of a part, keys that belong to the old kind alone are left behind, unless `keep`: each
    kind has its own defaults. What both kinds have from a common base stays, such as a temperature or a column.
    """
    rooms = STAGE if rooms is None else rooms
    merged = dict(base)
    for key, value in over.items():
        below, room = merged.get(key), rooms.get(key, rooms.get(ANY, {}))
        inside = rooms_inside(room)
        if isinstance(room, Registry):
            below, value = _with_kind(below), _with_kind(value)
        if isinstance(value, dict):
            below = below if isinstance(below, dict) else {}
            if isinstance(room, Registry) and not keep:
                below = _carried_over(below, value, room)
            value = merge(below, value, inside, keep=keep)
        merged[key] = value
    return merged


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


def _overlays(settings: Mapping[str, Any], stages: int, where: str) -> list[Table]:
    """Settings by dotted path as a table for each stage; `stages.0.` and so on is for one. Their order is no matter."""
    overlays: list[Table] = [{} for _ in range(stages)]
    for path, value in settings.items():
        chosen = range(stages)
        keys = path.split(".")
        if keys[0] == "stages":
            if len(keys) < 3 or not keys[1].isdecimal() or int(keys[1]) >= stages:
                there = ", ".join(f"stages.{k}" for k in chosen)
                raise IsotropeError(
                    f"{where}: {path}: the stages are {there}; a path is {there[:8]}.training.batch_size, say"
                )
            chosen, keys = range(int(keys[1]), int(keys[1]) + 1), keys[2:]
        nested = read_value(value)
        for key in reversed(keys):
            nested = {key: nested}
        check_depth(nested, f"{where}: {one_line(path, 60)}")
        for k in chosen:
            overlays[k] = merge(overlays[k], nested, keep=True)
    return overlays


def _carried_over(below: Table, over: Table, room: Registry[Any]) -> Table:
    """What is left of a part's keys when `over` is put on top."""
    before = below.get("kind", "default")
    now = over.get("kind", before)
    if before == now:
        return below
    before, now = (room.default if kind in (None, "default") else kind for kind in (before, now))
    try:
        old, new = room.resolve(before), room.resolve(now)
    except IsotropeError:  # an unknown kind: said when the recipe is checked
        return below
    left_behind = old.model_fields.keys() - shared_keys(old, new)
    return {key: value for key, value in below.items() if key not in left_behind}


def _with_kind(part: Any) -> Any:
    """A kind alone as a table; "default" unsets the whole part."""
    return {"kind": part} if callable(part) or (isinstance(part, str) and part != "default") else part


def rooms_inside(room: Registry[Any] | Rooms) -> Rooms:
    """Where further parts stand in a section, or in what all parts of a registry have in common."""
    return _rooms(room.base) if isinstance(room, Registry) else room


def _rooms(section: type[BaseModel]) -> Rooms:
    """Where in a section parts stand, and which registry they are from."""
    found: Rooms = {}
    for name, field in section.model_fields.items():
        inside = [field.annotation, *get_args(field.annotation)]
        below = [one for one in inside if isinstance(one, type) and issubclass(one, BaseModel)]
        if (registry := registry_of(field)) is not None:
            found[name] = registry
        elif get_origin(field.annotation) is dict:
            found[name] = {ANY: registry} if (registry := _in_annotation(get_args(field.annotation)[1])) else {}
        elif registries := [one for one in map(_in_annotation, inside) if one]:
            found[name] = registries[0]
        elif below:
            found[name] = _rooms(below[0])
    return found


def _in_annotation(annotation: Any) -> Registry[Any] | None:
    return next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, Registry)), None)


STAGE: Rooms = _rooms(Stage)
