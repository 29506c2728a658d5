"""What all results have in common: they print as tables and text, and turn into JSON."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

WIDEST = 1000  # columns of a table that is not for a terminal


class Printable(ABC):
    """A result. `print` shows it as the command line does; `json` is what `--json` gives."""

    @abstractmethod
    def parts(self) -> Iterator[Table | str]:
        """Tables and lines, from top to bottom."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Its figures as plain data."""

    def json(self) -> str:
        """`as_dict` as JSON text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        text = io.StringIO()
        console = Console(file=text, width=WIDEST, highlight=False)
        for part in self.parts():
            if isinstance(part, Table):
                console.print(part)
            else:
                text.write(f"{part}\n")
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def many(count: int, noun: str) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
