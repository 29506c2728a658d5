"""Every view, packed and padded: exact counts for each sentence, and what a real encoder makes of it."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers import RobertaConfig, RobertaModel

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import Batch, lay_out
from isotrope.errors import IsotropeError
from isotrope.views import KINDS, Dropout, FeatureCutoff, Identity, Shuffle, SpanCutoff, TokenCutoff, make

quick = settings(max_examples=40, deadline=None)
DIM = 10
lengths = st.lists(st.integers(1, 24), min_size=1, max_size=12)
rates = st.floats(0, 1, exclude_max=True)
roundings = st.sampled_from(["down", "nearest"])
seeds = st.integers(0, 2**16)

ALL = [make(kind, variant=variant) for kind in KINDS if kind != "adversarial" for variant in ("paper", "official")]
DRAWING = [view for view in ALL if not isinstance(view, Identity)]


def layouts(sizes: list[int]) -> tuple[Batch, Batch]:
    """Sentences of these lengths, packed where it pays, and padded."""
    ids = [[1] * n for n in sizes]
    return lay_out(ids), lay_out(ids, pack=False)


def zeroed(view, batch: Batch, seed: int) -> list[Tensor]:
    """What the view zeroes in each sentence, (length, DIM) of bool. Padding it must leave alone."""
    torch.manual_seed(seed)
    seen = view(torch.ones(*batch.input_ids.shape, DIM), batch)
    rest = torch.ones(batch.input_ids.numel(), dtype=torch.bool).index_fill(0, batch.token_index, False)
    assert (seen.flatten(0, 1)[rest] != 0).all()
    return list((batch.flatten(seen) == 0).split(batch.lengths.tolist()))


def places(view, batch: Batch, seed: int, offset: int = 0) -> list[list[int]]:
    """The position ids of each sentence."""
    torch.manual_seed(seed)
    flat = view.positions(batch, offset).flatten()[batch.token_index]
    return [part.tolist() for part in flat.split(batch.lengths.tolist())]


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
    for cut, n in zip(both(TokenCutoff(rate, specials=specials, rounding=rounding), sizes, seed), sizes, strict=True):
        tokens = cut.any(1)
        assert torch.equal(tokens, cut.all(1))
        assert int(tokens.sum()) == rounded((n if specials else max(n - 2, 0)) * rate, rounding)
        assert specials or not (tokens[0] or tokens[-1])


@quick
@given(lengths, rates, roundings, seeds)
def test_feature_cutoff_zeroes_its_exact_share_of_whole_columns(
    sizes: list[int], rate: float, rounding: str, seed: int
) -> None:
    for cut in both(FeatureCutoff(rate, rounding=rounding), sizes, seed):
        columns = cut.any(0)
        assert torch.equal(columns, cut.all(0))
        assert int(columns.sum()) == rounded(DIM * rate, rounding)


@quick
@given(lengths, rates, roundings, st.booleans(), seeds)
def test_span_cutoff_zeroes_neighbours(sizes: list[int], rate: float, rounding: str, specials: bool, seed: int) -> None:
    for cut, n in zip(both(SpanCutoff(rate, specials=specials, rounding=rounding), sizes, seed), sizes, strict=True):
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
    view = SpanCutoff(rate, specials=specials, rounding=rounding, keep=True)
    for cut, n in zip(both(view, sizes, seed), sizes, strict=True):
        free = range(n) if specials else range(1, n - 1)
        kept = [i for i in free if not cut[i].any()]
        assert len(kept) == min(max(rounded(len(free) * (1 - rate), rounding), 1), len(free))
        assert consecutive(kept)
        assert specials or not cut[[0, -1]].any()


@quick
@given(lengths, rates, seeds)
def test_exact_dropout_zeroes_its_exact_share_of_elements(sizes: list[int], rate: float, seed: int) -> None:
    for cut, n in zip(both(Dropout(rate, exact=True), sizes, seed), sizes, strict=True):
        assert int(cut.sum()) == int(n * DIM * rate)


@quick
@given(lengths, rates, seeds)
def test_ordinary_dropout_is_the_same_packed_and_padded(sizes: list[int], rate: float, seed: int) -> None:
    both(Dropout(rate), sizes, seed)


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
        (TokenCutoff(0.4, specials=True), 0.4),
        (FeatureCutoff(0.3), 0.3),
        (Dropout(0.3), 0.3),
        (Dropout(0.3, exact=True), 0.3),
    ],
    ids=str,
)
def test_every_element_is_zeroed_equally_often(view, expected: float) -> None:
    assert float((often(view, 5) - expected).abs().max()) < 0.03  # four standard deviations of 4,000 draws


def test_every_span_is_drawn_equally_often() -> None:
    # 2 neighbours of 5 begin at 4 places: the ends are in one of them, the others in two
    wanted = torch.tensor([1, 2, 2, 2, 1]) / 4
    assert float((often(SpanCutoff(0.4, specials=True), 5) - wanted[:, None]).abs().max()) < 0.03


def test_sentences_are_not_cut_alike() -> None:
    for view in (FeatureCutoff(0.5), TokenCutoff(0.5), SpanCutoff(0.5), Dropout(0.5), Dropout(0.5, exact=True)):
        assert len({cut.numpy().tobytes() for cut in zeroed(view, layouts([20] * 8)[0], seed=0)}) > 1, view


def test_dropout_rescales_what_it_leaves_and_keeps_the_mean() -> None:
    batch = layouts([200, 100])[0]
    torch.manual_seed(0)
    seen = Dropout(0.2)(torch.ones(*batch.input_ids.shape, 64), batch)
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
        with pytest.raises(IsotropeError, match="at least 0 and below 1"):
            kind(rate)


# -- through a real encoder --------------------------------------------------------------------------------------------


@torch.no_grad()
def vectors(encoder: Encoder, batch: Batch, view=None, seed: int = 3) -> Tensor:
    torch.manual_seed(seed)
    return encoder(batch, view)


def packed_and_padded(encoder: Encoder, sentences: list[str]) -> tuple[Batch, Batch]:
    ids = encoder.tokenize(sentences)
    packed, padded = lay_out(ids), lay_out(ids, pack=False)
    assert packed.packed
    return packed, padded


@pytest.mark.parametrize("pooling", ["mean", "cls", "first-last"])
def test_identity_is_no_view_exactly(encoder: Encoder, sentences: list[str], pooling: str) -> None:
    pooled = encoder.with_pooling(pooling)
    for batch in packed_and_padded(encoder, sentences):
        assert torch.equal(vectors(pooled, batch, Identity()), vectors(pooled, batch))


@pytest.mark.parametrize("view", DRAWING, ids=str)
def test_packed_and_padded_give_the_same_vectors(encoder: Encoder, sentences: list[str], view) -> None:
    packed, padded = packed_and_padded(encoder, sentences)
    seen = vectors(encoder, packed, view)
    assert float((seen - vectors(encoder, padded, view)).abs().max()) < 1e-5
    assert float((seen - vectors(encoder, packed)).abs().amax(1)[[0, 2, 3, 5]].min()) > 1e-3


def test_shuffle_is_the_reordered_sentence(encoder: Encoder, sentences: list[str]) -> None:
    """Position is all that a transformer knows of order: permuted ids and permuted tokens give one mean vector."""
    for specials in (False, True):
        view, seed = Shuffle(specials=specials), 11
        batch = encoder.batch(sentences)
        moved = []
        for ids, where in zip(encoder.tokenize(sentences), places(view, batch, seed), strict=True):
            reordered = [0] * len(ids)
            for token, position in zip(ids, where, strict=True):
                reordered[position] = token
            moved.append(reordered)
        difference = vectors(encoder, batch, view, seed) - vectors(encoder, lay_out(moved))
        assert float(difference.abs().max()) < 1e-5


@pytest.mark.parametrize("view", [Shuffle(), TokenCutoff(0.3), SpanCutoff(0.3)], ids=str)
def test_a_sentence_with_nothing_to_take_away_keeps_its_vector_among_others(encoder: Encoder, view) -> None:
    ids = encoder.tokenize(
        ["A man is playing a large flute by the river.", "", "go", "The dog sleeps in the old house."]
    )
    assert [len(one) for one in ids][1:3] == [2, 3]
    batch = lay_out(ids)
    assert batch.packed
    seen, plain = vectors(encoder, batch, view), vectors(encoder, batch)
    assert torch.equal(seen[1:3], plain[1:3])
    assert not torch.isclose(seen[0], plain[0], atol=1e-3).all()


class Watched:
    """A view whose input is a leaf, so that one can ask what a vector depends on."""

    def __init__(self, view) -> None:
        self.view, self.at = view, view.at

    def positions(self, batch: Batch, offset: int) -> Tensor:
        return self.view.positions(batch, offset)

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        self.leaf = embeddings.detach().requires_grad_()
        return self.view(self.leaf, batch)


@pytest.mark.parametrize("view", ALL, ids=str)
def test_a_vector_depends_on_its_own_sentence_alone(encoder: Encoder, sentences: list[str], view) -> None:
    batch, _ = packed_and_padded(encoder, sentences)
    watched = Watched(view)
    one = encoder(batch, watched)[2].square().sum()
    (gradient,) = torch.autograd.grad(one, watched.leaf)
    touched = gradient.abs().sum(-1) > 0
    assert set(batch.sentence[touched].tolist()) == {2}


@pytest.mark.parametrize("view", [view for view in DRAWING if not isinstance(view, Shuffle)], ids=str)
def test_gradient_flows_through_untouched_entries_alone(encoder: Encoder, sentences: list[str], view) -> None:
    batch, _ = packed_and_padded(encoder, sentences)
    watched = Watched(view)
    torch.manual_seed(4)
    out = encoder(batch, watched)
    (gradient,) = torch.autograd.grad(out.square().sum(), watched.leaf)
    torch.manual_seed(4)
    cut = batch.flatten(view(torch.ones_like(gradient), batch)) == 0
    gradient = batch.flatten(gradient)
    assert cut.any()
    assert (gradient[cut] == 0).all()
    assert (gradient[~cut] != 0).float().mean() > 0.999


def test_cut_tokens_give_their_word_embeddings_no_gradient(encoder: Encoder) -> None:
    batch = lay_out([list(range(100, 120)), list(range(200, 212))])  # every token once
    view = TokenCutoff(0.3)
    torch.manual_seed(9)
    words = encoder.backbone.model.get_input_embeddings().weight
    (gradient,) = torch.autograd.grad(encoder(batch, view).square().sum(), words)
    torch.manual_seed(9)
    cut = batch.flatten(view(torch.ones(*batch.input_ids.shape, 1), batch)).flatten() == 0
    ids = batch.input_ids.flatten()[batch.token_index]
    assert int(cut.sum()) == 5 + 3
    assert gradient[ids[cut]].abs().sum() == 0
    assert (gradient[ids[~cut]].abs().sum(1) > 0).all()


# -- RoBERTa counts its positions from 2 -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def roberta() -> Backbone:
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=90,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=80,
        pad_token_id=1,
    )
    return Backbone(RobertaModel(config, add_pooling_layer=False).eval())


@pytest.mark.parametrize(("offset", "begin"), [(True, 2), (False, 0)])
@pytest.mark.parametrize("pack", [True, False])
def test_shuffle_on_roberta_begins_where_it_is_told(roberta: Backbone, offset: bool, begin: int, pack: bool) -> None:
    assert roberta.position_offset == 2
    sizes = [9, 4, 12]
    batch = lay_out([list(range(5, 5 + n)) for n in sizes], 1, pack=pack)
    asked: list[Tensor] = []
    table = roberta.model.embeddings.position_embeddings
    hook = table.register_forward_pre_hook(lambda module, inputs: asked.append(inputs[0]))
    roberta(batch, Shuffle(specials=True, offset=offset))
    hook.remove()
    (positions,) = asked
    for part, n in zip(positions.flatten()[batch.token_index].split(sizes), sizes, strict=True):
        assert sorted(part.tolist()) == list(range(begin, begin + n))


@torch.no_grad()
def test_shuffle_that_moves_nothing_is_no_view_on_roberta_only_with_its_offset(roberta: Backbone) -> None:
    batch = lay_out([[0, 7, 2], [0, 2], [0, 9, 2]], 1, pack=False)  # one word each: nothing to permute
    plain = batch.flatten(roberta(batch))
    assert torch.equal(batch.flatten(roberta(batch, Shuffle())), plain)
    assert not torch.allclose(batch.flatten(roberta(batch, Shuffle(offset=False))), plain, atol=1e-3)
