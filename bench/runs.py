"""What the tables of runs share: a run is made once, its figures lie beside it, and a row is the mean of its seeds."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.text import read_table


def figures(run: Path, data: Path, *, tasks: Sequence[str] = ("stsb",), **arguments: Any) -> dict[str, float]:
    """Trains into `run` unless it is done, and measures dev and test of each task; a second call reads them."""
    file = run / "figures.json"
    if not file.is_file():
        tuned = isotrope.train(output=run, data=data, resume=(run / "run.json").is_file(), **arguments).encoder
        found = {f"{task} {split}": spearman(tuned, task, data, split) for task in tasks for split in ("dev", "test")}
        file.write_text(json.dumps(found, indent=2) + "\n")
    read: dict[str, float] = json.loads(file.read_text())
    return read


def spearman(encoder: isotrope.Encoder, task: str, data: Path, split: str) -> float:
    return score_pairs(encoder, load_pairs(task, data=data, split=split)).spearman["all"]


def sentences_of_stsb(data: Path) -> list[str]:
    """Those of all splits, without their grades, as the papers train on them."""
    rows = read_table(data / "stsb" / "stsb.tsv.gz", ("sentence1", "sentence2"))
    return [sentence for row in rows for sentence in (row["sentence1"], row["sentence2"])]


def mean_and_spread(values: Sequence[float]) -> str:
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


def print_head(*cells: str) -> None:
    print_row(*cells)
    print("|" + "---|" * len(cells), flush=True)


def nli_table(files: Sequence[Path], output: Path, *, triplets: bool = False) -> Path:
    """Entailment pairs or triplets of NLI files, as `isotrope pairs entailment` makes them."""
    if not output.is_file():
        isotrope.entailment_pairs(list(files), output, triplets=triplets)
    return output


def write_sentences(sentences: Sequence[str], path: Path) -> Path:
    """Each once, a line each."""
    path.write_text("".join(f"{sentence}\n" for sentence in dict.fromkeys(sentences)), encoding="utf-8")
    return path
