"""Paper 4 at small scale: English teaches German, which teaches English. Tables of means over seeds, in Markdown.

    python bench/parallel.py --data DIR [--tables pipeline,objectives,temperature,queue,bsl,domain] [--seeds 1,2,3]

Translations, English and German: Tatoeba, the training split of Multi30k, WMT's news. A German encoder is pre-trained
on their German side; minilm, frozen, teaches it (step A); XNLI's German triplets tune it; then, frozen, it teaches the
bundled encoder (step B). The last table is paper 3's, with one encoder of both languages. Checkpoints are chosen on the
development split of STS-B, in German for the German encoder. What is done in --output is not done again, what was
interrupted goes on.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import isotrope
from isotrope.evaluation.data.bitexts import load_tatoeba
from isotrope.evaluation.tasks.tatoeba import evaluate_tatoeba
from isotrope.text import read_table
from isotrope.text.tables import write_table
from isotrope.training.pretrain import Pretraining, pretrain
from runs import figures, mean_and_spread, nli_table, print_head, print_row, spearman

GERMAN = "stsb-multi:de"
TABLE = {  # of Tables 1 and 5: the same for all rows, but for what a row is about
    "objective.temperature": 0.05,
    "objective.learnable_temperature": False,
    "objective.temperature_rate": "default",
    "training.steps": 200,
    "training.eval_steps": 50,
    "training.save_steps": 50,
}
PRETRAINING = {"steps": 600, "warmup": 100, "save_steps": 300}
LEARNT = {"objective.learnable_temperature": True, "objective.temperature_rate": 0.01}
TEMPERATURES: dict[str, dict[str, Any]] = {
    "0.01": {"objective.temperature": 0.01, "objective.learnable_temperature": False},
    "0.05": {},
    "learnt, from 1": LEARNT | {"objective.temperature": 1.0},
    "learnt, from 1 / e": LEARNT | {"objective.temperature": math.exp(-1)},
}
QUEUES = (0, 1_000, 10_000)
DOMAIN = {"training.steps": 300, "training.learning_rate": 5e-4}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", default="pipeline,objectives,temperature,queue,bsl,domain")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path, default=Path("runs/parallel"))
    options = parser.parse_args()
    bench = Bench(options.data, options.output, [int(seed) for seed in options.seeds.split(",")])
    for table in options.tables.split(","):
        getattr(bench, table)()
        print()


class Bench:
    """The pieces of text and the encoders that the tables share, each made when first asked for."""

    def __init__(self, data: Path, output: Path, seeds: list[int]) -> None:
        self.data, self.output, self.seeds = data, output, seeds
        output.mkdir(parents=True, exist_ok=True)

    # -- tables -------------------------------------------------------------------------------------------------------

    def pipeline(self) -> None:
        """Each step of the recipe `parallel-pipeline`, as one run; step B by itself with the other seeds."""
        teacher = self.teacher()
        print_head("encoder", "STS-B", "dev", "test")
        steps = {
            "German, pre-trained": self.pretrained("german"),
            "A: taught by minilm": self.output / "pipeline" / "stage-1" / "encoder",
            "NLI": teacher,
        }
        for name, folder in steps.items():
            encoder = isotrope.load(folder)
            scores = (spearman(encoder, GERMAN, self.data, split) for split in ("dev", "test"))
            print_row(name, GERMAN, *(f"{score:.2f}" for score in scores))
        b = {"sentences": self.translations("de", "en"), "recipe": "parallel:bundled", "model": "bundled"}
        found = [figures(self.output / "pipeline", self.data)] + [
            figures(self.output / f"student-{seed}", self.data, teacher=teacher, dev="stsb", seed=seed, **b)
            for seed in self.seeds[1:]
        ]
        columns = (mean_and_spread([one[f"stsb {split}"] for one in found]) for split in ("dev", "test"))
        print_row("B: English, taught by that", "stsb", *columns)

    def text(self) -> None:
        """Only the translations of STS-B's sentences and the two pre-trained encoders, for `isotrope reproduce`."""
        for first, second in (("en", "de"), ("de", "en")):
            print(self.table(f"stsb-{first}-{second}.tsv", ("source", "target"), self.stsb(first, second)))
        for name, steps in (("german", 1_000), ("bilingual", 1_500)):
            print(self.pretrained(name, steps=steps, precision="bfloat16"))

    def domain(self) -> None:
        """Steps A and B once more, from where the pipeline ended, on translations of STS-B's own sentences.

        All splits, without grades: the text that the other papers' recipes have, and paper 4's has not.
        """
        teacher, student = self.teacher(), self.output / "pipeline" / "encoder"
        print_head("encoder", "STS-B", "dev", "test")
        for seed in self.seeds:
            run, options = self.output / f"domain-german-{seed}", {"seed": seed, "set": DOMAIN}
            text = self.table("stsb-en-de.tsv", ("source", "target"), self.stsb("en", "de"))
            a = {"sentences": text, "recipe": "parallel-teacher:bundled", "model": teacher, "dev": GERMAN}
            figures(run, self.data, tasks=(GERMAN,), **a, **options)
            text = self.table("stsb-de-en.tsv", ("source", "target"), self.stsb("de", "en"))
            b = {"sentences": text, "recipe": "parallel:bundled", "model": student, "dev": "stsb"}
            figures(self.output / f"domain-{seed}", self.data, teacher=run / "encoder", **b, **options)
        for name, task, folder in (("German", GERMAN, "domain-german"), ("English", "stsb", "domain")):
            found = [figures(self.output / f"{folder}-{seed}", self.data) for seed in self.seeds]
            columns = (mean_and_spread([one[f"{task} {split}"] for one in found]) for split in ("dev", "test"))
            print_row(name, task, *columns)

    def objectives(self) -> None:
        """Table 5: the source encoder frozen, trained too, or one encoder for both; queue 0."""
        print_head("encoders", "dev", "test")
        self.row("frozen", "parallel", {"queue.size": 0})
        self.row("dual", "parallel-dual", {})
        self.row("multilingual", "parallel-multilingual", {}, model=str(self.pretrained("bilingual")), teacher=None)

    def temperature(self) -> None:
        """Table 1."""
        print_head("temperature", "dev", "test")
        for name, chosen in TEMPERATURES.items():
            self.row(name, "parallel", {"queue.size": 0, **chosen})

    def queue(self) -> None:
        """Negatives beside those of the batch."""
        print_head("queue", "dev", "test")
        for size in QUEUES:
            self.row(f"{size:,}", "parallel", {"queue.size": size})

    def bsl(self) -> None:
        """Paper 3, Table 3: one encoder of both languages before and after `bsl-multilingual`; with such a one whose
        languages share a space already, too.
        """
        print_head("encoder", "STS-B", "STS-B, German", "Tatoeba, German")
        tatoeba = load_tatoeba("deu", data=self.data)
        known = {text for bitext in tatoeba.values() for text in bitext.texts}
        pairs = ((english, german) for english, german in self.both("en", "de") if german not in known)
        text = self.table("en-de-without-tatoeba-test.tsv", ("source", "target"), pairs)
        contrasted = self.output / f"parallel-multilingual-{self.seeds[0]}" / "encoder"  # of `objectives`
        starts: dict[str, tuple[Path, dict[str, Any]]] = {
            "bsl-multilingual": (self.pretrained("bilingual"), {}),
            "bsl-multilingual-contrasted": (contrasted, {"training.learning_rate": 1e-4}),
        }
        for name, (start, chosen) in starts.items():
            tuned = []
            for seed in self.seeds:
                run = self.output / f"{name}-{seed}"
                arguments = {"recipe": "bsl-multilingual:bundled", "model": start, "set": chosen}
                figures(run, self.data, sentences=text, seed=seed, dev=GERMAN, **arguments)
                tuned.append(isotrope.load(run / "encoder"))
            for row, encoders in {start.parent.name: [isotrope.load(start, pooling="mean")], name: tuned}.items():
                english, german = (
                    [spearman(encoder, task, self.data, "test") for encoder in encoders] for task in ("stsb", GERMAN)
                )
                found = [evaluate_tatoeba(encoder, tatoeba).accuracy for encoder in encoders]
                print_row(row, *(mean_and_spread(column) for column in (english, german, found)))

    def row(self, name: str, recipe: str, chosen: dict[str, Any], **arguments: Any) -> None:
        settings = "-".join(f"{key.rpartition('.')[2]}={value}" for key, value in chosen.items())
        arguments = {"model": "bundled", "teacher": self.teacher(), **arguments}
        found = [
            figures(
                self.output / "-".join(filter(None, (recipe, settings, str(seed)))),
                self.data,
                sentences=self.translations("de", "en"),
                recipe=f"{recipe}:bundled",
                seed=seed,
                dev="stsb",
                set={**TABLE, **chosen},
                **arguments,
            )
            for seed in self.seeds
        ]
        columns = (mean_and_spread([one[f"stsb {split}"] for one in found]) for split in ("dev", "test"))
        print_row(name, *columns)

    # -- encoders -----------------------------------------------------------------------------------------------------

    def teacher(self) -> Path:
        """The German encoder after step A and NLI: stage 2 of the pipeline."""
        figures(
            self.output / "pipeline",
            self.data,
            sentences=[self.translations("en", "de"), self.triplets()],
            recipe="parallel-pipeline:bundled",
            model="bundled",
            seed=self.seeds[0],
            dev=[GERMAN, GERMAN, "stsb"],
            set={"stages.0.start": str(self.pretrained("german"))},
        )
        return self.output / "pipeline" / "stage-2" / "encoder"

    def pretrained(self, name: str, **chosen: Any) -> Path:
        """A small BERT of the German side of the translations, or of both."""
        run = self.output / name
        if not (run / "figures.json").is_file():
            languages = ("de",) if name == "german" else ("de", "en")
            files = {str(self.side(language)): 1.0 for language in languages}
            pretrain(Pretraining(files=files, **PRETRAINING | chosen), run, resume=(run / "settings.json").is_file())
        return run / "encoder"

    # -- text ---------------------------------------------------------------------------------------------------------

    def translations(self, source: str, target: str) -> Path:
        return self.table(f"{source}-{target}.tsv", ("source", "target"), self.both(source, target))

    def side(self, language: str) -> Path:
        texts = dict.fromkeys(text for text, _ in self.both(language, "en"))
        return self.table(f"{language}.tsv", ("text",), ((text,) for text in texts))

    def triplets(self) -> Path:
        """Premise, what it entails, what contradicts it."""
        return nli_table([self.data / "xnli" / "xnli_de.tsv.gz"], self.output / "triplets.tsv", triplets=True)

    def both(self, first: str, second: str) -> Iterable[tuple[str, str]]:
        for row in read_table(self.data / "parallel" / "tatoeba_en_de.tsv.gz", ("en", "de")):
            yield row[first], row[second]
        for row in read_table(self.data / "parallel" / "multi30k.tsv.gz", ("split", "en", "de")):
            if row["split"] == "train":
                yield row[first], row[second]
        for row in read_table(self.data / "parallel" / "wmt21_23.tsv.gz", ("lang", "en", "text")):
            if row["lang"] == "de":
                sides = {"en": row["en"], "de": row["text"]}
                yield sides[first], sides[second]

    def stsb(self, first: str, second: str) -> Iterable[tuple[str, str]]:
        sides = {"en": "stsb/stsb.tsv.gz", "de": "stsb_multi/stsb_de.tsv.gz"}
        rows = (read_table(self.data / sides[side], ("sentence1", "sentence2")) for side in (first, second))
        for one, other in zip(*rows, strict=True):
            yield one["sentence1"], other["sentence1"]
            yield one["sentence2"], other["sentence2"]

    def table(self, name: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Path:
        path = self.output / name
        if not path.is_file():
            with write_table(path, columns) as write:
                write(list(rows))
        return path


if __name__ == "__main__":
    main()
