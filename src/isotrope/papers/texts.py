"""The text that a row learns from, by name: files in the reproduction's folder, written once for all of its runs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.data.places import MissingDataError, data_file, data_folder
from isotrope.evaluation.tasks import load_pairs, open_task
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.hashes import digest
from isotrope.text import read_table
from isotrope.text.aligned import aligned_pairs
from isotrope.text.pairs import entailment_pairs
from isotrope.text.tables import write_table

SEVEN = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sickr")
MIXED = 89_192  # paper 2: 2 x 44,596 pairs, which are 31,099 graded ones and 13,497 of STS15 and STS16 without a grade
SPLITS = ("train", "dev", "test")
FIVE = ("ar", "es", "tr", "de", "fr")  # paper 3, section 4.3
TRACKS = ("track1.ar-ar", "track3.es-es", "track5.en-en")  # of SemEval-2017: those of paper 1
DRAW = 1  # seed of the draw where only so many texts are wanted: the same for all runs


@dataclass(frozen=True)
class Texts:
    """Names -> files in `folder`; what they are made of comes from `data`, else the Hub."""

    folder: Path
    data: Path | None = None

    def files(self, name: str, count: int | None = None) -> list[Path]:
        """The files of a text; `a+b` are those of both. Any other name is a file of one's own.

        With `count` only so many lines, drawn at random.
        """
        parts = name.split("+") if all(part in NAMED for part in name.split("+")) else [name]
        found = [file for part in parts for file in self._one(part)]
        return [self._drawn(found, name, count)] if count else found

    def count(self, name: str) -> int:
        """About how many texts there are: lines of the files."""
        total = 0
        for file in self.files(name):
            with file.open("rb") as stream:
                total += sum(1 for _ in stream)
        return total

    def remarks(self, name: str) -> Iterator[str]:
        """Where a text is not the paper's."""
        if "sts" in name.split("+") and (found := self.count("sts")) != MIXED:
            yield (
                f"The text sts has {found:,} texts, those of the sets that are here. The paper mixes {MIXED:,}: all "
                "seven sets, and the pairs of STS15 and STS16 without a grade (sts/sts15_ungraded.tsv and "
                "sts16_ungraded.tsv in the data folder, with sentence1 and sentence2)."
            )

    def check(self, name: str) -> None:
        """Refuses a name that is neither a text's nor a file's."""
        unknown = [part for part in name.split("+") if part not in NAMED]
        if unknown and not Path(name).is_file():
            raise IsotropeError(f"unknown text '{name}'{nearest(name, NAMED)}; a file, or one of {', '.join(NAMED)}")

    def _one(self, name: str) -> list[Path]:
        if name not in NAMED:
            self.check(name)
            return [Path(name)]
        self.folder.mkdir(parents=True, exist_ok=True)
        return NAMED[name](self)

    def _drawn(self, files: list[Path], name: str, count: int) -> Path:
        """So many lines or, of tables, rows. A file of one's own is known by what it says, not by its name."""
        plain = all(one.suffix == ".txt" for one in files)
        lines = [line for one in files for line in (_lines(one) if plain else _rows(one))]
        which = "" if name in NAMED else f"-{digest(chr(10).join(lines), 4).hex()}"
        file = self.folder / f"{Path(name).stem}{which}-{count}{'.txt' if plain else '.jsonl'}"
        if not file.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            self.write(file, random.Random(DRAW).sample(lines, min(count, len(lines))))
        return file

    def write(self, file: Path, sentences: Iterable[str]) -> None:
        """One on each line; a sentence keeps to its line."""
        with whole_or_nothing(file) as path:
            path.write_text("".join(f"{' '.join(one.split())}\n" for one in sentences), encoding="utf-8")

    def sentences(self, name: str, made: Callable[[], Iterable[str]]) -> list[Path]:
        """The file of that name, made if it is not there."""
        file = self.folder / f"{name}.txt"
        if not file.is_file():
            self.write(file, made())
        return [file]

    def nli(self) -> list[Path]:
        """Files of NLI data, of which the English ones have both sentences and a label."""
        folder = data_folder(self.data)
        files = sorted(Path(folder, "nli").glob("*.tsv*")) if folder else []
        found = [file for file in files if {"premise", "hypothesis", "label"} <= set(next(read_table(file, ()), {}))]
        if not found:
            raise MissingDataError("NLI text: no nli/*.tsv[.gz] with premise, hypothesis, label in a data folder")
        return found


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _rows(file: Path) -> list[str]:
    """Of a table, each as JSON: tables that are read together may have different columns."""
    return [json.dumps(row, ensure_ascii=False) for row in read_table(file, ())]


def _both_sides(pairs: Pairs) -> Iterator[str]:
    for sides in zip(pairs.sentences1, pairs.sentences2, strict=True):
        yield from sides


def _all_splits(task: str, data: Path | None) -> Iterator[str]:
    """As papers 1 and 2 train on them: the sentences of all splits, without their grades, duplicates kept."""
    if task not in ("stsb", "sickr"):
        yield from _both_sides(load_pairs(task, data=data))
        return
    for split in SPLITS:
        yield from _both_sides(load_pairs(task, data=data, split=split))


