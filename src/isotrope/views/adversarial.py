"""The adversarial view of ConSERT (paper 2, section 3.2): a step along the gradient of a supervised loss.

Fast gradient value: the gradient itself gives the direction, without its sign being taken. The paper states neither the
norm nor the size of the step. Here a sentence's whole L x d matrix moves by `epsilon` in L2 norm; the published code
moves every token by it, and has 1.0 as the size unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.io.errors import IsotropeError
from isotrope.views.embedding import Layer, Unmoved

Norm = Literal["sentence", "token"]


@dataclass(frozen=True)
class Adversarial(Unmoved):
    """What an attack is like. It becomes a view of one batch, a `Perturbation`, through `fast_gradient_view`."""

    epsilon: float = 1.0
    norm: Norm = "sentence"
    at: Layer = "word"

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Refuses: there is no direction yet."""
        raise IsotropeError(
            "the adversarial view follows the gradient of a supervised loss: it needs labelled pairs "
            "(consert-joint has them); for single sentences choose another view, such as shuffle"
        )


@dataclass(frozen=True, eq=False)
class Perturbation(Unmoved):
    """Adds fixed values to the embeddings of the one batch that they were made for."""

    values: Tensor  # (rows, width, dim)
    at: Layer = "word"

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim), moved."""
        return embeddings + self.values.to(embeddings.dtype)


def fast_gradient_view(
    encoder: Encoder,
    batch: Batch,
    loss_of_vectors: Callable[[Tensor], Tensor],
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
        length = (tokens * mask[..., None]).norm(dim=(1, 2))[
            batch.sentence
        ]  # padding has no gradient: any length will do
    length = length[..., None].clamp_min(torch.finfo(gradient.dtype).tiny)
    return Perturbation(epsilon * gradient / length, at)


class _Watch(Unmoved):
    """Cuts the graph at the embeddings and keeps them: the gradient ends here and reaches no parameter before."""

    def __init__(self, at: Layer) -> None:
        self.at = at

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        self.embeddings = embeddings.detach().requires_grad_()
        return self.embeddings
