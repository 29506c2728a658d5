"""Texts drawn at each batch: by the batch and the row alone, from the rows that were chosen, before a run prepared."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotrope
from isotrope import recipes
from isotrope.text.corpus import Corpus, build_corpus
from isotrope.text.plan import plan_batches
from isotrope.training.batches import StageBatches
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.reading import Reading, prepare_draws
from isotrope.views.drawn import Chance, Draw, DrawnText, Ground

from .loops import TEXTS

DOCUMENTS = [" ".join(TEXTS[5 * k : 5 * k + 5]) for k in range(40)]
CROPS = {"views.first.draw": {"kind": "crop"}, "views.second.draw": {"kind": "crop", "size": 2}}
FEW = {"training.batch_size": 8, "training.steps": 6, "training.max_length": 64}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return build_corpus([DOCUMENTS], ("text",), tmp_path / "corpus")


def batches(corpus: Corpus, settings: dict[str, Any], *, rank: int = 0, world: int = 1) -> StageBatches:
    stage = recipes.load("simcse", FEW | settings).stages[0]
    encoder = isotrope.load("bundled")
    plan = plan_batches(corpus, batch_size=8, steps=6, seed=1)
    draws = prepare_draws(stage, corpus, (), encoder, FrozenEncoders(encoder), corpus.folder)
    return StageBatches(corpus, plan, stage, encoder, encoder, draws=draws, rank=rank, world=world)


def sentences(item: dict[str, Any], view: str) -> list[list[int]]:
    batch = item[view]
    pieces = torch.split(batch.input_ids.flatten()[batch.token_index], batch.lengths.tolist())
    return [piece.tolist() for piece in pieces]


def test_a_batch_is_the_same_each_time_and_no_other_is(corpus: Corpus) -> None:
    mine = batches(corpus, CROPS)
    assert sentences(mine[2], "first") == sentences(batches(corpus, CROPS)[2], "first")
    assert sentences(mine[2], "first") != sentences(mine[2], "second")
    whole = batches(corpus, {})[2]
    assert whole["first"] is whole["second"]  # what is not drawn is laid out once
    rows = mine.plan[2].tolist()
    one, other = (mine.item(rows, torch.Generator().manual_seed(seed)) for seed in (1, 2))
    assert sentences(one, "first") != sentences(other, "first")


def test_several_processes_draw_what_one_does(corpus: Corpus) -> None:
    whole = sentences(batches(corpus, CROPS)[1], "second")
    shares = [sentences(batches(corpus, CROPS, rank=rank, world=2)[1], "second") for rank in (0, 1)]
    assert whole == [*shares[0], *shares[1]]


def test_what_is_not_drawn_takes_nothing_from_the_generator(corpus: Corpus) -> None:
    generator = torch.Generator().manual_seed(3)
    Reading(corpus, [0, 1], {}, generator)
    assert torch.equal(generator.get_state(), torch.Generator().manual_seed(3).get_state())


class Farther(DrawnText):
    """The text of a row further down, by numbers that are computed before training."""

    kind: str = "farther"
    alters = False

    def prepare(self, ground: Ground) -> Draw:
        ground.folder.mkdir(parents=True, exist_ok=True)
        file = ground.folder / "rows.npy"
        if not file.is_file():
            vectors = ground.encoder.encode(ground.corpus.rows(range(len(ground.corpus)))[ground.column])
            np.save(file, vectors @ vectors.T)
        return _Farther(np.load(file), ground.held_out)


class _Farther(Draw):
    def __init__(self, alike: Any, held_out: frozenset[int]) -> None:
        self.rows = [[r for r in row.argsort().tolist() if r not in held_out] for row in alike]

    def row(self, row: int, chance: Chance) -> int:
        return int(chance.own.choice(self.rows[row][:5]))


def test_a_draw_may_prepare_itself_and_read_other_rows(corpus: Corpus) -> None:
    stage = recipes.load("simcse", {"views.second.draw": {"kind": Farther}}).stages[0]
    encoder = isotrope.load("bundled")
    draws = prepare_draws(stage, corpus, [3], encoder, FrozenEncoders(encoder), corpus.folder)
    assert (corpus.folder / "draw-second-text" / "rows.npy").is_file()
    reading = Reading(corpus, [0, 1, 2], draws, torch.Generator())
    rows = reading.rows("second", "text")
    assert rows == reading.rows("second", "text")
    assert not {3, *range(3)} & set(rows) or rows != [0, 1, 2]
    assert reading.ids(encoder, "second", "text", 32) == encoder.tokenize(corpus.rows(rows)["text"], 32)
    assert reading.rows("first", "text") == [0, 1, 2]
    assert reading.ids(encoder, "first", "text", 32) == encoder.tokenize(corpus.rows([0, 1, 2])["text"], 32)


def test_a_function_from_python_and_what_is_written_down(tmp_path: Path) -> None:
    def first_words(text: str, *, chance: random.Random, most: int = 4) -> str:
        return " ".join(text.split()[: chance.randint(1, most)])

    run = isotrope.train(
        DOCUMENTS,
        "simcse",
        output=tmp_path / "run",
        steps=2,
        set={"training.batch_size": 4, "views.second.draw": {"kind": first_words, "most": 3}},
    )
    assert run.steps == 2
    assert "most = 3" in recipes.to_toml(run.recipe)
