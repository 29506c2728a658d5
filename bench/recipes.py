"""Recipes on the sentences of STS-B, without labels: Spearman on its test split over several seeds, in Markdown.

    python bench/recipes.py --data DIR [--model bundled] [--recipes sg-opt:bundled,simcse:bundled] [--seeds 1,2,3]

All splits' sentences are trained on, as the papers do; checkpoints are chosen on the development split. Finished runs
in --output are not run again, interrupted ones go on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import isotrope
from isotrope import recipes
from runs import figures, mean_and_spread, print_head, print_row, sentences_of_stsb, spearman

DEFAULT = "sg:bundled,sg-opt:bundled,consert:bundled,simcse:bundled"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--recipes", default=DEFAULT)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path, default=Path("runs/recipes"))
    options = parser.parse_args()
    print_head("recipe", "pooling", "dev", "test")
    for pooling in ("cls", "mean"):
        encoder = isotrope.load(options.model, pooling=pooling)
        dev, test = (spearman(encoder, "stsb", options.data, split) for split in ("dev", "test"))
        print_row("no tuning", pooling, f"{dev:.2f}", f"{test:.2f}")
    for name in options.recipes.split(","):
        found = [one_run(name, options, seed) for seed in options.seeds.split(",")]
        pooling = recipes.load(name).stages[-1].pooling.evaluation
        columns = (mean_and_spread([one[f"stsb {split}"] for one in found]) for split in ("dev", "test"))
        print_row(f"`{name}`", pooling, *columns)


def one_run(name: str, options: argparse.Namespace, seed: str) -> dict[str, float]:
    return figures(
        options.output / f"{Path(options.model).name}-{name.replace(':', '-')}-{seed}",
        options.data,
        sentences=sentences_of_stsb(options.data),
        recipe=name,
        model=options.model,
        seed=int(seed),
        dev="stsb",
    )


if __name__ == "__main__":
    main()
