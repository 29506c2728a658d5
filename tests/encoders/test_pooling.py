from __future__ import annotations

import pytest
import torch

import isotrope
from isotrope.encoders.packing import lay_out
from isotrope.encoders.pooling import Pooling, mix
from isotrope.io.errors import IsotropeError

TEXTS = ["Short.", "A somewhat longer sentence about the weather in the hills.", "Two dogs run.", "What now?"] * 3


def by_hand(encoder: isotrope.Encoder, mode: str, layers: tuple[int, ...]) -> torch.Tensor:
    """Each sentence alone, its tokens reduced in a loop."""
    vectors = []
    for ids in encoder.tokenize(TEXTS):
        states = encoder.backbone.hidden_states(lay_out([ids]))
        tokens = sum(states[k][0] for k in layers) / len(layers)  # (tokens, dim)
        vectors.append({"cls": tokens[0], "mean": tokens.mean(0), "max": tokens.max(0).values}[mode])
    return torch.stack(vectors)


@pytest.mark.parametrize(
    ("name", "mode", "layers"),
    [
        ("cls", "cls", (4,)),
        ("mean", "mean", (4,)),
        ("max", "max", (4,)),
        ("last2", "mean", (3, 4)),
        ("first-last", "mean", (1, 4)),
        ("mean@2", "mean", (2,)),
        ("cls@0", "cls", (0,)),
        ("max@1", "max", (1,)),
        ("last2@2", "mean", (1, 2)),
        ("first-last@3", "mean", (1, 3)),
        ("mean@4", "mean", (4,)),
    ],
)
@pytest.mark.parametrize("packing", [True, False])
@torch.no_grad()
def test_pooling_by_hand(name: str, mode: str, layers: tuple[int, ...], packing: bool) -> None:
    encoder = isotrope.load(pooling=name)
    encoder.packing = packing
    found = torch.from_numpy(encoder.encode(TEXTS))
    assert (found - by_hand(encoder, mode, layers)).abs().max() <= 1e-5


def test_names_go_round() -> None:
    for name in ("mean", "cls@3", "first-last", "cls-mlp", "cls+mean"):
        assert str(Pooling.parse(name)) == name
    assert Pooling.parse("mean@4").resolve(4) == Pooling("mean")


@pytest.mark.parametrize("name", ["men", "mean@", "mean@x", "mean@-1", "", "cls+men"])
def test_bad_names(name: str) -> None:
    with pytest.raises(IsotropeError) as error:
        Pooling.parse(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["mean@5", "last2@0", "first-last@0"])
def test_layers_that_are_not_there(name: str) -> None:
    with pytest.raises(IsotropeError, match="layers are"):
        isotrope.load(pooling=name)


def test_mix_is_a_plain_mean() -> None:
    states = [torch.full((1, 2, 3), float(k)) for k in range(5)]
    assert torch.equal(mix(states, (1, 4)), torch.full((1, 2, 3), 2.5))
    assert mix(states, (3,)) is states[3]


def test_cls_mlp_uses_the_checkpoints_own_pooler(minilm: isotrope.Encoder) -> None:
    encoder = minilm.with_pooling("cls-mlp")
    pooler = minilm.backbone.model.pooler.dense
    batch = encoder.batch(TEXTS)
    with torch.no_grad():
        tokens, _ = batch.unpack(minilm.backbone(batch))
        expected = torch.nn.functional.normalize(torch.tanh(pooler(tokens[:, 0])), dim=-1)
        assert (encoder(batch) - expected).abs().max() < 1e-6
