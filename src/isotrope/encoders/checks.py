"""Whether a model that was loaded is whole. transformers makes up what its files lack, and gives random vectors."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from torch import Tensor
from transformers import PreTrainedModel

from isotrope.io.errors import IsotropeError

SHOWN = 3  # names of weights in a message
NUMBER = re.compile(r"\d+")


def check_model(model: SentenceTransformer, path: str, *, subfolder: str = "") -> None:
    """Refuses a model with weights that its files don't have, weights that are no numbers, or a tokenizer without words
    or of another vocabulary. A pooler that the files don't have is taken out: it would be random, and is not used.
    """
    transformer = getattr(model[0], "model", None)
    if isinstance(transformer, PreTrainedModel):
        _check_files(transformer, path, subfolder)
        _check_tokenizer(model[0].tokenizer, transformer)
    damaged = [name for name, weight in model.named_parameters() if not _all_numbers(weight)]
    if damaged:
        raise IsotropeError(f"its weights contain values that are not numbers (NaN or infinity), in {_listed(damaged)}")


def _all_numbers(weight: Tensor) -> bool:
    """By its extremes, which NaN is one of: read once, and nothing of its size is made."""
    return not weight.numel() or bool(torch.stack(torch.aminmax(weight.detach())).isfinite().all())


def _check_files(transformer: Any, path: str, subfolder: str) -> None:
    """Compares the names of weights in the files with those of the model; no weight is read for it."""
    known = transformer.state_dict().keys()
    names = _names_in(Path(path, subfolder, "model.safetensors"), f"{transformer.base_model_prefix}.")
    missing, unexpected = known - names, names - known
    if any(not _of_pooler(name) for name in missing) or any(map(_of_pooler, unexpected)):
        missing, unexpected = _said_by_transformers(transformer, path, subfolder)
    without_pooler = {name for name in missing if not _of_pooler(name)}
    if without_pooler:
        raise IsotropeError(
            f"its files lack {len(without_pooler)} of the weights that its config.json asks for: "
            f"{_listed(without_pooler)}; get the whole folder again"
        )
    if missing:
        transformer.pooler = None
    shapes = {NUMBER.sub("#", name) for name in known}
    further = [name for name in unexpected if any(_ends_alike(NUMBER.sub("#", name), k) for k in shapes)]
    if further:
        raise IsotropeError(
            f"its files have weights for more layers than its config.json: {_listed(further)}; "
            "the two belong to different models"
        )


def _said_by_transformers(transformer: Any, path: str, subfolder: str) -> tuple[set[str], set[str]]:
    """Which weights are missing and which unexpected if it is loaded again, without weights: older names of weights,
    and files of which there are several, are known there alone.
    """
    _, found = type(transformer).from_pretrained(
        path,
        config=copy.deepcopy(transformer.config),
        device_map="meta",
        output_loading_info=True,
        subfolder=subfolder,
        local_files_only=True,
    )
    return set(found["missing_keys"]), set(found["unexpected_keys"])


def _of_pooler(name: str) -> bool:
    return "pooler" in name


def _names_in(file: Path, prefix: str) -> set[str]:
    """As the bare transformer has them; files of a model with a head put `prefix` before each."""
    if not file.is_file():  # several files, or one under another name
        return set()
    with safe_open(file, framework="pt") as weights:
        return {name.removeprefix(prefix) for name in weights.keys()}  # noqa: SIM118, it is no dictionary


def _ends_alike(name: str, known: str) -> bool:
    """`bert.encoder.layer.#.output.dense.weight` is a weight of the model's; a task's head (`cls. ...`) is not."""
    return "#" in known and (name == known or name.endswith(f".{known}"))


def _check_tokenizer(tokenizer: Any, transformer: Any) -> None:
    vocabulary: dict[str, int] = tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else {}
    if len(vocabulary) <= len(set(tokenizer.all_special_ids)):
        raise IsotropeError("its tokenizer has no words: tokenizer.json or the vocabulary is missing; get it again")
    rows = transformer.get_input_embeddings().num_embeddings
    if max(vocabulary.values()) >= rows:
        raise IsotropeError(
            f"its tokenizer numbers words up to {max(vocabulary.values()):,}, and its word embeddings have {rows:,} "
            "rows; the two belong to different models"
        )


def _listed(names: Collection[str]) -> str:
    first = sorted(names)[:SHOWN]
    return ", ".join(first) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
