"""What writing looks like: the script of each language, and which characters are letters of it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

# as the names of their letters begin in Unicode -> ISO 639-1 codes of the languages
SCRIPTS = {
    "ARABIC": "ar ckb fa ks ps sd ug ur",
    "ARMENIAN": "hy",
    "BENGALI": "as bn",
    "BOPOMOFO": "yue zh",
    "CJK": "ja ko yue zh",
    "CYRILLIC": "ba be bg ce cv kk ky mk mn os ru sr tg tk tt uk uz",
    "DEVANAGARI": "hi mr ne sa",
    "ETHIOPIC": "am ti",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he yi",
    "HIRAGANA": "ja",
    "KANNADA": "kn",
    "KATAKANA": "ja",
    "KHMER": "km",
    "LAO": "lo",
    "LATIN": "af an az br bs ca ceb co cs cy da de en eo es et eu fi fo fr fy ga gd gl ha haw hr ht hu ia id ig is it "
    "jv kab ku la lb lt lv mg mi ms mt nb nds nl nn no oc pl pt qu rm ro rw sc se sk sl sm sn so sq sr st su sv sw tk "
    "tl tr uz vi vo wa xh yo zu",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "TIBETAN": "bo dz",
}
# English characters that one of theirs stands for, measured on translations (Tatoeba, WMT); 0.8 to 1.3 elsewhere
DENSITY = {"zh": 3.2, "yue": 3.2, "ja": 2.2, "ko": 1.9, "am": 1.6, "ti": 1.6}
TELLING = 200  # letters by which a script is known
KANA = 0.1  # share of the letters of Japanese; Chinese has the odd one
LAST = 0x323AF  # the last letter of Unicode


class Look(NamedTuple):
    """What a text looks like."""

    length: float  # in characters of English
    letters: float  # share of all that is no space
    own: float  # share of the letters that are of its language's script


class Writing:
    """How a language is written. Where its script is not known here, every letter is taken for its own."""

    def __init__(self, code: str) -> None:
        self.language = re.split("[-_]", code.lower())[0]  # zh for zh-CN and zh_TW
        self.density = DENSITY.get(self.language, 1.0)
        self.scripts = tuple(script for script, codes in SCRIPTS.items() if self.language in codes.split())
        self._other = _no_letter_of(self.scripts) if self.scripts else symbols()

    def look(self, text: str) -> Look:
        """Measures a text."""
        dense = text.replace(" ", "")
        letters = len(symbols().sub("", dense))
        latin = "LATIN" in self.scripts and dense.isascii()
        own = letters if latin else len(self._other.sub("", dense))
        more = (self.density - 1) * own  # than it looks
        written = letters + more
        return Look(len(text) + more, written / max(len(dense) + more, 1), (own + more) / written if written else 0)


def main_script(text: str) -> str | None:
    """The script of most of a text's letters, as Unicode names it; None where it has no letters.

    That of Japanese is `HIRAGANA`, although most of its letters may be Chinese ones.
    """
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else None
    letters = islice(filter(str.isalpha, text), TELLING)
    found = Counter(re.split("[ -]", unicodedata.name(letter, "?"))[0] for letter in letters)
    if not found:
        return None
    script, count = found.most_common(1)[0]
    kana = found["HIRAGANA"] + found["KATAKANA"]
    return "HIRAGANA" if script in ("CJK", "KATAKANA") and kana >= KANA * (count + kana) else script


@lru_cache
def _no_letter_of(scripts: tuple[str, ...]) -> re.Pattern[str]:
    """Finds what is no letter of the scripts."""
    names = ((point, unicodedata.name(chr(point), "")) for point in _of_categories("LM"))
    return re.compile(f"[^{_ranges(point for point, name in names if name.startswith(scripts))}]+")


@lru_cache
def symbols() -> re.Pattern[str]:
    """Finds digits, punctuation and symbols."""
    return re.compile(f"[{_ranges(_of_categories('NPS'))}]+")


@lru_cache
def _of_categories(major: str) -> list[int]:
    return [point for point in range(LAST + 1) if unicodedata.category(chr(point))[0] in major]


def _ranges(points: Iterable[int]) -> str:
    """Ascending code points -> what stands between the brackets of a regular expression."""
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
