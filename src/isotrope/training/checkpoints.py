"""Checkpoints: written whole, checked before they are used, removed when newer ones take their place.

checkpoint-N/
  model.safetensors   all trainable and persistent state of the model
  optimizer.pt        momenta
  scheduler.pt        learning rate
  scaler.pt           loss scale (float16)
  rng-0.pt ...        random state of each process
  state.json          step, evaluations so far, best step
  manifest.json       size and checksum of each file above, and what wrote them; written last
"""

from __future__ import annotations

import json
import platform
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_model, save_model
from torch import nn

from isotrope.io.atomic import whole_folder
from isotrope.io.errors import IsotropeError, one_line
from isotrope.io.hashes import file_digest
from isotrope.training.run_folder import RUN, worth_resuming

WEIGHTS = "model.safetensors"
STATE = "state.json"
MANIFEST = "manifest.json"
KEPT = 2  # the newest, and one to fall back to should it be damaged; beside the best
PACKAGES = ("isotrope", "torch", "transformers", "accelerate")


def save_checkpoint(run: Path, state: dict[str, Any], model: nn.Module, parts: Mapping[str, Any], world: int) -> None:
    """Writes `run/checkpoint-N` for N = `state["step"]`: into a folder beside it, which is renamed once it is whole.

    `parts`: what `torch.save` writes, by file name without the ending. Older checkpoints are removed afterwards.
    """
    folder = run / f"checkpoint-{state['step']}"
    with whole_folder(folder, force=True) as partial, writing(folder):
        save_model(model, str(partial / WEIGHTS))  # tied weights are written once
        for name, part in parts.items():
            torch.save(part, partial / f"{name}.pt")
        (partial / STATE).write_text(json.dumps(state))
        (partial / MANIFEST).write_text(json.dumps(_manifest(partial, state["step"], world), indent=2) + "\n")
    _remove_old(run, keep=state["best"])


def load_weights(model: nn.Module, checkpoint: Path) -> None:
    """All parameters and buffers of the model, in place, wherever they are."""
    load_model(model, checkpoint / WEIGHTS)


def load_part(checkpoint: Path, name: str) -> Any:
    """One of the `parts` that were saved."""
    return torch.load(checkpoint / f"{name}.pt", map_location="cpu", weights_only=True)


def load_state(checkpoint: Path) -> dict[str, Any]:
    """Step, evaluations and best step."""
    state: dict[str, Any] = json.loads((checkpoint / STATE).read_text())
    return state


def last_checkpoint(run: Path, say: Callable[[str], None] = lambda line: None) -> Path | None:
    """The newest whole `checkpoint-N` of a run. `say` is told of those that are damaged and passed over."""
    found = sorted(((_step(path), path) for path in run.glob("checkpoint-*") if _step(path) is not None), reverse=True)
    for k, (_, path) in enumerate(found):
        damage = _damage(path)
        if damage is None:
            return path
        instead = f"trying {found[k + 1][1].name}" if k + 1 < len(found) else "starting from the beginning"
        say(f"{path} is damaged ({damage}); {instead}")
    return None


def check_origin(checkpoint: Path, world: int, *, other_processes: bool = False) -> str | None:
    """Refuses a checkpoint of another number of processes, unless that is meant. Returns a line about what else differs
    in what made it.
    """
    before, now = json.loads((checkpoint / MANIFEST).read_text()), _origin(world)
    if before["world_size"] != world and not other_processes:
        raise IsotropeError(
            f"{checkpoint} was written by {before['world_size']} process(es), and this run has {world}; "
            f"resume it with {before['world_size']}, or with other_processes=True: the batches are the same, "
            "dropout is not",
            argument="other_processes=True",
        )
    pairs = [("processes", before["world_size"], world), ("threads", before["threads"], now["threads"])]
    pairs += [(name, before["versions"].get(name), found) for name, found in now["versions"].items()]
    differing = [f"{name} {old} -> {new}" for name, old, new in pairs if old != new]
    if not differing:
        return None
    return f"{checkpoint.name} was made elsewhere ({', '.join(differing)}); the last digits may differ"


class UnwrittenError(IsotropeError):
    """A file of a run could not be written."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """One line about what keeps a file of a run from being written: a full disk, most often."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:  # the last two are how torch and safetensors put it
        kept = last_checkpoint(path.parent)
        why = one_line(str(error), 150)
        run = path.parent.parent if (path.parent.parent / RUN).is_file() else path.parent  # of a stage, or this
        next_step = "resume the run" if worth_resuming(run) else "start it again"  # one that is not is removed
        raise UnwrittenError(
            f"{path} could not be written ({why}); the last whole checkpoint is {kept.name if kept else 'none'}; "
            f"free some space, then {next_step}"
        ) from error


def _manifest(folder: Path, step: int, world: int) -> dict[str, Any]:
    files = {
        file.name: {"bytes": file.stat().st_size, "blake2b": file_digest(file)} for file in sorted(folder.iterdir())
    }
    return {"step": step, **_origin(world), "files": files}


def _origin(world: int) -> dict[str, Any]:
    """What a checkpoint is written by."""
    versions = {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}
    return {"world_size": world, "threads": torch.get_num_threads(), "versions": versions}


def _damage(checkpoint: Path) -> str | None:
    """What is wrong with a checkpoint, None if nothing is."""
    try:
        manifest = json.loads((checkpoint / MANIFEST).read_text())
        for name, wanted in manifest["files"].items():
            file = checkpoint / name
            if file.stat().st_size != wanted["bytes"]:
                return f"{name}: {file.stat().st_size} bytes of {wanted['bytes']}"
            if file_digest(file) != wanted["blake2b"]:
                return f"{name}: wrong checksum"
        if {WEIGHTS, STATE} - manifest["files"].keys() or {"world_size", "threads", "versions"} - manifest.keys():
            return f"{MANIFEST}: incomplete"
    except FileNotFoundError as error:
        return f"no {Path(error.filename).name}"
    except OSError as error:
        return f"{Path(error.filename or checkpoint).name}: {error.strerror}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{MANIFEST}: unreadable"
    return None


def _remove_old(run: Path, keep: int | None) -> None:
    """All but the newest and the best, and what a kill left half written."""
    for partial in run.glob(".checkpoint-*.partial"):
        shutil.rmtree(partial, ignore_errors=True)
    steps = sorted(step for path in run.glob("checkpoint-*") if (step := _step(path)) is not None)
    for step in steps[:-KEPT]:
        if step != keep:
            shutil.rmtree(run / f"checkpoint-{step}", ignore_errors=True)


def _step(path: Path) -> int | None:
    found = re.fullmatch(r"checkpoint-(\d+)", path.name)
    return int(found[1]) if found else None
