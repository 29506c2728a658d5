"""Where an encoder runs: the device that was asked for, or the fastest there is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

from isotrope.io.errors import IsotropeError

ACCELERATES = "ACCELERATE_TORCH_DEVICE"  # where accelerate is told
_chosen: ContextVar[str | None] = ContextVar("device", default=None)


def check_device(device: str | torch.device | None) -> None:
    """Refuses a device that this machine has not."""
    try:
        there = torch.empty(0, device=device).device.type != "meta"  # which has no numbers
    except (RuntimeError, AssertionError):
        there = False
    if not there:
        raise IsotropeError(f"there is no device '{device}' on this machine; leave out device=", argument="device=")


@contextmanager
def on_device(device: str | None) -> Iterator[None]:
    """Within it `device` is the default one, for accelerate too; None changes nothing."""
    if device is None:
        yield
        return
    check_device(device)
    token, before = _chosen.set(device), os.environ.get(ACCELERATES)
    os.environ[ACCELERATES] = device
    try:
        yield
    finally:
        _chosen.reset(token)
        os.environ.pop(ACCELERATES)
        os.environ.update({ACCELERATES: before} if before is not None else {})


def default_device() -> str:
    """The one that was chosen; else CUDA, then Apple's MPS, then the CPU."""
    if chosen := _chosen.get():
        return chosen
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
