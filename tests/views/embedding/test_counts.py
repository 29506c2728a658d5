"""Every view, packed and padded: exact counts for each sentence, and how chance falls."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from isotrope.views.embedding.dropout import Dropout
from isotrope.views.embedding.feature_cutoff import FeatureCutoff
from isotrope.views.embedding.shuffle import Shuffle
from isotrope.views.embedding.span_cutoff import SpanCutoff
from isotrope.views.embedding.token_cutoff import TokenCutoff

from .layouts import ALL, DIM, DRAWING, layouts, places, zeroed

quick = settings(max_examples=40, deadline=None)
lengths = st.lists(st.integers(1, 24), min_size=1, max_size=12)
rates = st.floats(0, 1, exclude_max=True)
roundings = st.sampled_from(["down", "nearest"])
seeds = st.integers(0, 2**16)


def both(view, sizes: list[int], seed: int) -> list[Tensor]:
    """`zeroed`, which must be the same packed and padded."""
    packed, padded = (zeroed(view, batch, seed) for batch in layouts(sizes))
    assert all(torch.equal(a, b) for a, b in zip(packed, padded, strict=True))
    return packed


def consecutive(numbers: list[int]) -> bool:
    return numbers == [numbers[0] + i for i in range(len(numbers))]


def rounded(number: float, rounding: str) -> int:
    return int(number) if rounding == "down" else round(number)


# -- counts, for every sentence ----------------------------------------------------------------------------------------


def test_the_layouts_compared_here_do_differ() -> None:
    packed, padded = layouts([24, 3, 9, 5, 17])
    assert packed.packed
    assert not padded.packed


@quick
@given(lengths, rates, roundings, st.booleans(), seeds)
def test_token_cutoff_zeroes_its_exact_share_of_whole_tokens(
    sizes: list[int], rate: float, rounding: str, specials: bool, seed: int
) -> None:
    for cut, n in zip(
        both(TokenCutoff(rate=rate, specials=specials, rounding=rounding), sizes, seed), sizes, strict=True
    ):
        tokens = cut.any(1)
        assert torch.equal(tokens, cut.all(1))
        assert int(tokens.sum()) == rounded((n if specials else max(n - 2, 0)) * rate, rounding)
        assert specials or not (tokens[0] or tokens[-1])


@quick
@given(lengths, rates, roundings, seeds)
def test_feature_cutoff_zeroes_its_exact_share_of_whole_columns(
    sizes: list[int], rate: float, rounding: str, seed: int
) -> None:
    for cut in both(FeatureCutoff(rate=rate, rounding=rounding), sizes, seed):
        columns = cut.any(0)
        assert torch.equal(columns, cut.all(0))
        assert int(columns.sum()) == rounded(DIM * rate, rounding)


@quick
@given(lengths, rates, roundings, st.booleans(), seeds)
def test_span_cutoff_zeroes_neighbours(sizes: list[int], rate: float, rounding: str, specials: bool, seed: int) -> None:
    for cut, n in zip(
        both(SpanCutoff(rate=rate, specials=specials, rounding=rounding), sizes, seed), sizes, strict=True
    ):
        where = cut.any(1).nonzero().flatten().tolist()
        assert torch.equal(cut.any(1), cut.all(1))
        assert len(where) == rounded((n if specials else max(n - 2, 0)) * rate, rounding)
        assert consecutive(where)
        assert specials or not {0, n - 1} & set(where)


@quick
@given(lengths, rates, roundings, st.booleans(), seeds)
def test_span_cutoff_that_keeps_zeroes_all_but_neighbours(
    sizes: list[int], rate: float, rounding: str, specials: bool, seed: int
) -> None:
    view = SpanCutoff(rate=rate, specials=specials, rounding=rounding, keep=True)
    for cut, n in zip(both(view, sizes, seed), sizes, strict=True):
        free = range(n) if specials else range(1, n - 1)
        kept = [i for i in free if not cut[i].any()]
        assert len(kept) == min(max(rounded(len(free) * (1 - rate), rounding), 1), len(free))
        assert consecutive(kept)
        assert specials or not cut[[0, -1]].any()


@quick
@given(lengths, rates, seeds)
def test_exact_dropout_zeroes_its_exact_share_of_elements(sizes: list[int], rate: float, seed: int) -> None:
    for cut, n in zip(both(Dropout(rate=rate, exact=True), sizes, seed), sizes, strict=True):
        assert int(cut.sum()) == int(n * DIM * rate)


@quick
@given(lengths, rates, seeds)
def test_ordinary_dropout_is_the_same_packed_and_padded(sizes: list[int], rate: float, seed: int) -> None:
    both(Dropout(rate=rate), sizes, seed)


@quick
@given(lengths, st.booleans(), st.booleans(), st.integers(0, 3), seeds)
def test_shuffle_permutes_the_positions_of_each_sentence(
    sizes: list[int], specials: bool, offset: bool, first: int, seed: int
) -> None:
    view = Shuffle(specials=specials, offset=offset)
    packed, padded = (places(view, batch, seed, first) for batch in layouts(sizes))
    assert packed == padded
    for found, n in zip(packed, sizes, strict=True):
        begin = first if offset else 0
        assert sorted(found) == list(range(begin, begin + n))
        assert specials or (found[0], found[-1]) == (begin, begin + n - 1)


@pytest.mark.parametrize("view", [view for view in ALL if not isinstance(view, Shuffle)], ids=str)
def test_all_but_shuffle_leave_the_positions(view) -> None:
    for batch in layouts([7, 3, 12]):
        assert places(view, batch, 0, offset=2) == [list(range(2, 2 + n)) for n in (7, 3, 12)]


# -- distribution ------------------------------------------------------------------------------------------------------


def often(view, n: int, sentences: int = 4000) -> Tensor:
    """How often each element of a sentence of n tokens is zeroed, (n, DIM)."""
    return torch.stack(zeroed(view, layouts([n] * sentences)[1], seed=0)).double().mean(0)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (TokenCutoff(rate=0.4, specials=True), 0.4),
        (FeatureCutoff(rate=0.3), 0.3),
        (Dropout(rate=0.3), 0.3),
        (Dropout(rate=0.3, exact=True), 0.3),
    ],
    ids=str,
)
def test_every_element_is_zeroed_equally_often(view, expected: float) -> None:
    assert float((often(view, 5) - expected).abs().max()) < 0.03  # four standard deviations of 4,000 draws


def test_every_span_is_drawn_equally_often() -> None:
    # 2 neighbours of 5 begin at 4 places: the ends are in one of them, the others in two
    wanted = torch.tensor([1, 2, 2, 2, 1]) / 4
    assert float((often(SpanCutoff(rate=0.4, specials=True), 5) - wanted[:, None]).abs().max()) < 0.03


def test_sentences_are_not_cut_alike() -> None:
    for view in (
        FeatureCutoff(rate=0.5),
        TokenCutoff(rate=0.5),
        SpanCutoff(rate=0.5),
        Dropout(rate=0.5),
        Dropout(rate=0.5, exact=True),
    ):
        assert len({cut.numpy().tobytes() for cut in zeroed(view, layouts([20] * 8)[0], seed=0)}) > 1, view


def test_dropout_that_rescales_keeps_the_mean() -> None:
    batch = layouts([200, 100])[0]
    torch.manual_seed(0)
    seen = Dropout(rate=0.2, rescale=True)(torch.ones(*batch.input_ids.shape, 64), batch)
    assert set(batch.flatten(seen).unique().tolist()) == {0, 1.25}
    assert float(batch.flatten(seen).mean()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("view", DRAWING, ids=str)
def test_chance_comes_from_the_generator_of_torch_alone(view) -> None:
    batch = layouts([24, 9, 20])[0]

    def draw(seed: int) -> tuple[list[list[int]], Tensor]:
        where = places(view, batch, seed)
        return where, torch.cat(zeroed(view, batch, seed))

    where, cut = draw(5)
    random.seed(1)
    again = draw(5)
    assert where == again[0]
    assert torch.equal(cut, again[1])
    other = draw(6)
    assert where != other[0] or not torch.equal(cut, other[1])


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, float("nan")])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    for kind in (TokenCutoff, FeatureCutoff, SpanCutoff, Dropout):
        with pytest.raises(ValidationError, match=r"greater than or equal to 0|less than 1|a finite number"):
            kind(rate=rate)
