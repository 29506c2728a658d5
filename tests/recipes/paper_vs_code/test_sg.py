"""SG and SG-OPT (paper 1): every row of the comparison, in its order. `ROWS` has the numbers, the rest what they do."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

import isotrope
from isotrope.text import read_table
from isotrope.text.corpus import build_corpus
from isotrope.text.plan import plan_batches
from isotrope.training.learner import Learner

from .reading import BUNDLED, TEXTS, VARIANTS, cases, everywhere, learner_of, loop_of, moved, value

TABLE = [
    *("view pooling p", "SG (L^base)", "opt1", "opt2", "opt3", "layer sampler", "frozen copy", "projection head f"),
    *("regulariser", "weight decay", "schedule", "early stopping", "data", "max length", "agreeing"),
]

DRAWN = ("sg", "sg-opt1", "sg-opt2")
SG = (*DRAWN, "sg-opt")
ALL = everywhere(*SG, "bt")

ROWS = [
    ("view pooling p", everywhere(*SG), "guide.pooling", "max", "mean"),
    ("SG (L^base)", everywhere("sg", "bt"), "objective.kind", "nt-xent", "nt-xent"),  # the code's own stops in an error
    ("opt1", ["sg-opt1/0"], "objective.variant", "opt1", "opt1"),
    ("opt2", ["sg-opt2/0"], "objective.variant", "opt2", "opt2-official"),
    ("opt3", ["sg-opt/0"], "objective.variant", "opt3", "opt3"),
    ("opt3", ["sg-opt/0"], "guide.sampler", "all", "all"),
    ("layer sampler", everywhere(*DRAWN), "guide.sampler", "uniform", "uniform"),
    ("layer sampler", everywhere(*SG), "guide.layers", None, None),
    ("frozen copy", everywhere(*SG), "guide.dropout", False, True),
    ("projection head f", ALL, "heads.projection.layers", 2, 2),
    ("projection head f", ALL, "heads.projection.width", 4096, 4096),
    ("regulariser", ALL, "objective.anchor", 0.1, 0.1),
    ("regulariser", ALL, "training.freeze_embeddings", True, True),
    ("weight decay", ALL, "training.weight_decay", 0.01, 0.01),  # not stated, as the next three
    ("schedule", ALL, "training.warmup", 0.1, 0.1),
    ("schedule", ALL, "training.schedule", "linear", "linear"),
    ("schedule", ALL, "training.clip", 1.0, 1.0),
    ("early stopping", ALL, "training.patience", 10, 10),
    ("early stopping", ALL, "training.patience_counts", "no-new-best", "drops"),
    ("early stopping", ALL, "training.keep", "best", "last"),
    ("data", ALL, "training.drop_last", True, False),
    ("max length", ALL, "training.max_length", None, 128),
    ("optimiser's epsilon", ALL, "training.epsilon", 1e-8, 1e-6),
    ("agreeing", ALL, "training.learning_rate", 5e-5, 5e-5),
    ("agreeing", ALL, "training.betas", (0.9, 0.9), (0.9, 0.9)),
    ("agreeing", ALL, "training.batch_size", 16, 16),
    ("agreeing", ALL, "objective.temperature", 0.01, 0.01),
    ("agreeing", ALL, "training.eval_steps", 50, 50),
]


@pytest.mark.parametrize(("row", "place", "path", "paper", "code"), cases(ROWS), ids=str)
def test_numbers(row: str, place: str, path: str, paper: Any, code: Any) -> None:
    assert value(place, path, "paper") == paper
    assert value(place, path, "official") == code


@pytest.mark.parametrize("variant", VARIANTS)
def test_view_pooling_p_takes_cls_and_sep_too(variant: str) -> None:
    learner = learner_of(f"sg-opt:{variant}").eval()
    batch = learner.student.batch(TEXTS[:1])
    found = learner.guide(batch, learner.student)[0, -1]
    tokens = batch.flatten(learner.student.backbone(batch))  # (tokens, dim), [CLS] and [SEP] at the ends
    pool = (lambda x: x.amax(0)) if variant == "paper" else (lambda x: x.mean(0))
    assert torch.allclose(found, pool(tokens), atol=1e-5)
    assert not torch.allclose(found, pool(tokens[1:-1]), atol=1e-3)


TAU = 0.1  # the papers' 0.01 leaves most losses at 0


def phi(learner: Learner) -> tuple[Callable[..., float], Tensor]:
    """exp(cos(f(u), f(v)) / tau) of the learner's c_i and h_j, and the h's."""
    batch = learner.student.batch(TEXTS)
    torch.manual_seed(3)
    c, h = learner.student(batch), learner.guide(batch, learner.student)
    c, h = learner.tower.student(c).double(), learner.tower.guide(h).double()

    def exponential(u: tuple[str, Any], v: tuple[str, Any]) -> float:
        one, other = ((c if side == "c" else h)[index] for side, index in (u, v))
        return math.exp(float(torch.cosine_similarity(one, other, dim=0)) / TAU)

    return exponential, h


def contrast(learner: Learner) -> float:
    batch = learner.student.batch(TEXTS)
    torch.manual_seed(3)
    return float(learner(first=batch, second=batch)["contrast"])


def self_guided(recipe: str) -> Learner:
    return moved(learner_of(recipe, **{"objective.temperature": TAU}).eval())


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_sg_lbase_has_a_loss_for_all_2b(variant: str) -> None:
    learner, n = self_guided(f"sg:{variant}"), len(TEXTS)
    f, _ = phi(learner)
    everyone = [(side, i) for side in "ch" for i in range(n)]
    losses = []
    for side, i in everyone:
        partner = ("h" if side == "c" else "c", i)
        losses.append(-math.log(f((side, i), partner) / sum(f((side, i), x) for x in everyone if x != (side, i))))
    assert len(losses) == 2 * n
    assert contrast(learner) == pytest.approx(sum(losses) / (2 * n), rel=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_opt1_is_the_equation_in_both(variant: str) -> None:
    learner, n = self_guided(f"sg-opt1:{variant}"), len(TEXTS)
    f, _ = phi(learner)
    losses = []
    for i in range(n):
        every = [("c", j) for j in range(n) if j != i] + [("h", j) for j in range(n)]
        losses.append(-math.log(f(("c", i), ("h", i)) / sum(f(("c", i), x) for x in every)))
    assert contrast(learner) == pytest.approx(sum(losses) / n, rel=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_opt2_loses_a_negative_in_the_code(variant: str) -> None:
    """The code cuts n places off a list of n - 1 c's and then n - 1 h's: one h too many."""
    learner, n = self_guided(f"sg-opt2:{variant}"), len(TEXTS)
    f, _ = phi(learner)
    losses = []
    for i in range(n):
        negatives = [("c", j) for j in range(n) if j != i] + [("h", j) for j in range(n) if j != i]
        left = negatives[n - 1 :] if variant == "paper" else negatives[n:]
        positive = f(("c", i), ("h", i))
        losses.append(-math.log(positive / (positive + sum(f(("c", i), x) for x in left))))
    assert contrast(learner) == pytest.approx(sum(losses) / n, rel=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("variant", VARIANTS)
def test_opt3_is_averaged_over_b_and_all_layers(variant: str) -> None:
    learner, n = self_guided(f"sg-opt:{variant}"), len(TEXTS)
    f, h = phi(learner)
    layers = learner.student.backbone.layers + 1
    assert h.shape[:2] == (n, layers)
    losses = []
    for i in range(n):
        negatives = sum(f(("c", i), ("h", (m, k))) for m in range(n) if m != i for k in range(layers))
        positives = [f(("c", i), ("h", (i, k))) for k in range(layers)]
        losses += [-math.log(positive / (positive + negatives)) for positive in positives]
    assert contrast(learner) == pytest.approx(sum(losses) / (n * layers), rel=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("layers", [None, [1, 2]])  # with a first layer above 0 the code's indices leave its slice
def test_layer_sampler_draws_each_of_its_layers_alike(variant: str, layers: list[int] | None, tiny: str) -> None:
    guide = learner_of(f"sg:{variant}", tiny, **{"guide.layers": layers}).eval().guide
    every = learner_of(f"sg-opt:{variant}", tiny).eval()
    batch = every.student.batch(TEXTS[:1] * 300)
    whole, drawn = every.guide(batch, every.student), guide(batch, every.student)
    counts = (drawn[:, None] - whole).abs().amax(-1).argmin(1).bincount(minlength=3)
    wanted = layers or [0, 1, 2]
    assert counts.nonzero().flatten().tolist() == wanted
    assert counts[wanted].min() > 0.7 * 300 / len(wanted)


def test_frozen_copy_has_its_dropout_switched_on_again_in_the_code() -> None:
    for variant, drops in (("paper", False), ("official", True)):
        learner = learner_of(f"sg-opt:{variant}").train()
        batch = learner.student.batch(TEXTS)
        once, again = (learner.guide(batch, learner.student) for _ in range(2))
        assert torch.equal(once, again) != drops
        assert not once.requires_grad
        assert not any(parameter.requires_grad for parameter in learner.guide.parameters())


@pytest.mark.parametrize("layers", [12, 24])
def test_the_variant_for_senteval_has_all_layers_from_the_fourth(layers: int, tiny: str, tmp_path: Path) -> None:
    """As SBERT-WK has it, for BERT-large too."""
    config = BertConfig.from_pretrained(Path(tiny).parent, num_hidden_layers=layers, hidden_size=8, intermediate_size=8)
    BertModel(config).save_pretrained(tmp_path)
    isotrope.load().tokenizer.save_pretrained(tmp_path)
    learner = learner_of("sg-opt:senteval", str(tmp_path)).eval()
    batch = learner.student.batch(TEXTS)
    shown = learner.guide(batch, learner.student)  # (sentences, layers, dim)
    wanted = [batch.unpack(state) for state in learner.student.backbone.hidden_states(batch)[4:]]
    means = [(tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True) for tokens, mask in wanted]
    assert torch.allclose(shown, torch.stack(means, dim=1), atol=1e-5)


def test_projection_head_f() -> None:
    """256 -> 4,096 -> 4,096, as wide as for BERT-base; GELU behind both; on c and on h, with gradient through both."""
    learner = moved(learner_of("sg-opt:official"))
    head = learner.tower.projection
    assert [type(part) for part in head] == [nn.Linear, nn.GELU, nn.Linear, nn.GELU]
    assert [part.weight.shape for part in head if isinstance(part, nn.Linear)] == [(4096, 256), (4096, 4096)]
    linear = [part for part in learner.tower.projection if isinstance(part, nn.Linear)]
    assert [float(part.weight.detach().std()) for part in linear] == pytest.approx([0.02, 0.02], rel=0.01)
    assert not any(bool(part.bias.any()) for part in linear)
    outputs: list[Tensor] = []
    learner.tower.projection.register_forward_hook(lambda module, given, made: outputs.append(made))
    batch = learner.student.batch(TEXTS)
    loss = learner(first=batch, second=batch)["loss"]
    assert sorted(len(made) for made in outputs) == [6, 30]  # c, and h of every layer
    gradients = torch.autograd.grad(loss, outputs)
    assert all(float(gradient.abs().max()) > 0 for gradient in gradients)


def test_regulariser_is_over_the_backbone_alone(tiny: str) -> None:
    """The sum of squares, the pooler's included, the head's not; the embeddings do not move."""
    for variant in VARIANTS:
        learner = learner_of(f"sg-opt:{variant}", tiny)
        model = learner.student.backbone.model
        assert model.pooler is not None
        with torch.no_grad():
            model.pooler.dense.weight.add_(0.5)
            model.encoder.layer[0].output.dense.bias.add_(2.0)
            for parameter in learner.tower.projection.parameters():
                parameter.add_(1.0)
        batch = learner.student.batch(TEXTS)
        found = float(learner(first=batch, second=batch)["anchor"])
        assert found == pytest.approx(0.1 * (32 * 32 * 0.25 + 32 * 4), rel=1e-5)
        assert not any(parameter.requires_grad for parameter in model.embeddings.parameters())


@pytest.mark.parametrize("variant", VARIANTS)
def test_weight_decay_exempts_biases_and_layer_norms(variant: str, tiny: str, tmp_path: Path) -> None:
    loop = loop_of(f"sg-opt:{variant}", tiny, tmp_path)
    decayed, exempt = loop.optimiser.param_groups
    assert (decayed["weight_decay"], exempt["weight_decay"]) == (0.01, 0.0)
    kept = {id(parameter) for parameter in exempt["params"]}
    learning = [(name, p) for name, p in loop.model.named_parameters() if p.requires_grad]
    assert all((id(p) in kept) == (name.endswith("bias") or "LayerNorm" in name) for name, p in learning)


@pytest.mark.parametrize("variant", VARIANTS)
def test_schedule_warms_up_for_a_tenth_and_falls_linearly(variant: str, tiny: str, tmp_path: Path) -> None:
    loop = loop_of(f"sg-opt:{variant}", tiny, tmp_path, **{"training.steps": 10})
    assert loop.optimiser.defaults["betas"] == (0.9, 0.9)
    scheduler = loop.scheduler
    rates = []
    for _ in range(10):
        rates.append(scheduler.get_last_lr()[0] / 5e-5)
        loop.optimiser.step()
        scheduler.step()
    assert rates == pytest.approx([0, *(1 - k / 9 for k in range(9))])
    assert loop.settings.clip == 1.0


ZIGZAG = [20, 30, 29, 31, 30, 32, 31, 33, 32, 34, 33]  # before the first step; then best, fall, best, fall ...
SLUMP = [20, 50, 10, 11, 12, 13, 14, 15, 16, 17, 18]  # best, fall, and nothing but gains


@pytest.mark.parametrize(
    ("variant", "scores", "last", "left"),
    [("paper", ZIGZAG, 9, 9), ("official", ZIGZAG, 6, 6), ("paper", SLUMP, 4, 1), ("official", SLUMP, 9, 9)],
)
def test_early_stopping(variant: str, scores: list[int], last: int, left: int, tiny: str, tmp_path: Path) -> None:
    """Endurance 3 here. Code: counts drops against the score before, never begins anew, and leaves the last weights."""
    coming = iter(scores)
    settings = {"training.steps": 9, "training.patience": 3, "training.learning_rate": 1e-3}
    loop = loop_of(f"sg-opt:{variant}", tiny, tmp_path, lambda encoder: {"spearman": float(next(coming))}, **settings)
    loop.run()
    assert loop.step == last
    weights = load_file(tmp_path / f"checkpoint-{left}" / "model.safetensors")
    for name, parameter in loop.model.student.backbone.model.encoder.named_parameters():
        assert torch.equal(parameter, weights[f"student.backbone.model.encoder.{name}"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_data_keeps_duplicates_and_in_the_code_the_last_batch(variant: str, tmp_path: Path) -> None:
    """Here as there a sentence that comes twice is learnt from twice; but not in one batch, as its own negative."""
    corpus = build_corpus([[*BUNDLED[:36], *BUNDLED[:4]]], ("text",), tmp_path)
    assert (len(corpus), corpus.counts.distinct) == (40, 36)
    drop_last = value("sg-opt/0", "training.drop_last", variant)
    plan = plan_batches(corpus, batch_size=16, seed=1, drop_last=drop_last)
    batches = [plan[k].tolist() for k in range(len(plan))]
    if variant == "paper":
        assert [len(batch) for batch in batches] == [16, 16]
    else:
        assert sorted(row for batch in batches for row in batch) == list(range(40))


def test_data_of_all_splits_is_17_256_sentences_with_their_duplicates(shared_data: Path, tmp_path: Path) -> None:
    rows = read_table(shared_data / "stsb" / "stsb.tsv.gz")
    texts = [row[side] for row in rows for side in ("sentence1", "sentence2")]
    corpus = build_corpus([texts], ("text",), tmp_path)
    assert len(corpus) == 17256 > corpus.counts.distinct == len(set(texts))
    plan = plan_batches(corpus, batch_size=16, seed=1, drop_last=False)
    assert sum(len(plan[k]) for k in range(len(plan))) == 17256


@pytest.mark.parametrize(("variant", "longest"), [("paper", 150), ("official", 128)])
def test_max_length(variant: str, longest: int, tiny: str) -> None:
    encoder = isotrope.load(tiny)
    encoder.max_seq_length = 150  # the model's own
    assert len(encoder.tokenize(["long " * 300], value("sg-opt/0", "training.max_length", variant))[0]) == longest
