"""A batch in pieces gives the vectors and gradients of the whole."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import Batch, beside, lay_out
from isotrope.encoders.pieces import at_a_time, cut, in_pieces, take
from isotrope.views.embedding import View
from isotrope.views.embedding.beside import Beside, Seen
from isotrope.views.embedding.feature_cutoff import FeatureCutoff
from isotrope.views.embedding.shuffle import Shuffle
from isotrope.views.embedding.token_cutoff import TokenCutoff

from .test_packing import LENGTHS, MOBILE, PADDED, SIZES, backbone, sentences

CONVOLUTIONAL = {**SIZES, "embedding_size": 32, "conv_kernel_size": 9, "head_ratio": 2}
DEBERTA = PADDED["DebertaV2"]


def pooled(model: Backbone) -> Any:
    """The mean of each sentence's tokens, as a function of batch and view."""

    def encode(batch: Batch, view: Any) -> Tensor:
        tokens, mask = batch.unpack(model(batch, view))
        return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)

    return encode


def vectors_and_gradients(
    model: Backbone, batch: Batch, view: Any, *, pieces: bool, most: int | None = None
) -> tuple[Tensor, list[Tensor]]:
    torch.manual_seed(3)
    with at_a_time(most):
        vectors = in_pieces(pooled(model), batch, view, model) if pieces else pooled(model)(batch, view)
    weights = torch.linspace(-1, 1, vectors.numel()).view_as(vectors)
    used = [parameter for name, parameter in model.named_parameters() if "pooler" not in name]
    gradients = torch.autograd.grad((vectors * weights).sum(), used, allow_unused=True)
    return vectors.detach(), [gradient for gradient in gradients if gradient is not None]


def assert_same(one: tuple[Tensor, list[Tensor]], other: tuple[Tensor, list[Tensor]], within: float = 1e-9) -> None:
    assert (one[0] - other[0]).abs().max() <= within
    assert len(one[1]) == len(other[1]) > 10
    for mine, theirs in zip(one[1], other[1], strict=True):
        assert (mine - theirs).abs().max() <= within * max(1.0, float(theirs.abs().max()))


VIEWS: dict[str, View | None] = {
    "none": None,
    "shuffle": Shuffle(),
    "feature-cutoff": FeatureCutoff(),
    "token-cutoff": TokenCutoff(at="word"),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("pack", [True, False])
def test_kept_or_computed_again(view: str, pack: bool) -> None:
    model = backbone("Bert", SIZES).double()
    batch = lay_out(sentences(), pad_id=1, pack=pack)
    whole = vectors_and_gradients(model, batch, VIEWS[view], pieces=False)
    assert_same(vectors_and_gradients(model, batch, VIEWS[view], pieces=True, most=3), whole)


def test_long_sentences_with_a_row_each_keep_their_own_vectors() -> None:
    """The longest come first in the rows; a piece of such rows alone once gave each the vector of the other."""
    model = backbone("Bert", SIZES).double()
    batch = lay_out([[5 + k] * n for k, n in enumerate((1, 23, 28, 29))], pad_id=1)
    pieces = [take(batch, rows) for rows in cut(batch, 3, None)]
    assert batch.packed
    assert [piece.sentences.tolist() for piece in pieces if not piece.batch.packed] == [[3, 2]]
    whole = vectors_and_gradients(model, batch, None, pieces=False)
    assert_same(vectors_and_gradients(model, batch, None, pieces=True, most=3), whole)


def test_two_views_beside_each_other() -> None:
    model = backbone("Bert", SIZES).double()
    one, other = lay_out(sentences(), pad_id=1), lay_out(sentences()[::-1], pad_id=1)
    both = Beside([Seen(one, FeatureCutoff()), Seen(other, Shuffle())])
    batch = beside([one, other], 1)
    whole = vectors_and_gradients(model, batch, both, pieces=False)
    assert_same(vectors_and_gradients(model, batch, both, pieces=True, most=4), whole)


def test_dropout_is_drawn_again_as_it_was() -> None:
    """In pieces the numbers are drawn in another order than at once; kept and computed again they are the same."""
    model = backbone("Bert", {**SIZES, "hidden_dropout_prob": 0.3, "attention_probs_dropout_prob": 0.3}).train()
    batch, view = lay_out(sentences(), pad_id=1), FeatureCutoff()
    groups = [take(batch, rows).batch for rows in cut(batch, 3, None)]
    assert len(groups) > 1
    torch.manual_seed(3)
    with at_a_time(3):
        again = in_pieces(pooled(model), batch, view, model)
    before = torch.get_rng_state()
    first = torch.autograd.grad(again.square().sum(), list(model.parameters()), allow_unused=True)
    assert torch.equal(torch.get_rng_state(), before)  # what is drawn again leaves no trace
    torch.manual_seed(3)
    with pytest.MonkeyPatch.context() as patch, at_a_time(3):
        patch.setattr("isotrope.encoders.pieces._checkpointed", lambda encode, *given: encode(*given))
        kept = in_pieces(pooled(model), batch, view, model)
    second = torch.autograd.grad(kept.square().sum(), list(model.parameters()), allow_unused=True)
    assert torch.equal(again, kept)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None)


