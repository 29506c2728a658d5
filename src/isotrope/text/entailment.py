"""Entailment pairs and triplets out of NLI data: premise, hypothesis, and what the one says of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from isotrope.io.errors import IsotropeError
from isotrope.text.arrays import IntArray
from isotrope.text.corpus import LABELS, Corpus, build_corpus
from isotrope.text.sources import Source

PAIR = ("view1", "view2")  # as bsl reads them
TRIPLET = ("anchor", "positive", "negative")  # as simcse-sup and nli-finetune do
CHUNK_ROWS = 4096  # of texts that are in memory together


def read_nli(sources: Sequence[Source], folder: Path) -> Corpus:
    """The rows of NLI tables (`premise` or `sentence1`, `hypothesis` or `sentence2`, `label`) in an empty folder."""
    return build_corpus(sources, ("sentence1", "sentence2", "label"), folder)


def pair_rows(nli: Corpus) -> Iterator[list[tuple[str, ...]]]:
    """Premises and what they entail (paper 3, section 4.4), each pair once, in the data's order, some at a time."""
    (entailed,) = _rows(nli, "entailment")
    if not len(entailed):
        raise IsotropeError(f"{nli}: no pair in it is labelled entailment")
    yield from _texts(nli, (entailed, "sentence1"), (entailed, "sentence2"))


def triplet_rows(nli: Corpus) -> Iterator[list[tuple[str, ...]]]:
    """Premise, what it entails, and what it contradicts (paper 4, section 4.1; SimCSE), some at a time.

    Each entailed sentence is in one triplet, if its premise has any contradiction: the first with the first, the second
    with the second, and from the first again when there are fewer. SimCSE, too, has left out only pairs "without a
    corresponding hard example".
    """
    entailed, contradicted = _rows(nli, "entailment", "contradiction")
    premises = np.asarray(nli.keys[:, 0])
    order = np.argsort(premises[contradicted], kind="stable")
    grouped = premises[contradicted][order]
    begin = np.searchsorted(grouped, premises[entailed], "left")
    count = np.searchsorted(grouped, premises[entailed], "right") - begin
    has = count > 0
    if not has.any():
        raise IsotropeError(f"{nli}: no premise in it has both an entailment and a contradiction")
    entailed, begin, count, place = entailed[has], begin[has], count[has], _rank(premises[entailed])[has]
    negative = contradicted[order[begin + place % count]]
    yield from _texts(nli, (entailed, "sentence1"), (entailed, "sentence2"), (negative, "sentence2"))


def _rows(nli: Corpus, *labels: str) -> list[IntArray]:
    """For each label its rows. A pair of sentences counts once, by the first of these labels that it has."""
    starts = range(0, len(nli), CHUNK_ROWS)
    chunks = [nli.rows(range(start, min(start + CHUNK_ROWS, len(nli))))["label"] for start in starts]
    label = np.concatenate([np.array(chunk, dtype=np.int64) for chunk in chunks])
    asked = np.flatnonzero(np.isin(label, [LABELS[name] for name in labels]))
    _, first = np.unique(nli.keys[asked], axis=0, return_index=True)
    once = asked[np.sort(first)]
    return [once[label[once] == LABELS[name]] for name in labels]


def _rank(keys: IntArray) -> IntArray:
    """How many equal keys come before each, (rows,)."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    rank = np.empty_like(order)
    rank[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered, "left")
    return rank


def _texts(nli: Corpus, *columns: tuple[IntArray, str]) -> Iterator[list[tuple[str, ...]]]:
    """Rows put together from columns, each given by the corpus' rows and the name of the corpus' column."""
    for start in range(0, len(columns[0][0]), CHUNK_ROWS):
        parts = [nli.rows(rows[start : start + CHUNK_ROWS])[name] for rows, name in columns]
        yield list(zip(*parts, strict=True))
