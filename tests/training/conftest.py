from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import isotrope

from ..faults.processes import ended_by, server
from .loops import Make, maker

Killed = Callable[..., bool]


@pytest.fixture(scope="session")
def shallow(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The bundled encoder cut off above its first layer, as a folder."""
    return str(isotrope.load(pooling="mean@1").save(tmp_path_factory.mktemp("shallow") / "encoder"))


@pytest.fixture
def make(small: str, tmp_path: Path) -> Make:
    """Engines: `make(recipe, score, **settings of training)`."""
    return maker(small, tmp_path)


@pytest.fixture(scope="session")
def killed() -> Iterator[Killed]:
    """Runs a function in a process of its own and kills that (SIGKILL) once `when()` is true; whether it came to it."""
    context, threads = server(), torch.get_num_threads()
    torch.set_num_threads(1)  # as in the processes: bits depend on it

    def run(when: Callable[[], bool], target: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        return ended_by(context.Process(target=target, args=args, kwargs=kwargs, daemon=True), when)

    yield run
    torch.set_num_threads(threads)