@pytest.mark.parametrize(("name", "sizes", "margin"), [("MobileBert", MOBILE, 1), ("DebertaV2", DEBERTA, 0)])
@pytest.mark.parametrize("view", VIEWS)
def test_what_cannot_be_packed_goes_in_rows_of_like_length(
    name: str, sizes: dict[str, object], margin: int, view: str
) -> None:
    model = backbone(name, sizes).double()
    assert (model.packs, model.margin) == (False, margin)
    batch = lay_out(sentences(), pad_id=1, pack=False)
    groups = cut(batch, None, model.margin)
    assert len(groups) > 1
    places = sum(take(batch, rows, margin).batch.input_ids.numel() for rows in groups)
    assert places < 0.7 * batch.input_ids.numel()
    whole = vectors_and_gradients(model, batch, VIEWS[view], pieces=False)
    assert_same(vectors_and_gradients(model, batch, VIEWS[view], pieces=True), whole)


@given(
    lengths=st.lists(st.integers(1, 60), min_size=2, max_size=40),
    most=st.integers(1, 50),
    margin=st.sampled_from([None, 0, 2]),
    pack=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_sentence_is_in_one_piece(lengths: list[int], most: int, margin: int | None, pack: bool) -> None:
    numbered = iter(range(1, sum(lengths) + 1))
    texts = [[next(numbered) for _ in range(n)] for n in lengths]
    batch = lay_out(texts, pack=pack)
    pieces = [take(batch, rows, margin) for rows in cut(batch, most, margin)]
    assert sorted(i for piece in pieces for i in piece.sentences.tolist()) == list(range(len(lengths)))
    for piece in pieces:
        tokens = piece.batch.flatten(piece.batch.input_ids[..., None]).flatten().tolist()
        assert tokens == [token for i in piece.sentences.tolist() for token in texts[i]]
        unpacked, mask = piece.batch.unpack(piece.batch.input_ids[..., None])
        assert [int(n) for n in mask.sum(1)] == piece.batch.lengths.tolist() == [lengths[i] for i in piece.sentences]
        assert len(unpacked) == len(piece.sentences)


def test_what_sees_far_into_the_padding_stays_as_it_is() -> None:
    model = backbone("ConvBert", CONVOLUTIONAL)
    assert (model.packs, model.margin) == (False, None)


def test_equal_lengths_are_not_cut() -> None:
    assert len(cut(lay_out([[7] * 12] * 32, pack=False), None, 0)) == 1
    assert len(cut(lay_out([[7] * n for n in LENGTHS], pack=False), None, None)) == 1
