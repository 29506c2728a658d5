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
            usual = one_line(self.usual, WIDEST)
            yield f"Ignored: {many(self.placeholders, 'row')} with nothing but a placeholder such as '{usual}'"
        if self.phrases:
            shown = ", ".join(f"'{one_line(one, WIDEST)}'" for one in self.phrases[:SHOWN])
            more = f" and {len(self.phrases) - SHOWN:,} more" if len(self.phrases) > SHOWN else ""
            yield f"Ignored, because many texts contain it: {shown}{more}"

    def as_dict(self) -> dict[str, Any]:
        """`{"left_out": [phrases], "placeholders": rows}`."""
        return {"left_out": self.phrases, "placeholders": self.placeholders}
