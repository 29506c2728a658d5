"""A hundred graded pairs: which pairs to grade, how to write them down, what to do with them.

    python examples/tutorials/grading.py [TEXT] [OUTPUT] [PAIRS]

Asks for grades from 0 (nothing to do with each other) to 5 (the same); an empty line ends it. Run again, it goes on
where it was.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

import isotrope
from isotrope.text import bundled_sentences, read_sentences

MODELS = ("small", "bundled")  # two that may disagree: before and after tuning, say


def worth_grading(texts: list[str], count: int) -> list[tuple[str, str]]:
    """Near pairs of either model, those first on whose rank the two disagree most: there a grade says most."""
    near = {pair.rows for model in MODELS for pair in isotrope.paraphrases(texts, model, most=2 * count).pairs}
    pairs = sorted(near)
    ranks = []
    for model in MODELS:
        vectors = isotrope.load(model).encode(texts, normalize_embeddings=True)
        cosines = np.array([vectors[i] @ vectors[j] for i, j in pairs])
        ranks.append(cosines.argsort().argsort())
    order = np.argsort(-abs(ranks[0] - ranks[1]), kind="stable")[:count]
    return [(texts[pairs[k][0]], texts[pairs[k][1]]) for k in order]


def grade(pairs: list[tuple[str, str]], file: Path) -> int:
    """Asks, and writes each answer down at once; those that the file has are not asked again."""
    done = list(csv.DictReader(file.open(encoding="utf-8", newline=""))) if file.exists() else []
    known = {(row["sentence1"], row["sentence2"]) for row in done}
    with file.open("a", encoding="utf-8", newline="") as opened:
        rows = csv.writer(opened)
        if not done:
            rows.writerow(["score", "sentence1", "sentence2"])
        for first, second in (pair for pair in pairs if pair not in known):
            answer = input(f"\n{first}\n{second}\n0-5? ").strip()
            if not answer:
                break
            rows.writerow([float(answer), first, second])
            opened.flush()
            known.add((first, second))
    return len(known)


def main(text: str = "", output: str = "runs/grading", pairs: str = "100") -> None:
    """Grade, then measure by the grades, and choose the best checkpoint of a run by them."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    texts = list(read_sentences(text)) if text else bundled_sentences()
    file = folder / "graded.csv"
    print(f"{grade(worth_grading(texts, int(pairs)), file)} pairs graded, in {file}")
    print(isotrope.evaluate(MODELS, pairs=file))  # which of the two is better, with intervals
    print(f"Now: isotrope train TEXT --recipe consert:gentle --model small --dev {file} --output runs/mine")


if __name__ == "__main__":
    main(*sys.argv[1:])
