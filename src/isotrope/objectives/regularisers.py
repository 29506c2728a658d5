"""What keeps the student near where it began."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from isotrope.io.errors import IsotropeError
from isotrope.objectives.similarity import in_full


def anchor(student: nn.Module, frozen: nn.Module) -> Tensor:
    """L^reg of paper 1 (section 3.1): ‖student - frozen‖² over all parameters, matched by name.

    Only the student gets a gradient. Parameters of it that don't learn stay where they began, and are passed over.
    """
    fixed = dict(frozen.named_parameters())
    tuned = dict(student.named_parameters())
    if unmatched := sorted(fixed.keys() ^ tuned.keys()):
        raise IsotropeError(f"anchor: only one of the two modules has the parameter '{unmatched[0]}'")
    learning = {name: p for name, p in tuned.items() if p.requires_grad} or tuned
    squares = [mse_loss(in_full(p), in_full(fixed[name].detach()), reduction="sum") for name, p in learning.items()]
    return torch.stack(squares).sum()
