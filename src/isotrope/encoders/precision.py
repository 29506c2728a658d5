"""Floating-point types by the names that people type."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch

from isotrope.io.errors import IsotropeError, nearest

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def dtype_of(precision: str) -> torch.dtype:
    """The type of a name."""
    if precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise IsotropeError(f"unknown precision '{precision}'{nearest(precision, PRECISIONS)}; choose from {known}")
    return PRECISIONS[precision]


def computing_in(precision: torch.dtype, device: torch.device) -> AbstractContextManager[None]:
    """Where torch computes in `precision` what is safe there; nothing changes for float32."""
    return torch.autocast(device.type, precision, enabled=precision != torch.float32)
