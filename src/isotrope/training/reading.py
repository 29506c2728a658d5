"""What the views of a stage read of some rows: the text as it stands, or what is drawn of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch

from isotrope.encoders import Encoder
from isotrope.encoders.nearest import Floats
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus
from isotrope.training.frozen import FrozenEncoders, vectors_of_column
from isotrope.training.processes import main_process_first
from isotrope.training.teacher_cache import encoded
from isotrope.views.drawn import Chance, Draw, Ground

Draws: TypeAlias = Mapping[tuple[str, str], Draw]  # by view and column, of those views whose text is drawn
TokenIds: TypeAlias = Callable[[Encoder, str, str], list[list[int]]]  # as an encoder reads a view's column


def prepare_draws(
    stage: Stage,
    corpus: Corpus,
    held_out: Sequence[int],
    student: Encoder,
    encoders: FrozenEncoders,
    folder: Path,
) -> Draws:
    """What draws the texts of each view; what it has to compute first lies in `folder`."""
    views = {name: getattr(stage.views, name) for name in stage.reads}
    encoder = student.with_pooling(stage.pooling.evaluation)

    def ground(name: str, column: str) -> Ground:
        return Ground(
            view=name,
            column=column,
            corpus=corpus,
            held_out=frozenset(held_out),
            encoder=encoder,
            folder=folder / f"draw-{name}-{column}",
            vectors=lambda model: vectors_of_column(stage, corpus, column, encoders, model, folder).vectors,
            vectors_now=lambda: _vectors_now(stage, corpus, column, encoder),
            main_first=main_process_first,
        )

    return {
        (name, column): view.draw.prepare(ground(name, column))
        for name, view in views.items()
        if not view.draw.fixed
        for column in view.columns
    }


def _vectors_now(stage: Stage, corpus: Corpus, column: str, encoder: Encoder) -> Floats:
    """What an encoder that learns makes of a column at this moment, (rows, dim)."""
    size, was_training = stage.training.batch_size, encoder.backbone.training
    encoder.eval()
    blocks = (range(start, start + size) for start in range(0, len(corpus), size))
    vectors = [encoded(corpus, column, rows, encoder, stage.training.max_length) for rows in blocks]
    encoder.train(was_training)
    return np.concatenate(vectors)


class Reading:
    """Some rows of the corpus as each view reads them.

    The generator, which is the batch's own, gives one number, and only where something is drawn.
    """

    def __init__(self, corpus: Corpus, rows: Sequence[int], draws: Draws, generator: torch.Generator) -> None:
        self.corpus, self.given, self.draws = corpus, list(rows), draws
        self.texts = corpus.rows(rows)
        self.number = int(torch.randint(2**62, (), generator=generator)) if draws else 0

    def rows(self, view: str, column: str) -> list[int]:
        """The rows that are read, of which others' vectors may be looked up."""
        draw = self.draws.get((view, column))
        return self.given if draw is None else [draw.row(row, self._chance(row, view)) for row in self.given]

    def ids(self, encoder: Encoder, view: str, column: str, longest: int | None) -> list[list[int]]:
        """Token ids of each sentence; `view` may also be what is no view: hard negatives, labelled texts."""
        draw = self.draws.get((view, column))
        if draw is None:
            return encoder.tokenize(self.texts[column], longest)
        chances = [self._chance(row, view) for row in self.given]
        others = [draw.row(row, chance) for row, chance in zip(self.given, chances, strict=True)]
        texts = self.texts[column] if others == self.given else self.corpus.rows(others)[column]
        drawn = [draw.text(text, chance) for text, chance in zip(texts, chances, strict=True)]
        ids = encoder.tokenize(drawn, longest)
        return [draw.tokens(one, encoder, chance) for one, chance in zip(ids, chances, strict=True)]

    def _chance(self, row: int, view: str) -> Chance:
        return Chance.of(self.number, row, view)
