"""What is not compared: phrases that many texts share, and rows that hold a placeholder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from isotrope.evaluation.results.printing import many
from isotrope.io.errors import one_line

SHOWN, WIDEST = 8, 80


@dataclass(frozen=True)
class LeftOut:
    """Phrases, the most common first; how many rows hold a placeholder alone, and the most common of these."""

    phrases: list[str] = field(default_factory=list)
    placeholders: int = 0
    usual: str = ""

    def lines(self) -> Iterator[str]:
        """In words; none where nothing is left out."""
        if self.placeholders:
            yield f"Left out: {many(self.placeholders, 'row')} of placeholders such as '{one_line(self.usual, WIDEST)}'"
        if self.phrases:
            shown = ", ".join(f"'{one_line(one, WIDEST)}'" for one in self.phrases[:SHOWN])
            more = f" and {len(self.phrases) - SHOWN:,} more" if len(self.phrases) > SHOWN else ""
            yield f"Not counted, since many texts share it: {shown}{more}"

    def as_dict(self) -> dict[str, Any]:
        """`{"left_out": [phrases], "placeholders": rows}`."""
        return {"left_out": self.phrases, "placeholders": self.placeholders}
