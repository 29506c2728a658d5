"""Tatoeba: is the sentence nearest to a translation the one that was translated?

The test set of LASER (Artetxe & Schwenk 2019): up to 1,000 sentences in each of 112 languages with their English
translations. Of each sentence the nearest by cosine is sought among the English sides of the same language, and of each
English side among the sentences; the figure of a language is the mean of both accuracies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.encodes import Encodes
from isotrope.evaluation.pairs import MissingDataError, data_folder
from isotrope.io.errors import IsotropeError, nearest
from isotrope.text import read_table

FILE = "parallel/tatoeba_laser.tsv"
QUERIES_AT_ONCE = 1024  # rows of the matrix of cosines

# Tatoeba has three letters for a language; the two-letter codes of those that multilingual papers report
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


@dataclass(frozen=True)
class Found:
    """Which sentences of a language led to their English side, and which English sides back: both (pairs,)."""

    to_english: NDArray[np.bool_]
    from_english: NDArray[np.bool_]

    @property
    def accuracy(self) -> float:
        """The mean of both directions, x 100."""
        return 100 * float(self.to_english.mean() + self.from_english.mean()) / 2


@dataclass(frozen=True)
class Retrieval:
    """What was found in each language."""

    languages: dict[str, Found]

    @property
    def accuracy(self) -> float:
        """The plain mean over the languages, x 100."""
        return float(np.mean([found.accuracy for found in self.languages.values()]))

    def as_json(self) -> dict[str, Any]:
        """`{"accuracy": ..., "pairs": ..., "languages": {"deu": {"to_english": ..., "from_english": ...}}}`."""
        languages = {
            name: {
                "to_english": round(100 * float(found.to_english.mean()), 2),
                "from_english": round(100 * float(found.from_english.mean()), 2),
                "pairs": len(found.to_english),
            }
            for name, found in self.languages.items()
        }
        pairs = sum(len(found.to_english) for found in self.languages.values())
        return {"accuracy": round(self.accuracy, 2), "pairs": pairs, "languages": languages}


def load_tatoeba(language: str = "", *, data: Path | None = None) -> dict[str, Bitext]:
    """The sentences of one language (`deu`, or `de`), or of all that the file has, from the folder `data`."""
    path = tatoeba_file(data)
    if path is None:
        raise MissingDataError(f"task 'tatoeba': no {FILE}[.gz] in a data folder; give --data DIR or set ISOTROPE_DATA")
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


def tatoeba_file(data: Path | None = None) -> Path | None:
    """Where the sentences are, if they are anywhere."""
    folder = data_folder(data)
    files = [Path(folder, FILE + ending) for ending in ("", ".gz")] if folder else []
    return next((file for file in files if file.is_file()), None)


def evaluate_tatoeba(encoder: Encodes, bitexts: Mapping[str, Bitext], *, batch_size: int = 64) -> Retrieval:
    """Retrieval both ways in each language."""
    return Retrieval(
        {
            language: find_both_ways(
                encoder.encode(bitext.texts, batch_size=batch_size),
                encoder.encode(bitext.english, batch_size=batch_size),
                bitext,
            )
            for language, bitext in bitexts.items()
        }
    )


def find_both_ways(x: NDArray[Any], y: NDArray[Any], bitext: Bitext) -> Found:
    """The vectors of the sentences and of their English sides, both (pairs, dim) -> what is found."""
    x, y = _unit(x), _unit(y)
    return Found(_found(x, y, bitext.english), _found(y, x, bitext.texts))


def _found(queries: NDArray[Any], candidates: NDArray[Any], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether the candidate nearest to each query is its own, or one of the same text."""
    nearest_ones = np.concatenate(
        [
            np.argmax(queries[start : start + QUERIES_AT_ONCE] @ candidates.T, axis=1)
            for start in range(0, len(queries), QUERIES_AT_ONCE)
        ]
    )
    same = np.array([texts[i] == texts[row] for row, i in enumerate(nearest_ones)])
    found: NDArray[np.bool_] = same & queries.any(axis=1)  # a vector of zeros is nowhere, so near to nothing
    return found


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    """Rows of length one, (pairs, dim); a row of zeros stays one."""
    vectors = np.asarray(vectors, np.float32)
    if not np.isfinite(vectors).all():
        raise IsotropeError("tatoeba: the encoder gives vectors that are not numbers")
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[Any] = vectors / np.where(length > 0, length, 1)
    return unit
