"""The adversarial view of ConSERT (paper 2, section 3.2): a step along the gradient of a supervised loss.

Fast gradient value: the gradient itself gives the direction, without its sign being taken. The paper states neither the
norm nor the size of the step. Here a sentence's whole L x d matrix moves by `epsilon` in L2 norm; the published code
moves every token by it, and has 1.0 as the size unless told otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from isotrope.io.errors import IsotropeError
from isotrope.views.embedding.base import ConsertLayerView, Layer, LossOfVectors

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.packing import Batch

Norm = Literal["sentence", "token"]


class Adversarial(ConsertLayerView):
    """What an attack is like. On a batch it becomes a `Perturbation`, by way of `fast_gradient_view`."""

    kind: Literal["adversarial"] = "adversarial"
    epsilon: float = Field(default=1.0, ge=0)
    norm: Norm = "sentence"
    needs_labels: ClassVar[bool] = True
    official: ClassVar[dict[str, Any]] = {"norm": "token"}

    def on(self, batch: Batch, student: Encoder, loss: LossOfVectors | None) -> Perturbation:
        """The attack on this batch, against `loss`."""
        if loss is None:
            raise IsotropeError(
                "the adversarial view follows the gradient of a supervised loss: it needs labelled pairs "
                "(consert-joint has them); for single sentences choose another view, such as shuffle"
            )
        return fast_gradient_view(student, batch, loss, self.epsilon, norm=self.norm, at=self.at)


class Attack:
    """Alters the embeddings at one layer and leaves every token at its place."""

    def __init__(self, at: Layer) -> None:
        self.places: tuple[Layer, ...] = (at,)

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Position ids (rows, width), from `offset` on in each sentence."""
        return batch.position_ids + offset


class Perturbation(Attack):
    """Adds fixed values to the embeddings of the one batch that they were made for."""

    def __init__(self, values: Tensor, at: Layer = "word") -> None:
        super().__init__(at)
        self.values = values  # (rows, width, dim)

    def alter(self, embeddings: Tensor, batch: Batch, at: Layer) -> Tensor:
        """Embeddings (rows, width, dim), moved."""
        return embeddings + self.values.to(embeddings.dtype)


def fast_gradient_view(
    encoder: Encoder,
    batch: Batch,
    loss_of_vectors: LossOfVectors,
    epsilon: float,
    *,
    norm: Norm = "sentence",
    at: Layer = "word",
) -> Perturbation:
    """Runs the encoder once and returns the view that moves each sentence by epsilon * g / |g|.

    g is the gradient of `loss_of_vectors`, a scalar function of the vectors (sentences, dim), at the embeddings. No
    parameter gets a gradient from it. A sentence (or token) on which the loss does not depend stays where it is.
    """
    watch = _Watch(at)
    with torch.enable_grad():
        loss = loss_of_vectors(encoder(batch, watch))
        (gradient,) = torch.autograd.grad(loss, watch.embeddings)  # (rows, width, dim)
    gradient = gradient.to(torch.promote_types(gradient.dtype, torch.float32))
    if norm == "token":
        length = gradient.norm(dim=-1)
    else:
        tokens, mask = batch.unpack(gradient)
        whole = (tokens * mask[..., None]).norm(dim=(1, 2))  # (sentences,)
        length = whole[batch.sentence]  # padding has no gradient: any length will do
    length = length[..., None].clamp_min(torch.finfo(gradient.dtype).tiny)
    return Perturbation(epsilon * gradient / length, at)


class _Watch(Attack):
    """Cuts the graph at the embeddings and keeps them: the gradient ends here and reaches no parameter before."""

    whole = True  # its embeddings are those of all rows

    def alter(self, embeddings: Tensor, batch: Batch, at: Layer) -> Tensor:
        self.embeddings = embeddings.detach().requires_grad_()
        return self.embeddings
