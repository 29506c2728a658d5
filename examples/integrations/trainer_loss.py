"""A recipe as a loss of SentenceTransformerTrainer: its views, guide, objective and heads; the rest is the trainer's.

python examples/integrations/trainer_loss.py [OUTPUT] [STEPS]
"""

from __future__ import annotations

import sys
from pathlib import Path

from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments

import isotrope
from isotrope.integrations.sentence_transformers import IsotropeLoss
from isotrope.text import bundled_sentences


def main(output: str = "runs/trainer", steps: str = "20") -> None:
    """BSL: two wordings of one meaning, a momentum copy that moves in the trainer's callback."""
    folder = Path(output)
    start = isotrope.load("bundled", pooling="mean").save(folder / "start")
    model = SentenceTransformer(str(start), device="cpu")
    text = bundled_sentences()
    rows = Dataset.from_dict({"view1": text, "view2": [sentence.lower() for sentence in text]})

    loss = IsotropeLoss(model, "bsl", set={"pooling.training": "mean", "pooling.evaluation": "mean"})
    arguments = SentenceTransformerTrainingArguments(
        str(folder / "trainer"),
        per_device_train_batch_size=16,
        learning_rate=5e-5,
        max_steps=int(steps),
        save_strategy="no",
        report_to="none",
        use_cpu=True,
    )
    trainer = SentenceTransformerTrainer(model, arguments, rows, loss=loss, callbacks=[loss.callback()])
    trainer.train()
    loss.encoder.save(folder / "encoder")
    print(isotrope.evaluate([start, folder / "encoder"], tasks=["bundled"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
