"""Does tuning on a domain's own text help with that text? Scores on the labels of six domains, in Markdown.

    python bench/domains.py --data DIR [--domains banking77,...] [--models minilm,bundled] [--recipes simcse,...]
                            [--seeds 1,2,3] [--steps N] [--precision bfloat16] [--threads 1] [--output runs/domains]

`default` is `isotrope train` without a recipe on `domains/NAME/corpus.txt.gz`, scored on the labels beside it, before
and after. Recipes learn from at most 20,000 texts of it, and 1,000 others are kept for the figures of the judge, which
`bench/judge.py --runs` sets beside the labels. Poolings of the untuned model, whitening and TF-IDF stand beside them. A
result is a line of `results.jsonl` in --output; what is there is not run again, and interrupted runs go on. Without
--recipes nothing is trained.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

import isotrope
from isotrope.evaluation.tasks import suites
from isotrope.text import read_sentences
from isotrope.training.automatic import decide, is_raw
from runs import mean_and_spread, print_head, print_row

POOLINGS = ("mean", "cls", "last2", "first-last")
WHITENED = 4_000  # sentences that whitening is fitted on: ten for each of its directions
LEARNT, JUDGED = 20_000, 1_000  # texts that a recipe learns from, and that what it made is judged by
WIDE = 10  # points; an interval wider than that is shown
SAID = {"better": "better", "worse": "worse", "no clear difference": "silent"}
Result = dict[str, Any]


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    bench = Bench(options.data, options.output, options.steps, options.precision)
    for name in options.domains:
        domain = Domain(name, bench)
        domain.tfidf()
        for model in options.models:
            domain.untuned(model)
            domain.whitening(model)
            for recipe in options.recipes:
                for seed in options.seeds:
                    domain.tuned(model, recipe, seed)
    there = [one for one in bench.results if one["domain"] in options.domains]
    print_table(there, options.domains)
    print_changes([one for one in there if "said" in one.get("judge", {})], options.domains)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--domains", type=names, default=suites()["domains"])
    parser.add_argument("--models", type=names, default=["minilm", "bundled"])
    parser.add_argument("--recipes", type=names, default=[])
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in names(text)], default=[1])
    parser.add_argument("--steps", type=int, help="instead of each recipe's own")
    parser.add_argument("--precision", help="of the training, instead of each recipe's own")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("runs/domains"))
    return parser.parse_args()


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


class Bench:
    """The results so far, and where more of them go."""

    def __init__(self, data: Path, output: Path, steps: int | None = None, precision: str | None = None) -> None:
        self.data, self.output, self.steps, self.precision = data, output, steps, precision
        self.file = output / "results.jsonl"
        output.mkdir(parents=True, exist_ok=True)
        lines = self.file.read_text().splitlines() if self.file.is_file() else []
        self.results: list[Result] = [json.loads(line) for line in lines]

    def has(self, **key: Any) -> bool:
        return any(key.items() <= one.items() for one in self.results)

    def add(self, result: Result) -> None:
        self.results.append(result)
        with self.file.open("a") as file:
            file.write(json.dumps(result) + "\n")

    def measure(self, model: Any, domain: str, poolings: Sequence[str] = (), *, cache: bool = True) -> Iterator[Result]:
        """The score under each pooling, or under the model's own."""
        found = isotrope.evaluate(model, domain, pooling=poolings, data=self.data, cache=cache)
        for one in found.records():
            yield {
                "pooling": one["pooling"],
                "score": one["figure"],
                "low": one["figure_low"],
                "high": one["figure_high"],
            }


