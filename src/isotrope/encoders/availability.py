"""Whether models and devices that people name are there, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import HFValidationError

from isotrope.encoders.loading import load_any, resolve
from isotrope.encoders.pooling import Pooling
from isotrope.io.errors import IsotropeError


def check_names(names: Iterable[str], poolings: Iterable[str] = ()) -> None:
    """Each name is a model: a folder on this machine or, as far as its configuration, on the Hub."""
    for pooling in poolings:
        Pooling.parse(pooling)
    for name in names:
        if not Path(resolve(name)).is_dir():
            try:
                hf_hub_download(name, "config.json")
            except HFValidationError as error:
                raise IsotropeError(f"there is no model folder '{name}'") from error
            except Exception:
                load_any(name)  # says what is wrong


def check_device(device: str | None) -> None:
    """Refuses a device that this machine does not have."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise IsotropeError(f"there is no device '{device}' on this machine") from error
