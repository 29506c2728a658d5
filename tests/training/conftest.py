from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import isotrope

from ..faults.processes import ended_by, server
from .loops import Make, maker

Killed = Callable[..., bool]


@pytest.fixture(scope="session", autouse=True)
def little_to_collect() -> None:
    """Every run begins with a garbage collection, which is most of a small one unless what is imported is set aside."""
    gc.freeze()


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The bundled encoder cut off above its first layer, as a folder: quicker to train and to write."""
    return str(isotrope.load(pooling="mean@1").save(tmp_path_factory.mktemp("small") / "encoder"))


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
