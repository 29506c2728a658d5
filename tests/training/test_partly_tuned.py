"""Some layers alone learn; weights are averaged with those at the start; the temperature has a rate of its own."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AlbertConfig, AlbertModel, DebertaV2Config, DebertaV2Model, ModernBertConfig, ModernBertModel

import isotrope
from isotrope import recipes
from isotrope.encoders.backbone import Backbone
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training.assemble import finished, make_learner
from isotrope.training.learner import Learner

from .loops import Make, same, student

TINY: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}


def learner_of(**settings: Any) -> Learner:
    encoder = isotrope.load("bundled")
    return make_learner(recipes.load("simcse", settings).stages[0], encoder, encoder)


def learning(learner: Learner) -> list[str]:
    return [name for name, one in learner.student.named_parameters() if one.requires_grad and "pooler" not in name]


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_only_the_last_layers_learn(layers: int) -> None:
    learner = learner_of(**{"training.layers": layers})
    names = learning(learner)
    blocks = {int(name.split(".layer.")[1].split(".")[0]) for name in names if ".layer." in name}
    assert blocks == set(range(4 - layers, 4))
    assert not any("embeddings" in name for name in names)
    assert any(name.startswith("after_pooling") for name in names)  # the MLP behind the pooling
    assert learning(learner_of(**{"training.layers": layers, "training.freeze_embeddings": True})) == names


def test_layers_are_counted_below_the_pooling() -> None:
    names = learning(learner_of(**{"training.layers": 1, "pooling.training": "mean@2"}))
    blocks = {int(name.split(".layer.")[1].split(".")[0]) for name in names if ".layer." in name}
    assert 1 in blocks
    assert 0 not in blocks
    for layers, pooling, there in ((5, "mean", 4), (3, "mean@2", 2)):
        with pytest.raises(IsotropeError, match=f"this encoder has {there} layers below its pooling"):
            learner_of(**{"training.layers": layers, "pooling.training": pooling})


def test_gradients_decide_what_is_below_a_layer() -> None:
    torch.manual_seed(0)
    modern = Backbone(ModernBertModel(ModernBertConfig(**TINY, vocab_size=90, pad_token_id=0)))
    frozen = set(map(id, modern.below(2)))
    left = {name for name, one in modern.model.named_parameters() if id(one) not in frozen}
    assert all(name.startswith("layers.2.") or name == "final_norm.weight" for name in left)
    sizes = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8}
    deberta = Backbone(DebertaV2Model(DebertaV2Config(**TINY, **sizes, vocab_size=90, pad_token_id=0)))
    frozen = set(map(id, deberta.below(2)))
    left = {name for name, one in deberta.model.named_parameters() if id(one) not in frozen}
    assert all(".layer.2." in name for name in left)  # relative positions are those of the layers below as well


def test_shared_layers_can_not_learn_apart() -> None:
    albert = AlbertModel(AlbertConfig(**TINY, embedding_size=8, vocab_size=90), add_pooling_layer=False)
    encoder = isotrope.load("bundled", pooling="mean")
    encoder.backbone = Backbone(albert)
    with pytest.raises(IsotropeError, match="all layers of this encoder share their weights"):
        isotrope.training.learner.freeze_below(encoder, 1)


def naive_average(start: dict[str, Tensor], tuned: dict[str, Tensor], share: float) -> dict[str, list[float]]:
    """WiSE-FT, equation 1, number by number."""
    return {
        name: [
            share * a + (1 - share) * b
            for a, b in zip(start[name].flatten().tolist(), tuned[name].flatten().tolist(), strict=True)
        ]
        for name in ("backbone.model.embeddings.LayerNorm.weight", "backbone.model.encoder.layer.3.output.dense.bias")
    }


def test_weights_are_averaged_with_those_at_the_start() -> None:
    learner = learner_of(**{"training.keep_start": 0.3}).double()
    start = copy.deepcopy(learner.student.state_dict())
    with torch.no_grad():
        for parameter in learner.student.parameters():
            parameter.add_(torch.randn_like(parameter))
    tuned = copy.deepcopy(learner.student.state_dict())
    averaged = learner.tuned().state_dict()
    for name, wanted in naive_average(start, tuned, 0.3).items():
        assert averaged[name].flatten().tolist() == pytest.approx(wanted, abs=1e-10)
    assert same(learner.student.state_dict(), tuned)  # the student goes on by itself
    plain = learner_of()
    assert plain.tuned() is plain.student
    assert plain.kept is None


def test_what_is_measured_and_saved_is_the_average(make: Make) -> None:
    seen: list[dict[str, Tensor]] = []

    def score(encoder: Any) -> dict[str, float]:
        seen.append({name: value.clone() for name, value in encoder.backbone.state_dict().items()})
        return {"spearman": float(len(seen))}

    loop = make("simcse", score, folder="averaged", keep_start=0.5, steps=2, save_steps=1, learning_rate=1e-2)
    start = student(loop)
    loop.run()
    for name, value in seen[0].items():
        assert torch.allclose(value, start[f"backbone.{name}"])
    ends = student(loop)
    for name, value in seen[-1].items():
        whole = f"backbone.{name}"
        if value.is_floating_point():
            assert torch.allclose(value, (start[whole] + ends[whole]) / 2, atol=1e-6), name
    assert not same(start, ends)


def test_a_run_with_the_three_of_them_is_resumed_exactly(tmp_path: Path, small: str) -> None:
    settings = {"training.batch_size": 8, "training.save_steps": 2, "training.eval_steps": 2, "training.layers": 1}
    settings |= {
        "training.keep_checkpoints": True,
        "training.keep_start": 0.4,
        "objective.learnable_temperature": True,
        "objective.temperature_rate": 0.1,
    }
    arguments: dict[str, Any] = {"recipe": "simcse", "model": small, "set": settings, "steps": 4}
    text = bundled_sentences()[:60]
    whole = isotrope.train(text, output=tmp_path / "whole", **arguments)
    isotrope.train(text, output=tmp_path / "again", **arguments)
    for path in ("checkpoint-4", "encoder"):
        (tmp_path / "again" / path).rename(tmp_path / f"gone-{path}")
    resumed = isotrope.train(text, output=tmp_path / "again", resume=True, **arguments)
    assert same(whole.encoder.state_dict(), resumed.encoder.state_dict())
    assert whole.log[-1] == resumed.log[-1] or whole.log[-1]["step"] == resumed.log[-1]["step"] == 4
    untuned = isotrope.load(small, pooling="cls").state_dict()
    moved = [name for name, value in resumed.encoder.state_dict().items() if not torch.equal(value, untuned[name])]
    assert moved
    assert all(".layer.0." in name for name in moved)  # its only one; the embeddings stay


def test_the_temperature_has_a_learning_rate_of_its_own(make: Make) -> None:
    settings: dict[str, Any] = {"objective.learnable_temperature": True, "learning_rate": 1e-5, "warmup": 0.0}
    moved = {}
    for rate in (None, 0.1):
        loop = make("simcse", folder=f"rate-{rate}", steps=1, **settings, **{"objective.temperature_rate": rate})
        groups = [(len(group["params"]), group["lr"]) for group in loop.optimiser.param_groups]
        assert len(groups) == (2 if rate is None else 3)
        assert rate is None or groups[2] == (1, 0.1)
        before = float(loop.model.objective_state.log.detach())
        loop.run()
        moved[rate] = abs(float(loop.model.objective_state.log.detach()) - before)
    assert moved[None] == pytest.approx(1e-5, rel=0.01)  # Adam's first step is as long as its rate
    assert moved[0.1] == pytest.approx(0.1, rel=0.01)
    with pytest.raises(IsotropeError, match="temperature_rate has no effect without learnable_temperature"):
        recipes.load("simcse", {"objective.temperature_rate": 0.1})


def test_the_average_is_under_the_evaluation_pooling() -> None:
    encoder = isotrope.load("bundled")
    stage = recipes.load("simcse", {"training.keep_start": 0.5}).stages[0]
    learner = make_learner(stage, encoder, encoder)
    assert str(finished(learner.tuned(), encoder, stage).pooling) == "cls"
