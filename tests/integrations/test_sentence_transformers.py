"""Every method as a loss of SentenceTransformerTrainer: the same loss, real runs, a model that saves as usual."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments

import isotrope
from isotrope import recipes
from isotrope.encoders.loading import from_sentence_transformer
from isotrope.guides.momentum import Momentum
from isotrope.integrations import sentence_transformers as integration
from isotrope.integrations.sentence_transformers import IsotropeLoss
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training.assemble import make_learner

TEXTS = bundled_sentences()[:24]
OTHER = [text.lower() for text in TEXTS]
CLS = {"pooling.training": "cls", "pooling.evaluation": "cls"}
ROWS = {
    "text": TEXTS,
    **dict.fromkeys(("view1", "target", "anchor", "sentence1"), TEXTS),
    **dict.fromkeys(("view2", "source", "positive", "sentence2"), OTHER),
    "negative": TEXTS[::-1],
}
NARROW = {"heads.projection.width": 16}  # the paper's 4,096 would be most of a small run
SETTINGS: dict[str, dict[str, Any]] = {
    "sg-opt": NARROW,
    "sg": NARROW,
    "consert": CLS,
    "simcse": {},
    "bsl": CLS,
    "parallel": {"guide.model": "bundled", "guide.model_pooling": "max"},
    "simcse-sup": {"pooling.evaluation": "cls"},
    "consert-joint": {},
}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return isotrope.load("bundled", pooling="cls").save(tmp_path_factory.mktemp("start") / "model")


@pytest.fixture
def model(start: Path) -> SentenceTransformer:
    return SentenceTransformer(str(start), device="cpu")


def features(loss: IsotropeLoss) -> list[dict[str, Any]]:
    """As the trainer makes them: collated, then taken apart by column."""
    rows = [{column: ROWS[column][i] for column in loss.columns} for i in range(len(TEXTS))]
    batch = loss.collator()(rows)
    prefixes = [f"{column}_" for column in loss.columns]
    return [{key.removeprefix(p): value for key, value in batch.items() if key.startswith(p)} for p in prefixes]


def weights(model: torch.nn.Module) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def train(model: SentenceTransformer, loss: IsotropeLoss, folder: Path, **options: Any) -> SentenceTransformerTrainer:
    arguments = SentenceTransformerTrainingArguments(
        str(folder), per_device_train_batch_size=12, max_steps=2, learning_rate=1e-4, use_cpu=True, report_to="none"
    )
    data = Dataset.from_dict({column: ROWS[column] for column in loss.columns})
    trainer = SentenceTransformerTrainer(model, arguments, data, loss=loss, **options)
    trainer.train()
    return trainer


@pytest.mark.parametrize("name", SETTINGS)
def test_the_loss_is_the_learners_own(name: str, model: SentenceTransformer) -> None:
    torch.manual_seed(0)
    loss = IsotropeLoss(model, name, SETTINGS[name])
    torch.manual_seed(0)
    stage, started = recipes.load(name, SETTINGS[name]).stages[0], from_sentence_transformer(model)
    twin = make_learner(stage, started, started)
    student = twin.student
    labels = torch.arange(len(TEXTS)) % 3
    read = {column: student.batch(ROWS[column]) for column in loss.columns}
    inputs: dict[str, Any] = {"negative": read.get("negative")}
    if name == "consert-joint":
        inputs |= {"first": student.batch(TEXTS + OTHER), "second": student.batch(TEXTS + OTHER), "labels": labels}
        inputs |= {"premise": read["sentence1"], "hypothesis": read["sentence2"]}
    else:
        second = loss.columns[min(1, len(loss.columns) - 1)]
        reader = twin.guide.reader or student
        inputs |= {"first": read[loss.columns[0]], "second": reader.batch(ROWS[second])}
    model.eval()
    twin.eval()
    torch.manual_seed(1)
    expected = twin(**inputs)["loss"]
    torch.manual_seed(1)
    found = loss(features(loss), labels)
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert found.requires_grad


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_makes_no_difference(side: str, model: SentenceTransformer) -> None:
    loss = IsotropeLoss(model, "simcse")
    model.tokenizer.padding_side = side
    found, wanted = loss.inputs(features(loss))["first"], loss.encoder.batch(TEXTS)
    assert all(torch.equal(tensor, getattr(wanted, name)) for name, tensor in vars(found).items())


def test_the_examples_run_and_every_one_changes_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert integration.__doc__ is not None
    parts = integration.__doc__.split("\n\n")
    blocks = [textwrap.dedent(part) for part in parts if part.startswith("    ")]
    setup, examples = "\n".join(blocks[:3]), blocks[3:]
    names: dict[str, Any] = {}
    exec(setup, names)
    names["texts"] = TEXTS
    assert len(examples) == 5
    for example in examples:
        before = weights(names["model"])
        exec(example, names)
        assert any(not torch.equal(*pair) for pair in zip(before, names["model"].parameters(), strict=True)), example


def test_a_trained_model_saves_and_loads_as_usual(tmp_path: Path, model: SentenceTransformer) -> None:
    untuned = model.encode(TEXTS)
    loss = IsotropeLoss(model, "sg-opt", NARROW)
    train(model, loss, tmp_path / "run").save_model(str(tmp_path / "trained"))
    vectors = model.encode(TEXTS)
    assert abs(vectors - untuned).max() > 1e-3
    assert abs(SentenceTransformer(str(tmp_path / "trained"), device="cpu").encode(TEXTS) - vectors).max() < 1e-5
    assert abs(isotrope.load(tmp_path / "trained").encode(TEXTS) - vectors).max() < 1e-5
    assert abs(loss.encoder.encode(TEXTS) - vectors).max() < 1e-5


def test_a_momentum_copy_follows_in_the_callback(tmp_path: Path, model: SentenceTransformer) -> None:
    loss = IsotropeLoss(model, "bsl", {**CLS, "guide.momentum": 0.5})
    before = weights(model)
    train(model, loss, tmp_path, callbacks=[loss.callback()])
    guide = loss.learner.guide
    assert isinstance(guide, Momentum)
    moved = [
        (target - old).abs().max() < (new - old).abs().max() and not torch.equal(target, old)
        for target, old, new in zip(guide.target.backbone.model.parameters(), before, model.parameters(), strict=True)
        if not torch.equal(old, new)
    ]
    assert len(moved) > 20
    assert sum(moved) > 0.9 * len(moved)


def test_a_queue_fills_while_training_and_not_while_evaluating(tmp_path: Path, model: SentenceTransformer) -> None:
    loss = IsotropeLoss(model, "parallel", {**SETTINGS["parallel"], "queue.size": 100})
    trainer = train(model, loss, tmp_path, callbacks=[loss.callback()], data_collator=loss.collator())
    assert loss.learner.queue is not None
    assert loss.learner.queue().shape == (24, 256)
    trainer.evaluate(trainer.train_dataset)
    assert not loss.learner.training
    loss.learner.after_step(1.0)
    assert loss.learner.queue().shape == (24, 256)


def test_heads_learn_too(tmp_path: Path, model: SentenceTransformer) -> None:
    loss = IsotropeLoss(model, "simcse")
    head = loss.learner.student.after_pooling[0]
    before = weights(head)
    train(model, loss, tmp_path)
    assert all(not torch.equal(*pair) for pair in zip(before, head.parameters(), strict=True))


def test_a_pooling_that_is_not_the_recipes_is_said(
    model: SentenceTransformer, caplog: pytest.LogCaptureFixture
) -> None:
    IsotropeLoss(model, "sg-opt")
    assert not caplog.messages
    loss = IsotropeLoss(model, "consert")
    assert "measured with last2 pooling, this model has cls: save loss.encoder" in caplog.text
    assert str(loss.encoder.pooling) == "last2"


def test_what_can_not_work_is_said(model: SentenceTransformer, start: Path) -> None:
    with pytest.raises(IsotropeError, match="has 2 stages"):
        IsotropeLoss(model, "consert-joint-unsup")
    with pytest.raises(IsotropeError, match=r"use isotrope\.train"):
        IsotropeLoss(model, "mlm")
    half = SentenceTransformer(str(start), device="cpu", model_kwargs={"dtype": torch.float16})
    with pytest.raises(IsotropeError, match="weights are float16"):
        IsotropeLoss(half)
    with pytest.raises(IsotropeError, match=r"2 text columns \(view1, view2\), the data set has 1"):
        IsotropeLoss(model, "bsl").eval().inputs(features(IsotropeLoss(model, "simcse")))
    bsl = IsotropeLoss(model, "bsl")
    model.train()
    with pytest.raises(IsotropeError, match=r"callbacks=\[loss.callback\(\)\]"):
        bsl(features(bsl))
    parallel = IsotropeLoss(model, "parallel", SETTINGS["parallel"])
    plain = [model.preprocess(texts) for texts in (TEXTS, OTHER)]
    with pytest.raises(IsotropeError, match=r"data_collator=loss.collator\(\)"):
        parallel.inputs(plain)
    joint = IsotropeLoss(model, "sbert-nli")
    with pytest.raises(IsotropeError, match="a column 'label' of 0, 1, 2"):
        joint(features(joint))
