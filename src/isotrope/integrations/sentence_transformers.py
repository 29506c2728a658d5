"""Every method as a loss for `SentenceTransformerTrainer`.

A recipe's views, guide, objective and heads are the loss; batch size, learning rate, length and checkpoints are the
trainer's. What all examples begin with:

    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from sentence_transformers import SentenceTransformerTrainingArguments as Arguments

    import isotrope
    from isotrope.integrations.sentence_transformers import IsotropeLoss
    from isotrope.text import bundled_sentences

    texts = bundled_sentences()
    args = Arguments("run", per_device_train_batch_size=16, learning_rate=5e-5, max_steps=3)
    model = SentenceTransformer(str(isotrope.load("bundled", pooling="cls").save("start")))

Self-guidance, by a frozen copy of the model (`sg`, `sg-opt`):

    loss = IsotropeLoss(model, "sg-opt")
    SentenceTransformerTrainer(model, args, Dataset.from_dict({"text": texts}), loss=loss).train()

Two views of one sentence (`consert`, `simcse`). ConSERT is measured with another pooling than this model has, so the
result is `loss.encoder`; with `set` the two agree:

    loss = IsotropeLoss(model, "consert", set={"pooling.training": "cls", "pooling.evaluation": "cls"})
    SentenceTransformerTrainer(model, args, Dataset.from_dict({"text": texts}), loss=loss).train()

Two texts of one meaning and a momentum copy (`bsl`), which moves in the callback:

    pairs = Dataset.from_dict({"view1": texts, "view2": [text.lower() for text in texts]})
    loss = IsotropeLoss(model, "bsl", set={"pooling.training": "cls", "pooling.evaluation": "cls"})
    SentenceTransformerTrainer(model, args, pairs, loss=loss, callbacks=[loss.callback()]).train()

A teacher with a tokenizer of its own, and a queue (`parallel`): the collator reads the text for it as well.

    pairs = Dataset.from_dict({"target": texts, "source": texts})
    loss = IsotropeLoss(model, "parallel", set={"guide.model": "bundled"})
    SentenceTransformerTrainer(
        model, args, pairs, loss=loss, data_collator=loss.collator(), callbacks=[loss.callback()]
    ).train()

Triplets with hard negatives (`simcse-sup`, `nli-finetune`):

    triplets = Dataset.from_dict({"anchor": texts, "positive": texts, "negative": texts[::-1]})
    loss = IsotropeLoss(model, "simcse-sup", set={"pooling.evaluation": "cls"})
    SentenceTransformerTrainer(model, args, triplets, loss=loss).train()
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.data_collator import SentenceTransformerDataCollator
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import TrainerCallback, TrainerControl, TrainerState

from isotrope import recipes
from isotrope.encoders import Encoder
from isotrope.encoders.loading import from_sentence_transformer
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe, Stage
from isotrope.text.sources import text_columns
from isotrope.training.assemble import finished, make_learner
from isotrope.training.batches import laid_out
from isotrope.training.learner import Learner

log = logging.getLogger(__name__)

GUIDE_IDS = (
    "guide_ids"  # a feature: the text as the guide's tokenizer reads it, (sentences, longest), -1 behind the end
)


class IsotropeLoss(nn.Module):
    """The learner of a recipe's stage around the model, whose weights it shares.

    The data set's columns are taken by position, in the order of `columns`; NLI labels are its column `label`. The
    trainer's checkpoints hold the model alone: guide, heads and queue begin anew when one is resumed, where
    `isotrope.train` goes on exactly. Several processes are for `isotrope.train` too.
    """

    def __init__(
        self,
        model: SentenceTransformer,
        recipe: str | Path = "sg-opt",
        set: Mapping[str, Any] | None = None,  # noqa: A002
    ) -> None:
        super().__init__()
        stage = _stage(recipes.load(recipe, set))
        started = from_sentence_transformer(model, name="the model")
        _check(started, stage)
        self.learner = make_learner(stage, started, started)
        self.learner.train(started.transformer.training)
        self.columns = text_columns(stage.columns)
        self._held = model, started  # not as submodules: their weights are the student's
        self._needs_callback = self.learner.acts_after_step

    @property
    def encoder(self) -> Encoder:
        """The student as `isotrope.train` would save it: with the recipe's evaluation pooling."""
        return finished(self.learner.tuned(), self._held[1], self.learner.stage)

    def callback(self) -> TrainerCallback:
        """For the trainer's `callbacks`: momentum copies, queues and learnt temperatures are told of each step."""
        self._needs_callback = False
        return _AfterStep(self.learner)

    def collator(self) -> SentenceTransformerDataCollator:
        """For the trainer's `data_collator`, where the guide has a tokenizer of its own."""
        return SentenceTransformerDataCollator(preprocess_fn=self._preprocess)

    def forward(self, sentence_features: Sequence[Mapping[str, Tensor]], labels: Tensor | None = None) -> Tensor:
        """The learner's loss on one batch of the trainer's."""
        training = self.learner.student.transformer.training  # the trainer puts its model into a mode, not its loss
        if training != self.learner.training:
            self.learner.train(training)
        if training and self._needs_callback:
            raise IsotropeError("this recipe also acts after the optimiser's step: add callbacks=[loss.callback()]")
        loss: Tensor = self.learner(**self.inputs(sentence_features, labels))["loss"]
        return loss

    def inputs(self, sentence_features: Sequence[Mapping[str, Tensor]], labels: Tensor | None = None) -> dict[str, Any]:
        """The trainer's padded features as keyword arguments of the learner."""
        if len(sentence_features) != len(self.columns):
            wanted = f"{len(self.columns)} text columns ({', '.join(self.columns)})"
            raise IsotropeError(f"this recipe reads {wanted}, the data set has {len(sentence_features)}")
        features = dict(zip(self.columns, sentence_features, strict=True))
        student = self.learner.student

        def ids(encoder: Encoder, view: str, column: str) -> list[list[int]]:
            return _unpadded(features[column]) if encoder is student else _guide_ids(features[column])

        reader = self.learner.guide.reader or student
        item = laid_out(self.learner.stage, student, reader, ids)
        if "premise" in item:
            if labels is None:
                raise IsotropeError(
                    "this recipe learns from NLI labels: the data set needs a column 'label' of 0, 1, 2"
                )
            item["labels"] = labels
        return {name: value.to(student.device) for name, value in item.items()}

    def _preprocess(self, inputs: list[str], **options: Any) -> dict[str, Any]:
        """The model's own features, and the text as the guide reads it."""
        features: dict[str, Any] = self._held[0].preprocess(inputs, **options)
        if self.learner.guide.reader is not None:
            ids = [torch.tensor(one) for one in self.learner.guide.reader.tokenize(inputs)]
            features[GUIDE_IDS] = pad_sequence(ids, batch_first=True, padding_value=-1)
        return features


