"""What stands behind the pooling, as sentence-transformers modules, so that it is saved and loaded with the encoder."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from sentence_transformers.base.modules import Dense, Normalize
from torch import nn

from isotrope.encoders.backbone import Backbone


def cls_mlp(backbone: Backbone) -> Dense:
    """Dense + tanh over [CLS]: the checkpoint's own pooler where it has one, else fresh weights as BERT draws them."""
    dense = Dense(backbone.dim, backbone.dim, activation_function=nn.Tanh())
    pooler = getattr(getattr(backbone.model, "pooler", None), "dense", None)
    with torch.no_grad():
        if isinstance(pooler, nn.Linear) and pooler.weight.shape == dense.linear.weight.shape:
            dense.linear.load_state_dict(pooler.state_dict())
        else:
            dense.linear.weight.normal_(std=getattr(backbone.config, "initializer_range", 0.02))
            dense.linear.bias.zero_()
    return dense.to(device=next(backbone.parameters()).device, dtype=backbone.dtype)


def is_normalize(module: nn.Module) -> bool:
    """Whether a module scales vectors to length one and does nothing else."""
    return isinstance(module, Normalize)


def without_last_normalize(modules: Iterable[nn.Module]) -> tuple[list[nn.Module], list[nn.Module]]:
    """The modules without a normalisation at their end, and that one, if there is any. One before others stays."""
    kept = list(modules)
    last = [kept.pop()] if kept and is_normalize(kept[-1]) else []
    return kept, last


def is_cls_mlp(module: nn.Module) -> bool:
    """Whether a module is such a dense layer as `cls_mlp` makes."""
    return (
        isinstance(module, Dense)
        and module.in_features == module.out_features
        and isinstance(module.activation_function, nn.Tanh)
    )
