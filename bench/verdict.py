"""Does the verdict of `isotrope compare`, which knows no labels, agree with the grades that people gave? In Markdown.

    python bench/verdict.py --data DIR [--runs RUNS] [--output OUT] [MODEL | MODEL#POOLING ...]

Each encoder is measured on the sentences of five texts: on their graded pairs by Spearman, and without the grades by
every figure that a verdict could rest on. A table says how well each figure orders the encoders as the grades do (rank
correlation, and how often two encoders come in the same order). The figure to rest on is chosen on the development
split of STS-B; the other columns are what it is worth. Then the verdict itself: of all pairs of encoders, how many it
calls, and how often it is right. What was measured is kept in --output, and not measured again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from isotrope.encoders import load_any
from isotrope.evaluation import Pairs, load_pairs
from isotrope.evaluation.correlation import correlate, cosines
from isotrope.evaluation.label_free.related_texts import RelatedTexts, halve, halves, read_rewordings
from isotrope.evaluation.label_free.sampling import sample_sentences
from isotrope.evaluation.label_free.verdict import Judgement, Ranks, figures_of, judge, mrr_difference
from isotrope.evaluation.vectors import remembered
from isotrope.views.text import make_text_view, write_views
from runs import print_head, print_row

TEXTS = {
    "STS-B dev": ("stsb", "dev"),
    "STS-B test": ("stsb", "test"),
    **{f"STS{y}": (f"sts{y}", "test") for y in (12, 13, 14)},
}
SIZE = 1000  # sentences, and pairs of a kind, as in `isotrope compare`
UNTUNED = {
    "bundled": "cls mean max last2 first-last mean@0 mean@1 mean@2 mean@3 cls@2",
    "minilm": "cls mean max last2 first-last mean@1 mean@2 mean@3 mean@4 mean@5",
}
Measured = dict[str, Any]

FIGURES: dict[str, Callable[[Measured], float]] = {
    "halves: MRR": lambda one: one["halves"]["mrr"],
    "halves: recall at 1": lambda one: one["halves"]["recall"],
    "halves: alignment": lambda one: -one["halves"]["alignment"],
    "back-translations: MRR": lambda one: one["rewordings"]["mrr"],
    "back-translations: recall at 1": lambda one: one["rewordings"]["recall"],
    "back-translations: alignment": lambda one: -one["rewordings"]["alignment"],
    "mean of both MRR": lambda one: one["halves"]["mrr"] + one["rewordings"]["mrr"],
    "uniformity": lambda one: -one["uniformity"],
    "alignment of halves + uniformity": lambda one: -one["halves"]["alignment"] - one["uniformity"],
    "alignment of back-translations + uniformity": lambda one: -one["rewordings"]["alignment"] - one["uniformity"],
    "mean cosine": lambda one: -one["mean_cosine"],
    "effective rank": lambda one: one["effective_rank"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="MODEL or MODEL#POOLING; without any, poolings of bundled and minilm")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, help="every run in this folder too")
    parser.add_argument("--output", type=Path, default=Path("runs/verdict"))
    options = parser.parse_args()
    models = options.models or [f"{name}#{pooling}" for name, some in UNTUNED.items() for pooling in some.split()]
    if options.runs:
        models += sorted(str(file.parent) for file in options.runs.glob("**/encoder/modules.json"))
    texts = {name: Text(name, options.data, options.output) for name in TEXTS}
    measured = {model: measure(model, texts, options.output) for model in models}
    print(f"{len(models)} encoders\n")
    encoders_table(measured)
    correlations_table(measured)
    verdicts_table(measured)


class Text:
    """The graded pairs of a task, and what `isotrope compare` would take of their sentences."""

    def __init__(self, name: str, data: Path, output: Path) -> None:
        task, split = TEXTS[name]
        self.name = name
        self.pairs: Pairs = load_pairs(task, data=data, split=split)
        every = [*self.pairs.sentences1, *self.pairs.sentences2]
        self.sentences = sample_sentences(every, SIZE)
        self.related: list[RelatedTexts] = [
            halves(sample_sentences(filter(halve, every), SIZE)),
            self._back_translations(output),
        ]

    def _back_translations(self, output: Path) -> RelatedTexts:
        file = output / f"views-{self.name.replace(' ', '-')}.parquet"
        if not file.is_file():
            output.mkdir(parents=True, exist_ok=True)
            write_views([self.sentences], {"view1": make_text_view("back-translation")}, file)
        return read_rewordings(file, SIZE)


def measure(model: str, texts: dict[str, Text], output: Path) -> dict[str, Measured]:
    """By text; from the file where it was measured before."""
    file = output / f"{model.replace('/', '_')}.json"
    if not file.is_file():
        name, _, pooling = model.partition("#")
        with remembered(load_any(name, pooling=pooling or None)) as encoder:
            found = {name: measure_on(encoder, text) for name, text in texts.items()}
        file.write_text(json.dumps(found))
    read: dict[str, Measured] = json.loads(file.read_text())
    return read


def measure_on(encoder: Any, text: Text) -> Measured:
    gold = np.array(text.pairs.scores)
    similar = cosines(encoder.encode(text.pairs.sentences1), encoder.encode(text.pairs.sentences2))
    free = figures_of(encoder, encoder.encode(text.sentences), text.related)
    return {
        "spearman": correlate(similar, gold, text.name).spearman,
        "uniformity": free.uniformity,
        "mean_cosine": free.mean_cosine,
        "effective_rank": free.effective_rank,
        **{
            kind: {
                "mrr": found.mrr,
                "recall": found.recall,
                "alignment": found.alignment,
                "ranks": found.ranks.tolist(),
            }
            for kind, found in free.ranks.items()
        },
    }


def encoders_table(measured: dict[str, dict[str, Measured]]) -> None:
    print_head("encoder", *(f"{text}: Spearman, MRR of halves" for text in TEXTS))
    for model, by_text in measured.items():
        cells = (f"{one['spearman']:.2f}, {100 * one['halves']['mrr']:.1f}" for one in by_text.values())
        print_row(f"`{model}`", *cells)
    print()


def correlations_table(measured: dict[str, dict[str, Measured]]) -> None:
    """Rank correlation over encoders, and the share of pairs of encoders in the same order."""
    print_head("figure, the better way up", *(f"{text}: rank correlation, same order" for text in TEXTS))
    for name, figure in FIGURES.items():
        cells = []
        for text in TEXTS:
            values = np.array([figure(by_text[text]) for by_text in measured.values()])
            gold = np.array([by_text[text]["spearman"] for by_text in measured.values()])
            rows, columns = np.triu_indices(len(values), 1)
            same = np.sign(values[rows] - values[columns]) == np.sign(gold[rows] - gold[columns])
            cells.append(f"{spearmanr(values, gold).statistic:.2f}, {same.mean():.0%}")
        print_row(name, *cells)
    print()


def verdicts_table(measured: dict[str, dict[str, Measured]]) -> None:
    """Of all pairs of encoders: told apart by the verdict, and rightly; by halves alone, and as `--back-translate` has
    it, where no verdict is given if the two kinds of pairs contradict each other.
    """
    print_head(
        "text", "pairs of encoders", "halves: told apart", "rightly", "and back-translations: told apart", "rightly"
    )
    for text in TEXTS:
        both = [(first[text], second[text]) for first, second in combinations(measured.values(), 2)]
        cells = []
        for kinds in (("halves",), ("halves", "rewordings")):
            judged = [(verdict(first, second, kinds), second["spearman"] - first["spearman"]) for first, second in both]
            right = [(said == "better") == (gain > 0) for said, gain in judged if said != "no clear difference"]
            cells += [f"{len(right) / len(both):.0%}", f"{np.mean(right):.0%}"]
        print_row(text, len(both), *cells)


def verdict(first: Measured, second: Measured, kinds: Sequence[str]) -> Judgement:
    """What `isotrope compare` says of two encoders."""
    ranks = ([Ranks(np.array(one[kind]["ranks"]), 0) for one in (first, second)] for kind in kinds)
    return judge([mrr_difference(before, after) for before, after in ranks])


if __name__ == "__main__":
    main()
