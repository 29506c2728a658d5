"""The published tables and figures as data: `tables/PAPER/NAME.toml`, named `PAPER/NAME`.

Values stand as the paper prints them, one string for each row: `"77.23±0.43 68.16 -"`, where `-` is what the paper does
not have or its text has lost. Misprints are listed, not mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain, islice
from statistics import mean
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from isotrope.io.errors import IsotropeError, nearest
from isotrope.recipes.files import SUFFIX, parse

Budget = Literal["quick", "full"]  # of steps
FOLDER = files("isotrope.papers") / "tables"
BLANK = "-"
_VALUE = re.compile(r"(-?\d+(?:\.\d+)?)(?:±(\d+(?:\.\d+)?))?")


class Value(NamedTuple):
    """A printed figure and its ±, where it has one."""

    value: float
    spread: float | None = None


class Data(BaseModel):
    """Of the papers: fixed, and without a key that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Data):
    """A column: the task that measures it. `average` is that of the columns before it."""

    name: str
    task: str = ""  # none: isotrope has no such measurement
    metric: str | None = None  # None: the task's main figure
    split: str | None = None
    average: bool = False


class Making(Data):
    """What makes the encoder of a row: a recipe, a baseline, one upon the other, or neither: the model untuned.

    What is None is the table's.
    """

    recipe: str | None = None
    set: dict[str, Any] = Field(default_factory=dict)  # fields of the recipe by their dotted path
    baseline: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)  # of the baseline
    fitted_on: str | None = None  # the baseline's text, where it is not what the recipe learns from
    model: str | None = None
    teacher: str | None = None
    text: str | None = None
    texts: int | None = Field(default=None, ge=1)  # only so many of them, drawn at random
    pooling: str | None = None  # None: the recipe's, or the model's own

    @property
    def models(self) -> list[str]:
        """The encoders that it names: its own, and those of its settings, such as the masked LM of a view."""
        return [*([self.model] if self.model else []), *_models(self.set)]

    def with_stand_ins(self, stand_ins: Mapping[str, str]) -> Making:
        """The same with others in place of the encoders that its settings name."""
        return self.model_copy(update={"set": _replaced(self.set, stand_ins)})


