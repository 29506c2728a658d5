"""Synonyms (paper 3, section 4.4): some words replaced by others of the same sense, whatever stands around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import Field

from isotrope.io.errors import IsotropeError
from isotrope.parts import PathText
from isotrope.views.text.base import TextViewSpec, draws

if TYPE_CHECKING:
    from isotrope.views.text.engines.wordnet import Synonym, WordNet

WORD = re.compile(r"\w+(?:[-'\u2019]\w+)*")
SENTENCE_END = re.compile(r"[.!?…:]")
SHORTEST = 3  # letters; shorter words are abbreviations more often than not
FUNCTION_WORDS = """
about above across after again against ago ain all almost along already also although always am among amongst an and
another any anybody anyone anything anyway are aren around as at away be became because become been before behind
being below beneath beside besides between beyond both but by can cannot could couldn did didn do does doesn doing
don done down during each either else enough even ever every everybody everyone everything except far few for from
front further get gets getting got had hadn has hasn have haven having he hence her here hers herself him himself
his how however if in indeed inside instead into is isn it its itself just least less let like lot lots many may
maybe me meanwhile might mine more moreover most much must my myself near neither never nevertheless next no nobody
none nor not nothing now nowhere of off often on once one ones only onto or other others otherwise ought our ours
ourselves out outside over own per perhaps quite rather same several shall she should shouldn since so some somebody
someone something sometimes somewhere soon still such than that the their theirs them themselves then there
therefore these they this those though through throughout thus till to together too toward towards under unless
until up upon us very via was wasn we well were weren what whatever when whenever where wherever whether which
whichever while who whoever whole whom whose why will with within without won would wouldn yes yet you your yours
yourself yourselves
"""
NUMBERS = """
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half first
second third fourth fifth sixth seventh eighth ninth tenth twice
"""
STOP_WORDS = frozenset((FUNCTION_WORDS + NUMBERS).split())


class SynonymsSpec(TextViewSpec):
    """Some words replaced by WordNet's synonyms."""

    kind: str = "synonyms"
    rate: float = Field(default=0.3, gt=0, le=1)  # share of the words
    wordnet: PathText | None = None  # folder; None: this machine's
    seed: int = 1

    def make(self) -> Synonyms:
        """WordNet is opened when it is first needed."""
        return Synonyms(self)


class Synonyms:
    """WordNet's synonyms for a share of the words, as a rule exactly `rate` of them, rounded, and at least one.

    Never touched: function words and words for numbers, what has a capital letter inside a sentence, figures, and what
    WordNet has no other word for; if fewer words than asked for are left, all of these. `engines/wordnet.py`
    says which sense is taken and in what form. Of several synonyms one is drawn by how frequent each is.
    """

    def __init__(self, spec: SynonymsSpec) -> None:
        self.rate, self.seed, self.folder = spec.rate, spec.seed, spec.wordnet

    @property
    def parameters(self) -> dict[str, Any]:
        """Rate, seed, and which WordNet."""
        return {"kind": "synonyms", "rate": self.rate, "seed": self.seed, "wordnet": self.wordnet.fingerprint}

    @cached_property
    def wordnet(self) -> WordNet:
        """Opened when it is first asked for: that takes some seconds."""
        try:
            from isotrope.views.text.engines.wordnet import open_wordnet
        except ModuleNotFoundError as error:
            raise IsotropeError("synonyms need NLTK: pip install 'isotrope[views]'") from error
        return open_wordnet(self.folder)

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """Each sentence with other words in it; the same sentence where there are none."""
        return [self._replace(sentence) for sentence in sentences]

    def _replace(self, text: str) -> str:
        words = list(WORD.finditer(text))
        gaps = [text[a.end() : b.start()] for a, b in pairwise(words)]
        begins = [True, *(bool(SENTENCE_END.search(gap)) for gap in gaps)]
        synonyms = [self._synonyms(word[0], first) for word, first in zip(words, begins, strict=False)]
        replaceable = [i for i, found in enumerate(synonyms) if found]
        chance = draws(text, self.seed)
        count = min(len(replaceable), max(1, round(self.rate * len(words))))
        parts, done = [], 0
        for i in sorted(chance.sample(replaceable, count)):
            (synonym,) = chance.choices(synonyms[i], [one.weight for one in synonyms[i]])
            start, end = words[i].span()
            capital = text[start].isupper()
            parts += [text[done:start], synonym.word.capitalize() if capital else synonym.word]
            done = end
        return "".join([*parts, text[done:]])

    def _synonyms(self, word: str, first: bool) -> tuple[Synonym, ...]:
        """What a word, the first of a sentence or not, may be replaced by."""
        form = word.lower()
        if len(word) < SHORTEST or form in STOP_WORDS or form[1:] != word[1:] or not word.replace("-", "").isalpha():
            return ()
        if word != form and (not first or self.wordnet.is_name(form)):
            return ()
        return self.wordnet.synonyms(form)
