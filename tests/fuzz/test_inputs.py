"""Whatever a file, a recipe or an option holds: a result, or one line that says what is wrong. Never a traceback.

Examples are few in the suite; ISOTROPE_FUZZ (`make fuzz`) says how many there are of each test in the long run.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from isotrope import recipes
from isotrope.cli import app, main
from isotrope.io.errors import LONGEST_LINE, IsotropeError, one_line
from isotrope.recipes.files import read_value
from isotrope.recipes.merging import STAGE, rooms_inside
from isotrope.recipes.schema import Stage
from isotrope.text.files import KINDS, read_table

EXAMPLES = int(os.environ.get("ISOTROPE_FUZZ", 0)) or 60
many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="ISOTROPE_FUZZ" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

SEEDS = [  # a corpus to begin with; what is drawn are parts of these, put together and changed
    b"text\nA dog.\n",
    b'{"text": "A dog."}\n{"text": null}\n',
    b'{"text": 1e999, "a": ' + b"[" * 300 + b"]" * 300 + b"}\n",
    b'"a","b"\n"x""y",z\n',
    b"score\tsentence1\tsentence2\n1_0\ta\tb\n",
    b"PAR1\x15\x04\x15\x08PAR1",
    "\ufeffA café\u2028\x85\r\r\n\x00\x1b[31m".encode(),
    gzip.compress(b"A dog.\n" * 50),
]
content = st.lists(st.one_of(st.sampled_from(SEEDS), st.binary(max_size=40)), max_size=5).map(b"".join)
endings = st.sampled_from([f"{kind}{zipped}" for kind in KINDS for zipped in ("", ".gz")])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """An error, if there is one, is of the kind that people see, and short once it is shown."""
    try:
        yield
    except IsotropeError as error:
        shown = one_line(error.for_shell)
    else:
        return
    assert shown.isprintable()
    assert 10 < len(shown) <= LONGEST_LINE


@many
@given(data=content, ending=endings, packed=st.booleans())
def test_files(folder: Path, data: bytes, ending: str, packed: bool) -> None:
    file = folder / f"x.{ending}"
    file.write_bytes(gzip.compress(data) if packed and ending.endswith(".gz") else data)
    with in_words():
        for row in read_table(file):
            assert isinstance(row, dict)


def fields(section: type[BaseModel], rooms: Any, path: str = "") -> Iterator[str]:
    """The dotted path of every key of a section, those of parts' kinds included."""
    for name in section.model_fields:
        inside = rooms.get(name, {})
        yield f"{path}{name}"
        if hasattr(inside, "specs"):
            keys = {key for spec in inside.specs.values() for key in spec.model_fields}
            yield from (f"{path}{name}.{key}" for key in sorted(keys | set(rooms_inside(inside))))
        annotation = section.model_fields[name].annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel) and not hasattr(inside, "specs"):
            yield from fields(annotation, inside, f"{path}{name}.")


PATHS = sorted(set(fields(Stage, STAGE)))
numbers = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([0, -1, 1, 2**31, 2**63, 2**64, 10**30, -(10**30), 1e308, 5e-324, math.inf, math.nan]),
)
words = st.one_of(
    st.text(max_size=20), st.sampled_from(["default", "none", "self", "info-nce", "a" * 5000, "x:y", ":"])
)
values = st.recursive(
    st.one_of(numbers, words, st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["kind", "size", "draw", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@many
@given(
    name=st.sampled_from(recipes.names()),
    chosen=st.dictionaries(st.sampled_from(PATHS), values, min_size=1, max_size=3),
)
def test_settings_of_recipes(name: str, chosen: dict[str, Any]) -> None:
    with in_words():
        found = recipes.load(name, chosen)
        assert recipes.to_toml(found)


@many
@given(text=st.one_of(st.text(max_size=60), content.map(lambda data: data.decode("utf-8", "replace"))))
def test_values_of_settings(text: str) -> None:
    read_value(text)


@many
@given(data=st.data())
def test_files_of_recipes(folder: Path, data: st.DataObject) -> None:
    """Recipes of isotrope's with a piece cut out, doubled or replaced."""
    text = recipes.source(data.draw(st.sampled_from(recipes.names())))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    piece = data.draw(st.one_of(st.just(""), st.just(text[start:stop] * 2), st.text(max_size=9), st.just("[a." * 99)))
    file = folder / "mine.toml"
    file.write_bytes((text[:start] + piece + text[stop:]).encode("utf-8", "replace"))
    with in_words():
        recipes.check_code(file)
        recipes.load(file)


def options(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Every command, and the names of its options."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from options(command, (*path, name))
        else:
            yield (
                (*path, name),
                [one for parameter in command.params for one in (*parameter.opts, *parameter.secondary_opts)],
            )


COMMANDS = dict(options(typer.main.get_command(app)))
WORDS = st.one_of(
    st.sampled_from(
        ["-", "", "x.txt", "--seed", "--set", "training.seed=-1", "=", "a=b=c", "none.txt", "/dev/null", ".."]
    ),
    st.sampled_from(
        ["x.npy", "x.html", "x.toml", "a" * 5000, str(10**30), "-1", "0", "1e400", "nan", "cuda:9", "hub:x"]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with some of its own options, which may have a value, and some words."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    given = draw(st.lists(st.one_of(st.sampled_from(COMMANDS[command] or ["--help"]), WORDS), max_size=6))
    return [*command, *given]


@many
@given(line=command_lines())
def test_command_lines(folder: Path, line: list[str]) -> None:
    """Without files that are there, so that nothing is run in earnest."""
    said, before = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with (
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(io.StringIO()),
            pytest.raises(SystemExit) as end,
        ):
            main([*line, *["none/none.txt"] * 2])  # one of them may be the value of the last option
    finally:
        os.chdir(before)
    assert end.value.code in (0, 2)
    if end.value.code == 2:
        assert said.getvalue().startswith("Error: ")
        assert said.getvalue().count("\n") == 1


def test_every_command_is_tried() -> None:
    assert {("train",), ("serve",), ("recipes", "copy"), ("pairs", "clean"), ("reproduce",)} <= set(COMMANDS)
    assert {"--recipe", "--seed", "--resume", "--no-report"} <= set(COMMANDS[("train",)])


def test_the_paths_are_those_of_recipes() -> None:
    assert {"training.seed", "objective.temperature", "views.first.rate", "guide.momentum", "queue.size"} <= set(PATHS)
