"""One encoder on one text, without labels: how its vectors lie, and what that means in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from isotrope.encoders import Encoder, ForeignEncoder
from isotrope.evaluation.correlation import cosines
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.geometry.frequency import REMOVED, Sensitivity, frequent_tokens, sensitivity
from isotrope.evaluation.geometry.measures import (
    Floats,
    alignment,
    effective_rank,
    iso_score,
    mean_cosine,
    partition_isotropy,
    spectrum,
    uniformity,
)
from isotrope.evaluation.label_free.related_texts import halves
from isotrope.io.errors import IsotropeError

FEWEST = 20  # sentences
SHIFTS = 10  # random pairs a sentence, for the picture
TOKENS = 12  # shown


@dataclass(frozen=True)
class Inspection:
    """What was found; `alignment` is that of the halves of long sentences, nan without any."""

    model: str
    dim: int
    sentences: int
    mean_cosine: float
    uniformity: float
    alignment: float
    halves: int
    effective_rank: float
    partition_isotropy: float
    iso_score: float
    spectrum: Floats  # (min(sentences, dim),)
    cosines: Floats  # of random pairs
    tokens: dict[str, float]  # the most frequent, with their share of all tokens; none without a tokenizer
    sensitivity: Sensitivity | None  # to the most frequent tokens; None where they can't be left out
    graded: Sensitivity | None  # the same on graded pairs

    def first(self, directions: int) -> float:
        """Share of the vectors' squared length in so many principal directions."""
        return float(self.spectrum[:directions].sum())


def inspect_encoder(
    encoder: Encoder | ForeignEncoder,
    sentences: Sequence[str],
    *,
    pairs: Pairs | None = None,
    removed: Sequence[int] = REMOVED,
    batch_size: int = 64,
) -> Inspection:
    """All figures of an encoder on distinct sentences in random order and, if given, on graded pairs."""
    if len(sentences) < FEWEST:
        raise IsotropeError(f"{len(sentences)} different sentences; at least {FEWEST} are needed")

    def encode(texts: Sequence[str]) -> Floats:
        return np.asarray(encoder.encode(list(texts), batch_size=batch_size), np.float64)

    vectors, parts = encode(sentences), halves(sentences)
    if not np.isfinite(vectors).all():
        raise IsotropeError(f"'{encoder.name}' gives vectors that are not numbers")
    whole = encoder if isinstance(encoder, Encoder) else None
    return Inspection(
        model=encoder.name,
        dim=encoder.dim,
        sentences=len(sentences),
        mean_cosine=mean_cosine(vectors),
        uniformity=uniformity(vectors),
        alignment=alignment(encode(parts.first), encode(parts.second)) if parts else math.nan,
        halves=len(parts),
        effective_rank=effective_rank(vectors),
        partition_isotropy=partition_isotropy(vectors),
        iso_score=iso_score(vectors),
        spectrum=spectrum(vectors),
        cosines=_random_cosines(vectors),
        tokens=_shares(whole, sentences) if whole else {},
        sensitivity=sensitivity(whole, sentences, removed) if whole else None,
        graded=sensitivity(whole, pairs, removed) if whole and pairs else None,
    )


def _random_cosines(vectors: Floats) -> Floats:
    some = vectors[vectors.any(1)]  # a vector of zeros has no direction
    return np.concatenate([cosines(some, np.roll(some, shift, 0)) for shift in range(1, SHIFTS + 1)])


def _shares(encoder: Encoder, sentences: Sequence[str]) -> dict[str, float]:
    counts = frequent_tokens(encoder, sentences)
    total = sum(counts.values())
    some = dict(islice(counts.items(), TOKENS))
    words: list[str] = encoder.tokenizer.convert_ids_to_tokens(list(some))
    return {word: count / total for word, count in zip(words, some.values(), strict=True)}


def reading(found: Inspection) -> list[str]:
    """The figures in plain words."""
    return [_of_cosine(found.mean_cosine), _of_directions(found), *_of_tokens(found.sensitivity, found.graded)]


def _of_cosine(cosine: float) -> str:
    if cosine > 0.5:
        return f"Every pair looks similar: two sentences picked at random have a mean cosine of {cosine:.2f}."
    if cosine > 0.2:
        return f"Sentences have a good deal in common: two picked at random have a mean cosine of {cosine:.2f}."
    return f"Sentences are kept apart: two picked at random have a mean cosine of {cosine:.2f}."


def _of_directions(found: Inspection) -> str:
    used = f"{found.effective_rank:.0f} of {found.dim} dimensions are in use"
    if found.first(1) > 0.5:
        return f"One direction, which all sentences share, holds {found.first(1):.0%} of their squared length; {used}."
    return f"No direction holds more than {found.first(1):.0%} of their squared length; {used}."


def _of_tokens(free: Sensitivity | None, graded: Sensitivity | None) -> list[str]:
    if free is None:
        return []
    changes = np.abs(np.subtract(free.mean_cosine, free.mean_cosine[0]))
    most = int(np.argmax(changes))
    weigh = "weigh heavily" if changes[most] > 0.1 else "have some weight" if changes[most] > 0.03 else "weigh little"
    without = f"{free.mean_cosine[most]:.2f} without the {free.removed[most]} most frequent"
    said = [f"Frequent tokens {weigh} in the average: mean cosine {free.mean_cosine[0]:.2f} with all, {without}."]
    if graded and graded.spearman:
        best = int(np.argmax(graded.spearman))
        said.append(
            f"Spearman x 100 is {graded.spearman[0]:.2f} with all tokens in the average and at best "
            f"{graded.spearman[best]:.2f}, without {graded.removed[best]}."
        )
    return said
