"""The encoder as sentence-transformers folders are: weights as safetensors. For vectors of fewer numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from isotrope.encoders import Encoder
from isotrope.encoders.quiet import quiet_transformers
from isotrope.encoders.saving import modules_of
from isotrope.exporting.base import ExportSpec


class Torch(ExportSpec):
    """Loads wherever sentence-transformers does, and can be tuned further."""

    kind: Literal["torch"] = "torch"

    def write(self, encoder: Encoder, folder: Path, text: Sequence[str]) -> dict[str, Any]:
        """The modules of the encoder."""
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(
            modules=modules_of(encoder),
            device="cpu",
            prompts=encoder.prompts,
            default_prompt_name=encoder.default_prompt_name,
        )
        with quiet_transformers():
            model.save(str(folder), create_model_card=False)
        return {"runtime": "torch"}
