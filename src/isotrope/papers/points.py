"""What pictures of single pairs show of an encoder; its key is the kind of the picture."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import numpy as np

from isotrope.evaluation.correlation import similarities_of
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.protocols import SentenceEncoder

Points = dict[str, list[float]]
DRAWN = 20  # pairs of the highest grade, and as many of the lowest
SEED = 1  # of the draw and of t-SNE: the same pairs for all encoders


def gold_and_cosine(encoder: SentenceEncoder, pairs: Pairs) -> Points:
    """The grade of every pair, and the cosine of its vectors."""
    return {"gold": pairs.scores, "cosine": _rounded(similarities_of(encoder, pairs))}


def on_a_plane(encoder: SentenceEncoder, pairs: Pairs) -> Points:
    """t-SNE of some pairs that people gave the highest grade and as many of the lowest: where both sides of each lie.

    The vectors have length 1, so that points are near where cosines are high.
    """
    from sklearn.manifold import TSNE

    some = pairs.rows([*_drawn(pairs, max(pairs.scores)), *_drawn(pairs, min(pairs.scores))])
    vectors = np.asarray(encoder.encode([*some.sentences1, *some.sentences2]), np.float64)  # (2 x pairs, dim)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    perplexity = min(30.0, len(vectors) / 4)  # scikit-learn's own, which few points can't have
    places = TSNE(init="pca", perplexity=perplexity, random_state=SEED).fit_transform(vectors)  # (2 x pairs, 2)
    first, second = np.split(places, 2)
    sides = {"x1": first[:, 0], "y1": first[:, 1], "x2": second[:, 0], "y2": second[:, 1]}
    return {"gold": some.scores, **{name: _rounded(values) for name, values in sides.items()}}


def _drawn(pairs: Pairs, grade: float) -> list[int]:
    """Some of the pairs that have the grade, without those whose sides are the same sentence."""
    sides = zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True)
    fitting = [i for i, (one, other, score) in enumerate(sides) if score == grade and one != other]
    return sorted(random.Random(SEED).sample(fitting, min(DRAWN, len(fitting))))


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


POINTS: dict[str, Callable[[SentenceEncoder, Pairs], Points]] = {"pairs": gold_and_cosine, "map": on_a_plane}
