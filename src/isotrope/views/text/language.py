"""Whether a sentence that was translated back is in its own language again.

Only the mistakes of translation are looked for: a wording that is still in the pivot language, or in no language at
all. It is refused if most of its letters are of a script that the language is not written in. Beyond that py3langid
decides, where it is installed (pip install 'py3langid>=0.4'): its classifier chooses between the two languages, and
must be sure. Without it a wording is refused if it has more words that only the pivot uses than words that only the
source uses, among the commonest of both. Few good wordings are lost that way, and some bad ones stay.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from typing import Any

from isotrope.text.languages import LIBRARY, new_identifier
from isotrope.text.scripts import Writing

SURE = 0.9  # how likely the pivot must be
EVIDENCE = 2  # words of the pivot that it takes, without the library

# The commonest function words. Those that two languages share speak for neither.
COMMONEST = {
    "ca": "el la els les de del dels un una i a en amb per que no és ha són va seva seu com més però aquest aquesta al",
    "de": "der die das den dem des ein eine einer einen und ist in zu mit von auf für nicht sich auch es wird sind im",
    "en": "the a an and of to in is are was were on for with that this it he she his her they at by from as be has "
    "have i you we do does if what when my no not so or but me",
    "es": "el la los las de del un una y a en con por para que no es son fue su sus como más pero este esta al lo se",
    "fr": "le la les des du un une et à en dans avec pour que qui ne pas est sont son sa ses sur ce cette au aux par",
    "it": "il lo la gli le di del della un una e a in con per che non è sono ha suo sua come più ma questo questa al",
    "nl": "de het een en van in is op te dat die met voor niet zijn aan er om ook als maar bij wordt hij ze naar uit",
    "pt": "o a os as de do da dos das um uma e em no na com por para que não é são foi seu sua como mais mas este ao",
}


def language_check() -> str:
    """How it is done on this machine: it decides what is refused, so it is a parameter of the view."""
    return LIBRARY if importlib.util.find_spec(LIBRARY) else "built-in"


def is_wrong_language(wording: str, text: str, source: str, pivot: str) -> bool:
    """Whether the wording of a text, which should be in language `source`, is surely not."""
    if any(map(str.isalpha, text)) and _writing(source).look(wording).own < 0.5:
        return True
    identifier = _identifier(source, pivot)
    if identifier is not None:
        language, likely = identifier.classify(wording)
        return bool(language == pivot and likely > SURE)
    words = re.findall(r"[^\W\d_]+", wording.lower())
    mine, theirs = _commonest(source, pivot), _commonest(pivot, source)
    strange = sum(word in theirs for word in words)
    return strange >= EVIDENCE and strange > sum(word in mine for word in words)


@cache
def _writing(language: str) -> Writing:
    return Writing(language)


@cache
def _commonest(language: str, other: str) -> frozenset[str]:
    """Words of a language that the other one does not use; none for a language that has no list."""
    if language not in COMMONEST or other not in COMMONEST:
        return frozenset()
    return frozenset(COMMONEST[language].split()) - frozenset(COMMONEST[other].split())


@cache
def _identifier(source: str, pivot: str) -> Any:
    """A classifier between the two languages, or None where there is no library or it does not know them."""
    identifier = new_identifier()
    if identifier is None or not {source, pivot} <= set(identifier.labels):
        return None
    identifier.set_languages([source, pivot])
    return identifier
