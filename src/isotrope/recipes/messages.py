"""What pydantic found wrong with a recipe, in one line for the person who wrote it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from isotrope.io.errors import nearest
from isotrope.parts import Registry
from isotrope.recipes.merging import ABOUT, ANY, STAGE, rooms_inside
from isotrope.recipes.schema import Recipe, Stage


class Place(NamedTuple):
    """Where a problem is: the stage, None outside of them, the keys down to it, and the section of the last key."""

    stage: int | None
    keys: tuple[str, ...]
    section: type[BaseModel]


def in_words(error: ValidationError, stages: int) -> str:
    """The first problem: its dotted path, what was given, and what may be. What is in every stage names none."""
    problems = [(_place(problem["loc"]), problem) for problem in error.errors(include_url=False)]
    place, first = problems[0]
    same = [problem for other, problem in problems if other == place]  # one for each type that a key may have
    met_in = {other.stage for other, _ in problems if other.keys == place.keys}
    path = ".".join(place.keys)
    if place.stage is not None and len(met_in) < stages:
        path = f"stages.{place.stage}.{path}".rstrip(".")
    return f"{path}: {_what(first, same, place)}".removeprefix(": ")


def _what(problem: Any, same: list[Any], place: Place) -> str:
    given = f"{json.dumps(problem['input'], ensure_ascii=False, default=str):.60} given"
    match problem["type"]:
        case "extra_forbidden":
            known = [*place.section.model_fields, *(ABOUT if place.section is Stage else ())]
            others = [key for key in known if key != place.keys[-1]]
            return f"no such key{nearest(place.keys[-1], others) or '; there are ' + ', '.join(others)}"
        case "value_error":
            return str(problem["ctx"]["error"])
        case "model_type" | "section":
            return f"{given}; it should be a section"
        case "missing":
            return f"{given}; a value is missing"
    if not problem["msg"].startswith("Input should "):  # a part's own words
        return str(problem["msg"])
    wanted = dict.fromkeys(one["msg"].removeprefix("Input should ").partition(", unable")[0] for one in same)
    return f"{given}; it should {' or '.join(wanted)}"


def _place(loc: tuple[int | str, ...]) -> Place:
    """Follows a location down the sections; what lies below a plain value (which type was tried) is left out."""
    inside = loc[:1] == ("stages",) and len(loc) > 1
    section: type[BaseModel] = Stage if inside else Recipe
    rooms: Any = STAGE if inside else {}
    keys: list[str] = []
    for key in loc[2:] if inside else loc:
        keys.append(str(key))
        in_part = isinstance(rooms, Registry)
        below_it = rooms_inside(rooms)
        rooms = below_it.get(str(key), below_it.get(ANY, {}))
        if in_part and not rooms:  # a plain value of the part
            break
        if isinstance(rooms, Registry) or ANY in rooms:
            continue
        below = _section(section.model_fields.get(str(key)))
        if below is None:
            break
        section = below
    return Place(int(loc[1]) if inside else None, tuple(keys), section)


def _section(field: FieldInfo | None) -> type[BaseModel] | None:
    types = (field.annotation, *get_args(field.annotation)) if field else ()
    return next((one for one in types if isinstance(one, type) and issubclass(one, BaseModel)), None)
