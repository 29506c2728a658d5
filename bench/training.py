"""A training step against a peer that does the same work, as ratios within one run, in Markdown.

    python bench/training.py --data DIR [--model minilm] [--rounds 7] [--steps 3] [--rows simcse,sg-opt,...]
                             [--precision bfloat16]

Ours and the peer take turns on sentences of STS-B; each round gives the ratio of their median steps, and what is shown
is the median round with the least and the most. By one thread per process (`OMP_NUM_THREADS=1` is set), and by the
time of the processor, so that other work on the machine does not count; the ratio by the clock is beside it. Operations
are those of matrix products, in the mean of two steps: at the same rate, their ratio would be that of the times. The
last column sets those of our step beside the largest matrix product of the machine in the same run.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is there

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from contestants import isotrope_loop, mobile, plain_loop, trainer
from turns import Contestant, Ratio, Time, race

SIMCSE = {"pooling.training": "own", "pooling.evaluation": "own", "training.max_length": "default"}
PARALLEL = {"training.batch_per_device": False, "queue.size": 10_000}
TRAINER = "SentenceTransformerTrainer + MultipleNegativesRankingLoss"
PLAIN = "plain padded loop"
HEAD = (
    "| work | batch | peer | peer / ours | by the clock | operations, peer / ours | ms a step, ours and peer's "
    "| share of the matmul peak |"
)
LARGE = 4096  # sentences in the batch whose memory is measured


class Arena(NamedTuple):
    """What all races have in common."""

    model: str
    data: Path
    rounds: int
    steps: int
    peaks: dict[str, float]  # GFLOP/s by precision
    precision: str = "float32"  # of both, where the peer is the plain loop


def simcse(arena: Arena, *kinds: str) -> None:
    """Ours and the trainer in each precision, all in one race; in bfloat16 ours also against the trainer's float32."""
    ours = {kind: ours_of(arena, "simcse", 64, SIMCSE | {"training.precision": kind}) for kind in kinds}
    peers = {
        kind: Contestant(f"{TRAINER}, {kind}", trainer, (64, kind == "bfloat16", arena.model, arena.data))
        for kind in kinds
    }
    all_times = race([*ours.values(), *peers.values()], arena.rounds, arena.steps)
    for mine, theirs in ((a, b) for a in range(len(kinds)) for b in range(len(kinds)) if b <= a):
        times = [(one[mine], one[len(kinds) + theirs]) for one in all_times]
        kind, peer = kinds[mine], peers[kinds[theirs]]
        row(arena, f"SimCSE, {kind}", 64, kind, ours[kind], peer, times)


def against_plain(arena: Arena, recipe: str, batch: int, settings: dict[str, Any], name: str = "") -> None:
    """Ours against the padded loop, in the same precision."""
    kind = arena.precision
    ours = ours_of(arena, recipe, batch, settings | {"training.precision": kind})
    peer = Contestant(PLAIN, plain_loop, ours.arguments)
    times = race([ours, peer], arena.rounds, arena.steps)
    row(arena, f"{name or recipe}, {kind}", batch, kind, ours, peer, times)


def unpackable(arena: Arena) -> None:
    """ConSERT on a MobileBERT, in rows of like length."""
    with TemporaryDirectory() as folder:
        small = arena._replace(model=mobile(Path(folder)))
        against_plain(small, "consert", 96, {}, "consert on a MobileBERT")


def memory(arena: Arena) -> None:
    """A batch of thousands under gradient caching, against the trainer's 64."""
    ours = ours_of(arena, "simcse", LARGE, SIMCSE | {"training.gradient_cache": 64})
    peer = Contestant(f"{TRAINER}, batch 64, float32", trainer, (64, False, arena.model, arena.data))
    race([ours, peer], 1, 1)
    mine, theirs = ours.facts["memory"], peer.facts["memory"]
    print(
        f"\nPeak memory, SimCSE with a batch of {LARGE} and gradient_cache 64: {mine:.0f} MB, "
        f"{mine / theirs:.2f}x the peer's {theirs:.0f} MB ({peer.name}); {arena.model}",
        flush=True,
    )


RACES: dict[str, Callable[[Arena], None]] = {
    "simcse": lambda arena: simcse(arena, "float32", "bfloat16"),
    "simcse-float32": lambda arena: simcse(arena, "float32"),
    "sg-opt": lambda arena: against_plain(arena, "sg-opt", 16, {}),
    "consert": lambda arena: against_plain(arena, "consert", 96, {}),
    "bsl": lambda arena: against_plain(arena, "bsl", 64, {}),
    "parallel": lambda arena: against_plain(arena, "parallel", 64, PARALLEL | {"guide.model": arena.model}),
    "unpackable": unpackable,
    "memory": memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("ISOTROPE_DATA", "../shared/data"))
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--rows", default=",".join(name for name in RACES if name != "simcse-float32"))
    options = parser.parse_args()
    peaks = {str(kind).removeprefix("torch."): peak(kind) for kind in (torch.float32, torch.bfloat16)}
    arena = Arena(options.model, Path(options.data).absolute(), options.rounds, options.steps, peaks, options.precision)
    found = ", ".join(f"{speed:.0f} GFLOP/s {kind}" for kind, speed in peaks.items())
    print(f"{options.model}, {options.rounds} rounds of {options.steps} steps, one thread per process. Matmul: {found}")
    print(f"\n{HEAD}\n|{'---|' * HEAD.count(' | ')}---|", flush=True)
    for name in options.rows.split(","):
        RACES[name](arena)


def ours_of(arena: Arena, recipe: str, batch: int, settings: dict[str, Any]) -> Contestant:
    chosen = {"training.batch_size": batch, **settings}
    return Contestant("isotrope", isotrope_loop, (recipe, chosen, arena.model, arena.data))


def row(
    arena: Arena, work: str, batch: int, kind: str, ours: Contestant, peer: Contestant, times: Sequence[Sequence[Time]]
) -> None:
    """A line of the table; `times` has ours and the peer's of every round."""
    cpu, wall = (Ratio.of([theirs[k] / mine[k] for mine, theirs in times]) for k in (0, 1))
    mine, theirs = (median(one[k].cpu for one in times) for k in (0, 1))
    share, counted = ours.facts["gflop"] / mine / arena.peaks[kind], peer.facts["gflop"] / ours.facts["gflop"]
    spent = f"{1000 * mine:.0f} and {1000 * theirs:.0f}"
    cells = work, batch, peer.name, f"**{cpu}**", wall, f"{counted:.2f}x", spent, f"{share:.0%}"
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


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
