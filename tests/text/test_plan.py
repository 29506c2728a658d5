from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text import epochs as epochs_module
from isotrope.text.corpus import Corpus, build_corpus
from isotrope.text.epochs import _Batches, _repeats
from isotrope.text.permutation import permuted
from isotrope.text.plan import Plan, for_process, plan_batches

PAIR = ("sentence1", "sentence2")


def sentences(folder: Path, texts: list[str]) -> Corpus:
    return build_corpus([texts], ("text",), folder)


def batches(plan: Plan) -> list[list[int]]:
    return [plan[k].tolist() for k in range(len(plan))]


def test_without_duplicates_the_plan_is_the_order_cut_into_batches(tmp_path: Path) -> None:
    corpus = sentences(tmp_path, [f"Sentence {i}." for i in range(103)])
    plan = plan_batches(corpus, batch_size=10, epochs=3, seed=5)
    assert len(plan) == 30
    expected = [permuted(0, 103, 103, 5, epoch)[:100].reshape(10, 10) for epoch in range(3)]
    assert batches(plan) == np.concatenate(expected).tolist()
    assert [plan.epoch_of(k) for k in (0, 9, 10, 19, 20, 29)] == [0, 0, 1, 1, 2, 2]


def test_the_same_again_and_another_by_seed(tmp_path: Path) -> None:
    corpus = sentences(tmp_path, [f"Sentence {i % 80}." for i in range(100)])
    first = batches(plan_batches(corpus, batch_size=8, epochs=2, seed=1))
    assert batches(plan_batches(corpus, batch_size=8, epochs=2, seed=1)) == first
    assert batches(plan_batches(corpus, batch_size=8, epochs=2, seed=2)) != first
    longer = plan_batches(corpus, batch_size=8, steps=2 * len(first), seed=1)
    assert batches(longer)[: len(first)] == first  # a longer run begins as the shorter one did


def test_steps_take_as_many_epochs_as_they_need(tmp_path: Path) -> None:
    corpus = sentences(tmp_path, [f"Sentence {i}." for i in range(25)])

    def planned(**length: Any) -> tuple[int, int]:
        plan = plan_batches(corpus, batch_size=10, seed=1, **length)
        return len(plan), plan.epoch_of(len(plan) - 1)

    assert planned(steps=1) == (1, 0)
    assert planned(steps=7, epochs=1) == (7, 3)
    assert planned() == (2, 0)
    assert planned(epochs=1.5) == (3, 1)
    assert planned(epochs=0.1) == (1, 0)
    assert planned(epochs=2, drop_last=False) == (6, 1)


@pytest.mark.parametrize("repeated", [False, True])
def test_a_billion_steps_are_planned_at_once(tmp_path: Path, repeated: bool) -> None:
    """And batch k of a resumed run is that of the first: nothing is kept but what the text and the seed say."""
    texts = [f"Sentence {i % 40 if repeated else i}." for i in range(103)]
    plan = plan_batches(sentences(tmp_path, texts), batch_size=10, steps=10**9, seed=5)
    assert len(plan) == 10**9
    resumed = pickle.loads(pickle.dumps(plan))
    assert resumed[777].tolist() == [plan[k].tolist() for k in range(778)][-1]
    assert resumed.epoch_of(777) == plan.epoch_of(777) > 70
    if not repeated:
        assert plan.epoch_of(10**9 - 1) == 10**8 - 1
        assert plan[10**9 - 1].tolist() == permuted(0, 103, 103, 5, 10**8 - 1)[90:100].tolist()


def test_what_is_left_of_an_epoch_comes_in_a_smaller_batch(tmp_path: Path) -> None:
    corpus = sentences(tmp_path, [f"Sentence {i}." for i in range(25)])
    plan = plan_batches(corpus, batch_size=10, epochs=2, seed=1, drop_last=False)
    assert [len(batch) for batch in batches(plan)] == [10, 10, 5] * 2


