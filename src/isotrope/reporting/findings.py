"""What a report finds out about runs beyond what their folders tell: both encoders on some of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.loading import load_any
from isotrope.encoders.pooling import OWN
from isotrope.io.errors import IsotropeError, one_line
from isotrope.reporting.neighbours import Changed, most_changed
from isotrope.reporting.runs import RunFacts
from isotrope.reporting.spaces import Points, Space, lay_out
from isotrope.retrieval.clustering import fit_clusters, naming_words
from isotrope.retrieval.duplicates import Group, groups_of, suggest_threshold
from isotrope.retrieval.left_out import LeftOut
from isotrope.retrieval.texts import Texts
from isotrope.text.boilerplate import without_boilerplate
from isotrope.text.corpus import Corpus
from isotrope.training.record import write_verdict
from isotrope.training.result import judged_on

AnyEncoder = Encoder | ForeignEncoder
WORK = 6e10  # weights times tokens that encoding may take: some seconds on one core
FEWEST, MOST = 150, 500  # texts, unless somebody says how many
LETTERS = 4  # of a token, about
MAPS = 4  # at most
CLUSTERS = 10  # at most: as many colours as can be told apart
TEXTS_PER_CLUSTER = 40
NAMED = 3  # words of a cluster that are shown


@dataclass(frozen=True)
class RunFindings:
    """A run and its two encoders on the texts; `before` is None where the start can't be loaded here.

    `verdict` has the figures of the judge, `reasons` the same in words; None and nothing where there are none.
    """

    facts: RunFacts
    before: Space | None
    after: Space
    changed: list[Changed]
    verdict: Mapping[str, Any] | None
    reasons: str
    lacks: list[str]

    @property
    def kept(self) -> Space:
        """The space of the encoder that the run saved."""
        return self.after if self.facts.kept or self.before is None else self.before


@dataclass(frozen=True)
class SentenceMap:
    """Where each text lies, by the name of the space, (texts, 2) each; the cluster of each and what names it."""

    points: dict[str, Points]
    clusters: NDArray[np.int64]
    names: list[str]


@dataclass(frozen=True)
class NearDuplicates:
    """Groups of the texts that say almost the same, and from which cosine on."""

    groups: list[Group]
    threshold: float


def find(facts: RunFacts, encoders: tuple[AnyEncoder | None, AnyEncoder], texts: Sequence[str]) -> RunFindings:
    """Both encoders of a run on the texts, and the judge's figures, which are measured where the run lacks them."""
    start, tuned = encoders
    before = None if start is None else Space.of(_before(facts), start, texts)
    after = Space.of(_after(facts), tuned, texts)
    changed = [] if before is None else most_changed(texts, before, after)
    verdict = facts.verdict
    if verdict is None and start is not None and not facts.dev:
        verdict = _judged(facts, start, tuned)
    found, reasons = (verdict["found"], str(verdict["reasons"])) if verdict else (None, "")
    return RunFindings(facts, before, after, changed, found, reasons, list(facts.lacks))


def open_encoders(facts: RunFacts, device: str | None) -> tuple[tuple[AnyEncoder | None, AnyEncoder], list[str]]:
    """That which the run started from, under the pooling of the tuned one, and the tuned one; what could not be."""
    tuned = load_any(facts.tuned, device=device)
    try:
        start = load_any(facts.start, device=device)
        return (start if facts.pooling == OWN else start.with_pooling(facts.pooling), tuned), []
    except IsotropeError as error:
        why = one_line(str(error), 200)
        return (None, tuned), [f"The untuned encoder can't be loaded here, so there is nothing to compare with: {why}"]


def affordable(encoder: AnyEncoder, texts: Sequence[str]) -> int:
    """How many of the texts are encoded in some seconds: by the size of the encoder, the same on every machine."""
    if isinstance(encoder, ForeignEncoder) or not texts:
        return MOST
    model = encoder.backbone.model
    weights = sum(one.numel() for one in model.parameters()) - model.get_input_embeddings().weight.numel()
    letters = sum(map(len, texts)) / len(texts)
    tokens = min(letters / LETTERS + 2, encoder.max_seq_length)
    return int(np.clip(WORK / max(weights * tokens, 1), FEWEST, MOST))


def map_of(texts: Sequence[str], runs: Sequence[RunFindings], seed: int) -> SentenceMap:
    """The texts as the encoders lay them out; all maps begin as the first one ended, so that points stay about."""
    main = runs[0].kept
    spaces = {space.name: space for run in runs for space in (run.before, run.after) if space is not None}
    points = {main.name: lay_out(main.vectors, seed)}
    for name, space in list(spaces.items())[:MAPS]:
        if name != main.name:
            points[name] = lay_out(space.vectors, seed, points[main.name])
    ordered = {name: points[name] for name in spaces if name in points}
    wanted = int(np.clip(round(len(texts) / TEXTS_PER_CLUSTER), 2, CLUSTERS))
    contents, left_out = without_boilerplate(texts)
    vectors = Space.of(main.name, main.encoder, contents).vectors if left_out else main.vectors
    labels, _ = fit_clusters(vectors, wanted, seed, np.ones(len(texts)))
    order = np.argsort(-np.bincount(labels, minlength=wanted), kind="stable")  # the largest first
    labels = np.argsort(order)[labels].astype(np.int64)
    words = naming_words(contents, labels, wanted)
    names = [", ".join(some[:NAMED]) or f"cluster {number + 1}" for number, some in enumerate(words)]
    return SentenceMap(ordered, labels, names)


def near_duplicates(texts: Sequence[str], run: RunFindings) -> NearDuplicates:
    """By the encoder that the run kept, from the threshold on that the texts suggest."""
    space = run.kept
    own = [[row] for row in range(len(texts))]
    read = Texts(list(texts), space.vectors, own, len(texts), space.encoder, contents=list(texts), left_out=LeftOut())
    threshold = suggest_threshold(read)
    return NearDuplicates(groups_of(read, threshold), threshold)


def _before(facts: RunFacts) -> str:
    return f"before: {facts.started}" + ("" if facts.pooling == OWN else f", {facts.pooling}")


def _after(facts: RunFacts) -> str:
    if facts.kept:
        return f"after: {facts.folder}"
    return f"tried: {facts.folder}"


def _judged(facts: RunFacts, start: AnyEncoder, tuned: AnyEncoder) -> Mapping[str, Any] | None:
    """On the text that the run held out. It is kept with the run, where that can be written to."""
    try:
        corpus = Corpus(Path(facts.corpora[-1]))
    except (OSError, ValueError):
        return None
    found = judged_on(corpus, start, tuned, fitted=facts.fitted)
    with suppress(IsotropeError):
        write_verdict(facts.run, found)
    return {"found": found.as_dict() if found else None, "reasons": found.reasons if found else ""}
