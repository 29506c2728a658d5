"""Encoders by the names that people type, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotrope.cli.console import waiting
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub

if TYPE_CHECKING:
    from isotrope.encoders import Encoder, PlainEncoder

MODEL_HELP = "bundled, minilm, a model folder, or a name on the Hugging Face Hub."
LOCAL = ("bundled", "minilm", "use")
USE = "use"  # a reference that is no folder: the Universal Sentence Encoder out of its package


def prepare_hub(models: Iterable[str], *, local_data: bool = True) -> None:
    """Goes offline without a network, unless nothing is wanted from the Hub. To be called before torch is imported."""
    if not local_data or not all(name in LOCAL or Path(name).exists() for model in models for name in _members(model)):
        stay_offline_without_hub()


def _members(model: str) -> list[str]:
    """`NAME=A,B` -> A, B."""
    return [model] if Path(model).exists() else model.rpartition("=")[2].split(",")


def given_models(names: Iterable[str]) -> list[Any]:
    """Names as the library takes them; one that is no folder and in no layer below is loaded here."""
    return [_use() if name == USE else name for name in names]


def check_models(names: Iterable[str], poolings: Iterable[str] = ()) -> None:
    """`isotrope.evaluation.models.check_models`, with a spinner."""
    names = [name for name in names if name != USE]
    prepare_hub(names)
    with waiting("Starting"):
        from isotrope.evaluation.models import check_models as check

        check(names, poolings)


def load_encoder(name: str, *, pooling: str | None = None, device: str | None = None) -> Encoder | PlainEncoder:
    """`isotrope.encoders.load_any`, with a spinner: for all that needs vectors only."""
    with waiting(f"Loading {name}"):
        from isotrope.encoders import load_any

        _check_device(device)
        if name != USE:
            return load_any(name, pooling=pooling, device=device)
        encoder = _use()
        return encoder if pooling is None else encoder.with_pooling(pooling)


def load_transformer(name: str, *, pooling: str | None = None, device: str | None = None) -> Encoder:
    """`isotrope.load`, with a spinner: for what looks into layers, or tunes."""
    with waiting(f"Loading {name}"):
        from isotrope.encoders import load

        _check_device(device)
        return load(name, pooling=pooling, device=device)


def _use() -> PlainEncoder:
    from isotrope.baselines.use import universal_sentence_encoder

    return universal_sentence_encoder()


def _check_device(device: str | None) -> None:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise IsotropeError(f"there is no device '{device}' on this machine; leave out --device") from error
