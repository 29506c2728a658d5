"""Who trains in `bench/training.py`: isotrope's own loop, sentence-transformers' trainer, and a plain padded loop."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import isotrope
from isotrope import recipes
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import lay_out
from isotrope.encoders.precision import computing_in, dtype_of
from isotrope.objectives import anchor
from isotrope.recipes.schema import Stage
from isotrope.text import read_table
from isotrope.text.corpus import build_corpus
from isotrope.text.plan import plan_batches
from isotrope.training.assemble import finished, make_batches, make_learner
from isotrope.training.bar import RunBar
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.learner import Learner
from isotrope.training.monitor import Monitor
from isotrope.training.stage_loop import groups_of, stage_loop
from turns import Gate

Settings = dict[str, Any]
STEPS = 10_000  # more than anybody takes


def rows_of(data: Path, seed: int = 0) -> list[dict[str, str]]:
    """Sentences of STS-B in random order under the names that recipes have for text, views and translations."""
    pairs = list(read_table(data / "stsb" / "stsb.tsv.gz", ("sentence1", "sentence2")))
    random.Random(seed).shuffle(pairs)
    one, other = ([pair[side] for pair in pairs] for side in ("sentence1", "sentence2"))
    return [
        {"text": a, "view1": a, "view2": b, "target": a, "source": b, "sentence1": a, "sentence2": b}
        for a, b in zip(one, other, strict=True)
    ]


def isotrope_loop(gate: Gate, recipe: str, settings: Settings, model: str, data: Path) -> None:
    """The loop that `isotrope.train` runs, with all that belongs to a step, between two evaluations."""
    stage, started, learner, frozen = _parts(recipe, settings, model)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        corpus = build_corpus([rows_of(data)], stage.columns, run / "corpus")
        training = stage.training
        plan = plan_batches(corpus, batch_size=training.batch_size, steps=STEPS, seed=1)
        batches = make_batches(corpus, plan, stage, learner.student, learner.guide, run, frozen)
        some = batches.item([0, 1, 2, 3], torch.Generator())
        monitor = Monitor(some, False, lambda: finished(learner.tuned(), started, stage))
        stage_loop(learner, batches, monitor, run, _Bar(gate)).run()


class _Bar(RunBar):
    def __init__(self, gate: Gate) -> None:
        super().__init__("bench")
        self.gate = gate

    def start(self, step: int, steps: int, *, shown: bool = True) -> None:
        super().start(step, steps, shown=False)

    def show(self, figures: Any) -> None:
        """Nothing."""

    def move(self, step: int) -> None:
        super().move(step)
        self.gate()


def plain_loop(gate: Gate, recipe: str, settings: Settings, model: str, data: Path) -> None:
    """The same parts in the loop that one would write first: both texts padded, each encoded in a pass of its own,
    nothing looked up, torch's optimiser as it comes.
    """
    stage, _, learner, _ = _parts(recipe, settings, model)
    for module in learner.modules():
        if isinstance(module, Backbone):
            module.margin = None  # no rows of like length
    training = stage.training
    optimiser = torch.optim.AdamW(
        groups_of(learner, training.weight_decay), lr=training.learning_rate, betas=training.betas, eps=training.epsilon
    )
    learner.train()
    for first, second in _texts(rows_of(data), stage):
        with computing_in(dtype_of(training.precision), learner.student.device):
            loss = _plain_loss(learner, first, second)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learner.parameters(), training.clip)
        optimiser.step()
        learner.after_step(0.0)
        optimiser.zero_grad()
        gate()


def _texts(rows: list[dict[str, str]], stage: Stage) -> Iterator[tuple[list[str], list[str]]]:
    (first,), (second,), size = stage.views.first.columns, stage.views.second.columns, stage.training.batch_size
    for k in count():
        some = [rows[(k * size + i) % len(rows)] for i in range(size)]
        yield [row[first] for row in some], [row[second] for row in some]


def _plain_loss(learner: Learner, first: list[str], second: list[str]) -> Tensor:
    stage, student, guide = learner.stage, learner.student, learner.guide
    views = stage.views

    def padded(encoder: isotrope.Encoder, texts: list[str]) -> Any:
        ids = encoder.tokenize(texts, stage.training.max_length)
        return lay_out(ids, encoder.tokenizer.pad_token_id, pack=False)

    def direction(mine: list[str], theirs: list[str]) -> Tensor:
        one, other = padded(student, mine), padded(guide.reader or student, theirs)
        c = learner.tower.student(student(one, views.first.on(one, student, None)))
        h = learner.tower.guide(guide(other, student, views.second.on(other, student, None)))
        queue = None if learner.queue is None else learner.queue()
        if learner.queue is not None:
            learner.queue.remember(h)
        return stage.objective(c, h, learner.objective_state, queue=queue, hard=None)

    loss = direction(first, second)
    if views.symmetric:
        loss = (loss + direction(second, first)) / 2
    if stage.objective.anchor and learner.origin is not None:
        loss = loss + stage.objective.anchor * anchor(student.backbone.model, learner.origin.model)
    return loss


def _parts(recipe: str, settings: Settings, model: str) -> tuple[Stage, isotrope.Encoder, Learner, FrozenEncoders]:
    torch.manual_seed(1)
    stage = recipes.load(recipe, {"training.steps": STEPS, "training.eval_steps": STEPS, **settings}).stages[0]
    encoder = isotrope.load(model)
    frozen = FrozenEncoders(encoder)
    learner = make_learner(stage, encoder, encoder, frozen)
    if learner.queue is not None:  # as full as it is in the middle of a run
        learner.queue.push(torch.randn_like(learner.queue.vectors))
    return stage, encoder, learner, frozen


def mobile(folder: Path) -> str:
    """A small MobileBERT with minilm's tokenizer, as a folder: it sees beyond its own tokens, and can't be packed."""
    from transformers import MobileBertConfig, MobileBertModel

    tokenizer = isotrope.load("minilm").tokenizer
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 768}
    config = MobileBertConfig(vocab_size=len(tokenizer), embedding_size=128, intra_bottleneck_size=192, **sizes)
    torch.manual_seed(0)
    MobileBertModel(config).save_pretrained(folder / "bare")
    tokenizer.save_pretrained(folder / "bare")
    return str(isotrope.load(folder / "bare", pooling="mean").save(folder / "mobile"))


def trainer(gate: Gate, batch: int, bf16: bool, model: str, data: Path) -> None:
    """SentenceTransformerTrainer with MultipleNegativesRankingLoss on pairs of a sentence and itself: SimCSE.

    Its defaults are its fast settings: the fused AdamW, the plain batch sampler, batches as they come. Saving, logging
    and evaluating are off. `bf16` is what its documentation recommends where the hardware has it.
    """
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.losses import MultipleNegativesRankingLoss
    from transformers import TrainerCallback

    from isotrope.encoders.loading import resolve

    class AtGate(TrainerCallback):
        def on_step_end(self, *arguments: Any, **named: Any) -> None:
            gate()

    texts = [row["text"] for row in rows_of(data)]
    peer = SentenceTransformer(resolve(model), device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder,
            per_device_train_batch_size=batch,
            max_steps=STEPS,
            learning_rate=3e-5,
            bf16=bf16,
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        SentenceTransformerTrainer(
            peer,
            arguments,
            Dataset.from_dict({"anchor": texts, "positive": texts}),
            loss=MultipleNegativesRankingLoss(peer),
            callbacks=[AtGate()],
        ).train()
