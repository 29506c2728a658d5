"""A normalising flow from sentence vectors to a standard Gaussian, as a module of an encoder.

Glow (Kingma and Dhariwal, 2018) for vectors: `levels` times `depth` steps of actnorm, reversal and additive coupling;
after each level but the last, half of what is left is done. Every step can be undone, and knows by how much it
stretches space, so the density of a vector is known and can be maximised. `isotrope.baselines.flow` fits it.
"""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from sentence_transformers.base.modules import Module
from torch import Tensor, nn
from torch.nn import functional

from isotrope.io.errors import IsotropeError

LOGSCALE = 3.0  # scales are exp(3 s): s is learnt that much faster (Glow's own code)


class Flow(Module):  # type: ignore[misc]
    """A sentence-transformers module: x -> z, both (sentences, dim)."""

    config_keys = ("dim", "levels", "depth", "width")

    def __init__(self, dim: int, levels: int = 3, depth: int = 3, width: int = 32) -> None:
        super().__init__()
        if dim < 2**levels:
            raise IsotropeError(f"a flow of {levels} levels needs {2**levels} dimensions or more, not {dim}")
        self.dim, self.levels, self.depth, self.width = dim, levels, depth, width
        self.steps = nn.ModuleList(Step(dim // 2**level, width) for level in range(levels) for _ in range(depth))

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Replaces the sentence embedding by its latent vector."""
        features["sentence_embedding"] = self.latent(features["sentence_embedding"])[0]
        return features

    def latent(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """z (sentences, dim), and log |det dz/dx|, which is the same for every x."""
        stretch = x.new_zeros(())
        for step in self.steps:
            x, more = step(x)
            stretch = stretch + more
        return x, stretch

    def inverse(self, z: Tensor) -> Tensor:
        """x (sentences, dim) of which z is the latent vector."""
        for step in reversed(self.steps):
            z = cast(Step, step).inverse(z)
        return z

    def log_density(self, x: Tensor) -> Tensor:
        """log p(x) = log N(z; 0, I) + log |det dz/dx|, (sentences,)."""
        z, stretch = self.latent(x)
        return -0.5 * (z.square() + math.log(2 * math.pi)).sum(1) + stretch

    @torch.no_grad()
    def initialise(self, x: Tensor, generator: torch.Generator) -> None:
        """Draws weights, and sets every actnorm so that its output on x (sentences, dim) has mean 0 and variance 1."""
        for module in self.modules():
            if isinstance(module, Coupling):
                module.draw(generator)
        norms = [module for module in self.modules() if isinstance(module, Actnorm)]
        hooks = [norm.register_forward_pre_hook(_standardise) for norm in norms]
        self.latent(x)
        for hook in hooks:
            hook.remove()

    def get_embedding_dimension(self) -> int:
        """Length of a vector, which stays the same."""
        return self.dim

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Sizes and weights."""
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization=safe_serialization)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **kwargs: Any) -> Flow:
        """From a folder, or from the Hub."""
        where = {key: kwargs.get(key) for key in ("token", "cache_folder", "revision")}
        where["local_files_only"] = kwargs.get("local_files_only", False)
        flow = cls(**cls.load_config(model_name_or_path, subfolder=subfolder, **where))
        loaded: Flow = cls.load_torch_weights(model_name_or_path, subfolder=subfolder, model=flow, **where)
        return loaded


class Step(nn.Module):
    """Actnorm, reversal of the order, additive coupling, all of the first `dim` components; the others are done."""

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.dim = dim
        self.actnorm = Actnorm(dim)
        self.coupling = Coupling(dim // 2, dim - dim // 2, width)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Output, and log-determinant: reversal and coupling keep volumes, actnorm does not."""
        y = self.actnorm(x[:, : self.dim]).flip(-1)
        first, second = y.tensor_split([self.dim // 2], -1)
        return torch.cat([first, second + self.coupling(first), x[:, self.dim :]], 1), self.actnorm.stretch

    def inverse(self, y: Tensor) -> Tensor:
        """Undoes the step."""
        first, second, done = y.tensor_split([self.dim // 2, self.dim], -1)
        x = torch.cat([first, second - self.coupling(first)], 1)
        return torch.cat([self.actnorm.inverse(x.flip(-1)), done], 1)


class Actnorm(nn.Module):
    """Centre and scale of each component: y = (x + bias) exp(3 logs)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))
        self.logs = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Tensor) -> Tensor:
        """(sentences, dim) -> (sentences, dim)."""
        return (x + self.bias) * (LOGSCALE * self.logs).exp()

    def inverse(self, y: Tensor) -> Tensor:
        """Undoes it."""
        return y * (-LOGSCALE * self.logs).exp() - self.bias

    @property
    def stretch(self) -> Tensor:
        """Its log-determinant."""
        return LOGSCALE * self.logs.sum()


class Coupling(nn.Module):
    """What is added to the second half, seen from the first: two hidden ReLU layers, and at the start nothing."""

    def __init__(self, inputs: int, outputs: int, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(inputs, width, bias=False), nn.Linear(width, width, bias=False)
        self.first_norm, self.second_norm = Actnorm(width), Actnorm(width)
        self.last = nn.Linear(width, outputs)
        self.last_logs = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """(sentences, inputs) -> (sentences, outputs)."""
        hidden = functional.relu(self.first_norm(self.first(x)))
        hidden = functional.relu(self.second_norm(self.second(hidden)))
        shift: Tensor = self.last(hidden) * (LOGSCALE * self.last_logs).exp()
        return shift

    def draw(self, generator: torch.Generator) -> None:
        """Weights as at the start of training."""
        self.first.weight.normal_(std=0.05, generator=generator)
        self.second.weight.normal_(std=0.05, generator=generator)
        self.last.weight.zero_()
        self.last.bias.zero_()


def _standardise(module: Actnorm, inputs: tuple[Tensor]) -> None:
    (x,) = inputs
    module.bias.copy_(-x.mean(0))
    module.logs.copy_(-(x.var(0, correction=0).sqrt() + 1e-6).log() / LOGSCALE)
