"""Encoders by the names that people type, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from isotrope.cli.console import waiting
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub

if TYPE_CHECKING:
    from isotrope.encoders import Encoder, PlainEncoder

IN_PACKAGES = ("bundled", "minilm", "use")  # models that need no network
MODEL_HELP = "bundled, minilm, a model folder, or a name on the Hugging Face Hub."


def check_models(names: Iterable[str], poolings: Iterable[str] = ()) -> None:
    """Each name is a model: a folder on this machine or, as far as its configuration, on the Hub."""
    names = list(names)
    if not all(name in IN_PACKAGES or Path(name).exists() for name in names):
        stay_offline_without_hub()
    with waiting("Starting"):
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HFValidationError

        from isotrope.encoders.loading import load_any, resolve
        from isotrope.encoders.pooling import Pooling

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


def load_encoder(
    name: str, *, pooling: str | None = None, device: str | None = None, precision: str | None = None
) -> Encoder | PlainEncoder:
    """`isotrope.encoders.load_any`, with a spinner: for all that needs vectors only."""
    with waiting(f"Loading {name}"):
        from isotrope.encoders import load_any

        _check_device(device)
        return load_any(name, pooling=pooling, device=device, precision=precision)


def load_transformer(name: str, *, pooling: str | None = None, device: str | None = None) -> Encoder:
    """`isotrope.load`, with a spinner: for what looks into layers, or tunes."""
    with waiting(f"Loading {name}"):
        from isotrope.encoders import load

        _check_device(device)
        return load(name, pooling=pooling, device=device)


def _check_device(device: str | None) -> None:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise IsotropeError(f"there is no device '{device}' on this machine; leave out --device") from error
