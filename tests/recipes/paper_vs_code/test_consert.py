"""ConSERT (paper 2): every row of the comparison, in its order. `ROWS` has the numbers, the rest what they do.

What its views do is in `test_consert_views`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.stats import spearmanr
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize
from typer.testing import CliRunner

import isotrope
from isotrope import recipes
from isotrope.cli import app
from isotrope.evaluation import Pairs, load_pairs, score_pairs
from isotrope.evaluation.correlation import correlations
from isotrope.io.errors import IsotropeError
from isotrope.training.assemble import finished
from isotrope.training.learner import Learner
from isotrope.training.optimisers import UncorrectedAdamW
from isotrope.training.stage_text import read_stage_text

from .reading import BUNDLED, OTHERS, TEXTS, VARIANTS, cases, everywhere, learner_of, loop_of, value

TABLE = [
    *("native dropout", "large, unsupervised", "cutoff rates", "where", "shuffle", "token cutoff", "feature cutoff"),
    *("dropout view", "span cutoff", "NT-Xent", "optimiser", "NLI classifier", "max length", "early stopping"),
    *("selection / test", "STS", "agreeing"),
]

CONSERT = ("consert", "consert-joint", "consert-sup-unsup", "consert-joint-unsup")
ALL = everywhere(*CONSERT)
JOINT = ["consert-joint/0", "consert-joint-unsup/0"]
UNSUP = ["consert/0", "consert-sup-unsup/1", "consert-joint-unsup/1"]
SHUFFLE = ["consert/0", "consert-joint-unsup/1"]

ROWS = [
    ("native dropout", ["consert/0"], "training.dropout", 0.0, 0.0),
    ("native dropout", [*JOINT, *UNSUP[1:]], "training.dropout", 0.0, None),
    ("cutoff rates", JOINT, "views.second.rate", 0.15, 0.1),
    ("cutoff rates", ["consert-sup-unsup/1"], "views.second.rate", 0.2, 0.1),
    ("cutoff rates", ["consert/0"], "views.first.rate", 0.2, 0.2),
    ("where", ["consert/0"], "views.first.variant", "paper", "official"),
    ("where", ["consert/0"], "views.first.at", "embeddings", "embeddings"),
    ("where", [*JOINT, "consert-sup-unsup/1"], "views.second.at", "embeddings", "embeddings"),
    ("shuffle", SHUFFLE, "views.second.variant", "paper", "official"),
    ("shuffle", SHUFFLE, "views.second.specials", False, True),
    ("shuffle", SHUFFLE, "views.second.offset", True, False),
    ("token cutoff", JOINT, "views.second.variant", "paper", "official"),
    ("token cutoff", JOINT, "views.second.specials", False, True),
    ("token cutoff", JOINT, "views.second.rounding", "nearest", "down"),
    ("feature cutoff", ["consert-sup-unsup/1"], "views.second.variant", "paper", "official"),
    ("feature cutoff", ["consert-sup-unsup/1"], "views.second.rounding", "nearest", "down"),
    ("feature cutoff", ["consert/0"], "views.first.rounding", "nearest", "down"),
    ("NT-Xent", UNSUP, "objective.weight", 1.0, 0.15 * 2),
    ("NT-Xent", JOINT, "objective.weight", 0.15, 0.15 * 2 * 2),
    ("NT-Xent", JOINT, "views.contrast", "together", "by-column"),
    ("optimiser", ALL, "training.optimiser", "adam", "adamw-uncorrected"),
    ("optimiser", ALL, "training.weight_decay", 0.0, 0.01),
    ("optimiser", ALL, "training.epsilon", 1e-8, 1e-6),
    ("optimiser", ALL, "training.clip", 1.0, 1.0),
    ("optimiser", JOINT, "training.learning_rate", 5e-7, 2e-5),
    ("optimiser", UNSUP, "training.learning_rate", 5e-7, 5e-7),
    ("NLI classifier", [f"{name}/0" for name in CONSERT[1:]], "supervision.maximum", False, True),
    ("max length", ALL, "training.max_length", 64, 64 + 3),
    ("early stopping", UNSUP, "training.patience", None, 10),
    ("early stopping", ALL, "training.patience_counts", "no-new-best", "no-new-best"),
    ("selection / test", ALL, "pooling.evaluation", "last2", "mean"),
    ("selection / test", ALL, "pooling.training", "mean", "mean"),
    ("last batch", ALL, "training.drop_last", True, False),
    ("agreeing", ALL, "training.batch_size", 96, 96),
    ("agreeing", [*JOINT, *UNSUP], "objective.temperature", 0.1, 0.1),
    ("agreeing", JOINT, "supervision.weight", 1.0, 1.0),
    ("agreeing", ALL, "training.eval_steps", 200, 200),
    ("selection / test", ALL, "training.eval_epochs", False, True),
    ("agreeing", ALL, "training.warmup", 0.1, 0.1),
    ("agreeing", ALL, "heads.projection", None, None),
]

LARGE = [  # recipe/stage, path, what the text has for all sizes, what the scripts have for BERT-large
    ("consert/0", "views.first.kind", "feature-cutoff", "none"),
    ("consert/0", "views.second.kind", "shuffle", "shuffle"),
    ("consert/0", "training.dropout", 0.0, None),
    ("consert/0", "training.epochs", 10, 25),
    ("consert/0", "objective.weight", 1.0, 0.15 * 2),
    ("consert/0", "training.optimiser", "adam", "adamw-uncorrected"),
    ("consert/0", "training.max_length", 64, 64 + 3),
    ("consert-joint/0", "training.max_length", 64, 40 + 3),
    ("consert-joint/0", "views.contrast", "together", "by-column"),
    ("consert-joint-unsup/0", "training.max_length", 64, 40 + 3),
    ("consert-joint-unsup/1", "training.max_length", 64, 40 + 3),
]


@pytest.mark.parametrize(("row", "place", "path", "paper", "code"), cases(ROWS), ids=str)
def test_numbers(row: str, place: str, path: str, paper: Any, code: Any) -> None:
    assert value(place, path, "paper") == paper
    assert value(place, path, "official") == code


@pytest.mark.parametrize(
    ("recipe", "drops"),
    [
        *(("consert", False), ("consert-joint", False)),
        *(("consert:official", False), ("consert-joint:official", True), ("consert:official-large", True)),
    ],
)
def test_native_dropout_is_removed_in_the_code_for_unsupervised_base_only(recipe: str, drops: bool, tiny: str) -> None:
    learner = learner_of(recipe, tiny).train()
    batch = learner.student.batch(TEXTS)
    assert torch.equal(learner.student(batch), learner.student(batch)) != drops


@pytest.mark.parametrize(("place", "path", "paper", "large"), LARGE)
def test_large_unsupervised_and_other_large_scripts(place: str, path: str, paper: Any, large: Any) -> None:
    assert value(place, path, "paper") == paper
    assert value(place, path, "official-large") == large


# -- the losses --------------------------------------------------------------------------------------------------------


def published(a: Tensor, b: Tensor) -> Tensor:
    """The code's: a cross-entropy for each direction, summed."""
    a, b = normalize(a), normalize(b)
    itself, labels = 1e9 * torch.eye(len(a)), torch.arange(len(a))
    forth = torch.cat([a @ b.T / 0.1, a @ a.T / 0.1 - itself], dim=1)
    back = torch.cat([b @ a.T / 0.1, b @ b.T / 0.1 - itself], dim=1)
    return cross_entropy(forth, labels) + cross_entropy(back, labels)


