"""Recipes on the sentences of STS-B, without labels: Spearman on its test split over several seeds, in Markdown.

    python bench/recipes.py --data DIR [--model bundled] [--recipes sg-opt:bundled,simcse:bundled] [--seeds 1,2,3]

All splits' sentences are trained on, as the papers do; checkpoints are chosen on the development split. Recipes that
need two texts of one meaning get the entailment pairs of DIR/nli/triples_en.tsv.gz. Finished runs in --output are not
run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

import isotrope
from isotrope import recipes
from isotrope.evaluation import evaluate
from isotrope.text import read_table

DEFAULT = "sg:bundled,sg-opt:bundled,consert:bundled,bsl:bundled,simcse:bundled"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--recipes", default=DEFAULT)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path, default=Path("runs/recipes"))
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    print("| recipe | pooling | dev | test | seeds |\n|---|---|---|---|---|")
    for pooling in ("cls", "mean"):
        encoder = isotrope.load(options.model, pooling=pooling)
        print(row("no tuning", pooling, [score(encoder, options.data, "dev")], [score(encoder, options.data, "test")]))
    for name in options.recipes.split(","):
        found = [one_run(name, options, seed) for seed in seeds]
        pooling = recipes.load(name).stages[-1].pooling.evaluation
        print(row(f"`{name}`", pooling, [dev for dev, _ in found], [test for _, test in found]), flush=True)


def one_run(name: str, options: argparse.Namespace, seed: int) -> tuple[float, float]:
    """Dev and test of one seed; kept beside the run, so that a second call reads them."""
    run = options.output / f"{Path(options.model).name}-{name.replace(':', '-')}-{seed}"
    figures = run / "figures.json"
    if not figures.is_file():
        encoder = isotrope.train(
            text(name, options.data),
            recipe=name,
            model=options.model,
            output=run,
            seed=seed,
            dev="stsb",
            data=options.data,
        )
        found = {split: score(encoder, options.data, split) for split in ("dev", "test")}
        figures.write_text(json.dumps(found))
    both = json.loads(figures.read_text())
    return both["dev"], both["test"]


def text(name: str, data: Path) -> list[str] | list[dict[str, str]]:
    columns = recipes.load(name).stages[0].columns
    if columns == ("text",):
        rows = read_table(data / "stsb" / "stsb.tsv.gz", ("sentence1", "sentence2"))
        return [sentence for row in rows for sentence in (row["sentence1"], row["sentence2"])]
    rows = read_table(data / "nli" / "triples_en.tsv.gz", ("anchor", "positive"))
    return [dict(zip(columns, (row["anchor"], row["positive"]), strict=True)) for row in rows]


def score(encoder: isotrope.Encoder, data: Path, split: str) -> float:
    return evaluate(encoder, "stsb", data=data, split=split).spearman["all"]


def row(name: str, pooling: str, dev: list[float], test: list[float]) -> str:
    def shown(values: list[float]) -> str:
        spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
        return f"{statistics.mean(values):.2f}{spread}"

    return f"| {name} | {pooling} | {shown(dev)} | {shown(test)} | {len(dev)} |"


if __name__ == "__main__":
    main()
