"""One step of every method, and the promises of the module that owns all state."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

import isotrope
from isotrope import objectives, recipes
from isotrope.recipes.schema import Stage
from isotrope.training.assemble import finished, make_learner, trained_student
from isotrope.training.batches import laid_out
from isotrope.training.learner import Learner, set_dropout

TEXTS = ["A short one.", "Something a little longer about dogs in the rain.", "No.", "What is that over there?"]
OTHER = ["Brief.", "Wet dogs, at some length.", "Not at all.", "Which thing do you mean?"]


def learner_of(recipe: str, **changes: Any) -> Learner:
    torch.manual_seed(0)
    encoder = isotrope.load()
    return make_learner(recipes.load(recipe, changes).stages[0], encoder, encoder)


def inputs(learner: Learner) -> dict[str, Any]:
    """A batch of `TEXTS`; every column but the first one that the stage reads has `OTHER`, hard negatives `TEXTS`."""
    stage: Stage = learner.stage
    texts = dict.fromkeys(stage.columns, OTHER) | {stage.columns[0]: TEXTS}
    if stage.views.negative:
        texts[stage.views.negative] = list(reversed(TEXTS))
    student, reader = learner.student, learner.guide.reader or learner.student
    found = laid_out(stage, student, reader, lambda encoder, view, column: encoder.tokenize(texts[column]))
    return found | ({"labels": torch.tensor([0, 1, 2, 1])} if stage.supervision.labels else {})


STAGES = {name: recipes.load(name).stages for name in recipes.names() if name not in ("mlm", "tsdae")}
ONE_STAGE = [name for name, stages in STAGES.items() if len(stages) == 1 and stages[0].learns and not stages[0].frozen]


@pytest.mark.parametrize("name", ONE_STAGE)
def test_every_recipe_takes_a_step_that_lowers_its_loss(name: str) -> None:
    other = recipes.load(name).stages[0].guide.own_tokenizer
    learner = learner_of(name, **({"guide.model": "bundled"} if other else {}))
    learner.eval()  # the same loss twice: no dropout, batch norm as it is
    batch = inputs(learner)
    learning = [parameter for parameter in learner.parameters() if parameter.requires_grad]
    optimiser = torch.optim.SGD(learning, lr=1e-3)
    torch.manual_seed(1)
    before = learner(**batch)["loss"]
    before.backward()
    norm = torch.nn.utils.clip_grad_norm_(learning, 1.0)
    assert torch.isfinite(norm)
    assert norm > 0
    optimiser.step()
    torch.manual_seed(1)
    assert learner(**batch)["loss"] < before


def test_sg_opt_is_the_equation() -> None:
    learner = learner_of("sg-opt").eval()
    with torch.no_grad():
        for parameter in learner.student.parameters():
            parameter.add_(0.001)
        found = learner(**inputs(learner))
        c = torch.from_numpy(learner.student.encode(TEXTS))
        origin = learner.origin
        assert origin is not None
        h = learner.guide(learner.student.batch(TEXTS), learner.student)
        contrast = objectives.self_guided(learner.tower.student(c), learner.tower.guide(h), 0.01, "opt3")
        regulariser = 0.1 * objectives.anchor(learner.student.backbone.model, origin.model)
    assert torch.allclose(found["contrast"], contrast, atol=1e-4)
    assert torch.allclose(found["anchor"], regulariser, rtol=1e-4)
    assert torch.allclose(found["loss"], contrast + regulariser, rtol=1e-4)
    assert regulariser > 0


def test_bsl_is_symmetric() -> None:
    learner = learner_of("bsl").eval()
    batch = inputs(learner)
    with torch.no_grad():
        h1, h2 = (torch.from_numpy(learner.student.encode(texts)) for texts in (TEXTS, OTHER))
        z1, z2 = learner.tower.predictor(h1), learner.tower.predictor(h2)
        expected = objectives.symmetric_bootstrap(z1, h2, z2, h1)
        assert torch.allclose(learner(**batch)["loss"], expected, atol=1e-5)


def test_frozen_parts_stay_in_eval_whatever_is_called() -> None:
    learner = learner_of("sg-opt")
    for mode in (True, False, True):
        learner.train(mode)
        assert learner.student.training == mode
        assert not any(module.training for module in learner.guide.frozen)


def test_sizes_follow_the_encoder() -> None:
    learner = learner_of("sg-opt")
    assert learner.tower.projection[0].weight.shape == (4096, 256)
    assert learner_of("bsl").tower.predictor[0].weight.shape == (8 * 256, 256)


def test_a_teacher_of_another_size_is_met_by_a_linear_map(minilm: isotrope.Encoder) -> None:
    learner = learner_of("parallel", **{"guide.model": "minilm"})
    assert isinstance(learner.tower.predictor, torch.nn.Linear)
    assert learner.tower.predictor.weight.shape == (384, 256)
    assert isinstance(learner_of("parallel", **{"guide.model": "bundled"}).tower.predictor, torch.nn.Identity)


def test_the_queue_fills_while_training_only() -> None:
    learner = learner_of("parallel", **{"guide.model": "bundled", "queue.size": 6})
    batch = inputs(learner)
    learner.eval()
    learner(**batch)
    assert len(learner.queue()) == 0
    learner.train()
    for filled in (4, 6):
        learner(**batch)["loss"].backward()
        learner.after_step(0.5)
        assert len(learner.queue()) == filled


def test_the_temperature_learns_is_clamped_and_is_not_decayed() -> None:
    learner = learner_of("parallel", **{"guide.model": "bundled"})
    assert learner.objective_state.log.requires_grad
    assert float(learner.objective_state().detach()) == pytest.approx(1.0)
    learner(**inputs(learner))["loss"].backward()
    assert learner.objective_state.log.grad is not None
    with torch.no_grad():
        learner.objective_state.log.fill_(-20)
    learner.after_step(0.5)
    assert float(learner.objective_state().detach()) == pytest.approx(0.01)
    assert learner.objective_state.log.dim() == 0  # the loop decays matrices only


def test_dropout_is_removed_while_training_and_kept_in_what_is_saved() -> None:
    learner = learner_of("consert")
    learner.train()
    batch = learner.student.batch(TEXTS)
    assert torch.equal(learner.student(batch), learner.student(batch))
    assert learner.student.backbone.config.hidden_dropout_prob == 0.1


def test_embeddings_are_frozen_where_the_paper_says_so() -> None:
    learner = learner_of("sg-opt")
    assert not learner.student.backbone.model.embeddings.word_embeddings.weight.requires_grad
    assert learner.student.backbone.model.encoder.layer[0].output.dense.weight.requires_grad


def test_one_checkpoint_is_the_whole_state() -> None:
    learner = learner_of("parallel", **{"guide.model": "bundled", "queue.size": 8})
    learner.train()
    learner(**inputs(learner))
    learner.after_step(0.5)
    other = learner_of("parallel", **{"guide.model": "bundled", "queue.size": 8})
    other.load_state_dict(copy.deepcopy(learner.state_dict()))
    learner.eval()
    other.eval()
    assert torch.equal(learner(**inputs(learner))["loss"], other(**inputs(other))["loss"])
    assert len(learner.state_dict()) == len(set(learner.state_dict()))


def test_normalisation_is_left_out_of_training_and_comes_back(minilm: isotrope.Encoder) -> None:
    stage = recipes.load("sg-opt").stages[0]
    student = trained_student(minilm, stage)
    assert len(student.after_pooling) == 0
    result = finished(student, minilm, stage)
    assert len(result.after_pooling) == 1
    assert str(result.pooling) == "cls"
    assert result.backbone is minilm.backbone


def test_an_mlp_is_trained_and_then_dropped_or_kept() -> None:
    for name, kept in (("simcse", 0), ("simcse-sup", 1)):
        stage = recipes.load(name).stages[0]
        encoder = isotrope.load()
        student = trained_student(encoder, stage)
        assert len(student.after_pooling) == 1
        result = finished(student, encoder, stage)
        assert len(result.after_pooling) == kept
        if kept:
            assert result.after_pooling[0] is student.after_pooling[0]


def test_dropout_is_set_everywhere() -> None:
    model = nn.Sequential(nn.Dropout(0.1), nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3))
    set_dropout(model, 0.0)
    assert {part.p for part in model.modules() if isinstance(part, nn.Dropout)} == {0.0}
