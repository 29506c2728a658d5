"""Sentences and graded pairs that come with the package (CC0), so that everything can be tried without a network."""

from __future__ import annotations

from pathlib import Path

from isotrope.text.sources import read_sentences

FOLDER = Path(__file__).parent


def bundled_sentences() -> list[str]:
    """Plain sentences of many kinds: captions, news, questions, definitions, reviews, instructions."""
    return list(read_sentences(FOLDER / "sentences.tsv", "text"))


def bundled_pairs_path() -> Path:
    """The table of pairs graded 0 to 5: split, genre, score, sentence1, sentence2."""
    return FOLDER / "pairs.tsv"
