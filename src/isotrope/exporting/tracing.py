"""An encoder's backbone as a graph of tensors, and the folder that goes around it."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from torch import Tensor, nn

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.pooling import mix
from isotrope.encoders.quiet import quiet_transformers

BATCH = 32  # sentences of a batch that is calibrated on
INPUTS = ("input_ids", "attention_mask")
OUTPUT = "last_hidden_state"  # as others call it, even where it is a mean of two layers


class Traced(nn.Module):
    """`input_ids` and `attention_mask` (rows, width) -> what is pooled, (rows, width, dim).

    Tokens see those whose mask has the same number, and count their positions among them: with 0 and 1 that is a
    padded batch, with 0, 1, 2 ... a packed one. A backbone that can't be packed gets the mask as it is.
    """

    def __init__(self, backbone: Backbone, layers: Sequence[int]) -> None:
        super().__init__()
        self.model: Any = backbone.model
        self.packs, self.offset = backbone.packs, backbone.position_offset
        self.layers = None if tuple(layers) == (backbone.layers,) else tuple(layers)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Computes it by operations that every runtime has."""
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.packs:
            same = attention_mask[:, :, None] == attention_mask[:, None, :]  # (rows, width, width)
            column = torch.arange(attention_mask.shape[1])
            inputs["position_ids"] = (same & (column[:, None] > column)).long().sum(-1) + self.offset
            apart = torch.zeros(same.shape).masked_fill(~same, torch.finfo(torch.float32).min)
            inputs["attention_mask"] = apart[:, None]
        if self.layers is None:
            hidden: Tensor = self.model(**inputs).last_hidden_state
            return hidden
        return mix(self.model(**inputs, output_hidden_states=True).hidden_states, self.layers)


def traced(encoder: Encoder) -> Traced:
    """The encoder's backbone, ready to be traced."""
    layers = encoder.pooling.mixed_layers(encoder.backbone.layers)
    return Traced(encoder.backbone, layers).eval()


def example(packs: bool) -> dict[str, Tensor]:
    """Inputs to trace with: no two of their sizes are the same, so none is taken for another or for a constant."""
    mask = torch.ones(3, 17, dtype=torch.long)
    mask[0, 8:] = 2 if packs else 0
    mask[1, 12:] = 0
    return {"input_ids": torch.arange(5, 5 + 3 * 17).view(3, 17), "attention_mask": mask}


def calibration(encoder: Encoder, text: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Batches of the text as the graph will see them, as arrays."""
    for start in range(0, len(text), BATCH):
        batch = encoder.lay_out(encoder.tokenize(text[start : start + BATCH]))
        mask = batch.sentence + 1 if encoder.backbone.packs else (batch.sentence >= 0).long()
        yield {"input_ids": batch.input_ids.numpy(), "attention_mask": mask.numpy()}


def write_around(encoder: Encoder, folder: Path) -> None:
    """What stands around a graph in a sentence-transformers folder: all but the weights."""
    bare = copy.copy(encoder.transformer)
    bare._modules = dict(encoder.transformer._modules)
    reduce = TokenPooling(encoder.backbone.dim, encoder.pooling.reduction)
    model = SentenceTransformer(
        modules=[bare, reduce, *encoder.after_pooling],
        device="cpu",
        prompts=encoder.prompts,
        default_prompt_name=encoder.default_prompt_name,
    )
    with quiet_transformers():
        model.save(str(folder), create_model_card=False)
    for file in folder.glob("*.safetensors*"):
        file.unlink()


@contextmanager
def quiet_tracing() -> Iterator[None]:
    """Without the remarks of tracers, which are for the authors of models."""
    logs = [logging.getLogger(name) for name in ("nncf", "torch.onnx", "onnxscript", "root", "onnx_ir")]
    levels = [log.level for log in logs]
    with warnings.catch_warnings(), torch.no_grad(), quiet_transformers(), redirect_stdout(sys.stderr):  # nncf's bars
        warnings.simplefilter("ignore")
        for log in logs:
            log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for log, level in zip(logs, levels, strict=True):
                log.setLevel(level)
