"""`compare`: whether a tuned encoder is better on somebody's own text, without labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.label_free.details import compare_details
from isotrope.evaluation.label_free.lineage import lineage
from isotrope.evaluation.label_free.moved_pairs import moved_pairs
from isotrope.evaluation.label_free.neighbourhoods import FEWEST as FEWEST_TEXTS
from isotrope.evaluation.label_free.neighbourhoods import compare_neighbourhoods
from isotrope.evaluation.label_free.related_texts import RelatedTexts, back_translations, halve, halves, read_rewordings
from isotrope.evaluation.label_free.sampling import SentenceSample
from isotrope.evaluation.label_free.verdict import figures_of, mrr_difference, unit
from isotrope.evaluation.models import Model, check_models, model_name, open_model
from isotrope.evaluation.protocols import SILENT, Display, SentenceEncoder
from isotrope.evaluation.results.printing import many
from isotrope.io.errors import IsotropeError
from isotrope.text.shaping import Shape, shaped_sentences

FEWEST = 50  # pairs


def compare(
    before: Model,
    after: Model,
    text: Any,
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    sentences: int = 1000,
    seed: int = 0,
    back_translate: bool = False,
    views: str | Path | None = None,
    batch_size: int = 64,
    device: str | None = None,
    precision: str | None = None,
    display: Display = SILENT,
) -> Comparison:
    """Says whether encoder `after` is better than `before` on a text, without labels.

    Args:
        before: A name, a model folder, the folder of a run, an `Encoder` or a `SentenceTransformer`.
        after: The other one.
        text: A file, or sentences in memory; whatever `isotrope.text.read_sentences` reads.
        column: The column that holds the sentences, if the text is a table.
        columns: Several columns: `"Subject,Body"` or a list; each is a text of its own, or with `join` they make one.
        join: What stands between the columns of a row: `". "`.
        strip_html: Takes HTML out of the text.
        sentences: How many sentences of the text are used, and how many pairs at most.
        seed: Another seed takes other sentences of a large text.
        back_translate: Whether back-translations, made on this machine, are sought too.
        views: A table with the columns `text` and `view1`, as `isotrope views` writes it, whose rewordings are sought.
        batch_size: Sentences at a time.
        device: `cpu`, `cuda`, `cuda:1`, `mps` ...; by default the fastest there is.
        precision: `float32` or `bfloat16`, for models that are loaded by name.
        display: Shows progress; by default nothing is shown.

    Returns:
        The comparison, with the verdict in words.

    >>> from isotrope.text import bundled_sentences
    >>> import isotrope
    >>> shallow = isotrope.load("bundled", pooling="max@0")
    >>> found = compare("bundled", shallow, bundled_sentences(), sentences=100)
    >>> found.judgement, sorted(found.differences)
    ('worse', ['halves'])
    """
    shown = str(text) if isinstance(text, str | Path) else "the given text"
    with display.waiting(f"Reading {shown}"):
        read = shaped_sentences(text, Shape.of(columns, join, strip_html, column=column), column)
        some, related = _drawn(read, sentences, seed)
        if views:
            related.append(read_rewordings(Path(views), sentences))
    check_models([before, after])
    if back_translate:
        related.append(back_translations(some, display))
    _usable(related, len(some))
    names = (model_name(before), model_name(after))
    with display.waiting(f"Loading {names[0]} and {names[1]}"):
        first, second = (open_model(model, device=device, precision=precision) for model in (before, after))
    with display.waiting(f"{names[0]} and {names[1]}: {many(len(some), 'sentence')}"):
        return compare_encoders(first, second, some, related, batch_size=batch_size, names=names, text=shown)


def compare_encoders(
    before: SentenceEncoder,
    after: SentenceEncoder,
    sentences: list[str],
    related: Sequence[RelatedTexts],
    *,
    batch_size: int = 64,
    names: tuple[str, str] = ("before", "after"),
    text: str = "the given text",
) -> Comparison:
    """Two encoders on the same distinct sentences, in random order, and the same pairs."""
    usable = _usable(related, len(sentences))
    vectors = [np.asarray(encoder.encode(sentences, batch_size=batch_size)) for encoder in (before, after)]
    first, second = (
        figures_of(encoder, own, usable, batch_size=batch_size)
        for encoder, own in zip((before, after), vectors, strict=True)
    )
    closer, apart = moved_pairs(sentences, unit(vectors[0]), unit(vectors[1]))
    differences = {pairs.kind: mrr_difference(first.ranks[pairs.kind], second.ranks[pairs.kind]) for pairs in usable}
    together = details = None
    if came := lineage(after, before):
        together = compare_neighbourhoods(vectors[0], vectors[1], sentences, came)
        details = compare_details((before, after), vectors, sentences, batch_size=batch_size)
    return Comparison(first, second, differences, closer, apart, together, names, text, len(sentences), details)


def _usable(related: Sequence[RelatedTexts], sentences: int) -> list[RelatedTexts]:
    """The kinds of which there are enough pairs. Phrases have no halves: for them neighbourhoods are enough."""
    usable = [pairs for pairs in related if len(pairs) >= FEWEST]
    if not usable and sentences < FEWEST_TEXTS:
        there = " and ".join(f"{len(pairs)} pairs of {pairs.kind}" for pairs in related)
        raise IsotropeError(
            f"the text has only {many(sentences, 'sentence')} and {there}; a verdict needs at least {FEWEST_TEXTS} "
            f"sentences, or {FEWEST} pairs of one kind"
        )
    return usable


def _drawn(read: Iterable[str], size: int, seed: int) -> tuple[list[str], list[RelatedTexts]]:
    """Sentences of the text, and the halves of long ones; the text is read once."""
    some, long = SentenceSample(size, seed), SentenceSample(size, seed)
    for sentence in read:
        some.add(sentence)
        if halve(sentence):
            long.add(sentence)
    return some.sentences, [halves(long.sentences)]
