"""Encoders by the names that people type, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from isotrope.cli.console import waiting
from isotrope.io.hub import stay_offline_without_hub

if TYPE_CHECKING:
    from isotrope.encoders import Encoder, PlainEncoder

IN_PACKAGES = ("bundled", "minilm", "use")  # models that need no network
MODEL_HELP = "bundled, minilm, a model folder, or a name on the Hugging Face Hub."


def prepare_hub(models: Iterable[str], *, local_data: bool = True) -> None:
    """Goes offline without a network, unless nothing is wanted from the Hub. To be called before torch is imported."""
    if not local_data or not all(
        name in IN_PACKAGES or Path(name).exists() for model in models for name in _members(model)
    ):
        stay_offline_without_hub()


def _members(model: str) -> list[str]:
    """`NAME=A,B` -> A, B."""
    return [model] if Path(model).exists() else model.rpartition("=")[2].split(",")


def check_models(names: Iterable[str], poolings: Iterable[str] = ()) -> None:
    """`isotrope.evaluation.models.check_models`, with a spinner."""
    names = list(names)
    prepare_hub(names)
    with waiting("Starting"):
        from isotrope.evaluation.models import check_models as check

        check(names, poolings)


def load_encoder(
    name: str, *, pooling: str | None = None, device: str | None = None, precision: str | None = None
) -> Encoder | PlainEncoder:
    """`isotrope.encoders.load_any`, with a spinner: for all that needs vectors only."""
    with waiting(f"Loading {name}"):
        from isotrope.encoders import load_any
        from isotrope.evaluation.models import check_device

        check_device(device)
        return load_any(name, pooling=pooling, device=device, precision=precision)


def load_transformer(name: str, *, pooling: str | None = None, device: str | None = None) -> Encoder:
    """`isotrope.load`, with a spinner: for what looks into layers, or tunes."""
    with waiting(f"Loading {name}"):
        from isotrope.encoders import load
        from isotrope.evaluation.models import check_device

        check_device(device)
        return load(name, pooling=pooling, device=device)
