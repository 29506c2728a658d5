"""The reference of everything that a recipe may say, from the specs that check it.

What a field means stands in the spec's docstring or in the comment behind the field; both are read from there.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import tokenize
from collections.abc import Iterator
from io import StringIO
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from isotrope.parts import Registry, Section, kind_of, registry_of
from isotrope.recipes.schema import Stage, Views
from isotrope.views.drawn import DRAWN

HEAD = """# Every field of a recipe

This page is made from the specs that check a recipe. A recipe is a TOML file; a key stands in the section that heads
its table here, and on the command line `--set SECTION.KEY=VALUE` sets it, such as `--set training.learning_rate=1e-4`.
`isotrope recipes show NAME` prints the values of one recipe, `isotrope recipes check FILE` says what is wrong with a
file. A part that is named by a `kind` has a table for each kind; [one of your own](../extending.md) stands beside them.

The keys of a recipe itself are `about`, `paper`, `section` and `table` (where it comes from), `[variants.NAME]`
(settings under another name) and, where there are several runs one after the other, `[[stages]]`, each with the
sections below.
"""


def page() -> str:
    """The page in Markdown."""
    blocks = [HEAD, "## The stage\n", text_of(Stage), table(Stage, "")]
    for name, field in Stage.model_fields.items():
        blocks += list(_sections(name, field))
    return "\n".join(blocks)


def _sections(name: str, field: FieldInfo) -> Iterator[str]:
    if registry := registry_of(field) or _inside(field):
        yield from _kinds(f"[{name}]", registry)
    elif model := _model(field.annotation):
        yield f"## `[{name}]`\n"
        yield text_of(model)
        yield table(model, name)
        for key, inner in model.model_fields.items():
            if (made := registry_of(inner) or _inside(inner)) and key != "second":  # which is as the first
                yield from _kinds(_place(name, key, inner), made)
        if model is Views:
            yield from _kinds("[views.first.draw], [views.second.draw]", DRAWN)


def _place(name: str, key: str, field: FieldInfo) -> str:
    if key == "first":
        return f"[{name}.first], [{name}.second]"
    return f"[{name}.{key}.COLUMN]" if get_origin(field.annotation) is dict else f"[{name}.{key}]"


def _kinds(where: str, registry: Registry[Any]) -> Iterator[str]:
    names = ", ".join(f"`{part}`" for part in where.split(", "))
    yield f"## {names}\n"
    for kind, spec in registry.specs.items():
        yield f"### {kind}\n"
        yield f'`kind = "{kind}"`' + (", which is the default." if kind == registry.default else ".") + "\n"
        yield text_of(spec)
        yield table(spec, "")


def table(spec: type[Section], name: str) -> str:
    """A row for each field but `kind`."""
    rows = []
    for key, field in spec.model_fields.items():
        if key == "kind":
            continue
        meaning = field.description or comments(spec).get(key, "")
        rows.append(f"| `{key}` | {_cell(_type(field))} | {_cell(_default(field))} | {_cell(_sentence(meaning))} |")
    if not rows:
        return "It has no keys.\n"
    return "\n".join(["| key | type | default | |", "|---|---|---|---|", *rows, ""])


def text_of(spec: type[Section]) -> str:
    """Its docstring, and what those of its bases say about the fields that come from there."""
    own, *bases = _family(spec)
    said = [inspect.cleandoc(one.__doc__ or "") for one in (own, *(base for base in bases if _explains(base)))]
    return "\n\n".join(dict.fromkeys(said)) + "\n"


def comments(spec: type[Section]) -> dict[str, str]:
    """The comment behind each field, in the source of the class that defines it."""
    found: dict[str, str] = {}
    for one in reversed(_family(spec)):
        source = textwrap.dedent(inspect.getsource(one))
        behind = {
            token.start[0]: token.string.lstrip("# ")
            for token in tokenize.generate_tokens(StringIO(source).readline)
            if token.type == tokenize.COMMENT
        }
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.end_lineno in behind:
                found[node.target.id] = behind[node.end_lineno]
    return found


def _family(spec: type[Section]) -> list[type[Section]]:
    """The spec, and those of its bases that bring fields of their own."""
    bases = [one for one in spec.__mro__[1:] if issubclass(one, Section) and _own_fields(one)]
    return [spec, *bases]


def _explains(base: type[Section]) -> bool:
    """Whether the docstring of a base says anything about a field that it brings."""
    return any(f"`{key}`" in (base.__doc__ or "") for key in inspect.get_annotations(base) if key in base.model_fields)


def _own_fields(spec: type[Section]) -> bool:
    return any(key in spec.model_fields for key in inspect.get_annotations(spec) if key != "kind")


def _model(annotation: Any) -> type[Section] | None:
    found = [one for one in (annotation, *get_args(annotation)) if isinstance(one, type) and issubclass(one, Section)]
    return found[0] if found else None


def _inside(field: FieldInfo) -> Registry[Any] | None:
    """The registry of what may be absent, or of a dictionary's values."""
    metadata = [one for argument in get_args(field.annotation) for one in getattr(argument, "__metadata__", ())]
    return next((one for one in metadata if isinstance(one, Registry)), None)


def _type(field: FieldInfo) -> str:
    if registry_of(field) or _inside(field):
        return "a section" if get_origin(field.annotation) is not dict else "sections by name"
    if _model(field.annotation):
        return "a section"
    return " ".join([_named(field.annotation), *(_bound(one) for one in field.metadata)]).strip()


def _named(annotation: Any) -> str:
    """A type as one who writes TOML thinks of it."""
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): ""}
    if annotation in plain:
        return plain[annotation]
    if "Literal" in str(get_origin(annotation)):
        return ", ".join(f"`{one}`" for one in get_args(annotation))
    arguments = [_named(one) for one in get_args(annotation) if one is not Ellipsis]
    words = list(dict.fromkeys(word for word in arguments if word))
    if get_origin(annotation) in (tuple, list):
        return f"list of {' and '.join(_plural(word) for word in words)}"
    if get_origin(annotation) is dict:
        return "sections by name"
    if words and get_origin(annotation) is not None:
        return " or ".join(words) if "Annotated" not in str(annotation)[:20] else words[0]
    return getattr(annotation, "__name__", str(annotation))


def _plural(word: str) -> str:
    """Of the words of `_named`: texts, numbers, lists of texts."""
    return word.replace("list of", "lists of") if word.startswith("list") else f"{word}s"


def _bound(one: Any) -> str:
    signs = {"ge": "≥", "gt": "&gt;", "le": "≤", "lt": "&lt;"}
    said = {sign: getattr(one, name, None) for name, sign in signs.items()}
    return " ".join(f"{sign} {value}" for sign, value in said.items() if value is not None)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default if field.default is not PydanticUndefined else None
    if value is None or value == ():
        return "none"
    if isinstance(value, Section):
        kind = kind_of(type(value)) if "kind" in type(value).model_fields else None
        return f"`{kind}`" if kind else "see below"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _sentence(text: str) -> str:
    return re.sub(r"^([a-z])", lambda found: found.group(1).upper(), text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
