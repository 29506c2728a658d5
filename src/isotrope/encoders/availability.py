"""Whether the models that people name exist, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import HFValidationError

from isotrope.encoders.loading import load_any, resolve
from isotrope.encoders.pooling import Pooling
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import split_revision


def check_names(names: Iterable[str], poolings: Iterable[str] = ()) -> None:
    """Each name is a model: a folder on this machine or, as far as its configuration, on the Hub."""
    for pooling in poolings:
        Pooling.parse(pooling)
    for name in names:
        if not Path(resolve(name)).is_dir():
            try:
                repository, revision = split_revision(name)
                hf_hub_download(repository, "config.json", revision=revision)
            except HFValidationError as error:
                raise IsotropeError(f"there is no model folder '{name}'") from error
            except Exception:
                load_any(name)  # says what is wrong
