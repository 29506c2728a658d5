"""Where the time of a training step goes, by torch's profiler: why a ratio of bench/training.py is no larger.

    python bench/shares.py --data DIR [--model minilm] [--steps 5] [--rows simcse,sg-opt,...] [--precision bfloat16]

Shares of our own steps, by one thread, in Markdown. The profiler goes by the clock: what other work on a busy machine
takes is spread over all kinds.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is there

import argparse
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from contestants import isotrope_loop, mobile
from runs import print_head, print_row
from training import PARALLEL, SIMCSE
from turns import WARM_UP

KINDS = {  # what the profiler calls them, and what they are
    "products of layers and heads": ("aten::mm", "aten::addmm"),
    "products of attention": ("aten::bmm", "aten::baddbmm", "aten::_scaled_dot_product"),
    "copies and casts": ("aten::copy_", "aten::cat", "aten::index", "aten::_index_put", "aten::embedding"),
    "dropout": ("aten::bernoulli_", "aten::native_dropout", "Dropout"),
    "GELU, ReLU": ("aten::gelu", "aten::relu", "aten::threshold", "aten::clamp_min"),
    "norms of layers": ("aten::native_layer_norm", "aten::native_batch_norm"),
    "softmax": ("aten::_softmax", "aten::softmax"),
    "sums and products by element": ("aten::add", "aten::mul", "aten::sum", "aten::sub", "aten::div", "aten::addcmul"),
    "optimiser, anchor, averages": (
        "aten::_fused_adam",
        "aten::_foreach",
        "aten::lerp",
        "aten::linalg_vector_norm",
        "aten::mse_loss",
    ),
    "zeros": ("aten::fill_", "aten::zero_"),
    "between operations": ("ProfilerStep", "enumerate(DataLoader)"),
}
ROWS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "simcse": ("simcse", 64, SIMCSE),
    "sg-opt": ("sg-opt", 16, {}),
    "consert": ("consert", 96, {}),
    "bsl": ("bsl", 64, {}),
    "parallel": ("parallel", 64, PARALLEL),
    "unpackable": ("consert", 96, {}),
}


class EnoughError(Exception):
    """The steps that were to be looked at are done."""


class Look:
    """Stands behind every step, as the gate of a race does; profiles those after the warm-up and after its own."""

    def __init__(self, steps: int) -> None:
        self.left = 2 * WARM_UP + steps
        stages = schedule(wait=WARM_UP, warmup=WARM_UP, active=steps, repeat=1)
        self.profile = profile(activities=[ProfilerActivity.CPU], schedule=stages)
        self.profile.start()

    def __call__(self) -> None:
        self.left -= 1
        self.profile.step()
        if not self.left:
            self.profile.stop()
            raise EnoughError

    def shares(self) -> dict[str, float]:
        """Of each kind in the whole, largest first."""
        seconds: dict[str, float] = defaultdict(float)
        for one in self.profile.key_averages():
            seconds[kind_of(one.key)] += one.self_cpu_time_total
        whole = sum(seconds.values())
        return {kind: time / whole for kind, time in sorted(seconds.items(), key=lambda item: -item[1])}


def kind_of(operation: str) -> str:
    """By the longest beginning, so that `aten::addmm` is no `aten::add`."""
    fitting = [(len(name), kind) for kind, names in KINDS.items() for name in names if operation.startswith(name)]
    return max(fitting)[1] if fitting else "the rest"


def look(train: Callable[..., None], steps: int, *arguments: Any) -> dict[str, float]:
    gate = Look(steps)
    with suppress(EnoughError):
        train(gate, *arguments)
    return gate.shares()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("ISOTROPE_DATA", "../shared/data"))
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--precision", default="bfloat16", choices=("float32", "bfloat16"))
    parser.add_argument("--rows", default=",".join(ROWS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print_head("work", *KINDS, "the rest")
    for name in options.rows.split(","):
        recipe, batch, settings = ROWS[name]
        with TemporaryDirectory() as folder:
            model = mobile(Path(folder)) if name == "unpackable" else options.model
            teacher = {"guide.model": model} if name == "parallel" else {}
            chosen = {"training.batch_size": batch, "training.precision": options.precision, **settings, **teacher}
            found = look(isotrope_loop, options.steps, recipe, chosen, model, options.data.absolute())
        print_row(f"{name}, {options.precision}", *(f"{found.get(kind, 0):.0%}" for kind in (*KINDS, "the rest")))


if __name__ == "__main__":
    main()
