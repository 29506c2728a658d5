"""BSL (paper 3): every row of the comparison, in its order. `ROWS` has the numbers, the rest what they do."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cosine_similarity

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.evaluation.correlation import best_of_four, pair_vectors
from isotrope.text.corpus import Corpus
from isotrope.training.run import train

from .reading import BUNDLED, OTHERS, TEXTS, VARIANTS, cases, everywhere, learner_of, loop_of, moved, value

TABLE = [
    *("predictor", "lr", "loss", "momentum", "EMA timing", "target", "weight decay", "optimiser", "batch / length"),
    *("model selection", "multilingual pairs"),
]

BSL = ("bsl", "bsl-post", "bsl-multilingual")
ALL = everywhere(*BSL)

ROWS = [
    ("predictor", ALL, "heads.predictor.ratio", 8, 10),
    ("predictor", ALL, "heads.predictor.blocks", 1, 3),
    ("predictor", ALL, "heads.predictor.norm", "inner", "first"),
    ("lr", ["bsl/0"], "training.learning_rate", 5e-4, 1e-4),
    ("lr", ["bsl-post/0", "bsl-multilingual/0"], "training.learning_rate", 5e-4, 5e-5),
    ("loss", ALL, "objective.weight", 1.0, 4.0),
    ("loss", ALL, "views.symmetric", True, True),
    ("momentum", ["bsl/0", "bsl-multilingual/0"], "guide.momentum", 0.999, 0.999),
    ("momentum", ["bsl-post/0"], "guide.momentum", 0.999, 0.9999),
    ("EMA timing", ALL, "guide.buffers", True, False),
    ("EMA timing", ALL, "guide.schedule", "constant", "constant"),
    ("target", ALL, "guide.dropout", False, True),
    ("weight decay", ALL, "training.weight_decay", 0.01, 0.0),
    ("optimiser", ALL, "training.optimiser", "adamw", "adamw"),
    ("optimiser", ALL, "training.warmup", 0.1, 0.1),
    ("optimiser", ALL, "training.schedule", "linear", "linear"),
    ("optimiser", ALL, "training.clip", 1.0, 1.0),
    ("batch / length", ["bsl/0", "bsl-multilingual/0"], "training.batch_size", 64, 64),
    ("batch / length", ["bsl-post/0"], "training.batch_size", 64, 128),
    ("batch / length", ALL, "training.max_length", None, 64),
    ("model selection", ALL, "training.selection", "cosine", "best-of-four"),
    ("multilingual pairs", ["bsl-multilingual/0"], "views.also", (), (("view1", "view2"),)),
]
LANGUAGES = ("ar", "es", "tr", "de", "fr")
SMALL = {"heads.predictor.ratio": 1, "training.batch_size": 4, "training.eval_steps": 1, "training.save_steps": 1}


@pytest.mark.parametrize(("row", "place", "path", "paper", "code"), cases(ROWS), ids=str)
def test_numbers(row: str, place: str, path: str, paper: Any, code: Any) -> None:
    assert value(place, path, "paper") == paper
    assert value(place, path, "official") == code


def test_predictor_is_three_stacked_in_the_code(tiny: str) -> None:
    inner = [nn.Linear, nn.BatchNorm1d, nn.ReLU, nn.Linear]
    for variant, kinds, widths in (
        ("paper", [*inner, nn.BatchNorm1d, nn.ReLU, nn.Linear], [256, 256, 32]),
        ("official", [*inner, nn.ReLU, nn.Linear] * 3, [320, 320, 32] * 3),
    ):
        head = list(learner_of(f"bsl:{variant}", tiny).tower.predictor.children())
        assert [type(part) for part in head] == kinds
        assert [part.out_features for part in head if isinstance(part, nn.Linear)] == widths


@pytest.mark.parametrize("recipe", [*BSL, "mlm", "mlm-simcse"])
def test_optimiser_leaves_a_row_that_nothing_reads_but_for_its_decay(recipe: str, tiny: str, tmp_path: Path) -> None:
    """Decay in the gradient, which Adam divides by its own size, would shrink it by the learning rate at each step."""
    small = {} if "mlm" in recipe else {"heads.predictor.ratio": 1}
    loop = loop_of(recipe, tiny, tmp_path, **small, **{"stages.0.training.steps": 6})
    embeddings = loop.model.student.backbone.model.embeddings
    rows = [embeddings.position_embeddings.weight[-1]]  # no sentence is so long
    rows += [] if "mlm" in recipe else [embeddings.word_embeddings.weight[5]]  # a word that is in none
    before = [row.detach().norm() for row in rows]
    rates: list[float] = []
    step = loop.train_step
    loop.train_step = lambda items: (step(items), rates.append(loop.learning_rate))  # type: ignore[method-assign]
    loop.run()
    training = loop.model.stage.training
    left = math.prod(1 - rate * training.weight_decay for rate in rates)
    assert 0 < max(rates) <= training.learning_rate
    assert training.weight_decay == 0.01
    assert [float(row.detach().norm() / was) for row, was in zip(rows, before, strict=True)] == pytest.approx(
        [left] * len(rows), abs=1e-6
    )


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_loss_has_four_times_the_gradient_in_the_code(variant: str, tiny: str) -> None:
    """Paper: half + half of -cos. Code: (2 - 2 cos) + (2 - 2 cos), which is four times that and 4."""
    learner = moved(learner_of(f"bsl:{variant}", tiny)).eval()
    first, second = (learner.student.batch(texts) for texts in (TEXTS, OTHERS))
    z1, z2 = (learner.tower.student(learner.student(batch)) for batch in (first, second))
    h1, h2 = (learner.guide(batch, learner.student) for batch in (first, second))
    forth, back = cosine_similarity(z1, h2).mean(), cosine_similarity(z2, h1).mean()
    wanted = -forth / 2 - back / 2 if variant == "paper" else (2 - 2 * forth) + (2 - 2 * back) - 4
    assert float(learner(first=first, second=second)["contrast"]) == pytest.approx(float(wanted), rel=1e-4)


@torch.no_grad()
@pytest.mark.parametrize(
    ("recipe", "delta"), [("bsl", 0.999), ("bsl:official", 0.999), ("bsl-post", 0.999), ("bsl-post:official", 0.9999)]
)
def test_momentum(recipe: str, delta: float, tiny: str) -> None:
    learner = learner_of(recipe, tiny)
    before = learner.student.backbone.model.encoder.layer[0].output.dense.bias.clone()
    learner.student.backbone.model.encoder.layer[0].output.dense.bias.add_(1000.0)
    learner.after_step(0.9)
    target = learner.guide.target.backbone.model.encoder.layer[0].output.dense.bias
    assert torch.allclose(target, before + 1000 * (1 - delta), atol=1e-3)


@pytest.mark.parametrize("variant", VARIANTS)
def test_ema_timing_is_after_the_step_and_before_zeroing(variant: str, tiny: str, tmp_path: Path) -> None:
    """The target takes in the student as it is after the step. Paper: buffers too; code: parameters only."""
    large = {"training.steps": 2, "training.warmup": 0, "training.learning_rate": 1e-2, "guide.momentum": 0.5}
    loop = loop_of(f"bsl:{variant}", tiny, tmp_path, **SMALL | large)
    learner = loop.model
    networks = learner.student, learner.guide.target
    weights = [one.backbone.model.encoder.layer[0].output.dense.weight for one in networks]
    for number, one in enumerate(networks):
        one.register_buffer("counted", torch.tensor(4.0 * number))  # BERT has no such buffer of its own
    old = [weight.detach().clone() for weight in weights]
    with_gradient: list[bool] = []
    expected: list[torch.Tensor] = []
    after = learner.after_step

    def told(progress: float) -> None:
        with_gradient.append(weights[0].grad is not None)
        assert not torch.equal(weights[0], old[0])
        old[0] = weights[0].detach().clone()
        expected.append(0.5 * (expected[-1] if expected else old[1]) + 0.5 * old[0])
        after(progress)

    loop.after_step = told
    loop.run()
    assert with_gradient == [True, True]
    assert torch.allclose(weights[1], expected[-1], atol=1e-7)
    assert float(learner.guide.target.counted) == (1.0 if variant == "paper" else 4.0)


def test_target_draws_dropout_in_the_code(tiny: str) -> None:
    for variant, drops in (("paper", False), ("official", True)):
        learner = learner_of(f"bsl:{variant}", tiny).train()
        batch = learner.student.batch(TEXTS)
        once, again = (learner.guide(batch, learner.student) for _ in range(2))
        assert torch.equal(once, again) != drops
        assert not once.requires_grad


def test_optimiser_and_weight_decay(tiny: str, tmp_path: Path) -> None:
    for variant, decay in (("paper", 0.01), ("official", 0.0)):
        loop = loop_of(f"bsl:{variant}", tiny, tmp_path / variant, **{"training.steps": 20})
        made = loop.optimiser
        assert type(made) is torch.optim.AdamW
        assert made.param_groups[0]["weight_decay"] == decay
        numbers = loop.settings
        assert (numbers.warmup, numbers.schedule, numbers.clip) == (2, "linear", 1.0)


def test_batch_and_length(tiny: str) -> None:
    encoder = isotrope.load(tiny)
    for variant, longest in (("paper", encoder.max_seq_length), ("official", 64)):
        assert len(encoder.tokenize(["long " * 300], value("bsl/0", "training.max_length", variant))[0]) == longest


@pytest.mark.parametrize("variant", VARIANTS)
def test_model_selection_is_by_the_best_of_four_similarities_in_the_code(variant: str, tmp_path: Path) -> None:
    rows = [{"view1": one, "view2": other} for one, other in zip(BUNDLED[:8], BUNDLED[8:16], strict=True)]
    train(rows, f"bsl:{variant}", "bundled", tmp_path / "run", steps=1, dev="bundled", set=SMALL)
    logged = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])["eval_spearman"]
    untuned, pairs = isotrope.load(pooling="mean"), load_pairs("bundled", split="dev")
    cosine = score_pairs(untuned, pairs).spearman["all"]
    best = best_of_four(*pair_vectors(untuned, pairs)[1:], np.array(pairs.scores))
    assert best > cosine + 1
    assert logged == pytest.approx(cosine if variant == "paper" else best, abs=0.01)


@pytest.mark.parametrize("variant", VARIANTS)
def test_multilingual_pairs_of_english_views_where_they_differ_in_the_code(
    variant: str, tiny: str, tmp_path: Path
) -> None:
    """One sentence has five translations, and in the code one pair more, unless its back-translations are equal."""
    rows = []
    for k in range(4):
        views = {"view1": f"View {k}.", "view2": "View 2." if k == 2 else f"Another view {k}."}
        rows += [{"source": f"Sentence {k}.", "target": f"{code} {k}", **views} for code in LANGUAGES]
    train(rows, f"bsl-multilingual:{variant}", tiny, tmp_path / "run", steps=1, dev="bundled", set=SMALL)
    corpus = Corpus(tmp_path / "run" / "corpus")
    found = corpus.rows(range(len(corpus)))
    pairs = list(zip(found["source"], found["target"], strict=True))
    assert pairs[:20] == [(row["source"], row["target"]) for row in rows]
    assert pairs[20:] == [(f"View {k}.", f"Another view {k}.") for k in (0, 1, 3) if variant == "official"]
