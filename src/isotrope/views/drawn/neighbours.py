"""Neighbours: the other view of a sentence is a sentence near it (NNCLR, Dwibedi et al. 2021, arXiv 2104.14548).

    L_i = -log( exp(NN(z_i, Q) . z_i+ / tau) / sum_k exp(NN(z_i, Q) . z_k+ / tau) )
    NN(z, Q) = argmin_{q in Q} |z - q|

NNCLR looks for the neighbour in a queue of vectors that are being learnt. Here it is a text, found among all rows in
the space of a frozen encoder: it can be encoded anew, and a good encoder's neighbourhoods are what is learnt from.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from isotrope.encoders.frozen import START, FrozenModel
from isotrope.encoders.nearest import Floats, Ints, nearest
from isotrope.io.atomic import whole_or_nothing
from isotrope.text.sources import text_columns
from isotrope.views.drawn.base import Chance, Draw, DrawnText, Ground

NONE = -1  # fills up the neighbours of a row that has fewer


class Neighbours(DrawnText):
    """One of the `k` nearest sentences, drawn anew each time; the sentence itself where there is none.

    `mutual`: only those that have the sentence among their own k nearest. They are looked for in the space of `model`:
    "start", the encoder that the stage starts from, as saved, or a name or folder. With `recompute` they are looked for
    again every so many steps, by what the student has become. The same text elsewhere is no neighbour.
    """

    kind: Literal["neighbours"] = "neighbours"
    k: int = Field(default=5, ge=1)
    mutual: bool = True
    model: str = START
    recompute: int = Field(default=0, ge=0)
    alters: ClassVar[bool] = False
    other_rows: ClassVar[bool] = True

    @property
    def models(self) -> tuple[FrozenModel, ...]:
        """The one in whose space they are near."""
        return (FrozenModel(self.model),)

    def prepare(self, ground: Ground) -> Draw:
        """Looks for the neighbours, or finds them in the folder."""
        return _NeighbourOf(self, ground)


class _NeighbourOf(Draw):
    def __init__(self, spec: Neighbours, ground: Ground) -> None:
        self.spec, self.ground = spec, ground
        self.found_at = 0
        self.table = self._table(0)

    def at(self, step: int) -> None:
        """Takes the neighbours of this step's interval, looking for them where it begins."""
        every = self.spec.recompute
        begun = step - step % every if every else 0
        if begun != self.found_at:
            self.table, self.found_at = self._table(begun), begun

    def row(self, row: int, chance: Chance) -> int:
        """A neighbour's row."""
        there = [int(other) for other in self.table[row] if other != NONE]
        return chance.own.choice(there) if there else row

    def _table(self, step: int) -> Ints:
        """The neighbours (rows, k) as of a step, from disk: a resumed run sees the same."""
        file = self.ground.folder / f"neighbours-{step}.npy"
        with self.ground.main_first():
            if not file.is_file():
                self._write(file, step)
        table: Ints = np.load(file, mmap_mode="r")
        return table

    def _write(self, file: Path, step: int) -> None:
        ground = self.ground
        vectors = ground.vectors_now() if step else ground.vectors(*self.spec.models)
        keys = np.asarray(ground.corpus.keys[:, text_columns(ground.corpus.columns).index(ground.column)])
        table = neighbours_of(vectors, keys, self.spec.k, mutual=self.spec.mutual, left_out=ground.held_out)
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_or_nothing(file) as path, path.open("wb") as stream:
            np.save(stream, table)


def neighbours_of(vectors: Floats, keys: Ints, k: int, *, mutual: bool, left_out: frozenset[int] = frozenset()) -> Ints:
    """The rows (rows, k) of the k nearest of each row, by cosine, `NONE` where there are fewer.

    `keys` (rows,) are equal where texts are: each text counts once, by its first row. What is in `left_out` has
    neighbours and is none. Mutual neighbours lie within the distance of each other's k-th nearest.
    """
    rows = np.setdiff1d(np.arange(len(keys)), np.fromiter(left_out, np.int64, len(left_out)))
    _, first = np.unique(keys[rows], return_index=True)
    rows = np.sort(rows[first])  # one of each text
    found = nearest(vectors[rows], np.asarray(vectors), k + 1)  # itself is one of them, or the same text
    other, cosine = np.where(found.places < 0, NONE, rows[found.places]), found.cosines
    own = keys[np.maximum(other, 0)] == keys[:, None]
    order = np.argsort(own | (other == NONE), axis=1, kind="stable")[:, :k]  # those that are no neighbours behind
    other = np.take_along_axis(np.where(own, NONE, other), order, axis=1)
    cosine = np.take_along_axis(cosine, order, axis=1)
    if mutual:
        reach = np.where(other[:, -1] == NONE, -np.inf, cosine[:, -1])  # of each row's k-th nearest
        near = cosine >= reach[np.maximum(other, 0)] - ROUNDING
        other = np.where(near, other, NONE)
    return np.asarray(other, dtype=np.int64)


ROUNDING = 1e-6  # of a cosine that is computed from either side
