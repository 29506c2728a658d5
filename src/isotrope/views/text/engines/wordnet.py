"""WordNet through NLTK's reader: what a word, as it stands in a text, may be replaced by.

There is no tagger. A form (`saw`) is read as the base form and part of speech that WordNet's own tagged text has most
often (`see`, a verb), and its sense is the first in WordNet's order, which is by frequency, that has any other word.
That word gets the form's ending: the plural of nouns; -s, -ed and -ing of verbs. One that is inflected in another way
(`go` for `travelled`) is left out, and a comparative (`bigger`) has none. Names are neither replaced nor put in.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections import defaultdict
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import nltk
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import hasher

INSTALL = "get one by apt install wordnet-base or python -m nltk.downloader wordnet, or give the folder of another"
DEBIAN = Path("/usr/share/wordnet")
PARTS_OF_SPEECH = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
FORMS_KEPT = 2**17  # whose synonyms are remembered
SENSES_KEPT = 2**14  # that stay parsed, some 6 kB each
ORDINARY = re.compile(r"[a-z]+(?:[ '-][a-z]+)*")  # no name, no figure
SHORT_VOWEL = re.compile(r"[^aeiou]+[aeiou][^aeiouwxy]")  # a verb that doubles its last letter: stop, stopped


class Synonym(NamedTuple):
    """A word in the form that fits, and how often WordNet's tagged text has it, plus one."""

    word: str
    weight: int


