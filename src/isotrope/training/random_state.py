"""The random state of a process, as data that `torch.load` takes with `weights_only`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def get_random_state(device: torch.device) -> dict[str, Any]:
    """Of Python, numpy, torch, and the device if it draws numbers of its own."""
    name, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    state = {
        "python": random.getstate(),
        "numpy": (str(name), np.asarray(keys).tolist(), *rest),
        "torch": torch.get_rng_state(),
    }
    if device.type != "cpu":
        state["device"] = torch.get_device_module(device).get_rng_state()
    return state


def set_random_state(state: dict[str, Any], device: torch.device) -> None:
    """Puts back what `get_random_state` returned."""
    random.setstate(state["python"])
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if "device" in state and device.type != "cpu":
        torch.get_device_module(device).set_rng_state(state["device"])
