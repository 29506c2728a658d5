"""Packing changes the layout and nothing else."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

import isotrope
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import lay_out, plan_rows

SIZES = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 160,
    "pad_token_id": 1,
}
DISTIL = {"vocab_size": 99, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 160}
MOBILE = {**SIZES, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16}
PACKED = {
    "Bert": SIZES,
    "Roberta": SIZES,
    "XLMRoberta": SIZES,
    "DistilBert": DISTIL,
    "MPNet": SIZES,
    "Electra": {**SIZES, "embedding_size": 16},
    "Albert": {**SIZES, "embedding_size": 16},
    "Camembert": SIZES,
}
PADDED = {
    "MobileBert": MOBILE,  # trigram input: a token sees its neighbours before any attention
    "DebertaV2": {**SIZES, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": 64},
}
LENGTHS = [3, 40, 7, 22, 5, 5, 31, 12, 64, 9]


def backbone(name: str, sizes: dict[str, object]) -> Backbone:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**sizes)
    model = getattr(transformers, f"{name}Model")(config).eval()
    with torch.no_grad():  # positions and words that matter, as in a trained model
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return Backbone(model)


def sentences() -> list[list[int]]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(5, 99, (n,), generator=generator).tolist() for n in LENGTHS]


def loss_and_gradients(model: Backbone, *, pack: bool) -> tuple[torch.Tensor, list[torch.Tensor]]:
    batch = lay_out(sentences(), pad_id=1, pack=pack)
    assert batch.packed == pack
    vectors = batch.flatten(model(batch))
    weights = torch.linspace(-1, 1, vectors.numel()).view_as(vectors)
    used = [parameter for name, parameter in model.named_parameters() if "pooler" not in name]
    gradients = torch.autograd.grad((vectors * weights).mean(), used, allow_unused=True)
    return vectors.detach(), [gradient for gradient in gradients if gradient is not None]


@pytest.mark.parametrize("name", PACKED)
def test_packed_is_padded(name: str) -> None:
    model = backbone(name, PACKED[name])
    assert model.packs
    packed, packed_gradients = loss_and_gradients(model, pack=True)
    padded, padded_gradients = loss_and_gradients(model, pack=False)
    assert (packed - padded).abs().max() <= 1e-5
    assert len(packed_gradients) == len(padded_gradients) > 20
    for one, other in zip(packed_gradients, padded_gradients, strict=True):
        assert (one - other).abs().max() <= 1e-4


@pytest.mark.parametrize("name", PADDED)
def test_what_would_leak_is_padded(name: str) -> None:
    model = backbone(name, PADDED[name])
    assert not model.packs


def test_mobilebert_packed_would_be_wrong() -> None:
    """The probe is not overcautious: MobileBERT runs packed without complaint and gives other vectors."""
    model = backbone("MobileBert", MOBILE)
    packed, _ = loss_and_gradients(model, pack=True)
    padded, _ = loss_and_gradients(model, pack=False)
    assert (packed - padded).abs().max() > 1e-3


def test_roberta_counts_positions_behind_its_padding_id() -> None:
    assert backbone("Roberta", SIZES).position_offset == 2
    assert backbone("Bert", SIZES).position_offset == 0


def test_real_encoder_packed_is_padded_in_every_layer() -> None:
    encoder = isotrope.load()
    texts = ["a cat", "Dogs bark loudly at night in the old town near the river.", "hello", "what is the time?"] * 4
    ids = encoder.tokenize(texts)
    packed, padded = lay_out(ids), lay_out(ids, pack=False)
    assert packed.packed
    assert not padded.packed
    with torch.no_grad():
        for one, other in zip(
            encoder.backbone.hidden_states(packed), encoder.backbone.hidden_states(padded), strict=True
        ):
            assert (packed.flatten(one) - padded.flatten(other)).abs().max() <= 1e-5


@given(lengths=st.lists(st.integers(1, 300), min_size=1, max_size=60), coarse=st.booleans())
@settings(max_examples=300, deadline=None)
def test_every_token_is_laid_out_once_and_found_again(lengths: list[int], coarse: bool) -> None:
    numbered = iter(range(1, sum(lengths) + 1))
    texts = [[next(numbered) for _ in range(n)] for n in lengths]
    batch = lay_out(texts, pad_id=0, coarse=coarse)
    flat = batch.flatten(batch.input_ids[..., None]).squeeze(-1)
    assert flat.tolist() == [token for text in texts for token in text]
    assert int((batch.input_ids > 0).sum()) == sum(lengths)
    unpacked, mask = batch.unpack(batch.input_ids[..., None])
    assert [row[: int(m.sum())].flatten().tolist() for row, m in zip(unpacked, mask, strict=True)] == texts
    assert batch.flatten(batch.position_ids[..., None]).flatten().tolist() == [i for n in lengths for i in range(n)]
    rows, width = batch.input_ids.shape
    assert rows * width <= 1.03 * len(lengths) * max(lengths)  # never more positions than padding would take


@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=40), world=st.integers(1, 4), coarse=st.booleans())
@settings(max_examples=150, deadline=None)
def test_rows_of_a_batch_are_a_batch_of_their_sentences(lengths: list[int], world: int, coarse: bool) -> None:
    numbered = iter(range(1, sum(lengths) + 1))
    batch = lay_out([[next(numbered) for _ in range(n)] for n in lengths], pad_id=0, coarse=coarse)
    found = []
    for rank in range(min(world, len(batch.input_ids))):
        share, numbers = batch.part(torch.arange(rank, len(batch.input_ids), world))
        assert torch.equal(share.input_ids, batch.input_ids[rank::world])
        assert share.lengths.tolist() == [lengths[k] for k in numbers]
        unpacked, mask = share.unpack(share.input_ids[..., None])
        texts = [row[: int(m.sum())].flatten().tolist() for row, m in zip(unpacked, mask, strict=True)]
        assert [len(text) for text in texts] == share.lengths.tolist()
        real = share.sentence >= 0
        places = zip(share.sentence[real].tolist(), share.input_ids[real].tolist(), strict=True)
        assert all(token in texts[number] for number, token in places)
        found += texts
    begins = [0, *torch.tensor(lengths).cumsum(0).tolist()]
    assert sorted(found) == [list(range(a + 1, b + 1)) for a, b in pairwise(begins)]


@given(lengths=st.lists(st.integers(1, 40), min_size=2, max_size=64), coarse=st.booleans())
@settings(max_examples=150, deadline=None)
def test_tokens_attend_to_their_own_sentence_only(lengths: list[int], coarse: bool) -> None:
    batch = lay_out([[7] * n for n in lengths], coarse=coarse)
    if not batch.packed:
        return
    allowed = batch.attention_mask(torch.float32).squeeze(1) == 0  # (rows, width, width)
    real = batch.sentence >= 0
    seen = allowed.sum(-1)[real]
    own = batch.lengths[batch.sentence[real]]
    assert torch.equal(seen, own)


@given(lengths=st.lists(st.integers(1, 128), min_size=1, max_size=64))
@settings(max_examples=100, deadline=None)
def test_rows_hold_each_sentence_once(lengths: list[int]) -> None:
    rows = plan_rows(lengths)
    assert sorted(i for row in rows for i in row) == list(range(len(lengths)))


def test_equal_lengths_stay_padded_and_short_ones_are_packed() -> None:
    assert not lay_out([[7] * 12] * 32).packed
    mixed = lay_out([[7] * n for n in (4, 60, 5, 6, 30, 7, 8, 9) * 8])
    assert mixed.packed
    assert mixed.padding < 0.1


def test_coarse_batches_have_few_shapes_and_hardly_more_padding() -> None:
    """128 random batches of 64 sentences as long as those of STS-B."""
    draw = random.Random(0)
    drawn = [[max(4, round(draw.lognormvariate(2.5, 0.5))) for _ in range(64)] for _ in range(128)]
    fine, coarse = ([lay_out([[7] * n for n in some], coarse=kind) for some in drawn] for kind in (False, True))
    shapes, few = ({tuple(batch.input_ids.shape) for batch in batches} for batches in (fine, coarse))
    assert all(rows % 2 == width % 8 == 0 for rows, width in few)
    assert len(few) < len(shapes) / 3
    padding, more = (sum(batch.padding for batch in batches) / len(batches) for batches in (fine, coarse))
    assert more < padding + 0.05
