"""Word repetition (Wu et al. 2022, ESimCSE, section 3.1): the two views of a sentence differ in length.

    dup_len ~ uniform{0 ... max(2, int(dup_rate * N))}      N sub-words
    dup_set = dup_len of the N places, without replacement
    x' = x with the sub-word at each place of dup_set written twice

It acts on sub-words, as the paper's main results do (section 5.2 also tries words and stop words): so it needs no
notion of a word, and works for scripts without spaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from isotrope.views.drawn.base import Chance, Draw, DrawnText, Ground

if TYPE_CHECKING:
    from isotrope.encoders import Encoder


class WordRepetition(DrawnText):
    """Some sub-words are written twice; `rate` is dup_rate, of which up to that share of the sub-words is repeated."""

    kind: Literal["word-repetition"] = "word-repetition"
    rate: float = Field(default=0.32, gt=0, le=1)

    def prepare(self, ground: Ground) -> Draw:
        """Needs no preparation."""
        return _Repeated(self.rate)


class _Repeated(Draw):
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def tokens(self, ids: list[int], reader: Encoder, chance: Chance) -> list[int]:
        """The ids with some of them twice in a row; special tokens stay single, and the encoder's length is kept."""
        special = set(reader.tokenizer.all_special_ids)
        places = [place for place, token in enumerate(ids) if token not in special]
        room = max(reader.max_seq_length - len(ids), 0)
        wanted = chance.own.randint(0, max(2, int(self.rate * len(places))))
        twice = set(chance.own.sample(places, min(wanted, len(places), room)))
        return [token for place, token in enumerate(ids) for _ in range(2 if place in twice else 1)]