class _AfterStep(TrainerCallback):  # type: ignore[misc]
    """Tells the learner, which is the trainer's loss, that the optimiser has stepped."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def on_optimizer_step(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Momentum copies, queues and learnt temperatures."""
        self.learner.after_step((state.global_step + 1) / state.max_steps)


def _stage(recipe: Recipe) -> Stage:
    """The one stage that can be a loss."""
    if len(recipe.stages) > 1:
        raise IsotropeError(f"recipe {recipe.name} has {len(recipe.stages)} stages, a loss is one: use isotrope.train")
    if recipe.stages[0].objective.reads and not recipe.stages[0].objective.compares:
        raise IsotropeError(f"recipe {recipe.name} is not a loss on sentence vectors: use isotrope.train")
    if recipe.stages[0].frozen:
        raise IsotropeError(f"recipe {recipe.name} looks up vectors of frozen encoders by row: use isotrope.train")
    views = recipe.stages[0].views
    if not (views.first.draw.fixed and views.second.draw.fixed):
        raise IsotropeError(f"recipe {recipe.name} draws new text for each batch: use isotrope.train")
    return recipe.stages[0]


def _check(started: Encoder, stage: Stage) -> None:
    if torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
        raise IsotropeError("several processes would not share their gradients here: use isotrope.train with torchrun")
    if started.backbone.dtype == torch.float16:
        raise IsotropeError("the model's weights are float16; load it with model_kwargs={'dtype': 'float32'}")
    wanted = started.with_pooling(stage.pooling.evaluation).pooling
    if started.pooling != wanted:
        log.warning(
            "the recipe is measured with %s pooling, this model has %s: save loss.encoder", wanted, started.pooling
        )


def _unpadded(feature: Mapping[str, Tensor]) -> list[list[int]]:
    """Token ids without padding, on whichever side it is."""
    rows = zip(feature["input_ids"].tolist(), feature["attention_mask"].tolist(), strict=True)
    return [[token for token, there in zip(*row, strict=True) if there] for row in rows]


def _guide_ids(feature: Mapping[str, Tensor]) -> list[list[int]]:
    if GUIDE_IDS not in feature:
        raise IsotropeError("this recipe's guide has a tokenizer of its own: add data_collator=loss.collator()")
    return [[token for token in row if token >= 0] for row in feature[GUIDE_IDS].tolist()]
