"""A random sample of the sentences of a text of any size, the same one for the same seed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from isotrope.io.hashes import digest
from isotrope.io.seeds import check_seed


class SentenceSample:
    """The `size` sentences whose hashes with the seed are lowest: a random choice that does not depend on their order,
    takes no sentence twice, and keeps only the chosen ones in memory.
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        check_seed(seed)
        self.size = size
        self._salt = seed.to_bytes(8, "little")
        self._kept: list[tuple[int, str]] = []  # a heap, the largest hash on top
        self._texts: set[str] = set()

    def add(self, sentence: str) -> None:
        """One more sentence of the text."""
        entry = -int.from_bytes(digest(sentence, 8, salt=self._salt), "little"), sentence
        if (len(self._kept) == self.size and entry <= self._kept[0]) or sentence in self._texts:
            return
        self._texts.add(sentence)
        if len(self._kept) < self.size:
            heapq.heappush(self._kept, entry)
        else:
            self._texts.remove(heapq.heapreplace(self._kept, entry)[1])

    @property
    def sentences(self) -> list[str]:
        """What was chosen, in random order."""
        return [sentence for _, sentence in sorted(self._kept, reverse=True)]


def sample_sentences(sentences: Iterable[str], size: int, seed: int = 0) -> list[str]:
    """At most `size` different sentences, in random order."""
    chosen = SentenceSample(size, seed)
    for sentence in sentences:
        chosen.add(sentence)
    return chosen.sentences