@torch.no_grad()
def both_views(learner: Learner, texts: list[str]) -> tuple[float, Tensor, Tensor]:
    """The contrastive part of the loss, and the vectors that it is of."""
    batch = learner.student.batch(texts)
    passes: list[Tensor] = []
    hook = learner.student.register_forward_hook(lambda module, given, made: passes.append(made))
    found = float(learner.compare_views({"first": batch, "second": batch}))
    hook.remove()
    (both,) = passes  # one pass, the first view before the second
    return found * learner.stage.objective.weight, *both.chunk(2)


def test_nt_xent_sums_its_directions_in_the_code_and_is_weighted_even_alone() -> None:
    found, a, b = both_views(learner_of("consert:official").eval(), TEXTS)
    assert found == pytest.approx(0.15 * float(published(a, b)), rel=1e-4)
    found, a, b = both_views(learner_of("consert").eval(), TEXTS)
    assert found == pytest.approx(0.5 * float(published(a, b)), rel=1e-4)


@pytest.mark.parametrize("variant", ["official", "official-large"])
def test_nt_xent_of_premises_and_of_hypotheses_is_apart_in_the_code(variant: str) -> None:
    """Packed, in one batch, the premises first. Paper: one batch of both."""
    n = len(TEXTS)
    found, a, b = both_views(learner_of(f"consert-joint:{variant}").eval(), TEXTS + OTHERS)
    apart = published(a[:n], b[:n]) + published(a[n:], b[n:])
    assert found == pytest.approx(0.15 * float(apart), rel=1e-4)
    found, a, b = both_views(learner_of("consert-joint").eval(), TEXTS + OTHERS)
    assert found == pytest.approx(0.15 * 0.5 * float(published(a, b)), rel=1e-4)


