"""TSDAE's decoder sees the vector and the tokens before, nothing else; whatever the encoder is."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    DebertaV2Config,
    DebertaV2Model,
    DistilBertConfig,
    DistilBertModel,
    MobileBertConfig,
    MobileBertModel,
    ModernBertConfig,
    ModernBertModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

import isotrope
from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone
from isotrope.objectives import OBJECTIVES
from isotrope.objectives.tsdae import Decoder, OwnDecoder, TiedDecoder

VOCABULARY = 120
TINY: dict[str, Any] = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
TINY |= {"intermediate_size": 24, "max_position_embeddings": 80, "pad_token_id": 1}
BACKBONES: dict[str, Any] = {
    "bert": lambda: BertModel(BertConfig(**TINY)),
    "roberta": lambda: RobertaModel(RobertaConfig(**TINY)),
    "distilbert": lambda: DistilBertModel(
        DistilBertConfig(vocab_size=VOCABULARY, dim=16, n_layers=2, n_heads=2, hidden_dim=24, pad_token_id=1)
    ),
    "mpnet": lambda: MPNetModel(MPNetConfig(**TINY)),
    "albert": lambda: AlbertModel(AlbertConfig(**TINY, embedding_size=8)),
    "deberta": lambda: DebertaV2Model(DebertaV2Config(**TINY, relative_attention=True, pos_att_type=["c2p"])),
    "modernbert": lambda: ModernBertModel(ModernBertConfig(**TINY)),
    "mobilebert": lambda: MobileBertModel(MobileBertConfig(**TINY, embedding_size=8, intra_bottleneck_size=8)),
}
TEXTS = [[2, 40, 41, 42, 3], [2, 50, 3], [2, 60, 61, 62, 63, 64, 65, 3]]


def student_of(kind: str) -> Encoder:
    """A tiny encoder of another architecture; of the bundled one it has only the tokenizer."""
    torch.manual_seed(0)
    encoder = isotrope.load("bundled", pooling="mean")
    encoder.backbone = Backbone(BACKBONES[kind]())
    encoder._reduce.embedding_dimension = 16
    return encoder.double().eval()


def decoder_of(student: Encoder, decoder: Any = "tied") -> Decoder:
    torch.manual_seed(1)
    state = OBJECTIVES.make("tsdae", decoder=decoder).state(student).double().eval()
    assert isinstance(state, Decoder)
    return state


@pytest.mark.parametrize("kind", BACKBONES)
def test_it_works_for_every_backbone(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    student = student_of(kind)
    with caplog.at_level(logging.WARNING):
        made = decoder_of(student)
    tied = isinstance(made, TiedDecoder)
    assert tied == student.backbone.takes_causal_mask()
    assert tied or "one layer of its own" in caplog.text
    assert tied or isinstance(made, OwnDecoder)
    if kind in ("bert", "roberta", "distilbert", "mpnet", "albert"):
        assert tied
    vectors = torch.randn(3, student.dim, dtype=torch.float64)
    batch = student.lay_out(TEXTS)
    logits, wanted = made(student, vectors, batch)
    assert logits.shape == (sum(map(len, TEXTS)) - 3, VOCABULARY)
    assert wanted.tolist() == [token for ids in TEXTS for token in ids[1:]]
    changed = [[*ids[:-2], 99, ids[-1]] for ids in TEXTS]  # the token before the last: what comes before is as it was
    others, _ = made(student, vectors, student.lay_out(changed))
    asked = [t for ids in TEXTS for t in range(1, len(ids))]
    before = torch.tensor([t < len(ids) - 1 for ids in TEXTS for t in range(1, len(ids))])
    assert len(asked) == len(before)
    assert torch.allclose(logits[before], others[before], atol=1e-9)
    assert not torch.allclose(logits[~before], others[~before], atol=1e-4)
    moved, _ = made(student, vectors.flip(0), batch)
    assert not torch.allclose(logits, moved, atol=1e-4)  # the vector says something
    logits.sum().backward()
    assert student.backbone.model.get_input_embeddings().weight.grad is not None
