"""Two other unsupervised methods as reference rows, trained by sentence-transformers' own trainer and losses."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import ContrastiveTensionLoss, DenoisingAutoEncoderLoss
from transformers import PrinterCallback, TrainerCallback, set_seed

from isotrope.encoders import Encoder, load
from isotrope.encoders.loading import from_sentence_transformer
from isotrope.encoders.quiet import quiet_transformers
from isotrope.encoders.saving import modules_of
from isotrope.io.atomic import check_folder
from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.progress import progress

Pairs = Iterator[tuple[str, str]]
ADAMW, RMSPROP = "adamw_torch", "rmsprop"


def tension_pairs(sentences: list[str], draws: random.Random) -> Pairs:
    """A sentence with itself and with seven others, without end (Carlsson et al., 2021)."""
    while True:
        sentence = draws.choice(sentences)
        yield sentence, sentence
        for _ in range(7):
            yield sentence, draws.choice(sentences)


def damaged_pairs(sentences: list[str], draws: random.Random) -> Pairs:
    """A sentence that lost 60% of its words, but not the last one, and the whole, without end (Wang et al., 2021)."""
    while True:
        sentence = draws.choice(sentences)
        words = sentence.split()
        kept = [word for word in words if draws.random() >= 0.6] or [draws.choice(words)]
        yield " ".join(kept), sentence


@dataclass(frozen=True)
class Reference:
    """A method with the numbers of its paper."""

    title: str
    loss: Callable[[SentenceTransformer], Any]
    pairs: Callable[[list[str], random.Random], Pairs]
    pooling: str
    batch_size: int
    learning_rate: float
    optimizer: str


REFERENCES = {
    "ct": Reference("CT (Carlsson et al., 2021)", ContrastiveTensionLoss, tension_pairs, "mean", 16, 1e-5, RMSPROP),
    "tsdae": Reference("TSDAE (Wang et al., 2021)", DenoisingAutoEncoderLoss, damaged_pairs, "cls", 8, 3e-5, ADAMW),
}


def train_reference(
    kind: str,
    sentences: Iterable[str],
    model: str | Path = "bundled",
    output: str | Path | None = None,
    steps: int | None = None,
    seed: int = 1,
    *,
    pooling: str | None = None,
    learning_rate: float | None = None,
    force: bool = False,
    show_progress: bool = False,
) -> Encoder:
    """Trains `ct` or `tsdae` from `model` on the sentences, saves it in `output` if that is given, and returns it.

    Without `steps`: as many as see each sentence once, on average. Constant learning rate, as both papers have it.
    """
    if kind not in REFERENCES:
        raise IsotropeError(f"unknown method '{kind}'{nearest(kind, REFERENCES)}; choose from {', '.join(REFERENCES)}")
    if output is not None:
        check_folder(Path(output), force=force)
    reference, texts = REFERENCES[kind], list(sentences)
    if len(texts) < 2:
        raise IsotropeError(f"{reference.title}: two sentences are the least; give more text")
    steps, rate = steps or max(1, len(texts) // reference.batch_size), learning_rate or reference.learning_rate
    set_seed(seed)
    encoder = load(model, pooling=pooling or reference.pooling)
    tuned = SentenceTransformer(modules=modules_of(encoder), device=str(encoder.device))
    _train(tuned, reference, texts, steps, rate, seed, _Bar(steps, f"Training {kind}", shown=show_progress))
    made = f"{reference.title} on {len(texts):,} sentences: {steps} steps of {reference.batch_size} pairs, "
    trained = from_sentence_transformer(tuned, name=str(model)).eval()
    if output is not None:
        trained.save(output, card=f"{made}learning rate {rate:g}, seed {seed}.", force=force)
    return trained


def _train(
    tuned: SentenceTransformer,
    reference: Reference,
    texts: list[str],
    steps: int,
    rate: float,
    seed: int,
    bar: TrainerCallback,
) -> None:
    pairs = list(islice(reference.pairs(texts, random.Random(seed)), steps * reference.batch_size))
    first, second = zip(*pairs, strict=True)
    with tempfile.TemporaryDirectory() as scratch, quiet_transformers():
        arguments = SentenceTransformerTrainingArguments(
            output_dir=scratch,
            max_steps=steps,
            per_device_train_batch_size=reference.batch_size,
            learning_rate=rate,
            lr_scheduler_type="constant",
            optim=reference.optimizer,
            seed=seed,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            dataloader_pin_memory=False,
        )
        trainer = _Trainer(
            model=tuned,
            args=arguments,
            train_dataset=Dataset.from_dict({"first": first, "second": second}),
            loss=reference.loss(tuned).float(),  # TSDAE reads the decoder as it is stored: perhaps in half precision
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
