"""The masked-LM loss is that of the whole output layer, whatever the architecture."""

from __future__ import annotations

import pytest
import torch
import transformers
from torch.nn.functional import cross_entropy

from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import lay_out
from isotrope.objectives.masked_lm import IGNORED, masked_lm_loss

SIZES = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 80,
    "pad_token_id": 1,
}
NARROW = {**SIZES, "embedding_size": 16}
KINDS = {
    "Bert": SIZES,
    "Roberta": SIZES,
    "DistilBert": {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "pad_token_id": 1},
    "MPNet": SIZES,
    "Electra": NARROW,
    "Albert": NARROW,
    "ModernBert": SIZES,
    "MobileBert": {**NARROW, "intra_bottleneck_size": 16, "true_hidden_size": 16},
    "DebertaV2": {**SIZES, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 64},
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_cross_entropy_of_all_outputs_at_the_masked_places(kind: str) -> None:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**KINDS[kind])
    model = getattr(transformers, f"{kind}ForMaskedLM")(config).eval()
    backbone = Backbone(model.base_model)
    batch = lay_out([torch.randint(5, 99, (n,)).tolist() for n in (3, 31, 7, 12, 5)], 1, pack=backbone.packs)
    asked = (torch.rand(batch.input_ids.shape) < 0.2) & (batch.sentence >= 0)
    targets = batch.input_ids.where(asked, IGNORED)

    def gradients(loss: torch.Tensor) -> list[torch.Tensor | None]:
        return list(torch.autograd.grad(loss, list(model.parameters()), allow_unused=True))

    found = masked_lm_loss(model, backbone, batch, targets)
    logits = model(**backbone.inputs(batch)).logits  # (rows, width, vocabulary)
    wanted = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    assert float(found.detach()) == pytest.approx(float(wanted.detach()), abs=1e-6)
    for one, other in zip(gradients(found), gradients(wanted), strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other, rtol=1e-4, atol=1e-7)
