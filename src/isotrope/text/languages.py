"""Which language a text is in, by its script and by py3langid where that is installed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from isotrope.io.errors import IsotropeError
from isotrope.text.scripts import SCRIPTS, main_script

LIBRARY = "py3langid"
LONG_ENOUGH, SURE = 20, 0.8  # letters that a language takes to be known by, and how sure that must be
COMMON = 0.1  # share of the texts from which on a language is believed of others that only look like it
UNCLEAR, FEW = "unclear", 0.1  # texts of no clear language, and the share up to which they are left out
# the language of most texts in a script that several share
USUAL = {"ARABIC": "ar", "BENGALI": "bn", "CJK": "zh", "CYRILLIC": "ru", "DEVANAGARI": "hi", "HEBREW": "he"}


class Guess(NamedTuple):
    """What one text looks like."""

    language: str
    likely: float
    letters: int
    script: str | None  # of most of its letters

    @property
    def sure(self) -> bool:
        """Whether the text alone tells its language."""
        own = SCRIPTS.get(self.script or "", self.language).split()  # of a script that is not known, any
        return self.likely >= SURE and self.letters >= LONG_ENOUGH and self.language in own


def new_identifier() -> Any:
    """A classifier of its own (`classify(text) -> language, likely`); None where the library is not installed."""
    if find_spec(LIBRARY) is None:
        return None
    library: Any = import_module(f"{LIBRARY}.langid")
    if not hasattr(library.LanguageIdentifier, "from_model_file"):
        raise IsotropeError("this py3langid is too old: pip install 'py3langid>=0.4', or uninstall it to do without")
    return library.LanguageIdentifier.from_model_file(library.MODEL_FILE, norm_probs=True)


@cache
def shared_identifier() -> Any:
    """One among all languages that it knows, loaded once."""
    return new_identifier()


def language_shares(texts: Sequence[str]) -> dict[str, float]:
    """The share of each language among the texts, and of `unclear` ones, last, if they are more than a few.

    Empty where nothing tells languages. A text that does not tell its own is taken to be in a language of its script
    that is common among the others.
    """
    identifier = shared_identifier()
    if identifier is None or not texts:
        return {}
    guesses = [_guess(identifier, text) for text in texts]
    likely = Counter(guess.language for guess in guesses if guess.likely >= SURE)
    common = [language for language, count in likely.most_common() if count >= COMMON * len(texts)]
    found = Counter(_settled(guess, common) for guess in guesses)
    unclear = found.pop(UNCLEAR, 0)
    many = unclear > FEW * len(texts)
    whole = found.total() + unclear * many
    shares = {language: count / whole for language, count in found.most_common()}
    return shares | ({UNCLEAR: unclear / whole} if many else {})


def _guess(identifier: Any, text: str) -> Guess:
    language, likely = identifier.classify(text)
    return Guess(str(language), float(likely), sum(map(str.isalpha, text)), main_script(text))


def _settled(guess: Guess, common: Sequence[str]) -> str:
    if guess.script is None:  # no letters
        return UNCLEAR
    if guess.sure or guess.language in common:
        return guess.language
    own = SCRIPTS.get(guess.script, "").split()
    if len(own) == 1:
        return own[0]
    if guess.script not in USUAL:
        return UNCLEAR
    return next((language for language in common if language in own), USUAL[guess.script])
