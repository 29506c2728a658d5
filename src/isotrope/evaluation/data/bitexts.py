"""Sentences and their English translations: Tatoeba, from a data folder.

The test set of LASER (Artetxe & Schwenk 2019): up to 1,000 sentences in each of 112 languages with their English
translations.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isotrope.evaluation.data.places import MissingDataError, data_file
from isotrope.io.errors import IsotropeError, nearest
from isotrope.text import read_table

FILE = "parallel/tatoeba_laser.tsv"

# Tatoeba uses three-letter codes; here are the two-letter codes of the languages that multilingual papers report
_CODES = """
af:afr ar:ara bg:bul bn:ben ca:cat cs:ces da:dan de:deu el:ell eo:epo es:spa et:est eu:eus fa:pes fi:fin fr:fra he:heb
hi:hin hr:hrv hu:hun id:ind is:isl it:ita ja:jpn jv:jav ka:kat kk:kaz ko:kor la:lat lt:lit lv:lvs ml:mal mr:mar nl:nld
no:nob pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe sw:swh ta:tam te:tel th:tha tl:tgl tr:tur uk:ukr
ur:urd vi:vie zh:cmn
"""
CODES = dict(pair.split(":") for pair in _CODES.split())


@dataclass(frozen=True)
class Bitext:
    """Sentences of a language beside their English translations, two lists of one length."""

    texts: list[str]
    english: list[str]


def load_tatoeba(language: str = "", *, data: Path | None = None) -> dict[str, Bitext]:
    """The sentences of one language (`deu`, or `de`), or of all that the file has, from the folder `data`."""
    path = data_file(FILE, data)
    if path is None:
        raise MissingDataError(f"task 'tatoeba': no {FILE}[.gz] in a data folder")
    found: dict[str, Bitext] = {}
    for row in read_table(path, ("lang", "en", "text")):
        bitext = found.setdefault(row["lang"], Bitext([], []))
        bitext.texts.append(row["text"])
        bitext.english.append(row["en"])
    if not found:
        raise IsotropeError(f"{path}: no pairs in it, just a header")
    if not language:
        return found
    code = language if language in found else CODES.get(language, language)
    if code not in found:
        names = ", ".join(sorted(found))
        raise IsotropeError(f"task 'tatoeba' has no language '{language}'{nearest(code, found)}; it has: {names}")
    return {code: found[code]}
