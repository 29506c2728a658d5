"""Two processes with half of the batch each have the loss and the gradients of one process with all of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from isotrope.objectives import gather, info_nce, nt_xent, self_guided, symmetric_bootstrap

pytestmark = pytest.mark.xdist_group("gloo")
WORLD, N, LAYERS, DIM, QUEUE = 2, 8, 3, 5, 6
Result = tuple[Tensor, dict[str, Tensor]]


class Small(nn.Module):
    """A student, a predictor behind the gathering, and a temperature: what the objectives meet in training."""

    def __init__(self) -> None:
        super().__init__()
        self.student = nn.Linear(DIM, DIM)
        self.predictor = nn.Linear(DIM, DIM)
        self.temperature = nn.Parameter(torch.tensor(0.2))
        self.double()

    def forward(self, name: str, x: Tensor, y: Tensor, layers: Tensor, queue: Tensor) -> Tensor:
        a, b = gather(self.student(x)), gather(self.student(y))
        if name == "nt_xent":
            return nt_xent(a, b, self.temperature)
        if name == "opt3":
            return self_guided(self.predictor(a), gather(self.predictor(layers)), self.temperature, "opt3")
        if name == "bootstrap":
            return symmetric_bootstrap(self.predictor(a), gather(y), self.predictor(b), gather(x))
        return info_nce(a, gather(y), self.temperature, queue, hard_negatives=gather(self.student(layers)))


CASES = ("nt_xent", "opt3", "bootstrap", "info_nce")


def run(rank: int | None) -> dict[str, Result]:
    """Loss and gradients of each case; of the whole batch, or of the share of process `rank` under DDP."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(N, DIM), (N, DIM), (N, LAYERS, DIM), (QUEUE, DIM)]
    *batch, queue = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    if rank is not None:
        batch = [x.chunk(WORLD)[rank] for x in batch]
    results = {}
    for name in CASES:
        torch.manual_seed(1)
        model = Small()
        learner = model if rank is None else DistributedDataParallel(model, find_unused_parameters=True)
        loss = learner(name, *batch, queue)
        loss.backward()
        results[name] = (loss.detach(), {key: p.grad for key, p in model.named_parameters() if p.grad is not None})
    return results


def process(rank: int, folder: str) -> None:
    """What each process runs: this file is also its script."""
    torch.set_num_threads(1)
    meeting = {"init_method": f"file://{folder}/meet", "rank": rank, "world_size": WORLD}
    distributed.init_process_group("gloo", timeout=timedelta(seconds=60), **meeting)
    local = torch.arange(6.0).view(2, 3).T + 10 * rank  # not contiguous
    gathered = gather(local.requires_grad_())
    (gradient,) = torch.autograd.grad(gathered.sum(), local)  # an expanded gradient, not contiguous either
    torch.save((run(rank), gathered.detach(), gradient), f"{folder}/{rank}.pt")
    while not all(Path(folder, f"{one}.pt").exists() for one in range(WORLD)):
        time.sleep(0.01)  # nobody leaves while another may still be talking to it
    os._exit(0)  # what gloo's threads do when an interpreter ends is not what is tested: now and then they abort it


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Result], Tensor, Tensor]]:
    folder = tmp_path_factory.mktemp("gloo")
    commands = [[sys.executable, __file__, str(rank), str(folder)] for rank in range(WORLD)]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    errors = [one.communicate(timeout=120)[1] for one in started]
    assert [one.returncode for one in started] == [0] * WORLD, "\n".join(errors)
    return [torch.load(folder / f"{rank}.pt") for rank in range(WORLD)]


@pytest.mark.parametrize("name", CASES)
def test_two_processes_are_one(name: str, processes) -> None:
    wanted, gradients = run(None)[name]
    assert {"student.weight", "student.bias"} <= gradients.keys()
    assert all(gradient.abs().max() > 1e-4 for gradient in gradients.values())
    for results, _, _ in processes:
        loss, found = results[name]
        torch.testing.assert_close(loss, wanted, rtol=0, atol=1e-12)
        for key, gradient in gradients.items():
            torch.testing.assert_close(found[key], gradient, rtol=0, atol=1e-12, msg=lambda m, key=key: f"{key}: {m}")


def test_the_parts_come_in_the_order_of_ranks_and_gradients_are_summed(processes) -> None:
    part = torch.arange(6.0).view(2, 3).T
    for _, gathered, gradient in processes:
        assert gathered.equal(torch.cat([part, part + 10]))
        assert gradient.equal(torch.full((3, 2), float(WORLD)))


def test_a_single_process_gathers_nothing() -> None:
    tensor = torch.randn(3, 2)
    assert gather(tensor) is tensor


if __name__ == "__main__":
    process(int(sys.argv[1]), sys.argv[2])
