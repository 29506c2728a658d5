"""Whether an encoder keeps together what belongs together, without labels: its neighbourhoods, before and after.

Texts of one kind (an intent, a topic) are each other's neighbours, so the neighbours of a text share their neighbours.
That share, the cohesion, follows what labels say about most changes of an encoder (docs/domains.md). But it can be
bought: an encoder that forgets half of what it knew has cohesive neighbourhoods of the rest. So there is a witness that
knows nothing of the encoder, the words of the corpus (TF-IDF, reduced by SVD): where neighbours become less alike in
their words, or too many of them are new, nothing is called better.

Where all texts were alike to the encoder before (a raw one, or a pooling that it was not trained for), cohesion falls
as soon as they are not, whatever is learnt. There nothing is called worse unless the witness says so too.

And it can be trained: contrast that pulls texts towards their neighbours raises the cohesion of right and wrong ones
alike. Of sentence encoders that were trained further, a rise says nothing; it counts where only what comes behind the
transformer differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.geometry.measures import mean_cosine
from isotrope.evaluation.label_free.lineage import Lineage
from isotrope.evaluation.label_free.verdict import Judgement, MRRDifference, judge, unit
from isotrope.evaluation.results.resampling import Sample, interval, resampled

Floats = NDArray[np.float64]

NEAREST = 10  # neighbours of a text
FEWEST = 100  # texts
TIE = 1e-9
WORD_DIMENSIONS = 100
# The rule, chosen by leaving one domain out in turn: bench/judge.py
COHESION = 1.0  # points that it must rise by, or fall by
WORDS = -1.0  # points that the neighbours' likeness in words may fall by
APART = 10.0  # points of MRR x 100 that halves, rewordings and shortened texts may lose
FEW_KEPT = 35.0  # per cent of the neighbours in common, below which neither need have been tuned from the other
KEPT = 75.0  # per cent of the neighbours that must stay
ALIKE = 0.4  # mean cosine above which all texts are alike to an encoder


@dataclass(frozen=True)
class Neighbourhoods:
    """Those of one encoder on some texts; figures of each text, (texts,), between 0 and 1."""

    nearest: NDArray[np.int64]  # (texts, NEAREST)
    cohesion: Floats  # how many of a text's neighbours' neighbours are its own
    words: Floats  # cosine of a text and its neighbours by their words


@dataclass(frozen=True)
class Shift:
    """A mean figure x 100 before and after, and the 95% interval of the difference."""

    before: float
    after: float
    low: float
    high: float

    @property
    def change(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def judgement(self) -> Judgement:
        """What the interval allows to say."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no clear difference"


@dataclass(frozen=True)
class Together:
    """How neighbourhoods changed from one encoder to another; `kept` is the share of neighbours that stayed, in %.

    `alike`: whether all texts were alike to the encoder before. `lineage`: how the one after came of it.
    """

    cohesion: Shift
    words: Shift
    kept: float
    texts: int
    alike: bool = False
    lineage: Lineage = "fitted"

    @property
    def rise_counts(self) -> bool:
        """Whether risen cohesion is evidence."""
        return self.alike or self.lineage == "fitted"

    @property
    def mostly_new(self) -> bool:
        """Whether so few neighbours stayed that the others say nothing: to one of the encoders all texts were alike, or
        neither was tuned from the other.
        """
        return self.kept < FEW_KEPT and (self.alike or self.lineage == "unknown")

    @property
    def judgement(self) -> Judgement:
        """Whether what belongs together is kept together better than before."""
        fallen = self.cohesion.change <= -COHESION and self.cohesion.high < 0
        if fallen and (not self.alike or self.words.judgement == "worse"):
            return "worse"
        risen = self.rise_counts and self.cohesion.change >= COHESION and self.cohesion.low > 0
        return "better" if risen and self.words.change > WORDS and self.kept >= KEPT else "no clear difference"


def decide(together: Together | None, differences: Sequence[MRRDifference], details: Shift | None = None) -> Judgement:
    """Both grains together. That a text is told apart better is no evidence by itself: contrast always does that.

    So the neighbourhoods decide, unless texts are told apart far worse than before. Where they are mostly new, only the
    pairs tell; of an encoder that was made from the other, not against the words of the neighbours.
    """
    apart = judge(differences) if differences else "no clear difference"
    if together is None:
        return apart
    if together.mostly_new:
        doubted = apart == "better" and together.lineage != "unknown" and together.words.judgement == "worse"
        return "no clear difference" if doubted else apart
    apart_by: list[MRRDifference | Shift] = [*differences, *([details] if details else [])]
    lost = any(one.judgement == "worse" and one.change <= -APART for one in apart_by)
    return "no clear difference" if together.judgement == "better" and lost else together.judgement


def compare_neighbourhoods(
    before: Any, after: Any, texts: Sequence[str], lineage: Lineage = "fitted"
) -> Together | None:
    """Vectors of the same texts by two encoders, (texts, dim) each; None where the texts are too few."""
    if len(texts) < FEWEST:
        return None
    alike = likeness_in_words(texts)
    first, second = (neighbourhoods(vectors, alike) for vectors in (before, after))
    stayed = np.mean([len(np.intersect1d(*rows)) for rows in zip(first.nearest, second.nearest, strict=True)])
    return Together(
        shift(first.cohesion, second.cohesion),
        shift(first.words, second.words),
        100 * float(stayed) / NEAREST,
        len(texts),
        mean_cosine(before) > ALIKE,
        lineage,
    )


def neighbourhoods(vectors: Any, alike: Floats) -> Neighbourhoods:
    """Of vectors (texts, dim); `alike` (texts, texts) is how alike two texts are by a witness."""
    x = unit(vectors)
    cosines = x @ x.T
    cosines += np.random.default_rng(0).uniform(0, TIE, cosines.shape)  # equally near ones come in no order
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.argpartition(-cosines, NEAREST - 1, axis=1)[:, :NEAREST]
    own = np.zeros(cosines.shape, np.float32)
    np.put_along_axis(own, nearest, 1, axis=1)
    shared = own @ own.T  # neighbours that two texts have in common
    cohesion = np.take_along_axis(shared, nearest, 1).mean(1) / NEAREST
    return Neighbourhoods(nearest, cohesion.astype(np.float64), np.take_along_axis(alike, nearest, 1).mean(1))


def likeness_in_words(texts: Sequence[str]) -> Floats:
    """Cosines (texts, texts) of the texts by their words: TF-IDF, reduced to the main directions of this corpus."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    counted = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\w+").fit_transform(texts)
    dimensions = min(WORD_DIMENSIONS, counted.shape[1] - 1)
    reduced = unit(
        TruncatedSVD(dimensions, random_state=0).fit_transform(counted) if dimensions > 0 else counted.toarray()
    )
    cosines: Floats = reduced @ reduced.T
    return cosines


def shift(before: Floats, after: Floats) -> Shift:
    """Of a figure of each text, (texts,), by two encoders."""
    low, high = interval(resampled([Sample("mean", after - before)]))
    return Shift(100 * float(before.mean()), 100 * float(after.mean()), low, high)
