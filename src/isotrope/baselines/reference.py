"""Other unsupervised methods as reference rows, trained by sentence-transformers' own trainer and losses."""

from __future__ import annotations

import copy
import random
import tempfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar

from datasets import Dataset
from pydantic import Field
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from transformers import PrinterCallback, TrainerCallback, set_seed

from isotrope.baselines.base import OnEncoder
from isotrope.encoders import Encoder
from isotrope.encoders.loading import from_sentence_transformer
from isotrope.encoders.quiet import quiet_transformers
from isotrope.encoders.saving import modules_of
from isotrope.io.errors import IsotropeError
from isotrope.io.progress import progress
from isotrope.parts import Seed

Pairs = Iterator[tuple[str, str]]


class ReferenceSpec(OnEncoder):
    """A method with the numbers of its paper. The learning rate is constant, as the papers have it."""

    optimizer: ClassVar[str] = "adamw_torch"
    pooling: str | None = None
    steps: int | None = Field(default=None, ge=1)  # None: as many as see each sentence once, on average
    batch_size: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=1e-5, gt=0)
    seed: Seed = 1

    @abstractmethod
    def pairs(self, sentences: list[str], draws: random.Random) -> Pairs:
        """Pairs of texts to train on, without end."""

    @abstractmethod
    def loss(self, model: SentenceTransformer) -> Any:
        """What is minimised."""

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> Encoder:
        """Trains a copy of the encoder."""
        texts = list(text or ())
        if len(texts) < 2:
            raise IsotropeError(f"{self.kind}: at least two sentences are needed; give more text")
        steps = self.steps or max(1, len(texts) // self.batch_size)
        set_seed(self.seed)
        encoder = copy.deepcopy(self.encoder(self.pooling))
        tuned = SentenceTransformer(modules=modules_of(encoder), device=str(encoder.device))
        self._train(tuned, texts, steps, _Bar(steps, f"Training {self.kind}", shown=show_progress))
        return from_sentence_transformer(tuned, name=encoder.name).eval()

    def _train(self, tuned: SentenceTransformer, texts: list[str], steps: int, bar: TrainerCallback) -> None:
        pairs = list(islice(self.pairs(texts, random.Random(self.seed)), steps * self.batch_size))
        first, second = zip(*pairs, strict=True)
        with tempfile.TemporaryDirectory() as scratch, quiet_transformers():
            arguments = SentenceTransformerTrainingArguments(
                output_dir=scratch,
                max_steps=steps,
                per_device_train_batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                lr_scheduler_type="constant",
                optim=self.optimizer,
                seed=self.seed,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
            )
            trainer = _Trainer(
                model=tuned,
                args=arguments,
                train_dataset=Dataset.from_dict({"first": first, "second": second}),
                loss=self.loss(tuned).float(),  # TSDAE reads the decoder as it is stored: perhaps in half precision
                callbacks=[bar],
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()


class _Trainer(SentenceTransformerTrainer):  # type: ignore[misc]
    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Nothing: the card is isotrope's."""


class _Bar(TrainerCallback):  # type: ignore[misc]
    """A bar over the steps."""

    def __init__(self, steps: int, title: str, *, shown: bool) -> None:
        self.bar = iter(progress(range(steps), title, shown=shown))

    def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
        next(self.bar)

    def on_train_end(self, *args: Any, **kwargs: Any) -> None:
        for _ in self.bar:
            pass
