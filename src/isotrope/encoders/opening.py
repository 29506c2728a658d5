"""From a folder, or a name on the Hub, to a SentenceTransformer whose files were all there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import is_offline_mode
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import import_from_string, load_file_path

from isotrope.encoders.checks import check_model
from isotrope.encoders.modules import is_own, own_module
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.hub import hub_answers

PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
SAFE = {"dtype": torch.float32, "use_safetensors": True}  # of models on the Hub, too

Entry = dict[str, Any]  # of modules.json: type and path of a module


def open_model(path: str, asked: str, offline_names: list[str]) -> SentenceTransformer:
    """The model of a folder or name, on the CPU in float32. What is missing, damaged or foreign code is one line."""
    elsewhere = not Path(path).is_dir()
    local = elsewhere and (is_offline_mode() or not hub_answers())
    try:
        with quiet_transformers():
            entries: list[Entry] = _read_json(path, "modules.json", local) or []
            _refuse_foreign_code(entries)
            _refuse_pickles(Path(path))
            own = any(is_own(entry["type"]) for entry in entries)
            model = _put_together(path, entries, local) if own else _stock(path, local)
            check_model(model, path, subfolder=entries[0]["path"] if entries else "", local_files_only=local)
    except IsotropeError as error:
        raise IsotropeError(f"'{asked}' can't be used as a model: {error}") from error
    except Exception as error:
        if not elsewhere:
            raise IsotropeError(f"'{asked}' could not be loaded as a model: {_reason(error)}") from error
        raise IsotropeError(
            f"no folder '{asked}' here, and the Hugging Face Hub gave no such model (no network, or no such name)"
            f"{nearest(asked, offline_names)}; available offline: {', '.join(offline_names)}, or any model folder"
        ) from error
    return model


def _refuse_foreign_code(entries: list[Entry]) -> None:
    for entry in entries:
        if not is_own(entry["type"]) and not entry["type"].startswith("sentence_transformers."):
            raise IsotropeError(
                f"it brings code of its own ({entry['type']}), which is not run; if you trust it, open it with "
                "SentenceTransformer(..., trust_remote_code=True) and give that as the model"
            )


def _refuse_pickles(folder: Path) -> None:
    """Reading a pickle can run any code. Weights beside which there are the same as safetensors are not read."""
    found = [file for ending in PICKLES for file in sorted(folder.rglob(f"*{ending}"))]
    if alone := [file for file in found if not any(file.parent.glob("*.safetensors"))]:
        raise IsotropeError(
            f"{alone[0].relative_to(folder)} is a pickle, which can run any code when it is read; if you trust it, "
            f"convert it once: SentenceTransformer({str(folder)!r}).save_pretrained({str(folder) + '-safe'!r})"
        )


def _stock(path: str, local: bool) -> SentenceTransformer:
    return SentenceTransformer(path, device="cpu", model_kwargs=SAFE, local_files_only=local)


def _put_together(path: str, entries: list[Entry], local: bool) -> SentenceTransformer:
    """A folder with modules of isotrope's own. sentence-transformers would take these only with `trust_remote_code`,
    which lets a folder bring any code; here each is taken from where it is known to be.
    """
    modules = [
        _module_class(entry["type"]).load(path, subfolder=entry["path"], local_files_only=local, model_kwargs=SAFE)
        for entry in entries
    ]
    config = _read_json(path, "config_sentence_transformers.json", local) or {}
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


def _read_json(path: str, name: str, local: bool) -> Any:
    file = load_file_path(path, name, local_files_only=local)
    return None if file is None else json.loads(Path(file).read_text(encoding="utf-8"))
