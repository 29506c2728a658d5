from __future__ import annotations

import pytest
import torch
from torch import Tensor

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch, lay_out
from isotrope.io.errors import IsotropeError
from isotrope.views.embedding.adversarial import Adversarial, fast_gradient_view

NORMS = ("sentence", "token")
LAYERS = ("word", "embeddings")


@pytest.fixture(params=[True, False], ids=["packed", "padded"])
def batch(request: pytest.FixtureRequest, precise: Encoder, sentences: list[str]) -> Batch:
    batch = lay_out(precise.tokenize(sentences), pack=request.param)
    assert batch.packed == request.param
    return batch


def loss(vectors: Tensor) -> Tensor:
    """A supervised loss of three pairs: cross-entropy of a fixed classifier over u, v, |u - v|."""
    u, v = vectors.chunk(2)
    features = torch.cat([u, v, (u - v).abs()], dim=1)
    weight = torch.randn(3, features.shape[1], generator=torch.Generator().manual_seed(1), dtype=vectors.dtype)
    return torch.nn.functional.cross_entropy(features @ weight.T, torch.tensor([0, 2, 1]))


def gradient(encoder: Encoder, batch: Batch, at: str) -> Tensor:
    """The gradient at the embeddings, by a hook and `backward`. (rows, width, dim)."""
    kept: list[Tensor] = []

    def keep(module: torch.nn.Module, inputs: object, output: Tensor) -> None:
        output.retain_grad()
        kept.append(output)

    model = encoder.backbone.model
    hook = (model.get_input_embeddings() if at == "word" else model.embeddings).register_forward_hook(keep)
    loss(encoder(batch)).backward()
    hook.remove()
    encoder.zero_grad(set_to_none=True)
    assert kept[0].grad is not None
    return kept[0].grad


@pytest.mark.parametrize("at", LAYERS)
def test_each_sentence_moves_by_epsilon_along_its_gradient(precise: Encoder, batch: Batch, at: str) -> None:
    values = fast_gradient_view(precise, batch, loss, 0.3, at=at).values
    assert (values[batch.sentence < 0] == 0).all()
    sizes = batch.lengths.tolist()
    wanted = batch.flatten(gradient(precise, batch, at)).split(sizes)
    for moved, g in zip(batch.flatten(values).split(sizes), wanted, strict=True):
        assert torch.allclose(moved, 0.3 * g / g.norm(), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("at", LAYERS)
def test_each_token_moves_by_epsilon_along_its_gradient(precise: Encoder, batch: Batch, at: str) -> None:
    values = fast_gradient_view(precise, batch, loss, 0.3, norm="token", at=at).values
    assert (values[batch.sentence < 0] == 0).all()
    for value, g in zip(batch.flatten(values), batch.flatten(gradient(precise, batch, at)), strict=True):
        assert torch.allclose(value, 0.3 * g / g.norm(), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("at", LAYERS)
@pytest.mark.parametrize("norm", NORMS)
def test_the_loss_rises_by_epsilon_times_the_norm_of_the_gradient(
    precise: Encoder, batch: Batch, norm: str, at: str
) -> None:
    epsilon = 1e-5
    view = fast_gradient_view(precise, batch, loss, epsilon, norm=norm, at=at)
    with torch.no_grad():
        rise = loss(precise(batch, view)) - loss(precise(batch))
    lengths = batch.flatten(gradient(precise, batch, at)).split(batch.lengths.tolist())
    wanted = sum(g.norm(dim=None if norm == "sentence" else -1).sum() for g in lengths)
    assert float(rise / (epsilon * wanted)) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("norm", NORMS)
def test_no_parameter_keeps_a_gradient_and_the_graph_ends_at_the_view(
    precise: Encoder, batch: Batch, norm: str
) -> None:
    parameter = next(precise.parameters())
    before = parameter.grad = torch.full_like(parameter, 7)
    view = fast_gradient_view(precise, batch, loss, 0.1, norm=norm)
    assert parameter.grad is before
    assert (before == 7).all()
    parameter.grad = None
    assert all(parameter.grad is None for parameter in precise.parameters())
    assert not view.values.requires_grad


def test_the_second_pass_trains_the_embeddings_too(precise: Encoder, batch: Batch) -> None:
    view = fast_gradient_view(precise, batch, loss, 0.1)
    words = precise.backbone.model.get_input_embeddings().weight
    (g,) = torch.autograd.grad(loss(precise(batch, view)), words)
    assert (g[batch.input_ids.flatten()[batch.token_index]].abs().sum(1) > 0).all()


def test_a_sentence_that_the_loss_ignores_stays(precise: Encoder, batch: Batch) -> None:
    for norm in NORMS:
        view = fast_gradient_view(precise, batch, lambda vectors: vectors[0].square().sum(), 0.1, norm=norm)
        assert view.values.isfinite().all()
        assert set(batch.sentence[view.values.abs().sum(-1) > 0].tolist()) == {0}


def test_it_works_without_grad_mode_and_with_frozen_weights(encoder: Encoder, sentences: list[str]) -> None:
    batch = encoder.batch(sentences)
    for parameter in encoder.parameters():
        parameter.requires_grad_(False)
    with torch.no_grad():
        plain = loss(encoder(batch))
        attacked = loss(encoder(batch, fast_gradient_view(encoder, batch, loss, 0.1)))
    for parameter in encoder.parameters():
        parameter.requires_grad_(True)
    assert attacked > plain


def test_packed_and_padded_are_attacked_alike(precise: Encoder, sentences: list[str]) -> None:
    ids = precise.tokenize(sentences)
    seen = []
    for batch in (lay_out(ids), lay_out(ids, pack=False)):
        for norm in NORMS:
            with torch.no_grad():
                seen.append(precise(batch, fast_gradient_view(precise, batch, loss, 0.5, norm=norm)))
    assert torch.allclose(seen[0], seen[2], atol=1e-10)
    assert torch.allclose(seen[1], seen[3], atol=1e-10)
    assert not torch.allclose(seen[0], seen[1], atol=1e-3)


def test_without_a_supervised_loss_it_is_refused_in_words(encoder: Encoder, sentences: list[str]) -> None:
    batch = encoder.batch(sentences)
    with pytest.raises(IsotropeError, match="gradient of a supervised loss: it needs labelled pairs"):
        Adversarial().on(batch, encoder, None)


@pytest.mark.parametrize(
    ("variant", "norm", "at"), [("paper", "sentence", "embeddings"), ("official", "token", "embeddings")]
)
def test_the_part_attacks_the_batch_that_it_is_shown(
    precise: Encoder, batch: Batch, variant: str, norm: str, at: str
) -> None:
    found = Adversarial(variant=variant, epsilon=0.4).on(batch, precise, loss)
    wanted = fast_gradient_view(precise, batch, loss, 0.4, norm=norm, at=at)
    assert found.places == (at,)
    assert torch.equal(found.values, wanted.values)
