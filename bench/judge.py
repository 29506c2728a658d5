"""Does the judge of `isotrope compare` agree with labels? Changed encoders on six domains, in Markdown.

    python bench/judge.py --data DIR [--models minilm,bundled] [--domains banking77,...] [--runs runs/domains]
                          [--trained] [--output runs/judge]

Each model is changed in ways that help or harm: centred, whitened in part or wholly, its main directions removed, cut
down to few, noise added, smoothed weakly and strongly; and trained, by the recipes that bench/domains.py ran in --runs.
Every one is measured on the labels of the domain, and judged without them on 1,000 texts of the corpus that no change
was fitted on. The first table says how each label-free figure follows the labelled change; the second chooses the
rule's three numbers on five domains, for all models alike, and tries them on the sixth. What was
measured is kept in --output.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import isotrope
from isotrope.evaluation.label_free.details import compare_details, shorten
from isotrope.evaluation.label_free.neighbourhoods import COHESION, KEPT, WORDS, compare_neighbourhoods
from isotrope.evaluation.label_free.related_texts import RelatedTexts, halves
from isotrope.evaluation.label_free.verdict import find_each_other, unit
from isotrope.evaluation.tasks import open_task, suites
from isotrope.fits.smoothing import Smoothing, part_whitening
from isotrope.text import read_sentences
from runs import print_head, print_row

TEXTS, JUDGED, PAIRS = 8000, 1000, 500  # of the corpus; judged; halves at most
LOST = 1.0  # points of the labelled score that may be lost under a verdict of "better"
GRID = tuple(product((0.5, 1.0, 2.0), (-0.5, -1.0, -2.0), (60.0, 70.0, 75.0, 80.0)))  # cohesion, words, kept
FIGURES = ("cohesion", "words", "kept", "mrr", "details")
Vectors = Any
Change = Callable[[Vectors], Vectors]
Measured = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", default="minilm,bundled")
    parser.add_argument("--domains", default=",".join(suites()["domains"]))
    parser.add_argument("--runs", type=Path, help="the --output of bench/domains.py, for trained encoders")
    parser.add_argument("--trained", action="store_true", help="those alone, without changes made by hand")
    parser.add_argument("--output", type=Path, default=Path("runs/judge"))
    options = parser.parse_args()
    if options.trained and not options.runs:
        parser.error("--trained is about those in --runs")
    options.output.mkdir(parents=True, exist_ok=True)
    models, domains = options.models.split(","), options.domains.split(",")
    made = [] if options.trained else models
    measured = [one for model in made for domain in domains for one in measure(model, domain, options)]
    measured += [one for one in trained(options.runs) if one["model"] in models and one["domain"] in domains]
    print_correlations(measured, models)
    for model in models:
        print_rule(measured, model, domains)


def measure(model: str, domain: str, options: argparse.Namespace) -> list[Measured]:
    """Every change of a model on a domain."""
    file = options.output / f"{model}-{domain}.json"
    if not file.is_file():
        file.write_text(json.dumps(list(_measure(model, domain, options.data))))
    found: list[Measured] = json.loads(file.read_text())
    return found


def trained(runs: Path | None) -> Iterator[Measured]:
    """What recipes made of the models."""
    for line in (runs / "results.jsonl").read_text().splitlines() if runs else ():
        one = json.loads(line)
        if "judge" in one:
            named = {"model": one["model"], "domain": one["domain"], "change": one["method"], "trained": True}
            yield {**named, "gain": one["score"] - one["before"], **one["judge"]}


def _measure(model: str, domain: str, data: Path) -> Iterator[Measured]:
    encoder, task = isotrope.load(model), open_task(domain, data=data)
    corpus = list(read_sentences(data / "domains" / domain / "corpus.txt.gz"))
    texts = random.Random(0).sample(corpus, min(TEXTS, len(corpus)))
    long = halves(texts[JUDGED : 3 * JUDGED])
    pairs = RelatedTexts(long.kind, long.first[:PAIRS], long.second[:PAIRS])
    judged = texts[:JUDGED]
    shortened = filter(None, map(shorten, judged))
    known = Known(encoder, [*texts, *task.sentences, *pairs.first, *pairs.second, *shortened])
    fitted = known.encode(texts[JUDGED:])
    start, before = known.encode(judged), task.measure(known).main.value  # type: ignore[arg-type]
    for name, change in changes(fitted):
        changed = known.changed(change)
        together = compare_neighbourhoods(start, changed.encode(judged), judged)
        details = compare_details((known, changed), (start, changed.encode(judged)), judged)
        assert together is not None
        yield {
            "model": model,
            "domain": domain,
            "change": name,
            "gain": task.measure(changed).main.value - before,  # type: ignore[arg-type]
            "alike": together.alike,
            "cohesion": together.cohesion.change,
            "low": together.cohesion.low,
            "words": together.words.change,
            "kept": together.kept,
            "mrr": 100 * (mrr(changed, pairs) - mrr(known, pairs)) if len(pairs) else None,
            "details": details.change if details else None,
        }


class Known:
    """Vectors that are computed once, and what a change makes of them."""

    def __init__(self, encoder: isotrope.Encoder, texts: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(texts))
        self.rows = {text: row for row, text in enumerate(distinct)}
        self.vectors = unit(encoder.encode(distinct))

    def changed(self, change: Change) -> Known:
        other = object.__new__(Known)
        other.rows, other.vectors = self.rows, change(self.vectors)
        return other

    def encode(self, sentences: Sequence[str], *, batch_size: int = 64) -> Vectors:
        return self.vectors[[self.rows[text] for text in sentences]]


def changes(fitted: Vectors) -> Iterator[tuple[str, Change]]:
    """Each as a function of all vectors, fitted on some."""
    mean = fitted.mean(0)
    x = fitted - mean
    directions = np.linalg.eigh(x.T @ x)[1][:, ::-1]
    yield "centred", lambda v: v - mean
    for k in (1, 4):
        yield f"without {k} main directions", lambda v, u=directions[:, :k]: (v - mean) - (v - mean) @ u @ u.T
    for power in (0.15, 0.3, 0.6, 0.8, 1.0):
        white = part_whitening(x, power)
        yield f"whitened by {power}", lambda v, w=white: (v - mean) @ w
    for power in (0.15, 0.3, 0.6):  # the contrary of whitening
        coloured = np.linalg.inv(part_whitening(x, power))
        yield f"coloured by {power}", lambda v, w=coloured: (v - mean) @ w
    for dim in (16, 32, 64, 128):
        yield f"{dim} main directions", lambda v, u=directions[:, :dim]: (v - mean) @ u
    for size in (0.02, 0.05):
        yield f"noise of {size}", lambda v, s=size: v + s * np.random.default_rng(0).standard_normal(v.shape)
    for strength in (0.3, 0.5, 1.0, 2.0, 4.0):
        yield f"smoothed by {strength}", affine(Smoothing(strength=strength, trust=0).map(fitted))
    for strength in (0.5, 1.0, 2.0):
        spec = Smoothing(strength=strength, trust=0, whitening=0.6, threshold=0.3)
        yield f"whitened by 0.6, smoothed by {strength}", affine(spec.map(fitted))


def affine(map_: tuple[Vectors, Vectors]) -> Change:
    return lambda v: v @ map_[0] + map_[1]


def mrr(encoder: Known, pairs: RelatedTexts) -> float:
    return find_each_other(encoder.encode(pairs.first), encoder.encode(pairs.second), pairs).mrr


def print_correlations(measured: Sequence[Measured], models: Sequence[str]) -> None:
    print("Rank correlation of each figure's change with the change of the labelled score:\n")
    print_head("model", "changes", *FIGURES)
    for model in models:
        own = [one for one in measured if one["model"] == model]
        cells = []
        for figure in FIGURES:
            there = [one for one in own if one.get(figure) is not None]
            cells.append(f"{spearmanr([one[figure] for one in there], [one['gain'] for one in there])[0]:.2f}")
        print_row(model, len(own), *cells)


def print_rule(measured: Sequence[Measured], model: str, domains: Sequence[str]) -> None:
    """One rule is shipped for all models: its numbers are chosen on the other domains of all of them."""
    print(f"\n{model}: the rule on each domain, with numbers chosen on the others, and with those that are shipped:\n")
    said = ("better: gained", "better: lost up to 1", "better: lost more", "worse: lost", "worse: gained", "silent")
    print_head("domain", "cohesion, words, kept", *said)
    for domain in domains:
        inside = [one for one in measured if (one["model"], one["domain"]) == (model, domain)]
        for rule in (chosen_on([one for one in measured if one["domain"] != domain]), (COHESION, WORDS, KEPT)):
            print_row(domain, ", ".join(f"{number:g}" for number in rule), *counts(inside, rule))


def chosen_on(measured: Sequence[Measured]) -> tuple[float, float, float]:
    """Of the rules that call nothing better that lost at all (another domain may be harder), the most often right."""

    def worth(rule: tuple[float, float, float]) -> tuple[int, int]:
        right, _, lost, fell, wrong, _ = counts(measured, rule, most=0)
        return -lost, right + fell - wrong

    return max(GRID, key=worth)


def counts(
    measured: Sequence[Measured], rule: tuple[float, float, float], most: float = LOST
) -> tuple[int, int, int, int, int, int]:
    cohesion, words, kept = rule
    found = [0] * 6
    for one in measured:
        risen = one["cohesion"] >= cohesion and one["low"] > 0 and (one.get("alike") or not one.get("trained"))
        better = risen and one["words"] > words and one["kept"] >= kept
        worse = one["cohesion"] <= -cohesion and (not one.get("alike") or one["words"] < 0)
        if better:
            found[0 if one["gain"] > 0 else 1 if one["gain"] >= -most else 2] += 1
        elif worse:
            found[3 if one["gain"] < 0 else 4] += 1
        else:
            found[5] += 1
    return found[0], found[1], found[2], found[3], found[4], found[5]


if __name__ == "__main__":
    main()
