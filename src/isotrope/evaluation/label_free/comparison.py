"""Two encoders on somebody's own text: all figures, side by side and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from isotrope.evaluation.label_free import reasons
from isotrope.evaluation.label_free.moved_pairs import MovedPair
from isotrope.evaluation.label_free.neighbourhoods import NEAREST, Shift, Together, decide
from isotrope.evaluation.label_free.verdict import Figures, Judgement, MRRDifference, Ranks, judge
from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.errors import one_line

WIDEST = 160  # characters of a text that is shown
BLIND = """\
What this cannot see: negation, numbers, and who does what to whom; shared words help any encoder. docs/domains.md says
how often it agrees with labels. Any encoder looks better on the text it was trained on: compare on text that neither
has seen. A hundred labelled examples of your own tell you more."""


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
    def trained_further(self) -> bool:
        """Whether `after` may be `before` with other weights, so that no rise in a figure says that it is better."""
        return self.together is not None and not self.together.rise_counts

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