class WordNet(WordNetCorpusReader):  # type: ignore[misc]
    """The English WordNet alone, from a folder as Princeton, Debian or NLTK ship it."""

    def __init__(self, root: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the other languages, which are not there
            super().__init__(root, None)
        with self.open("cntlist.rev") as lines:
            self._counts = {key: int(count) for key, _, count in map(str.split, lines)}
        self._words = {pos: frozenset(self.all_lemma_names(pos)) for pos in PARTS_OF_SPEECH}
        self._bases = {pos: self._read_exceptions(pos) for pos in PARTS_OF_SPEECH}  # of irregular forms
        self._irregular: dict[str, dict[str, list[str]]] = {pos: defaultdict(list) for pos in PARTS_OF_SPEECH}
        for pos, exceptions in self._bases.items():
            for form, bases in exceptions.items():
                for base in bases:
                    self._irregular[pos][base].append(form)
        self.synonyms = lru_cache(FORMS_KEPT)(self._synonyms)
        self.is_name = lru_cache(FORMS_KEPT)(self._is_name)

    def open(self, file: str) -> Any:
        """A file of the folder. Debian leaves out the names of the 45 sources; as none is asked for, any will do."""
        return io.StringIO("".join(f"{i} - 0\n" for i in range(45))) if file == "lexnames" else super().open(file)

    def map_wn(self, version: str = "wordnet") -> None:
        """Nothing: it serves the other languages, and wants a file that Debian leaves out."""

    def lemma_count(self, lemma: Any) -> int:
        """How often the tagged text has a word in one sense."""
        return self._counts.get(lemma.key(), 0)

    @property
    def fingerprint(self) -> str:
        """Of the index, which has all words and the places of all their senses."""
        digest = hasher(8)
        for name in PARTS_OF_SPEECH.values():
            with self.open(f"index.{name}") as lines:
                digest.update(lines.read().encode())
        return digest.hexdigest()

    def _is_name(self, form: str) -> bool:
        """Whether WordNet writes it, given in small letters, with a capital in any sense."""
        return any(own.name() != base for pos, base in self._readings(form) for _, own in self._senses(pos, base))

    def _synonyms(self, form: str) -> tuple[Synonym, ...]:
        """What the form, in small letters, may be replaced by; nothing where WordNet has no other word."""
        if sum(map(len, self._synset_offset_cache.values())) > SENSES_KEPT:
            self._synset_offset_cache.clear()
        readings = self._readings(form)
        if not readings:
            return ()
        pos, base = max(readings, key=lambda reading: sum(own.count() for _, own in self._senses(*reading)))
        for sense, own in self._senses(pos, base):
            if own.name() == base:  # else a name
                others = [(lemma, self._like(form, pos, base, lemma)) for lemma in sense.lemmas() if lemma != own]
                found = [Synonym(word, lemma.count() + 1) for lemma, word in others if word not in ("", form)]
                if found:
                    return tuple(found)
        return ()

    def _readings(self, form: str) -> list[tuple[str, str]]:
        """The parts of speech and base forms that it may be."""
        return [(pos, base) for pos in PARTS_OF_SPEECH for base in self._base_forms(form, pos)]

    def _base_forms(self, form: str, pos: str) -> list[str]:
        """The words of WordNet that a form may be inflected from, itself included: by its list of exceptions or, for
        what is not on it, by its endings.
        """
        endings = self.MORPHOLOGICAL_SUBSTITUTIONS[pos]
        regular = [form.removesuffix(old) + new for old, new in endings if form.endswith(old)]
        forms = [form, *self._bases[pos].get(form, regular)]
        return [base for base in dict.fromkeys(forms) if base in self._words[pos]]

    def _read_exceptions(self, pos: str) -> dict[str, list[str]]:
        """Irregular forms, each with its base forms."""
        with self.open(f"{PARTS_OF_SPEECH[pos]}.exc") as lines:
            return {form: bases for form, *bases in map(str.split, lines)}

    def _senses(self, pos: str, base: str) -> list[tuple[Any, Any]]:
        """The senses of a base form, the most frequent first, each with the base form's own entry in it."""
        senses = self.synsets(base, pos, check_exceptions=False)
        return [(sense, own) for sense in senses for own in sense.lemmas() if own.name().lower() == base]

    def _like(self, form: str, pos: str, base: str, lemma: Any) -> str:
        """Another word of the same sense, inflected as the form is; "" where that can't be."""
        word: str = lemma.name().replace("_", " ")
        if not ORDINARY.fullmatch(word):
            return ""
        if form == base:
            return word
        if pos == "n":
            before, space, last = word.rpartition(" ")
            plural = _plural(last, self._irregular["n"].get(last, []))
            return plural and before + space + plural
        if pos == "v":
            first, space, rest = word.partition(" ")
            ending = next((ending for ending in ("ing", "s") if form.endswith(ending)), "ed")
            verb = _verb(first, ending, self._irregular["v"].get(first, []))
            return verb and verb + space + rest
        return ""


def open_wordnet(folder: str | Path | None = None) -> WordNet:
    """The WordNet of a folder, or else that of this machine: nltk_data, Debian's, $WNSEARCHDIR, $WNHOME."""
    root = _root(Path(folder).expanduser()) if folder else _root_anywhere()
    if root is None:
        what = f"{folder}: not a WordNet folder, it has no index.noun" if folder else "there is no WordNet here"
        raise IsotropeError(f"{what}; {INSTALL}")
    if isinstance(root, str) and root not in nltk.data.path:
        nltk.data.path.append(root)  # NLTK reads nothing outside the folders on this list
    try:
        return WordNet(root)
    except Exception as error:
        reason = " ".join(str(error).replace(f"{root}/", "").split())[:100]
        raise IsotropeError(f"{root}: a WordNet that is damaged or not whole ({reason}); {INSTALL}") from error


def _root(folder: Path) -> str | None:
    """The folder itself or, in Princeton's archive, `dict` in it."""
    return next((str(place.resolve()) for place in (folder, folder / "dict") if (place / "index.noun").is_file()), None)


def _root_anywhere() -> Any:
    """A folder's name or, of what NLTK has downloaded, its own pointer, which may be into a zip file."""
    for downloaded in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        with suppress(LookupError):
            return nltk.data.find(downloaded)
    variables = (os.environ.get(name) for name in ("WNSEARCHDIR", "WNHOME"))
    folders = (DEBIAN, *(Path(value) for value in variables if value))
    return next(filter(None, map(_root, folders)), None)


def _plural(noun: str, irregular: list[str]) -> str:
    """`boxes`; "" for a noun whose plural the rule does not give for certain."""
    if irregular or re.search(r"(f|fe|man|[^aeiou]o|[^s]s)$", noun):
        return ""
    return _with_s(noun)


def _verb(verb: str, ending: str, irregular: list[str]) -> str:
    """`stopped`; "" for a verb whose past is not in -ed. Doubled letters are among WordNet's irregular forms."""
    if ending == "s":
        return _with_s(verb)
    listed = [form for form in irregular if form.endswith(ending)]
    if listed or (irregular and ending == "ed"):
        return listed[0] if listed else ""
    if SHORT_VOWEL.fullmatch(verb):
        return verb + verb[-1] + ending
    if ending == "ed" and re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return (verb[:-1] if re.search("[^eoy]e$" if ending == "ing" else "e$", verb) else verb) + ending


def _with_s(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"([sxz]|[cs]h|[^aeiou]o)$", word) else "s")
