"""What `tune` found: its trials, best first, and the encoder that is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from isotrope.encoders import Encoder
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.durations import shown_duration
from isotrope.training.automatic import Kept, Outcome, Purpose, decide
from isotrope.training.halving import Planned

ENOUGH_KEPT = 80.0  # per cent of the neighbours; below that, every further one that is lost weighs a point of cohesion
NO_TIME = "not tried: no time left"


@dataclass(frozen=True)
class Figures:
    """What the judge found: changes against the untuned encoder, in points, and the judgements of both grains."""

    judgement: str
    kept_together: str
    told_apart: str
    cohesion: float | None
    words: float | None
    neighbours_kept: float | None  # per cent
    mrr: float | None
    pairs_told_apart: str = "no clear difference"  # by `mrr` alone
    details: float | None = None
    details_told_apart: str = "no clear difference"

    @classmethod
    def of(cls, found: Comparison) -> Figures:
        """The figures of a comparison with the untuned encoder; of several kinds of pairs the mean."""
        one, changes = found.together, [change.mrr for change in found.differences.values()]
        return cls(
            found.judgement,
            found.kept_together,
            found.told_apart,
            round(one.cohesion.change, 4) if one else None,
            round(one.words.change, 4) if one else None,
            round(one.kept, 4) if one else None,
            round(sum(changes) / len(changes), 4) if changes else None,
            found.pairs_told_apart,
            round(found.details.change, 4) if found.details else None,
            found.details.judgement if found.details else "no clear difference",
        )

    def merit(self, purpose: Purpose, *, raw: bool) -> float:
        """By which trials are ranked that the judge calls the same.

        Chosen on labels of six domains, over 25 linear maps of a sentence encoder's vectors, of which the judge calls
        some better: the largest rise in cohesion finds the best for topics, but costs two points where meanings are
        graded; with the loss of neighbours counted, no domain lost more than 0.2. For a raw encoder cohesion says
        nothing; there the neighbours' likeness in words followed the labels (of the one domain that was tried).
        """
        lost = max(0.0, ENOUGH_KEPT - (100.0 if self.neighbours_kept is None else self.neighbours_kept))
        if raw:
            return self.words or 0.0
        return {
            "topics": self.cohesion or 0.0,
            "duplicates": (self.mrr or 0.0) - lost,
            "both": (self.cohesion or 0.0) - lost,
        }[purpose]


@dataclass(frozen=True)
class Trial:
    """A recipe that was tried for some steps, or could not be: `problem` says why."""

    recipe: str
    rung: int
    folder: str  # in that of the tuning
    steps: int = 0
    seconds: float = 0.0
    figures: Figures | None = None
    dev: dict[str, float] | None = None
    outcome: Outcome | None = None  # what would be kept if this were the only one
    merit: float = 0.0
    problem: str = ""

    @classmethod
    def judged(
        cls,
        planned: Planned,
        rung: int,
        folder: str,
        steps: int,
        scores: dict[str, float] | None,
        found: Comparison | None,
        purpose: Purpose,
        *,
        raw: bool,
        enough: bool,
    ) -> Trial:
        """A trial by its development scores, or else by the judge."""
        figures = Figures.of(found) if found else None
        merit = scores["after"] if scores else figures.merit(purpose, raw=raw) if figures else 0.0
        outcome = decide(scores, found, purpose, raw=raw, enough=enough)
        return cls(planned.name, rung, folder, steps, 0.0, figures, scores, outcome, merit)

    @property
    def kept(self) -> Kept:
        """Whether the trial's encoder is better than the untuned one."""
        return self.outcome.kept if self.outcome else "untuned"

    @property
    def judgement(self) -> str:
        """Of the development set, or else of the judge; or why there is none."""
        if self.problem:
            return self.problem
        if self.dev:
            change = self.dev["after"] - self.dev["before"]
            return "better" if change > 0 else "worse" if change < 0 else "no difference"
        return self.figures.judgement if self.figures else "too little text to judge by"

    def as_dict(self) -> dict[str, Any]:
        """A row of the leaderboard as plain data."""
        figures = asdict(self.figures) if self.figures else None
        return {
            "recipe": self.recipe,
            "rung": self.rung + 1,
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "folder": self.folder,
            "figures": figures,
            "dev": self.dev,
            "judgement": self.judgement,
            "problem": self.problem or None,
        }


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Best first: what would be kept, what is not clearly better than the untuned encoder, what is worse, what failed.

    Within each by merit; of two that are equal the one that took fewer steps.
    """

    def place(one: Trial) -> tuple[bool, bool, bool, float, int]:
        return bool(one.problem), one.kept != "tuned", one.judgement == "worse", -one.merit, one.steps

    return sorted(trials, key=place)


@dataclass(frozen=True, repr=False)
class Tuning(Printable):
    """A finished tuning.

    Attributes:
        folder: with a run folder for each trial in `trials/`, and the encoder.
        encoder: the one that is kept, as it lies in `folder/encoder`.
        model: the name of the encoder that all trials started from.
        trials: best first.
        outcome: whether a tuned encoder is kept, and why.
        beside: how the best compares with the next recipe; nothing where there is none.
        budget: seconds that were allowed.
        seconds: seconds that it took, over all parts of a resumed tuning.
    """

    folder: Path
    encoder: Encoder
    model: str
    trials: list[Trial]
    outcome: Outcome
    beside: str
    budget: float
    seconds: float

    @property
    def best(self) -> Trial | None:
        """The trial whose encoder is kept; None where that is the untuned one."""
        return self.trials[0] if self.outcome.kept == "tuned" else None

    def encode(self, sentences: Any, **options: Any) -> Any:
        """`Encoder.encode` of the encoder that is kept."""
        return self.encoder.encode(sentences, **options)

    @property
    def conclusion(self) -> str:
        """Which encoder is kept, and why."""
        if self.best:
            steps = f", {many(self.best.steps, 'step')}" if self.best.steps else ""
            said = [f"Kept: {self.best.recipe}{steps}.", self.outcome.because, self.outcome.advice, self.beside]
            return "\n".join(filter(None, said))
        scored = any(one.dev for one in self.trials)
        grades = "more graded pairs" if scored else "a development set of a hundred pairs that you graded yourself"
        return (
            f"The untuned encoder was kept: no trial was clearly better on this text. The closest was "
            f"{self.trials[0].recipe}.\n{self.outcome.because}\nMore text may help, or {grades}."
        )

    def parts(self) -> Iterator[Table | str]:
        """The leaderboard and the conclusion."""
        yield self._table()
        yield f"\n{self.conclusion}\n\nThe encoder is in {self.folder / 'encoder'}"

    def as_dict(self) -> dict[str, Any]:
        """What `isotrope tune --json` prints."""
        return {
            "output": str(self.folder),
            "encoder": str(self.folder / "encoder"),
            "model": self.model,
            "kept": self.best.recipe if self.best else None,
            "outcome": asdict(self.outcome),
            "conclusion": self.conclusion,
            "budget": self.budget,
            "seconds": round(self.seconds, 1),
            "trials": [one.as_dict() for one in self.trials],
        }

    def _table(self) -> Table:
        spent = f"{shown_duration(self.seconds)} of {shown_duration(self.budget)} used"
        title = f"Tuning {self.model}: {spent}; changes from the untuned encoder"
        table = Table(title=escape(title), title_justify="left")
        scored = any(one.dev for one in self.trials)
        table.add_column("Recipe")
        for heading in ("Steps", "Seconds", "Kept together", "Told apart", "Similar told apart", "Neighbours kept"):
            table.add_column(heading, justify="right")
        if scored:
            table.add_column("Spearman x 100", justify="right")
        table.add_column("Judgement")
        for one in self.trials:
            found = one.figures
            cells = list(_cells(found)) if found else [""] * 4
            dev = ([f"{one.dev['before']:.2f} -> {one.dev['after']:.2f}"] if one.dev else [""]) if scored else []
            numbers = [f"{one.steps:,}" if one.steps else "", f"{one.seconds:.1f}" if one.seconds else ""]
            bold = "[bold]" if one is self.best else ""
            table.add_row(f"{bold}{escape(one.recipe)}", *numbers, *cells, *dev, escape(one.judgement))
        return table


def _cells(found: Figures) -> Iterator[str]:
    """Each change with what the judge says of it, and the share of neighbours that stay."""
    for change, judgement in (
        (found.cohesion, found.kept_together),
        (found.mrr, found.pairs_told_apart),
        (found.details, found.details_told_apart),
    ):
        said = "unclear" if judgement == "no clear difference" else judgement
        yield "" if change is None else f"{change:+.1f}, {said}"
    yield "" if found.neighbours_kept is None else f"{found.neighbours_kept:.0f}%"
