"""From a folder, or a name on the Hub, to a SentenceTransformer whose files were all there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import import_from_string

from isotrope.encoders.checks import check_model
from isotrope.encoders.modules import is_own, own_module
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.checksums import SUMS, changed_since
from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.hub import commit_of, fetch_model, split_revision

PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
SAFE = {"dtype": torch.float32, "use_safetensors": True}  # of models on the Hub, too

Entry = dict[str, Any]  # of modules.json: type and path of a module


def open_model(path: str, asked: str, offline_names: list[str]) -> SentenceTransformer:
    """The model of a folder or name, on the CPU in float32. What is missing, damaged or foreign code is one line."""
    folder = Path(path) if Path(path).is_dir() else fetched(path, asked, offline_names)
    try:
        with quiet_transformers():
            check_sums(folder)
            entries: list[Entry] = _read_json(folder, "modules.json") or []
            _refuse_foreign_code(entries)
            refuse_pickles(folder)
            own = any(is_own(entry["type"]) for entry in entries)
            model = _put_together(folder, entries) if own else _stock(folder)
            check_model(model, str(folder), subfolder=entries[0]["path"] if entries else "")
    except IsotropeError as error:
        raise IsotropeError(f"'{asked}' can't be used as a model: {error}") from error
    except Exception as error:
        raise IsotropeError(f"'{asked}' could not be loaded as a model: {_reason(error)}") from error
    return model


def fetched(name: str, asked: str, offline_names: list[str]) -> Path:
    """The folder of a name on the Hub, which may be `org/name@revision`, on this machine."""
    try:
        with quiet_transformers():
            return fetch_model(name)
    except Exception as error:
        wanted = "name or revision" if split_revision(name)[1] is not None else "name"
        raise IsotropeError(
            f"no folder '{asked}' here{nearest(asked, offline_names)}, and the Hugging Face Hub gave no such model (no "
            f"network, or no such {wanted}); available offline: {', '.join(offline_names)}, or any model folder"
        ) from error


def check_sums(folder: Path) -> None:
    """Refuses a folder that is not as it was saved. One flipped bit in the weights gives vectors like any others."""
    if changed := changed_since(folder):
        raise IsotropeError(f"{changed}; get the folder again, or delete its {SUMS} if you changed it yourself")


def _refuse_foreign_code(entries: list[Entry]) -> None:
    for entry in entries:
        if not is_own(entry["type"]) and not entry["type"].startswith("sentence_transformers."):
            raise IsotropeError(
                f"it brings code of its own ({entry['type']}), which is not run; if you trust it, open it with "
                "SentenceTransformer(..., trust_remote_code=True) and give that as the model"
            )


def refuse_pickles(folder: Path, loader: str = "SentenceTransformer") -> None:
    """Reading a pickle can run any code. Weights beside which there are the same as safetensors are not read.

    Of a model on the Hub no pickle is fetched, so there are no weights at all if it has nothing else.
    """
    open_with = loader if loader == "SentenceTransformer" else f"{loader}.from_pretrained"
    found = [file for ending in PICKLES for file in sorted(folder.rglob(f"*{ending}"))]
    if alone := [file for file in found if not any(file.parent.glob("*.safetensors"))]:
        raise IsotropeError(
            f"{alone[0].relative_to(folder)} is a pickle, which can run any code when it is read; if you trust it, "
            f"convert it once: {open_with}({str(folder)!r}).save_pretrained({str(folder) + '-safe'!r})"
        )
    if commit_of(folder) and not any(folder.rglob("*.safetensors")):
        name = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
        raise IsotropeError(
            "it has no safetensors, and a pickle, which can run any code, is not fetched; if you trust it, "
            f"convert it once: {open_with}({name!r}).save_pretrained({name.rpartition('/')[2] + '-safe'!r})"
        )


def _stock(folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device="cpu", model_kwargs=SAFE, local_files_only=True)


def _put_together(folder: Path, entries: list[Entry]) -> SentenceTransformer:
    """A folder with modules of isotrope's own. sentence-transformers would take these only with `trust_remote_code`,
    which lets a folder bring any code; here each is taken from where it is known to be.
    """
    modules = [
        _module_class(entry["type"]).load(
            str(folder), subfolder=entry["path"], local_files_only=True, model_kwargs=SAFE
        )
        for entry in entries
    ]
    config = _read_json(folder, "config_sentence_transformers.json") or {}
    kept = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    options = {name: config[name] for name in kept if config.get(name) is not None}
    return SentenceTransformer(modules=modules, device="cpu", **options)


def open_module(path: str, entry: Entry) -> Any:
    """The module of a folder's entry in modules.json, if that is not code of its own."""
    _refuse_foreign_code([entry])
    return _module_class(entry["type"]).load(path, subfolder=entry["path"], local_files_only=True)


def _module_class(reference: str) -> Any:
    return own_module(reference) if is_own(reference) else import_from_string(reference)


def _reason(error: Exception) -> str:
    said = " ".join(str(error).split())[:200]
    return "its weights have other sizes than its config.json says" if "ignore_mismatched_sizes" in said else said


def _read_json(folder: Path, name: str) -> Any:
    file = folder / name
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
