"""Tatoeba: is the sentence nearest to a translation the one that was translated?

For each sentence the nearest by cosine is sought among the English sides of the same language, and for each English
side among the sentences; the figure of a language is the mean of both accuracies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.data.bitexts import Bitext, load_tatoeba
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.evaluation.ranking import unit_rows
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, PartedSpec, Task
from isotrope.evaluation.vectors import Vectors

QUERIES_AT_ONCE = 1024  # rows of the matrix of cosines


class Tatoeba(PartedSpec):
    """Translations among a thousand others, by accuracy in both directions. `part` is a language: `deu` or `de`."""

    kind: str = "tatoeba"

    heading = "Tatoeba"
    suites = ("multilingual",)
    metrics = ("accuracy",)

    def open(self, data: Path | None = None) -> Task:
        """The sentences of the language, or of all languages."""
        return TatoebaTask(self, load_tatoeba(self.part, data=data))


class TatoebaTask(Task):
    """The mean over the languages of the accuracy in both directions."""

    def __init__(self, spec: Tatoeba, bitexts: Mapping[str, Bitext]) -> None:
        sides = [side for bitext in bitexts.values() for side in zip(bitext.texts, bitext.english, strict=True)]
        super().__init__(spec, f"{len(sides):,} pairs", (text for side in sides for text in side))
        self.bitexts = bitexts

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Each pair is an item that counts for both of its directions."""
        found = evaluate_tatoeba(vectors, self.bitexts, batch_size=batch_size)
        samples = (Sample("mean", (one.to_english + 1.0 * one.from_english) / 2) for one in found.languages.values())
        return Outcome({"accuracy": Figure(found.accuracy, tuple(samples))}, found.as_json())


@dataclass(frozen=True)
class Matches:
    """Which sentences of a language found their English side, and which English sides their sentence: both (pairs,)."""

    to_english: NDArray[np.bool_]
    from_english: NDArray[np.bool_]

    @property
    def accuracy(self) -> float:
        """The mean of both directions, x 100."""
        return 100 * float(self.to_english.mean() + self.from_english.mean()) / 2


@dataclass(frozen=True)
class Retrieval:
    """What was found in each language."""

    languages: dict[str, Matches]

    @property
    def accuracy(self) -> float:
        """The plain mean over the languages, x 100."""
        return float(np.mean([found.accuracy for found in self.languages.values()]))

    def as_json(self) -> dict[str, Any]:
        """`{"accuracy": ..., "pairs": ..., "languages": {"deu": {"to_english": ..., "from_english": ...}}}`."""
        languages = {
            name: {
                "to_english": round(100 * float(found.to_english.mean()), 2),
                "from_english": round(100 * float(found.from_english.mean()), 2),
                "pairs": len(found.to_english),
            }
            for name, found in self.languages.items()
        }
        pairs = sum(len(found.to_english) for found in self.languages.values())
        return {"accuracy": round(self.accuracy, 2), "pairs": pairs, "languages": languages}


def evaluate_tatoeba(encoder: SentenceEncoder, bitexts: Mapping[str, Bitext], *, batch_size: int = 64) -> Retrieval:
    """Retrieval both ways in each language."""
    return Retrieval(
        {
            language: find_both_ways(
                encoder.encode(bitext.texts, batch_size=batch_size),
                encoder.encode(bitext.english, batch_size=batch_size),
                bitext,
            )
            for language, bitext in bitexts.items()
        }
    )


def find_both_ways(x: NDArray[Any], y: NDArray[Any], bitext: Bitext) -> Matches:
    """The vectors of the sentences and of their English sides, both (pairs, dim) -> which find each other."""
    x, y = unit_rows(x), unit_rows(y)
    return Matches(_matches(x, y, bitext.english), _matches(y, x, bitext.texts))


def _matches(queries: NDArray[Any], candidates: NDArray[Any], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether the candidate nearest to each query is its own, or one of the same text."""
    nearest_ones = np.concatenate(
        [
            np.argmax(queries[start : start + QUERIES_AT_ONCE] @ candidates.T, axis=1)
            for start in range(0, len(queries), QUERIES_AT_ONCE)
        ]
    )
    same = np.array([texts[i] == texts[row] for row, i in enumerate(nearest_ones)])
    found: NDArray[np.bool_] = same & queries.any(axis=1)  # a vector of zeros is nowhere, so near to nothing
    return found
