"""A training step against a peer that does the same work, as ratios within one run, in Markdown.

    python bench/training.py --data DIR [--model minilm] [--rounds 7] [--steps 4] [--rows simcse,sg-opt,...]

Ours and the peer take turns on sentences of STS-B; each round gives the ratio of their median steps, and what is shown
is the median round with the least and the most. By one thread per process (`OMP_NUM_THREADS=1` is set), and by the
time of the processor, so that other work on the machine does not count; the ratio by the clock is beside it. `peak` is
how much of the machine's largest matrix product, measured in the same run, the matrix products of a step are.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is there

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from contestants import isotrope_loop, plain_loop, trainer
from turns import Contestant, Ratio, race

OWN = {"pooling.training": "own", "pooling.evaluation": "own", "training.max_length": "default"}
HALF = {"training.precision": "bfloat16"}
PARALLEL = {"training.batch_size": 64, "training.batch_per_device": False, "queue.size": 10_000}


class Work(NamedTuple):
    """A row of the table: what we do, and who does it beside us."""

    ours: str
    peer: str
    recipe: str
    settings: dict[str, Any]
    batch: int
    against: Callable[[dict[str, Any], int, str, Path], Contestant]


def the_trainer(bf16: bool) -> Callable[..., Contestant]:
    def made(settings: dict[str, Any], batch: int, recipe: str, model: str, data: Path) -> Contestant:
        return Contestant("trainer", trainer, (batch, bf16, model, data))

    return made


def padded(settings: dict[str, Any], batch: int, recipe: str, model: str, data: Path) -> Contestant:
    return Contestant("padded", plain_loop, (recipe, settings, model, data))


TRAINER = "SentenceTransformerTrainer, MultipleNegativesRankingLoss"
PLAIN = "plain padded loop"
WORKS = {
    "simcse": Work("SimCSE, float32", f"{TRAINER}, float32", "simcse", OWN, 64, the_trainer(False)),
    "simcse-bf16": Work("SimCSE, bfloat16", f"{TRAINER}, bf16", "simcse", OWN | HALF, 64, the_trainer(True)),
    "simcse-both": Work("SimCSE, bfloat16", f"{TRAINER}, float32", "simcse", OWN | HALF, 64, the_trainer(False)),
    "sg-opt": Work("SG-OPT, float32", PLAIN, "sg-opt", {}, 16, padded),
    "consert": Work("ConSERT, float32", PLAIN, "consert", {}, 96, padded),
    "bsl": Work("BSL, float32", PLAIN, "bsl", {}, 64, padded),
    "parallel": Work("parallel, queue 10,000, float32", PLAIN, "parallel", PARALLEL, 64, padded),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("ISOTROPE_DATA", "../shared/data"))
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rows", default=",".join(WORKS))
    options = parser.parse_args()
    print(f"{options.model}, {options.rounds} rounds of {options.steps} steps each, one thread per process\n")
    print("| work | batch | peer | peer / ours | by the clock | ms a step, ours and peer's | MB, ours and peer's |")
    print("|---|---|---|---|---|---|---|")
    for name in options.rows.split(","):
        print(row(WORKS[name], options.model, Path(options.data), options.rounds, options.steps), flush=True)
    peaks = ", ".join(
        f"{peak(kind):.0f} {str(kind).removeprefix('torch.')}" for kind in (torch.float32, torch.bfloat16)
    )
    print(f"\nLargest matrix products of this run, one thread: {peaks} GFLOP/s")


def row(work: Work, model: str, data: Path, rounds: int, steps: int) -> str:
    settings = {"training.batch_size": work.batch, **work.settings}
    if work.recipe == "parallel":
        settings["guide.model"] = model
    ours = Contestant("isotrope", isotrope_loop, (work.recipe, settings, model, data))
    peer = work.against(settings, work.batch, work.recipe, model, data)
    times = race([ours, peer], rounds, steps)
    cpu, wall = (Ratio.of([theirs[k] / mine[k] for mine, theirs in times]) for k in (0, 1))
    each = " and ".join(f"{1000 * Ratio.of([one[k].cpu for one in times]).middle:.0f}" for k in (0, 1))
    return (
        f"| {work.ours} | {work.batch} | {work.peer} | **{cpu}** | {wall} | {each} | "
        f"{ours.memory:.0f} and {peer.memory:.0f} |"
    )


def peak(kind: torch.dtype, rounds: int = 10) -> float:
    """GFLOP/s of a product of matrices of the shapes that a step has, the best of some."""
    tokens, narrow, wide = 2048, 384, 1536
    a, b = torch.randn(tokens, narrow).to(kind), torch.randn(narrow, wide).to(kind)
    best = min(_seconds(lambda: a @ b) for _ in range(rounds + 1))
    return 2 * tokens * narrow * wide / best / 1e9


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
