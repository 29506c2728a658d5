"""Encoders by the names that people type, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from isotrope.cli.console import waiting
from isotrope.io.hub import stay_offline_without_hub

IN_PACKAGES = ("bundled", "small", "minilm", "use")  # models that need no network
MODEL_HELP = "small, bundled, minilm, a model folder, or a name on the Hugging Face Hub."


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
    """`isotrope.encoders.availability.check_names`, with a spinner."""
    names = list(names)
    prepare_hub(names)
    with waiting("Starting"):
        from isotrope.encoders.availability import check_names

        check_names(names, poolings)
