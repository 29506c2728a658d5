"""`isotrope train` without options on thirteen labelled sets beside the six domains, in Markdown.

    python bench/unseen.py --data DIR [--models minilm,small] [--sets mnli_genres,...] [--output runs/unseen]
                           [--installed DIR]

Four sets are in the data folder; nine more, with --installed, are of what `installed_sets.py` names. Each set's own
sentences, without labels, are all the text there is; the labels score the encoder before and after. Classes: mean
average precision of texts of the same class, of 2,000 drawn with seed 0. Pairs: average precision, by cosine, of those
where one sentence follows from the other (or means the same) among the others. What is done is kept in --output.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import isotrope
from installed_sets import CLASSIFIED, PAIRED, Rows, Set
from installed_sets import SETS as INSTALLED
from isotrope.text import read_table
from runs import print_head, print_row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", default="minilm,small")
    parser.add_argument("--sets")
    parser.add_argument("--installed", type=Path, help="the folder of `installed_sets.py`")
    parser.add_argument("--output", type=Path, default=Path("runs/unseen"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    sets = options.sets.split(",") if options.sets else [*SETS, *(INSTALLED if options.installed else ())]
    found = [measure(m, s, options) for s in sets for m in options.models.split(",")]
    print_head("model", "set", "texts", "score", "untuned", "`isotrope train`", "change", "kept")
    for one in found:
        change = f"{one['after'] - one['before']:+.2f}"
        print_row(*(one[key] for key in ("model", "set", "texts", "score", "before", "after")), change, one["kept"])


def measure(model: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    file = options.output / f"{model}-{name}.json"
    if not file.is_file():
        texts, labels, rows = SETS[name](options.data) if name in SETS else INSTALLED[name](options.installed)
        output = options.output / f"{model}-{name}"
        run = isotrope.train(texts, model=model, output=output, resume=(output / "run.json").is_file())
        table = isotrope.evaluate([model, run.encoder], **{labels: {name: rows}})
        before, after = (one["figure"] for one in table.records() if one["metric"] != "spearman")  # beside the main one
        assert run.outcome is not None
        measured = {"model": model, "set": name, "texts": len(texts), "score": labels, "before": before, "after": after}
        file.write_text(json.dumps(measured | {"kept": run.outcome.kept}))
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def mnli_genres(data: Path) -> Set:
    rows = list(read_table(data / "nli" / "mnli_taxinli.tsv.gz", ("genre", "premise", "hypothesis")))
    return both(rows, "premise", "hypothesis"), "classes", classified(rows, "premise", "genre")


def argument_topics(data: Path) -> Set:
    rows = list(read_table(data / "argsim" / "ukp_aspect.tsv.gz", ("topic", "sentence1", "sentence2")))
    return both(rows, "sentence1", "sentence2"), "classes", classified(rows, "sentence1", "topic")


def rte(data: Path) -> Set:
    return entailed(data / "glue" / "rte.tsv", "sentence1", "sentence2", ("entailment", "not_entailment"))


def captions(data: Path) -> Set:
    return entailed(data / "nli" / "snli_dev_test.tsv.gz", "premise", "hypothesis", ("entailment", "contradiction"))


def entailed(file: Path, first: str, second: str, labels: tuple[str, str]) -> Set:
    rows = [row for row in read_table(file, ("label", first, second)) if row["label"] in labels]
    pairs = [
        {"sentence1": row[first], "sentence2": row[second], "score": int(row["label"] == labels[0])} for row in rows
    ]
    return both(rows, first, second), "pairs", random.Random(0).sample(pairs, min(len(pairs), PAIRED))


def both(rows: Rows, *columns: str) -> list[str]:
    return list(dict.fromkeys(row[column] for row in rows for column in columns))


def classified(rows: Rows, text: str, label: str) -> Rows:
    """Distinct texts with their class."""
    distinct = {row[text]: row[label] for row in rows}
    drawn = random.Random(0).sample(sorted(distinct), min(len(distinct), CLASSIFIED))
    return [{"text": one, "label": distinct[one]} for one in drawn]


SETS: dict[str, Callable[[Path], Set]] = {
    "mnli_genres": mnli_genres,
    "argument_topics": argument_topics,
    "rte": rte,
    "captions": captions,
}

if __name__ == "__main__":
    main()
