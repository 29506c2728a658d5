"""Floating-point types by the names that people type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import torch

from isotrope.io.errors import IsotropeError, nearest

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


HALF = ("avx512_bf16", "amx_bf16")  # of a processor that multiplies in bfloat16; others imitate it, 6 to 8x slower


def fastest_precision(device: str) -> str:
    """`bfloat16` where a device computes in it by itself, `float32` elsewhere; by what the hardware says it has."""
    if torch.device(device).type == "cuda":
        there = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        found: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # of torch 2.11 and newer
        there = torch.device(device).type == "cpu" and any(found.get(name) for name in HALF)
    return "bfloat16" if there else "float32"


def dtype_of(precision: str) -> torch.dtype:
    """The type of a name."""
    if precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise IsotropeError(f"unknown precision '{precision}'{nearest(precision, PRECISIONS)}; choose from {known}")
    return PRECISIONS[precision]


class Computing(Protocol):
    """An encoder, as far as this module knows it."""

    precision: str


@contextmanager
def encoding_in(precision: str, *encoders: Computing) -> Iterator[None]:
    """Where the encoders compute in `precision`; afterwards each does as it did before."""
    before = [encoder.precision for encoder in encoders]
    for encoder in encoders:
        encoder.precision = precision
    try:
        yield
    finally:
        for encoder, own in zip(encoders, before, strict=True):
            encoder.precision = own


def computing_in(precision: torch.dtype, device: torch.device) -> AbstractContextManager[None]:
    """Where torch computes in `precision` what is safe there; nothing changes for float32."""
    return torch.autocast(device.type, precision, enabled=precision != torch.float32)
