"""What a real encoder makes of every view, packed and padded."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import RobertaConfig, RobertaModel

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import Batch, lay_out
from isotrope.views.embedding.shuffle import Shuffle
from isotrope.views.embedding.span_cutoff import SpanCutoff
from isotrope.views.embedding.token_cutoff import TokenCutoff
from isotrope.views.embedding.unchanged import Unchanged

from .layouts import ALL, DRAWING, places


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
def test_unchanged_is_no_view_exactly(encoder: Encoder, sentences: list[str], pooling: str) -> None:
    pooled = encoder.with_pooling(pooling)
    for batch in packed_and_padded(encoder, sentences):
        assert torch.equal(vectors(pooled, batch, Unchanged()), vectors(pooled, batch))


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


@pytest.mark.parametrize("view", [Shuffle(), TokenCutoff(rate=0.3), SpanCutoff(rate=0.3)], ids=str)
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
        self.view, self.places = view, view.places

    def positions(self, batch: Batch, offset: int) -> Tensor:
        return self.view.positions(batch, offset)

    def alter(self, embeddings: Tensor, batch: Batch, at: str) -> Tensor:
        self.leaf = embeddings.detach().requires_grad_()
        return self.view.alter(self.leaf, batch, at)


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
    view = TokenCutoff(rate=0.3)
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
