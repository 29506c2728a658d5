"""A large encoder into a small one: the small one learns to give the large one's vectors, on raw text.

    python examples/tutorials/distil.py [TEXT] [OUTPUT] [STEPS]

Here `small` teaches the raw `bundled`, whose vectors have another width, so that it is their similarities that are
learnt. The encoder `small` itself was made this way (docs/domains.md), of 500,000 texts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import isotrope
from isotrope.text import bundled_sentences

STUDENT, TEACHER = "bundled", "small"


def main(text: str = "", output: str = "runs/distil", steps: str = "60") -> None:
    """Teach, then measure student, teacher and what came out side by side."""
    count = int(steps)
    run = isotrope.train(
        text or bundled_sentences(),
        "distil:similarities",
        model=STUDENT,
        output=output,
        steps=count,
        set={
            "distillation.teachers": [TEACHER],
            "training.learning_rate": 3e-4,
            "training.max_length": 32,
            "training.eval_steps": count,
            "training.save_steps": count,
        },
    )
    print(isotrope.evaluate([STUDENT, Path(output), TEACHER], tasks=["bundled"]))
    print(f"{sum(p.numel() for p in run.encoder.parameters()):,} parameters")


if __name__ == "__main__":
    main(*sys.argv[1:])
