"""What a format is, and how it is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import model_validator

from isotrope.encoders import Encoder
from isotrope.parts import Registry, Spec


class ExportSpec(Spec):
    """What may be said about a format. `takes_int8`: whether it can be quantised; `reduces`: whether it makes vectors
    of `dim` numbers by itself, from longer ones.
    """

    takes_int8: ClassVar[bool] = False
    reduces: ClassVar[bool] = False
    needs_text: ClassVar[bool] = False
    int8: bool = False
    dim: int | None = None

    @model_validator(mode="after")
    def _can_be_quantised(self) -> ExportSpec:
        if self.int8 and not self.takes_int8:
            able = " or ".join(name for name, spec in EXPORTS.specs.items() if spec.takes_int8)
            raise ValueError(f"this format has no int8; choose {able}")
        return self

    def write(self, encoder: Encoder, folder: Path, text: Sequence[str]) -> dict[str, Any]:
        """Writes the files into a folder that is there. Returns what its export.json says beside the report.

        `text` are sentences like those that it will read, for calibration.
        """
        raise NotImplementedError


EXPORTS = Registry("exports", "isotrope.exporting", ExportSpec)
