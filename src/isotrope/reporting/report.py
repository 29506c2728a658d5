"""`report`: one page about a run, or about several side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from isotrope.evaluation.results.printing import Printable
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError, as_typed
from isotrope.io.seeds import check_seed
from isotrope.reporting.atlas import write_atlas
from isotrope.reporting.findings import (
    MOST,
    NearDuplicates,
    RunFindings,
    SentenceMap,
    affordable,
    find,
    map_of,
    near_duplicates,
    open_encoders,
)
from isotrope.reporting.page import page
from isotrope.reporting.runs import RunFacts, read_runs
from isotrope.reporting.sample import TextSample, sample_of_run, sample_of_table
from isotrope.reporting.spaces import Space
from isotrope.reporting.verdict import headline, judgement_of
from isotrope.text.sources import Source

REPORT = "report.html"  # in the folder of a run
ENDINGS = (".html", ".htm")
FEWEST = 10  # texts


def report(
    runs: Any,
    *,
    text: Source | None = None,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    texts: int | None = None,
    seed: int = 0,
    device: str | None = None,
) -> Report:
    """Looks at a finished run, or compares several: the judge's verdict, neighbours before and after, a map, charts.

    Args:
        runs: the folder of a run or of a tuning, what `train`, `train_seeds` or `tune` returned, or a list of those.
        text: a table or sentences to look at; by default some of the text of the (first) run, and the columns of its
            table if that is still where it was.
        column: what the table calls its text.
        columns: several columns that make one text: `"Subject,Body"` or a list.
        join: what stands between them: `". "`.
        strip_html: takes HTML out of the text.
        texts: how many are looked at; by default some hundred, by the size of the encoder: a few seconds' work.
        seed: another seed takes other texts, and lays out the map otherwise.
        device: `cpu`, `cuda`, `mps` ...; by default the fastest there is.

    Returns:
        A `Report`: its `figures`, `html()`, `write()` and `parquet()`.

    Example:
        >>> import isotrope, tempfile
        >>> from isotrope.text import bundled_sentences
        >>> run = isotrope.train(bundled_sentences()[:200], output=tempfile.mkdtemp())
        >>> found = isotrope.report(run, texts=50)
        >>> len(found.sample.texts), found.write().name
        (50, 'report.html')
    """
    check_seed(seed)
    if texts is not None and texts < FEWEST:
        raise IsotropeError(f"texts={texts}: a report needs at least {FEWEST}", argument="texts=")
    options: dict[str, Any] = {"column": column, "columns": columns, "join": join, "strip_html": strip_html}
    if text is None and any(options.values()):
        *some, last, text_too = (as_typed(f"{one}=") for one in (*options, "text"))
        raise IsotropeError(f"{', '.join(some)} and {last} are for another text; give it with {text_too}")
    known = read_runs(runs)
    opened = [open_encoders(facts, device) for facts in known]
    size = MOST if texts is None else texts
    sample = sample_of_run(known[0], size, seed) if text is None else sample_of_table(text, size, seed, **options)
    if texts is None:
        sample = sample.first(min(affordable(tuned, sample.texts) for (_, tuned), _ in opened))
    found = []
    for facts, (encoders, lacks) in zip(known, opened, strict=True):
        one = find(facts, encoders, sample.texts)
        found.append(replace(one, lacks=[*one.lacks, *lacks]))
    return Report(found, sample, map_of(sample.texts, found, seed), near_duplicates(sample.texts, found[0]))


@dataclass(frozen=True)
class Shown:
    """A space under the name and colour that it has in all tables and charts."""

    label: str
    space: Space
    colour: int


@dataclass(frozen=True, repr=False)
class Report(Printable):
    """What was found about one run or several, on the same texts."""

    runs: list[RunFindings]
    sample: TextSample
    map: SentenceMap
    duplicates: NearDuplicates

    @property
    def figures(self) -> dict[str, Any]:
        """All figures as plain data."""
        return self.as_dict()

    def html(self) -> str:
        """The whole page: one file that needs nothing else."""
        return page(self)

    def write(self, path: str | Path | None = None, *, force: bool = False) -> Path:
        """Writes the page, whole or not at all; by default as `report.html` into the folder of a single run, where it
        takes the place of an older one.
        """
        if path is None and len(self.runs) > 1:
            raise IsotropeError(
                "a report on several runs does not belong in one of their folders; say where to write it"
            )
        target = self.runs[0].facts.folder / REPORT if path is None else Path(path)
        check_output(target, ENDINGS, force=force or path is None)
        text = self.html()
        with whole_or_nothing(target) as partial:
            partial.write_text(text, encoding="utf-8")
        return target

    def parquet(self, path: str | Path, *, force: bool = False) -> Path:
        """Writes the texts with their places on the map, columns and vectors: `embedding-atlas FILE` opens it."""
        return write_atlas(self, Path(path), force=force)

    def spaces(self) -> list[Shown]:
        """Every encoder once: those that were started from, and those that came out."""
        single = len(self.runs) == 1
        shown: dict[str, Shown] = {}
        for run in self.runs:
            if run.before is not None and run.before.name not in shown:
                colour = 10 if shown else 0
                shown[run.before.name] = Shown(f"Before ({run.before.name.partition(': ')[2]})", run.before, colour)
        for number, run in enumerate(self.runs, 1):
            label = ("After" if run.facts.kept else "Tuned, not kept") if single else run.facts.name
            shown[run.after.name] = Shown(label, run.after, (number - 1) % 9 + 1)
        return list(shown.values())

    def parts(self) -> Iterator[Table | str]:
        """A line or two for each run."""
        for run in self.runs:
            yield f"{run.facts.name}: {headline(run)}"
            yield from (f"  {line}" for line in run.lacks)

    def as_dict(self) -> dict[str, Any]:
        """The verdict, figures before and after, changed neighbours and near-duplicates."""
        near = {
            "threshold": round(self.duplicates.threshold, 4),
            "groups": [group.texts for group in self.duplicates.groups],
        }
        return {
            "texts": len(self.sample.texts),
            "source": self.sample.source,
            "runs": [_run(run) for run in self.runs],
            "clusters": self.map.names,
            "near_duplicates": near,
        }


def _run(run: RunFindings) -> dict[str, Any]:
    facts: RunFacts = run.facts
    return {
        "folder": str(facts.folder),
        "model": facts.model,
        "recipe": facts.recipe,
        "steps": facts.steps,
        "dev": facts.scores,
        "kept": "tuned" if facts.kept else "untuned",
        "headline": headline(run),
        "judgement": judgement_of(run),
        "verdict": run.verdict,
        "before": run.before.figures if run.before else None,
        "after": run.after.figures,
        "changed": [one.as_dict() for one in run.changed],
        "lacks": run.lacks,
    }
