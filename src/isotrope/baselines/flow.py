"""A normalising flow from sentence vectors to a standard Gaussian: BERT-flow (Li et al., 2020), as it was published."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from isotrope.baselines.base import OnEncoder
from isotrope.encoders import Encoder
from isotrope.encoders.modules.flow import Flow
from isotrope.io.errors import IsotropeError
from isotrope.io.progress import progress
from isotrope.parts import Seed


class FlowSpec(OnEncoder):
    """BERT-flow's `config_l3_d3_w32` and the numbers of its training.

    BERT-flow means the last two layers (`last2`); its code takes the first and the last instead (`first-last`).
    """

    title: ClassVar[str] = "A normalising flow, BERT-flow (Li et al., 2020)"
    kind: str = "flow"
    pooling: str | None = "last2"
    levels: int = Field(default=3, ge=1)
    depth: int = Field(default=3, ge=1)
    width: int = Field(default=32, ge=1)  # of the hidden layers in a coupling
    epochs: float = Field(default=1, gt=0)
    steps: int | None = Field(default=None, ge=1)  # in place of epochs
    batch_size: int = Field(default=64, ge=1)  # 32 pairs, as published
    learning_rate: float = Field(default=1e-3, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    seed: Seed = 1

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> Encoder:
        """The vectors are made once, then the flow is trained on them."""
        return fit_flow(self.encoder(self.pooling), text or (), self, show_progress=show_progress)


def fit_flow(
    encoder: Encoder, sentences: Iterable[str], settings: FlowSpec | None = None, *, show_progress: bool = False
) -> Encoder:
    """The encoder with a flow behind it, fitted on the sentences' vectors. The encoder itself stays as it is."""
    settings = settings or FlowSpec()
    vectors = torch.from_numpy(encoder.encode(sentences))
    flow = Flow(encoder.dim, settings.levels, settings.depth, settings.width)
    train_flow(flow, vectors, settings, show_progress=show_progress)
    return encoder.with_after_pooling([*encoder.after_pooling, flow.to(encoder.device).eval()])


def train_flow(flow: Flow, vectors: Tensor, settings: FlowSpec, *, show_progress: bool = False) -> list[float]:
    """Maximises the likelihood of vectors (sentences, dim). Gives the loss of each step, in bits per dimension."""
    if len(vectors) < settings.batch_size:
        raise IsotropeError(
            f"a flow is fitted on batches of {settings.batch_size} sentences; {len(vectors)} are too few"
        )
    per_epoch = len(vectors) // settings.batch_size
    steps = settings.steps or max(1, round(settings.epochs * per_epoch))
    generator = torch.Generator().manual_seed(settings.seed)
    flow.initialise(vectors[torch.randperm(len(vectors), generator=generator)[: settings.batch_size]], generator)
    optimizer = torch.optim.AdamW(flow.parameters(), settings.learning_rate, weight_decay=settings.weight_decay)
    losses, order = [], torch.empty(0, dtype=torch.long)
    for _ in progress(range(steps), "Fitting the flow", shown=show_progress):
        if len(order) < settings.batch_size:
            order = torch.randperm(len(vectors), generator=generator)
        batch, order = vectors[order[: settings.batch_size]], order[settings.batch_size :]
        loss = -flow.log_density(batch).mean() / (flow.dim * math.log(2))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(flow.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