def _stsb(texts: Texts) -> list[Path]:
    return texts.sentences("stsb", lambda: _all_splits("stsb", texts.data))


def _stsb_test(texts: Texts) -> list[Path]:
    return texts.sentences("stsb-test", lambda: _both_sides(load_pairs("stsb", data=texts.data)))


def _sts(texts: Texts) -> list[Path]:
    """Of the seven sets those that are there, and the pairs without a grade."""

    def made() -> Iterator[str]:
        for task in SEVEN:
            with suppress(MissingDataError):
                yield from _all_splits(task, texts.data)
        for file in _ungraded(texts.data):
            for row in read_table(file, ("sentence1", "sentence2")):
                yield from (row["sentence1"], row["sentence2"])

    return texts.sentences("sts", made)


def _ungraded(data: Path | None) -> list[Path]:
    """sts/NAME_ungraded.tsv[.gz] of a data folder: SemEval gave out more pairs in 2015 and 2016 than it graded."""
    folder = data_folder(data)
    return sorted(Path(folder, "sts").glob("*_ungraded.tsv*")) if folder else []


def _nli(texts: Texts) -> list[Path]:
    def made() -> Iterable[str]:
        rows = (row for file in texts.nli() for row in read_table(file, ("premise", "hypothesis")))
        return dict.fromkeys(text for row in rows for text in (row["premise"], row["hypothesis"]))

    return texts.sentences("nli", made)


def _labelled(texts: Texts) -> list[Path]:
    return texts.nli()


def _entailment(texts: Texts) -> list[Path]:
    return _of_nli(texts, "nli-entailment.tsv", triplets=False)


def _triplets(texts: Texts) -> list[Path]:
    return _of_nli(texts, "nli-triplets.tsv", triplets=True)


def _of_nli(texts: Texts, name: str, *, triplets: bool) -> list[Path]:
    file = texts.folder / name
    if not file.is_file():
        entailment_pairs(texts.nli(), file, triplets=triplets)
    return [file]


def _chinese_triplets(texts: Texts) -> list[Path]:
    file = texts.folder / "nli-zh-triplets.tsv"
    if not file.is_file():
        folder = data_folder(texts.data)
        found = sorted(Path(folder, "zh").glob("*snli*.tsv*")) if folder else []
        if not found:
            raise MissingDataError(
                "Chinese NLI text: no zh/*snli*.tsv[.gz] with premise, hypothesis, label in a data folder"
            )
        entailment_pairs(found, file, triplets=True)
    return [file]


def _five_languages(texts: Texts) -> list[Path]:
    """English as source, each of its five translations as target. Paper 3 has all of SNLI and MultiNLI translated."""
    file = texts.folder / "xnli-five.tsv"
    if not file.is_file():
        english, *others = (_xnli(language, texts.data) for language in ("en", *FIVE))
        aligned_pairs(english, others, file, on=("split", "index"), columns=("premise", "hypothesis"))
    return [file]


def _xnli(language: str, data: Path | None) -> Path:
    name = f"xnli/xnli_{language}.tsv"
    file = data_file(name, data)
    if file is None:
        raise MissingDataError(f"xnli-five: no {name}[.gz] with split, index, premise, hypothesis in a data folder")
    return file


def _to_english(texts: Texts) -> list[Path]:
    return _translations(texts, "translations", source="zh", target="en")


def _to_chinese(texts: Texts) -> list[Path]:
    return _translations(texts, "translations-zh", source="en", target="zh")


def _translations(texts: Texts, name: str, *, source: str, target: str) -> list[Path]:
    folder, file = data_folder(texts.data), texts.folder / f"{name}.tsv"
    if not file.is_file():
        found = sorted(Path(folder, "parallel").glob("*_en_zh.tsv*")) if folder else []
        if not found:
            raise MissingDataError(f"{name}: no parallel/*_en_zh.tsv[.gz] with en, zh in a data folder")
        with write_table(file, ("source", "target")) as write:
            write([(row[source], row[target]) for one in found for row in read_table(one, ("en", "zh"))])
    return [file]


def _sts17(texts: Texts) -> list[Path]:
    def made() -> Iterator[str]:
        for track in TRACKS:
            yield from _both_sides(load_pairs(f"sts17:{track}", data=texts.data))

    return texts.sentences("sts17", made)


def _arguments(texts: Texts) -> list[Path]:
    return texts.sentences("arguments", lambda: open_task("arguments", data=texts.data).sentences)


NAMED: dict[str, Callable[[Texts], list[Path]]] = {
    "stsb": _stsb,
    "stsb-test": _stsb_test,
    "sts": _sts,
    "nli": _nli,
    "nli-labelled": _labelled,
    "nli-entailment": _entailment,
    "nli-triplets": _triplets,
    "nli-zh-triplets": _chinese_triplets,
    "xnli-five": _five_languages,
    "translations": _to_english,
    "translations-zh": _to_chinese,
    "sts17": _sts17,
    "arguments": _arguments,
}
