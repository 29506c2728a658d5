"""Where data sets are found: in a folder, else on the Hugging Face Hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotrope.io.errors import IsotropeError


class MissingDataError(IsotropeError):
    """A known task whose data is neither in a folder nor on the Hub; `message` says where it was sought."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}; name a folder with data= or set ISOTROPE_DATA", argument="data=")


def data_folder(data: Path | None = None) -> Path | None:
    """The folder of data sets: the one given, else the one in `ISOTROPE_DATA`, else none."""
    given = data or os.environ.get("ISOTROPE_DATA")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise IsotropeError(f"{folder}: no such folder of data sets; correct data= or ISOTROPE_DATA", argument="data=")
    return folder


def data_file(file: str, data: Path | None = None) -> Path | None:
    """Where a file (or its .gz) of the data folder is; None if it is not there."""
    folder = data_folder(data)
    files = [Path(folder, file + ending) for ending in ("", ".gz")] if folder else []
    return next((one for one in files if one.is_file()), None)


def hub_splits(task: str, file: str, hub: str, config: str | None) -> Mapping[str, Any]:
    """The tables of a data set on the Hub, by split. `file` is where a data folder would have held the task's data."""
    if not hub:
        raise MissingDataError(f"task '{task}': no {file}[.gz] in a data folder")
    from datasets import load_dataset

    try:
        _ask_hub(hub)
        splits: Mapping[str, Any] = load_dataset(hub, config)
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise MissingDataError(
            f"task '{task}': no {file}[.gz] in a data folder, and the Hugging Face Hub gave no {hub} "
            f"(no network? {reason})"
        ) from error
    return splits


def _ask_hub(name: str) -> None:
    """Fails at once without a network, where `load_dataset` would retry for half a minute first."""
    from huggingface_hub import HfApi, is_offline_mode, try_to_load_from_cache

    if not is_offline_mode() and try_to_load_from_cache(name, "README.md", repo_type="dataset") is None:
        HfApi().dataset_info(name, timeout=10)