@pytest.mark.parametrize("name", CONSERT)
def test_optimiser_is_adamw_without_bias_correction_in_the_code(name: str, tiny: str, tmp_path: Path) -> None:
    for variant, kind, decay, eps in (
        ("paper", torch.optim.Adam, 0.0, 1e-8),
        ("official", UncorrectedAdamW, 0.01, 1e-6),
    ):
        loop = loop_of(f"{name}:{variant}", tiny, tmp_path / variant)
        made = loop.optimiser
        assert type(made) is kind
        assert [group["weight_decay"] for group in made.param_groups] == [decay, 0.0]
        assert [group["eps"] for group in made.param_groups] == [eps, eps]
        assert loop.settings.clip == 1.0


@pytest.mark.parametrize(("variant", "features"), [("paper", 3), ("official", 4)])
def test_nli_classifier_reads_the_squared_maximum_in_the_code(variant: str, features: int, tiny: str) -> None:
    learner = learner_of(f"consert-joint:{variant}", tiny).eval()
    batches = [learner.student.batch(texts) for texts in (TEXTS, OTHERS)]
    labels = torch.tensor([0, 1, 2, 0, 1, 2])
    both = learner.student.batch(TEXTS + OTHERS)
    found = learner(first=both, second=both, premise=batches[0], hypothesis=batches[1], labels=labels)["nli"]
    u, v = (learner.student(batch) for batch in batches)
    read = torch.cat([u, v, (u - v).abs(), torch.maximum(u, v) ** 2][:features], dim=1)
    assert float(found) == pytest.approx(cross_entropy(learner.supervision_state(read), labels).item(), rel=1e-5)


@pytest.mark.parametrize(("variant", "longest"), [("paper", 64), ("official", 67), ("official-large", 43)])
def test_max_length(variant: str, longest: int, tiny: str) -> None:
    stage = recipes.load(f"consert-joint:{variant}").stages[0]
    ids = isotrope.load(tiny).tokenize(["long " * 300], stage.training.max_length)
    assert len(ids[0]) == longest


def test_early_stopping_is_on_the_best_score(tiny: str, tmp_path: Path) -> None:
    """Falls between ever new bests are forgiven, unlike in SG's code."""
    coming = iter([20, 30, 29, 31, 30, 32, 31, 30, 29, 28])
    settings = {"training.steps": 9, "training.patience": 3}
    loop = loop_of("consert:official", tiny, tmp_path, lambda encoder: {"spearman": float(next(coming))}, **settings)
    loop.run()
    assert loop.step == 8
    assert loop.best_step == 5


# -- what is measured --------------------------------------------------------------------------------------------------


