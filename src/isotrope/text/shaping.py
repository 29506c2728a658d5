"""What the text of a row is: one column, several that are joined or read one by one, with markup or without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from isotrope.io.errors import IsotropeError, as_typed
from isotrope.text.cells import cell_sentence
from isotrope.text.files import Row, check_columns
from isotrope.text.markup import strip_markup
from isotrope.text.sources import Source, read_sentences, source_name, source_rows


@dataclass(frozen=True)
class Shape:
    """Columns, what joins them (None: each is a text of its own), and whether HTML is taken out."""

    columns: tuple[str, ...] = ()  # none: as the source has it
    join: str | None = None
    strip_html: bool = False

    @classmethod
    def of(
        cls,
        columns: str | Iterable[str] | None = None,
        join: str | None = None,
        strip_html: bool = False,
        *,
        column: str | None = None,
    ) -> Shape:
        """As people say it: `columns="Subject,Body"` or a list of names."""
        given = columns.split(",") if isinstance(columns, str) else columns or ()
        names = tuple(name.strip() for name in given if name.strip())
        if column and names:
            raise IsotropeError(f"give {as_typed('column=')} or {as_typed('columns=')}, not both")
        if join is not None and len(names) < 2:
            raise IsotropeError(f"{as_typed('join=')} joins several columns; name them with {as_typed('columns=')}")
        return cls(names, join, strip_html)

    def __bool__(self) -> bool:
        return bool(self.columns or self.strip_html)

    def joined(self, cells: Sequence[str | None]) -> str | None:
        """The text of the cells that are not missing; None if all are."""
        there = [text for cell in cells if cell and (text := self.cleaned(cell))]
        return (self.join or "").join(there) or None

    def cleaned(self, text: str) -> str:
        """Without markup, if that was asked for."""
        return strip_markup(text) if self.strip_html else text


@dataclass(frozen=True)
class Shaped:
    """A source under a shape: its rows have `text` alone where columns were named, else their own columns."""

    source: Source
    shape: Shape

    @property
    def source_name(self) -> str:
        """As messages call it."""
        return source_name(self.source)

    def __iter__(self) -> Iterator[Row]:
        name, rows = source_rows(self.source)
        for number, row in enumerate(rows, 1):
            if not self.shape.columns:
                cleaned = self.shape.cleaned
                yield {key: cleaned(value) if isinstance(value, str) else value for key, value in row.items()}
                continue
            check_columns(row, self.shape.columns, name)
            cells = [cell_sentence(row[one], f"{name}: row {number}: column '{one}'") for one in self.shape.columns]
            if self.shape.join is not None:
                yield {"text": self.shape.joined(cells)}
            else:
                yield from ({"text": self.shape.joined([cell])} for cell in cells)


def shaped_sentences(source: Source, shape: Shape, column: str | None = None) -> Iterator[str]:
    """What `read_sentences` gives, under a shape."""
    return read_sentences(Shaped(source, shape) if shape else source, column)


def shaped(sources: Sequence[Source], shape: Shape) -> list[Source]:
    """The sources, each under the shape."""
    return [Shaped(source, shape) for source in sources] if shape else list(sources)
