"""`compare`: whether a tuned encoder is better on somebody's own text, without labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from isotrope.evaluation.label_free import reasons
from isotrope.evaluation.label_free.details import compare_details
from isotrope.evaluation.label_free.lineage import may_be_tuned_from
from isotrope.evaluation.label_free.moved_pairs import MovedPair, moved_pairs
from isotrope.evaluation.label_free.neighbourhoods import FEWEST as FEWEST_TEXTS
from isotrope.evaluation.label_free.neighbourhoods import (
    NEAREST,
    Shift,
    Together,
    compare_neighbourhoods,
    decide,
)
from isotrope.evaluation.label_free.related_texts import RelatedTexts, back_translations, halve, halves, read_rewordings
from isotrope.evaluation.label_free.sampling import SentenceSample
from isotrope.evaluation.label_free.verdict import (
    Figures,
    Judgement,
    MRRDifference,
    Ranks,
    figures_of,
    judge,
    mrr_difference,
    unit,
)
from isotrope.evaluation.models import Model, check_models, model_name, open_model
from isotrope.evaluation.protocols import SILENT, Display, SentenceEncoder
from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.errors import IsotropeError, one_line
from isotrope.text.shaping import Shape, shaped_sentences

FEWEST = 50  # pairs
WIDEST = 160  # characters of a text that is shown
BLIND = """\
What this cannot see: negation, numbers, and who does what to whom; shared words help any encoder. docs/domains.md says
how often it agrees with labels. Any encoder looks better on the text it was trained on: compare on text that neither
has seen. A hundred labelled examples of your own tell you more."""


def compare(
    before: Model,
    after: Model,
    text: Any,
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    sentences: int = 1000,
    seed: int = 0,
    back_translate: bool = False,
    views: str | Path | None = None,
    batch_size: int = 64,
    device: str | None = None,
    precision: str | None = None,
    display: Display = SILENT,
) -> Comparison:
    """Says whether encoder `after` is better than `before` on a text, without labels.

    Args:
        before: A name, a model folder, the folder of a run, an `Encoder` or a `SentenceTransformer`.
        after: The other one.
        text: A file, or sentences in memory; whatever `isotrope.text.read_sentences` reads.
        column: The column that holds the sentences, if the text is a table.
        columns: Several columns: `"Subject,Body"` or a list; each is a text of its own, or with `join` they make one.
        join: What stands between the columns of a row: `". "`.
        strip_html: Takes HTML out of the text.
        sentences: How many sentences of the text are used, and how many pairs at most.
        seed: Another seed takes other sentences of a large text.
        back_translate: Whether back-translations, made on this machine, are sought too.
        views: A table with the columns `text` and `view1`, as `isotrope views` writes it, whose rewordings are sought.
        batch_size: Sentences at a time.
        device: `cpu`, `cuda`, `cuda:1`, `mps` ...; by default the fastest there is.
        precision: `float32` or `bfloat16`, for models that are loaded by name.
        display: Shows progress; by default nothing is shown.

    Returns:
        The comparison, with the verdict in words.

    >>> from isotrope.text import bundled_sentences
    >>> import isotrope
    >>> shallow = isotrope.load("bundled", pooling="max@0")
    >>> found = compare("bundled", shallow, bundled_sentences(), sentences=100)
    >>> found.judgement, sorted(found.differences)
    ('worse', ['halves'])
    """
    shown = str(text) if isinstance(text, str | Path) else "the given text"
    with display.waiting(f"Reading {shown}"):
        read = shaped_sentences(text, Shape.of(columns, join, strip_html, column=column), column)
        some, related = _drawn(read, sentences, seed)
        if views:
            related.append(read_rewordings(Path(views), sentences))
    check_models([before, after])
    if back_translate:
        related.append(back_translations(some, display))
    _usable(related, len(some))
    names = (model_name(before), model_name(after))
    with display.waiting(f"Loading {names[0]} and {names[1]}"):
        first, second = (open_model(model, device=device, precision=precision) for model in (before, after))
    with display.waiting(f"{names[0]} and {names[1]}: {many(len(some), 'sentence')}"):
        return compare_encoders(first, second, some, related, batch_size=batch_size, names=names, text=shown)


def compare_encoders(
    before: SentenceEncoder,
    after: SentenceEncoder,
    sentences: list[str],
    related: Sequence[RelatedTexts],
    *,
    batch_size: int = 64,
    names: tuple[str, str] = ("before", "after"),
    text: str = "the given text",
) -> Comparison:
    """Two encoders on the same distinct sentences, in random order, and the same pairs."""
    usable = _usable(related, len(sentences))
    vectors = [np.asarray(encoder.encode(sentences, batch_size=batch_size)) for encoder in (before, after)]
    first, second = (
        figures_of(encoder, own, usable, batch_size=batch_size)
        for encoder, own in zip((before, after), vectors, strict=True)
    )
    closer, apart = moved_pairs(sentences, unit(vectors[0]), unit(vectors[1]))
    differences = {pairs.kind: mrr_difference(first.ranks[pairs.kind], second.ranks[pairs.kind]) for pairs in usable}
    together = details = None
    if may_be_tuned_from(after, before):
        together = compare_neighbourhoods(vectors[0], vectors[1], sentences)
        details = compare_details((before, after), vectors, sentences, batch_size=batch_size)
    return Comparison(first, second, differences, closer, apart, together, names, text, len(sentences), details)


def _usable(related: Sequence[RelatedTexts], sentences: int) -> list[RelatedTexts]:
    """The kinds of which there are enough pairs. Phrases have no halves: for them neighbourhoods are enough."""
    usable = [pairs for pairs in related if len(pairs) >= FEWEST]
    if not usable and sentences < FEWEST_TEXTS:
        there = " and ".join(f"{len(pairs)} pairs of {pairs.kind}" for pairs in related)
        raise IsotropeError(
            f"the text has only {many(sentences, 'sentence')} and {there}; a verdict needs at least {FEWEST_TEXTS} "
            f"sentences, or {FEWEST} pairs of one kind"
        )
    return usable


def _drawn(read: Iterable[str], size: int, seed: int) -> tuple[list[str], list[RelatedTexts]]:
    """Sentences of the text, and the halves of long ones; the text is read once."""
    some, long = SentenceSample(size, seed), SentenceSample(size, seed)
    for sentence in read:
        some.add(sentence)
        if halve(sentence):
            long.add(sentence)
    return some.sentences, [halves(long.sentences)]


@dataclass(frozen=True, repr=False)
class Comparison(Printable):
    """Two encoders on one text, judged at two grains.

    `together`: whether texts of one kind are kept together (topics, intents). `differences`, by the kind of the pairs:
    whether a text is told apart from all others (duplicates). The second alone means little: whatever spreads the
    vectors improves it, even where it scatters what belongs together. `details`: whether a text is told from those that
    are like it; what makes that worse is never called better at telling apart.
    """

    before: Figures
    after: Figures
    differences: dict[str, MRRDifference]
    closer: list[MovedPair]
    apart: list[MovedPair]
    together: Together | None = None
    names: tuple[str, str] = ("before", "after")
    text: str = "the given text"
    sentences: int = 0
    details: Shift | None = None

    @property
    def kept_together(self) -> Judgement:
        """Whether texts of one kind are nearer to each other than before."""
        return self.together.judgement if self.together else "no clear difference"

    @property
    def pairs_told_apart(self) -> Judgement:
        """Whether the two of a pair find each other better than before; kinds of pairs that disagree say nothing."""
        return judge(list(self.differences.values())) if self.differences else "no clear difference"

    @property
    def told_apart(self) -> Judgement:
        """Whether what belongs to one text finds it better than before: pairs, and texts with words removed."""
        told = self.pairs_told_apart
        if self.details and self.details.judgement == "worse":
            return "no clear difference" if told == "better" else "worse"
        return told

    @property
    def judgement(self) -> Judgement:
        """Whether `after` is better than `before`."""
        return decide(self.together, list(self.differences.values()), self.details)

    @property
    def verdict(self) -> str:
        """The judgement in words, with the figures that it rests on."""
        before, after = self.names
        said = {
            "no clear difference": f"no clear difference between {before} and {after} on this text.",
        }.get(self.judgement, f"{after} is {self.judgement} than {before} on this text.")
        return f"{said}\n{self.reasons}"

    @property
    def reasons(self) -> str:
        """The figures of both grains, in words, a line each."""
        first = [reasons.kept_together(self.together, self.kept_together)] if self.together else []
        if self.together and self.together.alike:
            first.append(reasons.alike_in_words(self.together.words))
        return "\n".join([*first, *self._told_apart()])

    @property
    def reasons_for_raw(self) -> str:
        """The same for an encoder that was pre-trained only, whose cohesion says little: its neighbours' words do."""
        first = [reasons.alike_in_words(self.together.words)] if self.together else []
        return "\n".join([*first, *self._told_apart()])

    def _told_apart(self) -> Iterator[str]:
        for kind, change in self.differences.items():
            yield reasons.told_apart(kind, change, self.before, self.after)
        if self.details:
            yield reasons.similar_told_apart(self.details)

    def parts(self) -> Iterator[Table | str]:
        """The figures, the pairs that moved most, and the verdict."""
        yield self._table()
        for title, some in (("Moved closest together", self.closer), ("Moved furthest apart", self.apart)):
            if some:
                yield f"\n{title}: cosine before -> after (standard deviations above two random sentences)"
            for one in some:
                first, second = (one_line(text, WIDEST) for text in (one.first, one.second))
                yield f"  {_moved(one)}  {first}\n{'':{len(_moved(one)) + 2}}  {second}"
        yield f"\nVerdict: {self.verdict}\n\n{BLIND}"

    def as_dict(self) -> dict[str, Any]:
        """Figures as in the table, to six decimals: rounded again they must come out as the reasons have them."""
        kinds = {
            kind: {
                "pairs": self.before.ranks[kind].pairs,
                "before": _rounded(self.before.ranks[kind]),
                "after": _rounded(self.after.ranks[kind]),
                "mrr_difference": round(change.mrr / 100, 6),
                "interval": [round(change.low / 100, 6), round(change.high / 100, 6)],
                "judgement": change.judgement,
            }
            for kind, change in self.differences.items()
        }
        text = {
            name: {key: round(getattr(side, key), 6) for key in ("uniformity", "mean_cosine", "effective_rank")}
            for name, side in (("before", self.before), ("after", self.after))
        }
        return {
            "before": self.names[0],
            "after": self.names[1],
            "corpus": self.text,
            "sentences": self.sentences,
            "verdict": self.judgement,
            "kept_together": self.kept_together,
            "told_apart": self.told_apart,
            "neighbours": asdict(self.together) if self.together else None,
            "details": asdict(self.details) if self.details else None,
            "pairs": kinds,
            "text": text,
            "closer": [asdict(one) for one in self.closer],
            "apart": [asdict(one) for one in self.apart],
        }

    def _table(self) -> Table:
        before, after, size = *self.names, many(self.sentences, "sentence")
        title = f"Before: {before}\nAfter: {after}\nText: {size} from {self.text}"
        table = Table("", "Before", "After", "", title=escape(title), title_justify="left")
        for column in table.columns[1:3]:
            column.justify = "right"
        table.columns[3].style = "dim"

        def row(name: str, first: float, second: float, meaning: str, form: str = ".3f") -> None:
            table.add_row(name, f"{first:{form}}", f"{second:{form}}", meaning)

        if one := self.together:
            shared = f"of neighbours that near texts have in common: {reasons.interval(one.cohesion)}"
            row("Cohesion, %", one.cohesion.before, one.cohesion.after, shared, ".1f")
            alike = "of a text and its neighbours, by TF-IDF"
            row("Word similarity, %", one.words.before, one.words.after, alike, ".1f")
            row("Neighbours kept, %", 100, one.kept, f"of each text's {NEAREST} nearest", ".0f")
        for kind, change in self.differences.items():
            first, second = self.before.ranks[kind], self.after.ranks[kind]
            table.add_section()
            row("MRR x 100", 100 * first.mrr, 100 * second.mrr, f"{kind}: {reasons.interval(change)}", ".1f")
            pairs = f"{kind}: how often the other one ranks first, of {first.pairs:,} pairs"
            row("Recall at 1, %", 100 * first.recall, 100 * second.recall, pairs, ".1f")
            row("Median rank", first.median_rank, second.median_rank, f"{kind}: 1 is best", "g")
            row("Alignment", first.alignment, second.alignment, f"{kind}: distance between the two of a pair")
        if like := self.details:
            table.add_section()
            row("MRR x 100", like.before, like.after, f"shortened texts: {reasons.interval(like)}", ".1f")
        table.add_section()
        row("Uniformity", self.before.uniformity, self.after.uniformity, "how evenly sentences are spread: low is good")
        row("Mean cosine", self.before.mean_cosine, self.after.mean_cosine, "of two random ones: 1 if all look alike")
        row("Effective rank", self.before.effective_rank, self.after.effective_rank, "directions in use", ".1f")
        return table


def _moved(one: MovedPair) -> str:
    before = f"{one.cosine_before:.2f} ({one.above_before:+.1f})"
    return f"{before} -> {one.cosine_after:.2f} ({one.above_after:+.1f})"


def _rounded(ranks: Ranks) -> dict[str, float]:
    return {name: round(getattr(ranks, name), 6) for name in ("mrr", "recall", "median_rank", "alignment")}