def test_rows_held_out_never_come(tmp_path: Path) -> None:
    corpus = sentences(tmp_path, [f"Sentence {i}." for i in range(25)])
    held_out = [3, 7, 24]
    plan = plan_batches(corpus, batch_size=4, epochs=2, seed=1, drop_last=False, held_out=held_out)
    assert len(plan) == 12
    for epoch in (batches(plan)[:6], batches(plan)[6:]):
        assert sorted(row for batch in epoch for row in batch) == sorted(set(range(25)) - set(held_out))


def naive(keys: list[int], batch_size: int, rows: list[int]) -> list[set[int]]:
    """The rule in one loop: those that wait first, then those that come; who meets an equal waits."""
    done, waiting, stream = [], [], list(rows)
    while waiting or stream:
        batch: dict[int, int] = {}
        still = []
        for row in waiting:
            if keys[row] in batch or len(batch) == batch_size:
                still.append(row)
            else:
                batch[keys[row]] = row
        while stream and len(batch) < batch_size:
            row = stream.pop(0)
            if keys[row] in batch:
                still.append(row)
            else:
                batch[keys[row]] = row
        waiting = still
        done.append({keys[row] for row in batch.values()})
    return done


@settings(deadline=None)
@given(
    keys=st.lists(st.integers(0, 30), min_size=1, max_size=120), batch_size=st.integers(1, 9), chunk=st.integers(1, 40)
)
def test_batches_follow_the_naive_rule(keys: list[int], batch_size: int, chunk: int) -> None:
    """With one text a row, the naive loop and the fast path put the same texts into the same batches."""
    filler = _Batches(np.array(keys)[:, None], batch_size)
    blocks = [block for at in range(0, len(keys), chunk) for block in filler.put(np.arange(len(keys))[at : at + chunk])]
    found = [set(batch[batch >= 0].tolist()) for block in [*blocks, *filler.rest(False)] for batch in block]
    assert [{keys[row] for row in batch} for batch in found] == naive(keys, batch_size, list(range(len(keys))))
    assert sorted(row for batch in found for row in batch) == list(range(len(keys)))


@given(rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30), reach=st.integers(1, 9))
def test_repeats_are_rows_with_an_equal_text_near_before_them(rows: list[tuple[int, int]], reach: int) -> None:
    near = [
        at for at, row in enumerate(rows) if {*row} & {text for b in rows[max(0, at - reach + 1) : at] for text in b}
    ]
    assert _repeats(np.array(rows), reach).tolist() == near


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=6, max_size=150),
    batch_size=st.integers(2, 6),
    seed=st.integers(0, 5),
    drop_last=st.booleans(),
    chunk=st.integers(5, 200),
)
def test_no_text_is_twice_in_a_batch_and_no_row_is_lost(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[int, int]],
    batch_size: int,
    seed: int,
    drop_last: bool,
    chunk: int,
) -> None:
    """In any column: `a` first in one row and second in another is a repeat; twice in the same row is none."""
    folder = tmp_path_factory.mktemp("plan")
    rows = [{"sentence1": f"s{a}", "sentence2": f"s{b}"} for a, b in [*pairs, *((100 + i, 100 + i) for i in range(6))]]
    corpus = build_corpus([rows], PAIR, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epochs_module, "CHUNK_ROWS", chunk)
        plan = plan_batches(corpus, batch_size=batch_size, epochs=2, seed=seed, drop_last=drop_last)
        found = batches(plan)
        epochs = [plan.epoch_of(k) for k in range(len(plan))]
        backwards = [plan[k].tolist() for k in reversed(range(len(plan)))]
    assert backwards[::-1] == found
    for batch in found:
        texts = [text for row in batch for text in set(rows[row].values())]
        assert len(texts) == len(set(texts))
        assert len(batch) == batch_size or not drop_last
    for epoch in (0, 1):
        seen = [row for k, batch in enumerate(found) if epochs[k] == epoch for row in batch]
        assert len(seen) == len(set(seen))
        assert drop_last or sorted(seen) == list(range(len(rows)))


