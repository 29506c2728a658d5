"""Multilingual Universal Sentence Encoder (Yang et al., 2020), a reference: it was trained by others, on labels too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from isotrope.baselines.base import BaselineSpec, Made
from isotrope.encoders import load_any


class UseSpec(BaselineSpec):
    """USE out of the PyPI package of the extra `[baselines]`; the model name `use` is the same."""

    title: ClassVar[str] = "Multilingual Universal Sentence Encoder (Yang et al., 2020)"
    text: ClassVar[Literal["needed", "optional", "unused"]] = "unused"
    kind: str = "use"

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> Made:
        """Nothing is fitted."""
        return load_any("use")