class Domain:
    """One domain: its corpus, and what is measured on its labels."""

    def __init__(self, name: str, bench: Bench) -> None:
        self.name, self.bench = name, bench
        self.corpus = bench.data / "domains" / name / "corpus.txt.gz"

    @cached_property
    def sentences(self) -> list[str]:
        """All of them, in an order of their own."""
        sentences = list(read_sentences(self.corpus))
        return random.Random(0).sample(sentences, len(sentences))

    def tfidf(self) -> None:
        key = {"domain": self.name, "model": "-", "method": "TF-IDF"}
        if not self.bench.has(**key):
            fitted = isotrope.fit_baseline("tfidf", self.corpus)
            (found,) = self.bench.measure(fitted, self.name, cache=False)  # a number for each of 20,000 words
            self.bench.add(key | found)

    def untuned(self, model: str) -> None:
        key = {"domain": self.name, "model": model, "method": "untuned"}
        lacking = [pooling for pooling in POOLINGS if not self.bench.has(**key, pooling=pooling)]
        if lacking:
            for found in self.bench.measure(model, self.name, lacking):
                self.bench.add(key | found)

    def whitening(self, model: str) -> None:
        key = {"domain": self.name, "model": model, "method": "whitening"}
        if not self.bench.has(**key):
            (found,) = self.bench.measure(
                isotrope.fit_baseline("whitening", self.sentences[:WHITENED], model=model), self.name
            )
            self.bench.add(key | found)

    def tuned(self, model: str, recipe: str, seed: int) -> None:
        """Trains by a recipe; `before` is the untuned model under the pooling of the tuned one."""
        key = {"domain": self.name, "model": model, "method": recipe, "seed": seed, "steps": self.bench.steps}
        if self.bench.has(**key):
            return
        called = "-".join(str(part) for part in key.values() if part is not None)
        run = self.bench.output / "runs" / called.replace(":", "-").replace("/", "-")
        named = recipe != "default"
        began = time.monotonic()
        tuned = isotrope.train(
            self.sentences[JUDGED : JUDGED + LEARNT] if named else self.corpus,
            recipe if named else None,
            model,
            run,
            seed=seed,
            steps=self.bench.steps,
            precision=self.bench.precision if named else None,
            resume=(run / "run.json").is_file(),
        ).encoder
        seconds = time.monotonic() - began
        (found,) = self.bench.measure(tuned, self.name, cache=False)
        (before,) = self.bench.measure(model, self.name, [found["pooling"]])
        measured = {**key, **found, "before": before["score"], "seconds": round(seconds, 1)}
        self.bench.add(measured | ({"judge": self.judged(model, tuned)} if named else {}))

    def judged(self, model: str, tuned: isotrope.Encoder) -> Result:
        """The figures of the judge on texts that were not learnt from, as `bench/judge.py` has them."""
        texts = self.sentences[:JUDGED]
        start = isotrope.load(model, pooling=str(tuned.pooling))
        compared = isotrope.compare(start, tuned, texts)
        assert compared.together is not None
        raw = decide(None, compared, "both", raw=True).kept == "tuned"
        return {
            "said": f"{'' if raw else 'not '}kept" if is_raw(start) else SAID[compared.judgement],
            "alike": compared.together.alike,
            "cohesion": compared.together.cohesion.change,
            "low": compared.together.cohesion.low,
            "words": compared.together.words.change,
            "kept": compared.together.kept,
            "mrr": compared.differences["halves"].mrr if "halves" in compared.differences else None,
            "details": compared.details.change if compared.details else None,
        }


def print_table(results: Sequence[Result], domains: Sequence[str]) -> None:
    """A row for each model and method, the mean of its seeds; the change is that against the untuned mean pooling."""
    rows: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for one in results:
        steps = f", {one['steps']} steps" if one.get("steps") else ""
        untuned = f", {one['pooling']}" if one["method"] == "untuned" else ""
        row = rows.setdefault((one["model"], f"{one['method']}{untuned}{steps}"), {})
        row.setdefault(one["domain"], []).append(one)
    print_head("model", "method", *domains, "average", "change")
    for (model, method), row in sorted(rows.items(), key=lambda item: item[0][0]):
        average, untuned = average_of(row, domains), average_of(rows.get((model, "untuned, mean"), {}), domains)
        change = f"{average - untuned:+.2f}" if average and untuned and average != untuned else ""
        cells = (cell(row.get(domain, [])) for domain in domains)
        print_row(model, method, *cells, f"{average:.2f}" if average else "", change)


def print_changes(results: Sequence[Result], domains: Sequence[str]) -> None:
    """What each recipe made of a model under the same pooling, and what the judge said of it without labels."""
    rows: dict[tuple[str, str, str], dict[str, list[Result]]] = {}
    for one in results:
        row = rows.setdefault((one["model"], one["method"], one["pooling"]), {})
        row.setdefault(one["domain"], []).append(one)
    print()
    print_head("model", "recipe", "pooling", *domains)
    for named, row in sorted(rows.items(), key=lambda item: item[0][0]):
        print_row(*named, *(change(row.get(domain, [])) for domain in domains))


def change(several: Sequence[Result]) -> str:
    """`+1.59 silent`: the mean of the seeds, and what was said of each."""
    if not several:
        return ""
    gained = mean_and_spread([one["score"] - one["before"] for one in several])
    return f"{'' if gained.startswith('-') else '+'}{gained} {', '.join(one['judge']['said'] for one in several)}"


def average_of(row: dict[str, list[Result]], domains: Sequence[str]) -> float | None:
    """The mean over the domains of the means over their seeds; None if one is missing."""
    if not all(row.get(domain) for domain in domains):
        return None
    return statistics.mean(statistics.mean(one["score"] for one in row[domain]) for domain in domains)


def cell(several: Sequence[Result]) -> str:
    """`54.60`, `52.31 ± 0.40`, `81.64 [72.4, 87.8]`."""
    if not several:
        return ""
    low, high = (statistics.mean(one[end] for one in several) for end in ("low", "high"))
    interval = f" [{low:.1f}, {high:.1f}]" if high - low > WIDE else ""
    return mean_and_spread([one["score"] for one in several]) + interval


if __name__ == "__main__":
    main()