def test_many_identical_rows_shrink_the_epoch_and_nothing_else(tmp_path: Path) -> None:
    """40% of the rows are one sentence: each batch has it once, and the epoch ends with the other sentences."""
    corpus = sentences(tmp_path, ["Same."] * 400 + [f"Sentence {i}." for i in range(600)])
    plan = plan_batches(corpus, batch_size=16, seed=1)
    assert len(plan) == 600 // 15
    assert all(sum(row < 400 for row in batch) == 1 for batch in batches(plan))


def test_a_million_rows_take_seconds(tmp_path: Path) -> None:
    """Twice: all different, and each text three times. Processor time, so that a busy machine is no failure."""
    for copies, folder in ((1, tmp_path / "1"), (3, tmp_path / "3")):
        folder.mkdir()
        keys = np.random.default_rng(1).permutation(np.arange(1_000_000) // copies)[:, None]
        corpus: Any = _Keys(keys)
        start = time.process_time()
        plan = plan_batches(corpus, batch_size=512, seed=1)
        assert time.process_time() - start < 3
        assert len(plan) == 1953
        assert all(len(np.unique(keys[plan[k]])) == 512 for k in range(0, 1953, 50))


class _Keys:
    """As much of a corpus as a plan reads: a million real ones take long to write."""

    columns = ("text",)

    def __init__(self, keys: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        self.keys = keys
        self.counts = type("Counts", (), {"distinct": len(np.unique(keys))})

    def __len__(self) -> int:
        return len(self.keys)


def test_a_plan_reopens_in_another_process(tmp_path: Path) -> None:
    corpus = sentences(tmp_path, [f"Sentence {i}." for i in range(2000)])
    plan = plan_batches(corpus, batch_size=10, epochs=2, seed=1)
    again = pickle.loads(pickle.dumps(plan))
    assert len(pickle.dumps(plan)) < 1000
    assert batches(again) == batches(plan)
    assert again.epoch_of(250) == 1


# -- several processes -------------------------------------------------------------------------------------------------


@given(share=st.integers(1, 20), world=st.integers(1, 8))
def test_processes_share_a_batch_in_order(share: int, world: int) -> None:
    batch = np.arange(share * world) * 7
    parts = [for_process(batch, rank, world) for rank in range(world)]
    assert {len(part) for part in parts} == {share}
    assert np.concatenate(parts).tolist() == batch.tolist()


def test_a_batch_that_cannot_be_shared_equally_is_refused() -> None:
    with pytest.raises(IsotropeError, match=r"batch of 10 can't be shared equally by 4 .* a multiple of 4"):
        for_process(np.arange(10), 0, 4)


# -- too little text ---------------------------------------------------------------------------------------------------


def test_too_little_text_is_told_with_what_to_do(tmp_path: Path) -> None:
    def refused(texts: list[str], batch_size: int) -> str:
        with pytest.raises(IsotropeError) as caught:
            plan_batches(sentences(tmp_path, texts), batch_size=batch_size, seed=1)
        return str(caught.value)

    few = refused([f"Sentence {i}." for i in range(12)], 64)
    assert few.endswith("has 12 sentences, batch_size is 64: give more text or --set training.batch_size=12")
    assert "contrastive learning needs two" in refused(["Same."] * 100, 4)
    repeated = refused([f"Sentence {i % 3}." for i in range(100)], 4)
    assert "no 4 of its 100 sentences are all different (distinct: 3)" in repeated


def test_too_few_pairs_are_called_pairs(tmp_path: Path) -> None:
    rows = [{"sentence1": f"a{i}", "sentence2": f"b{i}"} for i in range(3)]
    with pytest.raises(IsotropeError, match=r"^the corpus \(the given text\) has 3 pairs, batch_size is 4"):
        plan_batches(build_corpus([rows], PAIR, tmp_path), batch_size=4, seed=1)