def test_selection_and_test(tiny: str, tmp_path: Path) -> None:
    """Code: chosen on the last layer, tested on it and on the last two: `evaluate --pooling mean,last2`."""
    chosen = {}
    for variant in VARIANTS:
        learner = learner_of(f"consert:{variant}", tiny)
        chosen[variant] = finished(learner.student, isotrope.load(tiny), learner.stage)
    layers = [chosen["official"].with_pooling(f"mean@{k}").encode(TEXTS) for k in (1, 2)]
    assert np.allclose(chosen["official"].encode(TEXTS), layers[1], atol=1e-5)
    assert np.allclose(chosen["paper"].encode(TEXTS), sum(layers) / 2, atol=1e-5)
    saved = str(chosen["official"].save(tmp_path / "encoder"))
    shown = json.loads(CliRunner().invoke(app, ["evaluate", saved, "--pooling", "mean,last2", "--json"]).stdout)
    found = {one["pooling"]: one["tasks"]["bundled"]["spearman"]["all"] for one in shown["results"]}
    wanted = {
        str(one.pooling): round(score_pairs(one, load_pairs("bundled")).spearman["all"], 2) for one in chosen.values()
    }
    assert found == pytest.approx(wanted, abs=0.02)


def test_sts_merges_all_pairs_and_has_both_means_too() -> None:
    gold, found = [1, 2, 3, 4, 1, 2, 3, 4, 5], [0.1, 0.2, 0.4, 0.3, 0.9, 0.7, 0.8, 0.95, 0.99]
    pairs = Pairs([""] * 9, [""] * 9, gold, ["MSRpar"] * 4 + ["MSRvid"] * 5)
    parts = [spearmanr(found[part], gold[part]).statistic for part in (slice(4), slice(4, 9))]
    figures = correlations(pairs, torch.tensor(found, dtype=torch.float64).numpy()).spearman
    assert figures == pytest.approx(
        {
            "all": 100 * spearmanr(found, gold).statistic,
            "mean": 100 * sum(parts) / 2,
            "wmean": 100 * (4 * parts[0] + 5 * parts[1]) / 9,
        }
    )
    assert len({round(figure, 6) for figure in figures.values()}) == 3


def _next(coming: Iterator[float], encoder: Any) -> dict[str, float]:
    return {"spearman": next(coming)}


def test_selection_and_test_look_at_the_end_of_each_epoch_too_in_the_code(tiny: str, tmp_path: Path) -> None:
    """40 rows in batches of 4: an epoch has 10 steps."""
    changes = {"training.eval_steps": 8, "training.save_steps": 8, "training.epochs": 2, "training.learning_rate": 1e-3}
    for variant, measured in (("paper", [0, 8, 16, 20]), ("official", [0, 8, 10, 16, 20])):
        folder = tmp_path / variant
        coming = iter([1.0, 2.0, 5.0, 3.0, 4.0])
        loop = loop_of(f"consert:{variant}", tiny, folder, partial(_next, coming), **changes)
        loop.run()
        assert [line["step"] for line in loop.evaluations] == measured
    assert loop.best_step == 10
    weights = load_file(folder / "checkpoint-10" / "model.safetensors")  # where it was measured it is kept
    assert all(torch.equal(one, weights[f"student.{name}"]) for name, one in loop.model.student.named_parameters())


@pytest.mark.parametrize("few", [1, 10])
def test_few_texts_are_repeated_to_the_size_of_the_whole_and_may_meet_in_a_batch(few: int, tmp_path: Path) -> None:
    """Figure 6, and `do_upsampling` of the code: int(1 / share) times each."""
    settings = {"training.few_shot": few, "training.epochs": 2, "training.batch_size": 32}
    stage = recipes.load("consert:official", settings).stages[0]
    text = read_stage_text(stage, tmp_path, [BUNDLED[:100]], None, isotrope.load(), scored=True, resume=False)
    for epoch in (0, 1):
        rows = [row for k in range(4 * epoch, 4 * epoch + 4) for row in text.plan[k].tolist()]
        assert set(Counter(rows).values()) == {100 // few}
        assert len(set(rows)) == few
    assert len(text.plan) == 8


def test_more_few_texts_than_there_are_is_refused(tmp_path: Path) -> None:
    stage = recipes.load("consert", {"training.few_shot": 101}).stages[0]
    with pytest.raises(IsotropeError, match=r"training\.few_shot 101: there are 100 rows to draw from"):
        read_stage_text(stage, tmp_path, [BUNDLED[:100]], None, isotrope.load(), scored=True, resume=False)
