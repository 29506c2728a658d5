"""TSDAE's loss beside equation 1, token by token; padded and packed, with both kinds of decoder."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

import isotrope
from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import lay_out
from isotrope.objectives import OBJECTIVES
from isotrope.objectives.tsdae import Decoder

TINY: dict[str, Any] = {"vocab_size": 120, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
TINY |= {"intermediate_size": 24, "max_position_embeddings": 80, "pad_token_id": 1}
BACKBONES: dict[str, Any] = {
    "bert": lambda: BertModel(BertConfig(**TINY)),
    "roberta": lambda: RobertaModel(RobertaConfig(**TINY)),
}
TEXTS = [[2, 40, 41, 42, 3], [2, 50, 3], [2, 60, 61, 62, 63, 64, 65, 3]]


@torch.no_grad()
def naive(student: Encoder, decoder: Decoder, vectors: torch.Tensor, texts: list[list[int]]) -> float:
    """Equation 1: the decoder is given the tokens before one, and no others, and asked for it."""
    losses = []
    for vector, ids in zip(vectors, texts, strict=True):
        for t in range(1, len(ids)):
            batch = lay_out([[*ids[:t], ids[t]]], 1, pack=False)
            logits, wanted = decoder(student, vector[None], batch)
            assert int(wanted[-1]) == ids[t]
            losses.append(-float(logits[-1].log_softmax(0)[ids[t]]))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("decoder", ["tied", 1, 2])
@pytest.mark.parametrize("kind", BACKBONES)
def test_the_loss_is_equation_1(kind: str, decoder: Any) -> None:
    torch.manual_seed(0)
    student = isotrope.load("bundled", pooling="mean")
    student.backbone = Backbone(BACKBONES[kind]())
    student._reduce.embedding_dimension = 16
    student = student.double().eval()
    made: Any = OBJECTIVES.make("tsdae", decoder=decoder).state(student).double().eval()
    vectors = torch.randn(3, student.dim, dtype=torch.float64)
    wanted = naive(student, made, vectors, TEXTS)
    for pack in (False, True):
        logits, targets = made(student, vectors, lay_out(TEXTS, 1, pack=pack))
        assert float(cross_entropy(logits, targets).detach()) == pytest.approx(wanted, abs=1e-10)
