"""Parts and how they are found: views, guides, objectives, heads, tasks, baselines.

A part is one file that holds the thing and its spec: a frozen pydantic model whose fields are what TOML may say about
it. It is named by its `kind`:

    kind = "momentum"                    one that comes with isotrope
    kind = "theirs"                      one that an installed package announces as an entry point of `isotrope.guides`
    kind = "my_package.module:Name"      any spec, class or function that Python can import

Of a class or function that is no spec, the keyword-only arguments are the spec.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PydanticUserError,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.seeds import LARGEST_SEED

# a name, file or folder: text in TOML, and from Python also a Path
PathText = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]


class Section(BaseModel):
    """A table of a recipe. Keys that it does not have are errors; nothing changes after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _back_to_default(cls, values: Any) -> Any:
        """TOML has no null: a variant or a setting unsets a key with the word "default"."""
        if not isinstance(values, dict):
            return values
        unset = {key for key, value in values.items() if key in cls.model_fields and _is_default(value)}
        return {key: value for key, value in values.items() if key not in unset}


def _is_default(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "default")  # frames and arrays compare cell by cell


class Spec(Section):
    """What may be said about a part. Subclasses of a registry give `kind` a default, which is their name."""

    kind: str

    def settings(self, *others: type[Spec]) -> dict[str, Any]:
        """Its fields, without `kind` and without those that it has from `others`."""
        shared = {"kind", *(name for other in others for name in other.model_fields)}
        return {name: getattr(self, name) for name in type(self).model_fields if name not in shared}


class Called(Spec):
    """A spec made of the signature of a plain class or function, its `thing`.

    `given` names the keyword-only arguments that isotrope supplies; the others are the fields of the spec.
    """

    thing: ClassVar[Callable[..., Any]]
    given: ClassVar[tuple[str, ...]] = ()

    @property
    def chosen(self) -> dict[str, Any]:
        """What TOML said, as keyword arguments of the thing."""
        return {name: getattr(self, name) for name in own_arguments(self.thing, self.given)}


S = TypeVar("S", bound=Spec)


