"""The numbers of the recipe `smooth`: what maps change on 27 labelled sets that are no test labels of the six domains.

    python bench/smoothing.py --data DIR --installed DIR [--model minilm] [--sets chat,qnli,...] [--output DIR]
                              [--maps "strength=0.3;strength=0.2,whitening=-0.1,neighbours=30"]

A map is fitted on at most 8,000 sentences of each set, without labels, and scored on the labels, before and after: mean
average precision of classes, Spearman of graded pairs, average precision of pairs that are the same or not. What a map
does not name is as in `smooth`. --installed is the folder of installed_sets.py. Vectors, in bfloat16 where the hardware
has it, are kept in --output.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import spearmanr

import isotrope
from installed_sets import SETS as INSTALLED
from installed_sets import Rows, Set, wordnet
from isotrope import recipes
from isotrope.encoders.precision import fastest_precision
from isotrope.evaluation.ranking import average_precision, average_precisions, unit_rows
from isotrope.fits.smoothing import Smoothing
from isotrope.text import read_sentences, read_table
from runs import print_head, print_row
from unseen import SETS as UNSEEN
from unseen import both, classified

FITTED = 8_000  # sentences at most
PAIRED = 4_000  # pairs that are scored
LOST = 0.5  # points; how many sets lose more
GROUPS = ("classes", "graded", "pairs")
PAIR = ("sentence1", "sentence2")


class Vectors(NamedTuple):
    """Of a set: what the map is fitted on, what is scored, and its labels."""

    fitted: NDArray[Any]
    first: NDArray[Any]  # the texts, or the first of each pair
    second: NDArray[Any]  # the second of each pair
    labels: NDArray[Any]
    group: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--installed", type=Path, required=True)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--maps", default="")
    parser.add_argument("--output", type=Path, default=Path("runs/smoothing"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    sets = {name: vectors_of(name, options) for name in options.sets.split(",")}
    before = {name: score(one, np.eye(one.fitted.shape[1]), 0.0) for name, one in sets.items()}
    print_head("map", *GROUPS, f"lose more than {LOST}", *sets)
    for text in options.maps.split(";"):
        fit = map_of(text)
        changes = {name: score(one, *fit.map(one.fitted)) - before[name] for name, one in sets.items()}
        groups = {name: [change for key, change in changes.items() if sets[key].group == name] for name in GROUPS}
        means = (f"{mean(found):+.2f}" if found else "" for found in groups.values())
        lost = sum(change < -LOST for change in changes.values())
        print_row(text or "smooth", *means, lost, *(f"{change:+.2f}" for change in changes.values()))


def map_of(text: str) -> Smoothing:
    """`strength=0.2,ridge=1` -> the fit of `smooth` with these numbers."""
    settings = {f"fit.{key}": float(value) for key, _, value in (one.partition("=") for one in text.split(",") if one)}
    if "fit.neighbours" in settings:
        settings["fit.neighbours"] = int(settings["fit.neighbours"])
    fit = recipes.load("smooth", settings).stages[0].fit
    assert isinstance(fit, Smoothing)
    return fit


def vectors_of(name: str, options: argparse.Namespace) -> Vectors:
    file = options.output / f"{options.model}-{name}.npz"
    if not file.is_file():
        texts, group, rows = SETS[name](options)
        texts = list(dict.fromkeys(texts))
        fitted = random.Random(0).sample(texts, min(FITTED, len(texts)))
        first, second = PAIR if group != "classes" else ("text", "text")
        labels = np.unique([row["label"] for row in rows], return_inverse=True)[1] if group == "classes" else None
        encoder = isotrope.load(options.model, precision=fastest_precision("cpu"))
        np.savez(
            file,
            fitted=encoder.encode(fitted),
            first=encoder.encode([row[first] for row in rows]),
            second=encoder.encode([row[second] for row in rows]),
            labels=np.array([row["score"] for row in rows]) if labels is None else labels,
            group=group,
        )
    with np.load(file) as kept:
        return Vectors(*(kept[key] for key in Vectors._fields[:-1]), group=str(kept["group"]))


def score(one: Vectors, weight: NDArray[Any], bias: NDArray[Any] | float) -> float:
    """x 100, of the vectors behind an affine map."""
    first, second = (unit_rows(vectors @ weight + bias) for vectors in (one.first, one.second))
    if one.group == "classes":
        return 100 * float(average_precisions(first, one.labels).mean())
    cosines = (first * second).sum(1)
    if one.group == "graded":
        return 100 * float(spearmanr(cosines, one.labels).statistic)
    return 100 * average_precision(cosines, one.labels)


def unseen(name: str, options: argparse.Namespace) -> Set:
    return UNSEEN[name](options.data)


def installed(name: str, options: argparse.Namespace) -> Set:
    return INSTALLED[name](options.installed)


def domain(name: str, split: str, group: str, options: argparse.Namespace) -> Set:
    """A split of its labels that is no test split, and the corpus."""
    folder = options.data / "domains" / name
    columns = ("split", "label", "text") if group == "classes" else ("split", "score", *PAIR)
    rows = [row for row in read_table(folder / "eval.tsv.gz", columns) if row["split"] == split]
    labels = classified(rows, "text", "label") if group == "classes" else graded(rows)
    return list(read_sentences(folder / "corpus.txt.gz")), group, labels


def sts(year: int, options: argparse.Namespace) -> Set:
    rows = list(read_table(options.data / "sts" / f"sts{year}.tsv", ("score", *PAIR)))
    return both(rows, *PAIR), "graded", graded(rows)


def stsb_dev(options: argparse.Namespace) -> Set:
    table = read_table(options.data / "stsb" / "stsb.tsv.gz", ("split", "score", *PAIR))
    rows = [row for row in table if row["split"] == "dev"]
    return both(rows, *PAIR), "graded", graded(rows)


def of_kind(
    text: Callable[[Path], Sequence[str]], subtasks: dict[int, Sequence[str]], options: argparse.Namespace
) -> Set:
    """Graded pairs of STS12 to STS14, and other text of their kind: as users have it, not the pairs themselves."""
    rows: Rows = []
    for year, names in subtasks.items():
        table = read_table(options.data / "sts" / f"sts{year}.tsv", ("subtask", "score", *PAIR))
        rows += [row for row in table if row["subtask"] in names]
    return list(text(options.data)), "graded", graded(rows)


def captions(data: Path) -> list[str]:
    return [row["premise"] for row in read_table(data / "nli" / "snli_train_sample.tsv.gz", ("premise",))]


def news(data: Path) -> list[str]:
    return [row["en"] for row in read_table(data / "parallel" / "wmt21_23.tsv.gz", ("en",))]


def glosses(_: Path) -> list[str]:
    return list(wordnet()[2].values())


def same(file: str, label: str, columns: Sequence[str], yes: Sequence[str], no: Sequence[str], options: Any) -> Set:
    """Pairs of a table that are the same, or that are not."""
    rows = [row for row in read_table(options.data / file, (label, *columns)) if row[label] in {*yes, *no}]
    pairs = [
        {"sentence1": row[columns[0]], "sentence2": row[columns[1]], "score": int(row[label] in yes)} for row in rows
    ]
    return both(rows, *columns), "pairs", drawn(pairs)


def of_class(file: str, options: argparse.Namespace) -> Set:
    rows = list(read_table(options.data / "transfer" / file, ("label", "text")))
    return both(rows, "text"), "classes", classified(rows, "text", "label")


def graded(rows: Rows) -> Rows:
    return drawn([row | {"score": float(row["score"])} for row in rows])


def drawn(rows: Rows) -> Rows:
    return random.Random(0).sample(rows, min(len(rows), PAIRED))


NLI = ("premise", "hypothesis")
SETS: dict[str, Callable[[Any], Set]] = {
    **{name: partial(unseen, name) for name in UNSEEN},
    **{
        name: partial(installed, name)
        for name in ("packages", "fortunes", "chat", "diseases", "inclusions", "synonyms")
    },
    "banking77 train": partial(domain, "banking77", "train", "classes"),
    "patent_phrase dev": partial(domain, "patent_phrase", "dev", "graded"),
    "medical_questions dev": partial(domain, "medical_questions", "dev", "pairs"),
    "stsb dev": stsb_dev,
    **{f"sts{year}": partial(sts, year) for year in (12, 13, 14)},
    "captions graded": partial(of_kind, captions, {12: ["MSRvid"], 14: ["images"]}),
    "news graded": partial(of_kind, news, {12: ["SMTnews"], 13: ["headlines"], 14: ["headlines", "deft-news"]}),
    "glosses graded": partial(of_kind, glosses, {12: ["OnWN"], 13: ["OnWN", "FNWN"], 14: ["OnWN"]}),
    "qnli": partial(
        same, "glue/qnli_dev.tsv.gz", "label", ("question", "sentence"), ["entailment"], ["not_entailment"]
    ),
    "mrpc": partial(same, "transfer/mrpc.tsv.gz", "label", PAIR, ["1"], ["0"]),
    "lingnli": partial(same, "nli/lingnli.tsv.gz", "label", NLI, ["entailment"], ["contradiction"]),
    "xnli": partial(same, "xnli/xnli_en.tsv.gz", "label", NLI, ["entailment"], ["contradiction"]),
    "aspects": partial(same, "argsim/ukp_aspect.tsv.gz", "label", PAIR, ["SS", "HS"], ["NS"]),
    "movie reviews": partial(of_class, "mr.tsv.gz"),
    "subjectivity": partial(of_class, "subj.tsv.gz"),
}

if __name__ == "__main__":
    main()
