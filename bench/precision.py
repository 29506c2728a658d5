"""Whether bfloat16 costs anything: the same short runs in float32 and bfloat16, seed by seed, in Markdown.

    python bench/precision.py --data DIR [--recipes simcse:bundled,consert:bundled] [--model bundled] [--seeds 1,2,3]

On sentences of STS-B; Spearman x 100 on its development split after the last step. What is done in --output is not done
again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from runs import figures, mean_and_spread, print_head, print_row, sentences_of_stsb, write_sentences

KINDS = ("float32", "bfloat16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--recipes", default="simcse:bundled,consert:bundled,sg-opt:bundled")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--output", type=Path, default=Path("runs/precision"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    text = write_sentences(sentences_of_stsb(options.data), options.output / "sentences.txt")
    print_head(f"{options.model}, {options.steps} steps", "float32", "bfloat16", "difference, seed by seed")
    for recipe in options.recipes.split(","):
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for seed in map(int, options.seeds.split(",")):
            for kind in KINDS:
                run = options.output / f"{recipe.replace(':', '-')}-{kind}-{seed}"
                chosen = {"training.precision": kind, "training.keep": "last", "training.eval_steps": options.steps}
                settings = {"recipe": recipe, "model": options.model, "steps": options.steps, "seed": seed}
                scores = figures(run, options.data, sentences=text, dev="stsb", set=chosen, **settings)
                found[kind].append(scores["stsb dev"])
        apart = [half - full for full, half in zip(found["float32"], found["bfloat16"], strict=True)]
        columns = (mean_and_spread(found[kind]) for kind in KINDS)
        print_row(recipe, *columns, ", ".join(f"{one:+.2f}" for one in apart))


if __name__ == "__main__":
    main()
