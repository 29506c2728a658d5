"""Several batches in one pass: the vectors and the gradients of separate passes, however each is laid out and seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from isotrope.encoders.backbone import Backbone, EmbeddingView
from isotrope.encoders.packing import Batch, beside, lay_out
from isotrope.views.embedding import VIEWS
from isotrope.views.embedding.beside import Beside, Seen, in_one_pass

SIZES: dict[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 160,
}
BACKBONES: dict[str, dict[str, Any]] = {  # whether it packs, where its positions begin
    "Bert": {"packs": True, "offset": 0},
    "Roberta": {"packs": True, "offset": 2, "pad_token_id": 1},
    "MobileBert": {"packs": False, "offset": 0, "embedding_size": 16, "intra_bottleneck_size": 16},
    "DebertaV2": {"packs": False, "offset": 0, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "Longformer": {"packs": False, "offset": 2, "pad_token_id": 1, "attention_window": 8},
}
SHORT, MIXED, LONG = [4, 4, 4], [3, 40, 7, 22, 5, 5, 31, 12, 64, 9], [50, 20]
SEEN = {
    "shuffle": VIEWS.make("shuffle"),
    "feature-cutoff": VIEWS.make("feature-cutoff", rate=0.3),
    "behind-layernorm": VIEWS.make("token-cutoff", variant="official", rate=0.3),
    "dropout": VIEWS.make("dropout", at="word"),
    "none": None,
}


class Fixed:
    """A view that draws the same each time: passes that draw in another order can then be compared."""

    def __init__(self, view: EmbeddingView, seed: int) -> None:
        self.view, self.seed, self.places = view, seed, view.places

    def positions(self, batch: Batch, offset: int) -> Tensor:
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            return self.view.positions(batch, offset)

    def alter(self, embeddings: Tensor, batch: Batch, at: Any) -> Tensor:
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            return self.view.alter(embeddings, batch, at)


def backbone(name: str) -> Backbone:
    options = {key: value for key, value in BACKBONES[name].items() if key not in ("packs", "offset")}
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}Model")(getattr(transformers, f"{name}Config")(**SIZES | options)).eval()
    with torch.no_grad():  # positions and words that matter, as in a trained model
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
        model.get_input_embeddings().weight[: model.config.pad_token_id + 1] = 0  # MobileBERT sees its neighbours
    return Backbone(model)


def laid_out(lengths: Sequence[int], model: Backbone, *, pack: bool, seed: int = 1) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    ids = [torch.randint(5, 99, (n,), generator=generator).tolist() for n in lengths]
    return lay_out(ids, model.config.pad_token_id, pack=pack)


def encode(model: Backbone, batch: Batch, view: EmbeddingView | None) -> Tensor:
    tokens, mask = batch.unpack(model(batch, view))
    return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def gradients(model: Backbone, vectors: Sequence[Tensor]) -> list[Tensor]:
    weighted = [one * torch.linspace(-1, 1, one.numel(), dtype=one.dtype).view_as(one) for one in vectors]
    found = torch.autograd.grad(sum(one.mean() for one in weighted), list(model.parameters()), allow_unused=True)
    return [one for one in found if one is not None]


def assert_one_pass_is_separate_passes(model: Backbone, several: Sequence[Seen], closeness: float) -> None:
    passes: list[int] = []
    hook = model.model.register_forward_hook(lambda module, given, made: passes.append(1))
    together = in_one_pass(lambda batch, view: encode(model, batch, view), several)
    assert len(passes) == 1
    hook.remove()
    apart = [encode(model, *one) for one in several]
    for one, other in zip(together, apart, strict=True):
        assert one.shape == other.shape
        assert (one - other).abs().max() <= closeness
    pairs = list(zip(gradients(model, together), gradients(model, apart), strict=True))
    assert len(pairs) > 20
    for one, other in pairs:
        assert (one - other).abs().max() <= closeness * max(1.0, float(other.abs().max()))


LAYOUTS = {"packed": (True, True), "padded": (False, False), "mixed": (True, False)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", [name for name in BACKBONES if name != "Longformer"])
def test_one_pass_is_separate_passes(name: str, dtype: torch.dtype, layout: str) -> None:
    model = backbone(name).to(dtype)
    assert model.packs == BACKBONES[name]["packs"]
    packs = [pack and model.packs for pack in LAYOUTS[layout]]
    first = laid_out(MIXED, model, pack=packs[0])
    second = laid_out(SHORT, model, pack=packs[1], seed=2)
    third = laid_out(LONG, model, pack=False, seed=3)
    assert first.packed == packs[0]
    assert len({batch.input_ids.shape[1] for batch in (first, second, third)}) == 3
    several = [
        Seen(first, Fixed(SEEN["shuffle"], 5)),
        Seen(second, Fixed(SEEN["feature-cutoff"], 6)),
        Seen(third),
        Seen(first, Fixed(SEEN["behind-layernorm"], 7)),
    ]
    closeness = 1e-5 if dtype is torch.float32 else 1e-10
    assert_one_pass_is_separate_passes(model, several, closeness)
    assert_one_pass_is_separate_passes(model, [Seen(batch) for batch in (third, first, second)], closeness)


@pytest.mark.parametrize("name", ["Roberta", "MobileBert"])
@pytest.mark.parametrize("one", SEEN)
@pytest.mark.parametrize("other", SEEN)
def test_every_view_stands_beside_every_other(name: str, one: str, other: str) -> None:
    model = backbone(name).double()
    seen = [SEEN[kind] and Fixed(SEEN[kind], seed) for seed, kind in enumerate((one, other))]
    batches = [laid_out(MIXED, model, pack=model.packs), laid_out(LONG, model, pack=False, seed=2)]
    assert_one_pass_is_separate_passes(model, [Seen(*pair) for pair in zip(batches, seen, strict=True)], 1e-10)


@torch.no_grad()  # its own gradients are not always numbers in float64
def test_a_model_that_widens_its_batches_itself() -> None:
    """Longformer pads to whole windows: a view is still shown its own batch alone."""
    model = backbone("Longformer")
    batches = [laid_out(lengths, model, pack=False) for lengths in (SHORT, LONG, [11, 3])]
    views = [Fixed(SEEN[kind], 1) for kind in ("feature-cutoff", "shuffle", "behind-layernorm")]
    several = [Seen(*pair) for pair in zip(batches, views, strict=True)]
    together = in_one_pass(lambda batch, view: encode(model, batch, view), several)
    for one, seen in zip(together, several, strict=True):
        assert (one - encode(model, *seen)).abs().max() <= 1e-5


@pytest.mark.parametrize("name", BACKBONES)
def test_a_view_begins_to_count_where_the_model_does(name: str) -> None:
    """With a view the positions are given, without one the model may count by itself: both begin at one place."""
    model = backbone(name)
    assert model.position_offset == BACKBONES[name]["offset"]
    batch = laid_out(MIXED, model, pack=False)
    with torch.no_grad():
        plain, seen = (batch.flatten(model(batch, view)) for view in (None, VIEWS.make("none")))
    assert (plain - seen).abs().max() <= 1e-6


def test_one_batch_alone_is_encoded_as_it_stands() -> None:
    model = backbone("Bert")
    given: list[tuple[Batch, EmbeddingView | None]] = []
    seen = Seen(laid_out(MIXED, model, pack=True), SEEN["shuffle"])
    in_one_pass(lambda batch, view: given.append((batch, view)) or encode(model, batch, view), [seen])
    assert given == [(seen.batch, seen.view)]


def test_batches_stand_below_each_other_and_every_token_is_found_again() -> None:
    model = backbone("Bert")
    batches = [laid_out(MIXED, model, pack=True), laid_out(SHORT, model, pack=False), laid_out(LONG, model, pack=False)]
    joint = beside(batches, pad_id=98)
    assert joint.input_ids.shape == (sum(len(b.input_ids) for b in batches), max(b.input_ids.shape[1] for b in batches))
    assert joint.lengths.tolist() == [*MIXED, *SHORT, *LONG]
    tokens = torch.cat([batch.input_ids.flatten()[batch.token_index] for batch in batches])
    assert torch.equal(joint.input_ids.flatten()[joint.token_index], tokens)
    sentence = joint.sentence.flatten()[joint.token_index]
    assert torch.equal(sentence, torch.arange(len(joint.lengths)).repeat_interleave(joint.lengths))
    assert int((joint.sentence >= 0).sum()) == len(tokens)
    assert torch.equal(
        joint.position_ids.flatten()[joint.token_index], torch.cat([torch.arange(n) for n in joint.lengths])
    )


def test_a_view_sees_its_own_batch_and_no_more() -> None:
    class Asked(Fixed):
        shapes: list[tuple[int, ...]] = []  # noqa: RUF012

        def alter(self, embeddings: Tensor, batch: Batch, at: Any) -> Tensor:
            self.shapes.append(tuple(embeddings.shape[:2]))
            assert embeddings.shape[:2] == batch.input_ids.shape
            return super().alter(embeddings, batch, at)

    model = backbone("Bert")
    batches = [laid_out(SHORT, model, pack=False), laid_out(LONG, model, pack=False)]
    several = [Seen(batches[0], Asked(SEEN["dropout"], 1)), Seen(batches[1], Asked(SEEN["behind-layernorm"], 2))]
    assert Beside(several).places == ("word", "embeddings")
    in_one_pass(lambda batch, view: encode(model, batch, view), several)
    assert Asked.shapes == [(3, 4), (2, 50)]