def _models(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _models(value)
        elif name == "model":
            yield value


def _replaced(settings: Mapping[str, Any], stand_ins: Mapping[str, str]) -> dict[str, Any]:
    def one(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return _replaced(value, stand_ins)
        return stand_ins.get(value, value) if name == "model" else value

    return {name: one(name, value) for name, value in settings.items()}


class Row(Data):
    """A row: its values, one for each column, and what makes it; without `run` it can't be made here."""

    name: str
    group: str = ""
    values: tuple[Value | None, ...] = ()
    run: Making | None = None
    x: float | str | None = None  # its place in a picture
    y: str | None = None

    @field_validator("values", mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        return tuple(_value(word) for word in given.split()) if isinstance(given, str) else given

    @property
    def full_name(self) -> str:
        """With the group that it stands in."""
        return f"{self.group}: {self.name}" if self.group else self.name


class Misprint(Data):
    """A figure that can't be right as it is printed, and how that shows."""

    row: str
    column: str
    note: str


class Picture(Data):
    """How the measured rows are drawn, and what the axes are called.

    lines: `x` of the rows, a line for each group; grid: `x` and `y`; dots: one for each row; path: the way of
    alignment and uniformity through training; pairs: gold scores against cosines; map: a few pairs on a plane.
    """

    kind: Literal["lines", "grid", "dots", "path", "pairs", "map"] = "dots"
    x: str = ""
    y: str = ""
    column: str | None = None  # None: the last
    log: bool = False
    see: str = ""  # what it shows in the paper


class Published(Data):
    """A table or figure of a paper."""

    name: str
    label: str
    paper: str
    caption: str
    metric: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    model: str = "bert-base-uncased"  # of rows that name none, and the one that another model stands in for
    text: str = "stsb"  # what rows learn from that name no other
    dev: str | None = "stsb"  # checkpoints are chosen by its development split
    seeds: tuple[int, ...] = (1,)  # of the paper, by their numbers
    classifier_seeds: tuple[int, ...] = ()  # the same of classifiers on top; none: SentEval's own
    classifier: Literal["logistic", "mlp"] = "logistic"
    note: str = ""
    misprints: tuple[Misprint, ...] = ()
    picture: Picture = Picture()

    @model_validator(mode="after")
    def _fits(self) -> Published:
        names = [row.full_name for row in self.rows]
        for row in self.rows:
            if len(row.values) not in (0, len(self.columns)):
                raise ValueError(f"row '{row.full_name}' has {len(row.values)} values for {len(self.columns)} columns")
            if names.count(row.full_name) > 1:
                raise ValueError(f"two rows are called '{row.full_name}'")
        for one in self.misprints:
            if one.row not in names or one.column not in [column.name for column in self.columns]:
                raise ValueError(f"a misprint in '{one.row}', '{one.column}': there is no such place")
        return self

    @property
    def can_be_run(self) -> tuple[Row, ...]:
        """The rows that can be made here."""
        return tuple(row for row in self.rows if row.run is not None)

    def seed_numbers(self, count: int) -> tuple[int, ...]:
        """So many seeds: the paper's first, then whichever numbers from 1 on are not among them."""
        more = (number for number in range(1, count + len(self.seeds) + 1) if number not in self.seeds)
        return tuple(islice(chain(self.seeds, more), count))

    @property
    def other_models(self) -> list[str]:
        """The encoders of its rows beside the main one."""
        return sorted({model for row in self.rows if row.run for model in row.run.models} - {self.model})

    @property
    def pictured(self) -> Column:
        """The column that is drawn: the picture's own, if it is among those of the table, else the last."""
        return next((one for one in self.columns if one.name == self.picture.column), self.columns[-1])

    def value(self, row: Row, column: Column) -> Value | None:
        """What is printed there."""
        return row.values[self.columns.index(column)] if row.values else None

    def averages(self) -> Iterator[tuple[Row, Column, float, float]]:
        """Every printed average and the one that its row gives, to two decimals; of rows without a blank."""
        for place, column in enumerate(self.columns):
            for row in self.rows if column.average else ():
                given = [value.value for value in row.values[:place] if value]
                printed = row.values[place] if row.values else None
                if printed and len(given) == place:
                    yield row, column, printed.value, round(mean(given), 2)


@cache
def reproductions() -> tuple[Published, ...]:
    """The tables and figures of the papers, in their order: what `isotrope reproduce list` shows.

    Example:
        >>> import isotrope
        >>> isotrope.reproductions()[0].label
        'Figure 1'
    """
    found = [_load(paper, file) for paper in FOLDER.iterdir() if paper.is_dir() for file in paper.iterdir()]
    return tuple(sorted(found, key=_order))


def published(name: str) -> Published:
    """A table or figure by its name, `sg-opt/table1`."""
    known = {one.name: one for one in reproductions()}
    if name not in known:
        raise IsotropeError(f"unknown table '{name}'{nearest(name, known)}; one of {', '.join(known)}")
    return known[name]


def _load(paper: Traversable, file: Traversable) -> Published:
    name = f"{paper.name}/{file.name.removesuffix(SUFFIX)}"
    try:
        return Published(name=name, **parse(file.read_text(encoding="utf-8"), name))
    except ValidationError as error:
        first = error.errors()[0]
        raise IsotropeError(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _order(one: Published) -> tuple[int, str, int]:
    paper, _, name = one.name.partition("/")
    kind, number = re.fullmatch(r"(\D+)(\d+)", name).groups()  # type: ignore[union-attr]
    return PAPERS.index(paper), kind, int(number)


PAPERS = ("sg-opt", "consert", "bsl", "parallel")


def _value(word: str) -> Value | None:
    if word == BLANK:
        return None
    found = _VALUE.fullmatch(word)
    if not found:
        raise ValueError(f"'{word}' is not a figure; write 77.23, 77.23±0.43 or {BLANK}")
    return Value(float(found[1]), float(found[2]) if found[2] else None)