class Registry(Generic[S]):
    """The parts of one room: `Annotated[GuideSpec, GUIDES]` is a field that any of them may fill.

    `room` is what messages and entry points call it; `package` the folder whose modules hold the parts; `base` what
    their specs have in common; `called` the spec that a plain class or function becomes.
    """

    def __init__(self, room: str, package: str, base: type[S], *, called: type[Any] | None = None, default: str = ""):
        self.room, self.package, self.base, self.called, self.default = room, package, base, called, default
        self._made: dict[tuple[Any, str], type[S]] = {}  # of a thing under a name: equal kinds give equal specs

    @cached_property
    def specs(self) -> dict[str, type[S]]:
        """Those that have a name of their own: isotrope's, then those of installed packages."""
        found = dict(self._own)
        for point in entry_points(group=f"isotrope.{self.room}"):
            if point.name not in found:
                found[point.name] = self._spec_of(import_path(point.value), point.name)
        return found

    @cached_property
    def _own(self) -> dict[str, type[S]]:
        folder = importlib.import_module(self.package)
        modules = [importlib.import_module(f"{self.package}.{m.name}") for m in pkgutil.iter_modules(folder.__path__)]
        found: dict[str, type[S]] = {}
        for module in modules:
            for spec in vars(module).values():
                mine = isinstance(spec, type) and issubclass(spec, self.base) and spec.__module__ == module.__name__
                if mine and (name := kind_of(spec)):
                    found[name] = spec
        return found

    @property
    def kinds(self) -> list[str]:
        """Their names."""
        return list(self.specs)

    def resolve(self, kind: Any) -> type[S]:
        """The spec of a kind. A class or function itself is as good as its path."""
        if callable(kind):
            return self._spec_of(kind, path_of(kind))
        kind = str(kind)
        if kind in self.specs:
            return self.specs[kind]
        if ":" not in kind:
            known = ", ".join(self.kinds)
            raise IsotropeError(
                f"unknown kind '{kind}'{nearest(kind, self.kinds)}; one of {known}, or package.module:Name"
            )
        return self._spec_of(import_path(kind), kind)

    def read(self, values: Any) -> S:
        """A checked spec from a table, from a kind alone, or from a spec that is one already."""
        if isinstance(values, self.base):
            return values
        if isinstance(values, str) or callable(values):
            values = {"kind": values}
        if not isinstance(values, Mapping):
            raise PydanticCustomError("section", "should be a section")
        kind = self.default if values.get("kind") in (None, "default") else values["kind"]
        try:
            spec = self.resolve(kind)
        except IsotropeError as error:
            raise _problem("kind", kind, str(error)) from error
        kind = kind_of(spec) or str(kind)
        for key, value in values.items():
            if key not in spec.model_fields:
                raise _problem(key, value, self._no_such_key(key, kind, spec))
        return spec.model_validate({**values, "kind": kind})

    def make(self, kind: Any, **settings: Any) -> S:
        """`read`, for callers in Python: what is wrong comes as an `IsotropeError`."""
        try:
            return self.read({"kind": kind, **settings})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            raise IsotropeError(f"{self.room} '{kind}': {key}: {first['msg']}".replace(": kind: ", ": ")) from error

    def is_foreign(self, kind: str) -> bool:
        """Whether a kind is code of somebody else's."""
        return ":" in kind or not self.resolve(kind).__module__.startswith("isotrope.")

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Lets a registry stand in an annotation."""
        dump = core_schema.plain_serializer_function_ser_schema(_dump, info_arg=True)
        return core_schema.no_info_plain_validator_function(self.read, serialization=dump)

    def _spec_of(self, thing: Any, path: str) -> type[S]:
        """The spec of a thing that is called `path`."""
        if (thing, path) not in self._made:
            self._made[thing, path] = self._make_spec(thing, path)
        return self._made[thing, path]

    def _make_spec(self, thing: Any, path: str) -> Any:
        if isinstance(thing, type) and issubclass(thing, self.base):
            return thing if thing in self._own.values() else renamed(thing, path)
        if self.called is None or not callable(thing):
            raise IsotropeError(f"{path} can't be one of isotrope's {self.room}: it is no {self.base.__name__}")
        return spec_of_signature(thing, self.called, path)

    def _no_such_key(self, key: str, kind: str, spec: type[S]) -> str:
        owners = [name for name, other in self.specs.items() if key in other.model_fields]
        known = [name for name in spec.model_fields if name != "kind"]
        close = nearest(key, known)
        if owners and not close:
            return f"kind '{kind}' has no such key; {', '.join(owners)} {'have' if owners[1:] else 'has'} it"
        return f"no such key{close or '; kind ' + repr(kind) + ' has ' + (', '.join(known) or 'none')}"


def kind_of(spec: type[Spec]) -> str | None:
    """The name that a spec gives itself; None for what is only a base of others."""
    default = spec.model_fields["kind"].default
    return default if isinstance(default, str) else None


def path_of(thing: Any) -> str:
    """`package.module:Name` of a class or function."""
    return f"{thing.__module__}:{thing.__qualname__}"


def import_path(path: str) -> Any:
    """What `package.module:Name` names."""
    module, _, name = path.partition(":")
    try:
        thing: Any = importlib.import_module(module)
    except ImportError as error:
        raise IsotropeError(f"'{path}' can't be imported: {error}") from error
    except Exception as error:
        raise IsotropeError(f"'{path}' can't be imported: {type(error).__name__}: {error}") from error
    for step in name.split("."):
        if not hasattr(thing, step):
            raise IsotropeError(f"module '{module}' has no '{name}'{nearest(name, dir(thing))}")
        thing = getattr(thing, step)
    return thing


def renamed(spec: type[Any], name: str) -> Any:
    """A spec whose `kind` is the name that it was asked for by."""
    return create_model(
        spec.__name__, __base__=spec, __module__=spec.__module__, __doc__=inspect.getdoc(spec), kind=(str, name)
    )


def own_arguments(thing: Callable[..., Any], given: tuple[str, ...]) -> dict[str, inspect.Parameter]:
    """The keyword-only arguments of a class or function, without those that isotrope supplies."""
    arguments = inspect.signature(thing).parameters
    return {n: p for n, p in arguments.items() if p.kind is inspect.Parameter.KEYWORD_ONLY and n not in given}


def spec_of_signature(thing: Callable[..., Any], called: type[Any], path: str) -> Any:
    """A spec whose fields are the keyword-only arguments of a class or function."""
    arguments = own_arguments(thing, called.given)
    if taken := [name for name in arguments if name in called.model_fields or hasattr(called, name)]:
        raise IsotropeError(f"'{path}': isotrope itself uses the name '{taken[0]}': give the argument another one")
    try:
        hints = _types(thing, arguments)
        fields: dict[str, Any] = {
            name: (hints.get(name, Any), ... if p.default is p.empty else p.default) for name, p in arguments.items()
        }
        home, about = thing.__module__, inspect.getdoc(thing)
        spec: Any = create_model(
            "Imported", __base__=called, __module__=home, __doc__=about, kind=(str, path), **fields
        )
    except (NameError, TypeError, PydanticUserError) as error:
        reason = str(error).splitlines()[0]
        raise IsotropeError(f"'{path}': its keyword-only arguments can't be read from TOML: {reason}") from error
    spec.thing = staticmethod(thing)
    return spec


def shared_keys(one: type[Spec], other: type[Spec]) -> set[str]:
    """Keys that two specs have from the same base, and that mean the same in both."""
    keys = one.model_fields.keys() & other.model_fields.keys()
    return {key for key in keys if _defined_in(one, key) is _defined_in(other, key)} | {"kind"}


def registry_of(field: FieldInfo) -> Registry[Any] | None:
    """The registry whose parts may fill a field of a section."""
    return next((one for one in field.metadata if isinstance(one, Registry)), None)


def _types(thing: Any, arguments: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """What TOML must give for these arguments. Types of the others need not even be importable."""
    function = inspect.getattr_static(thing, "__init__") if isinstance(thing, type) else thing
    said = {name: p.annotation for name, p in arguments.items() if p.annotation is not p.empty}
    names = getattr(inspect.unwrap(function), "__globals__", {})
    return get_type_hints(SimpleNamespace(__annotations__=said), globalns=names, include_extras=True)


def _defined_in(spec: type[Spec], key: str) -> type:
    return next(cls for cls in spec.__mro__ if key in inspect.get_annotations(cls))


def _dump(spec: Spec, info: Any) -> Any:
    return spec.model_dump(mode=info.mode, exclude_none=info.exclude_none)


def _problem(key: str, value: Any, message: str) -> ValidationError:
    """What is wrong with one key, at that key."""
    error = PydanticCustomError("part", "{message}", {"message": message})
    return ValidationError.from_exception_data("part", [InitErrorDetails(type=error, loc=(key,), input=value)])
