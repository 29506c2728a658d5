"""`reproduce`: a table or figure of a paper, run and set beside what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope.evaluation.data.places import MissingDataError
from isotrope.evaluation.tasks import Task, open_task
from isotrope.io.durations import rough_duration
from isotrope.io.errors import IsotropeError, one_line
from isotrope.io.progress import Display
from isotrope.papers.budgets import Clock, within
from isotrope.papers.jobs import Job, jobs_of, untuned
from isotrope.papers.points import POINTS
from isotrope.papers.published import Budget, Column, Published, Row, Value, published
from isotrope.papers.result import MeasuredRow, Reproduction, Setting
from isotrope.papers.workshop import Shown, Workshop
from isotrope.papers.writing import write_files
from isotrope.training.interruption import Interrupted

OUTPUT = "runs/reproduce"
WORTH_TIMING = 3  # runs; to find out how long fewer will take takes about as long
ELSEWHERE = "being made by another process; run this again when it has finished"


def reproduce(
    table: str | Published,
    *,
    model: str | None = None,
    seeds: int | None = None,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    budget: Budget = "full",
    text: str | Path | None = None,
    texts: int | None = None,
    teacher: str | Path | None = None,
    stand_ins: Mapping[str, str | Path] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    data: str | Path | None = None,
    output: str | Path = OUTPUT,
    dry_run: bool = False,
) -> Reproduction:
    """Runs a table or figure of a paper, and sets what is measured beside what is published.

    Every run is made once: one that is done in `output` is read, one that was cut off goes on, and one that another
    process (or another machine that shares the folder) is making is left to it. Rows that need a model, a text or a
    package that is not there are left blank, with the reason. The table lies in `output` too, as .md, .json, .html and
    (with matplotlib) .png.

    Args:
        table: its name, as `isotrope.reproductions()` has them: `sg-opt/table1`.
        model: stands in for the paper's main encoder; rows of its other encoders are left out then, but for those of
            `stand_ins`. A recipe that has a variant of the model's name is used with it: `sg-opt:bundled` has numbers
            for `bundled`.
        seeds: runs of each row, under the paper's own seeds first; by default as many as the paper has.
        rows: only those of these names, or that have one of these words in their names.
        columns: only those of these names.
        budget: `full` for the recipes' own steps, `quick` for a few: enough to see that all of it runs, not more.
        text: what is learnt from, in place of the table's text: a file, or the name of another text.
        texts: only so many of them, drawn at random (the same for all runs); rows that say how many keep their number.
        teacher: the guide's model, for recipes whose guide is another encoder.
        stand_ins: models in place of the paper's other encoders: `{"xlm-roberta-base": "bundled"}`.
        set: fields of all recipes by their dotted path, such as `{"training.steps": 60}`.
        data: folder of data sets; by default `$ISOTROPE_DATA`, else the Hub.
        output: the folder of all runs; the same for every table, so that they share them.
        dry_run: nothing is run but a step of each recipe, to tell how long the rest will take.

    Example: `reproduce("sg-opt/table5", model="bundled", seeds=3, data="data")`
    """
    known = table if isinstance(table, Published) else published(table)
    setting = Setting(
        model=model,
        seeds=len(known.seeds) if seeds is None else seeds,
        budget=budget,
        text=None if text is None else str(text),
        texts=texts,
        teacher=None if teacher is None else str(teacher),
        stand_ins={name: str(one) for name, one in (stand_ins or {}).items()},
        set=dict(set or {}),
    )
    _check_stand_ins(known, setting)
    if setting.seeds < 1:
        raise IsotropeError(f"{setting.seeds} seeds; at least one is needed", argument="seeds=")
    if texts is not None and texts < 1:
        raise IsotropeError(f"{texts} texts; at least one is needed", argument="texts=")
    workshop = Workshop(Path(output), Path(data) if data else None)
    plan = _Plan(_narrowed(known, rows, columns), setting, workshop, known)
    if dry_run:
        return plan.looked_up(seconds=plan.seconds())
    found = plan.run()
    write_files(found, workshop.folder)
    return found


def _check_stand_ins(table: Published, setting: Setting) -> None:
    """Refuses one in place of an encoder that the table does not have."""
    others = table.other_models
    for name in setting.stand_ins:
        if name not in others:
            there = f"its other encoders are {', '.join(others)}" if others else "it has no encoder but the main one"
            raise IsotropeError(f"{table.name} has no '{name}'; {there}", argument="stand_ins=")


def _narrowed(table: Published, rows: Sequence[str], columns: Sequence[str]) -> Published:
    """The table with the rows and columns that are wanted."""
    wanted = {name for word in rows for name in _named(word, [row.full_name for row in table.rows])}
    kept = [row for row in table.rows if not rows or row.full_name in wanted]
    names = [column.name for column in table.columns]
    for name in columns:
        if name not in names:
            raise IsotropeError(f"{table.name} has no column '{name}'; it has {', '.join(names)}", argument="columns=")
    if not kept:
        there = ", ".join(row.full_name for row in table.rows)
        raise IsotropeError(f"{table.name}: no row is called {' or '.join(rows)}; it has: {there}", argument="rows=")
    places = [i for i, name in enumerate(names) if not columns or name in columns]
    chosen = [row.model_copy(update={"values": _picked(table, row, places)}) for row in kept]
    return table.model_copy(update={"rows": tuple(chosen), "columns": tuple(table.columns[i] for i in places)})


def _picked(table: Published, row: Row, places: Sequence[int]) -> tuple[Value | None, ...]:
    """The values in these places. An average of other columns than these is taken anew, if all of them are printed."""
    parts = [row.values[i] for i in places if row.values and not table.columns[i].average]
    known = [part.value for part in parts if part]
    anew = Value(sum(known) / len(known)) if known and len(known) == len(parts) else None
    whole = len(places) == len(table.columns)
    return tuple(
        (anew or row.values[i]) if table.columns[i].average and not whole else row.values[i]
        for i in places
        if row.values
    )


def _named(word: str, names: Sequence[str]) -> list[str]:
    """The name itself where there is such a one, else all names that have the word in them."""
    return [name for name in names if name == word] or [name for name in names if word.lower() in name.lower()]


@dataclass
class _Plan:
    """The rows of a table that are wanted, as jobs."""

    table: Published
    setting: Setting
    workshop: Workshop
    given: Published | None = None  # with all of its columns

    def __post_init__(self) -> None:
        self.problems: dict[str, str] = {}
        self.tasks, self.absent = self._opened()
        kind, pictured = self.table.picture.kind, self.table.pictured
        self.shown = Shown(kind, pictured.task, pictured.split) if kind in POINTS else None
        self.jobs = {row.full_name: self._jobs_or_problem(row) for row in self.table.rows}
        beside = {untuned(job).name: untuned(job) for jobs in self.jobs.values() for job in jobs if job.recipe}
        self.untuned = list(beside.values())

    @property
    def all_jobs(self) -> list[Job]:
        """Every job once: the untuned first, then the first seed of every row, and so on."""
        several = [*self.untuned, *(job for jobs in self.jobs.values() for job in jobs)]
        return sorted({job.name: job for job in several}.values(), key=lambda job: job.seed or 0)

    @property
    def classifier_seeds(self) -> tuple[int, ...] | None:
        """Those of the paper, no more of them than runs of a row; None for SentEval's own."""
        return self.table.classifier_seeds[: self.setting.seeds] or None

    def seconds(self) -> float:
        """How long what is left to train will take."""
        clock = Clock(self.workshop)
        found = clock.seconds(self.all_jobs)
        self.problems |= clock.problems
        return found

    def run(self) -> Reproduction:
        """Does what is not done yet, one job after another, and tells how far it is."""
        display, left = Display("reproduce"), [job for job in self.all_jobs if not self._is_done(job)]
        if sum(job.recipe is not None for job in left) >= WORTH_TIMING:
            display.say(f"{len(left)} of {len(self.all_jobs)} to do, about {rough_duration(self.seconds())}")
        for job in self.all_jobs:
            if job not in left:
                self.workshop.tidy(job)
        for number, job in enumerate(left, 1):
            display.say(f"{number} of {len(left)}: {job.name}")
            try:
                found = self.workshop.do(job, self.tasks, self.shown)
            except Interrupted:
                raise
            except IsotropeError as error:  # no reason to stop the others
                self.problems[job.name] = one_line(str(error), 200)
                display.say(f"  {self.problems[job.name]}")
            else:
                if found is None:
                    self.problems[job.name] = ELSEWHERE
        return self.looked_up()

    def looked_up(self, seconds: float | None = None) -> Reproduction:
        """What the folder has of it."""
        rows = tuple(self._row(row, self.jobs[row.full_name]) for row in self.table.rows)
        beside = tuple(self._row(Row(name=self._untuned_name(job)), [job]) for job in self.untuned)
        whole = self.table.columns == (self.given or self.table).columns
        names = dict.fromkeys(job.text for job in self.all_jobs if job.text and not self.problems.get(job.name))
        return Reproduction(
            self.table,
            self.setting,
            rows,
            beside,
            tuple(self.absent),
            seconds,
            partial=not whole or bool(self.absent),
            remarks=tuple(dict.fromkeys(remark for name in names for remark in self.workshop.texts.remarks(name))),
        )

    def _row(self, row: Row, jobs: Sequence[Job]) -> MeasuredRow:
        done = [job for job in jobs if self._is_done(job)]
        why = "no recipe for it here" if row.run is None else "for another encoder than the one that is replaced"
        problem = "" if jobs else self.problems.get(row.full_name, why)
        problem = next((self.problems[job.name] for job in jobs if job.name in self.problems), problem)
        return MeasuredRow(
            row,
            seeds=tuple(self._seed(job) for job in done),
            wanted=len(jobs),
            problem=problem,
            untuned=self._untuned_name(untuned(jobs[0])) if jobs and jobs[0].recipe else "",
            paths=tuple(tuple(self.workshop.path(job)) for job in done),
            points=tuple(self.workshop.points(job, self.shown) for job in done) if self.shown else (),
        )

    def _seed(self, job: Job) -> dict[str, float]:
        """The figure of each column; an average is that of the columns that could be measured."""
        figures, found = self.workshop.figures(job), dict[str, float]()
        for column in self.table.columns:
            if column.average:
                found[column.name] = sum(found.values()) / len(found) if found else float("nan")
            elif self._key(column) in self.tasks:
                values = figures[self._key(column)]
                found[column.name] = values[column.metric or next(iter(values))]
        return found

    def _is_done(self, job: Job) -> bool:
        return self.workshop.is_done(job, self.tasks, self.shown)

    def _jobs_or_problem(self, row: Row) -> list[Job]:
        try:
            return self._jobs(row)
        except IsotropeError as error:
            self.problems[row.full_name] = one_line(str(error), 200)
            return []

    def _jobs(self, row: Row) -> list[Job]:
        """None of a row that can't be made, or that another encoder than the main one makes, if that is replaced."""
        making, table, setting = row.run, self.table, self.setting
        if making is None:
            return []
        own = making.model in (None, table.model)
        model = setting.model if own else setting.stand_ins.get(str(making.model))
        if setting.model and not model:
            return []
        given: dict[str, Any] = {"model": setting.model or table.model, "text": table.text, "dev": table.dev}
        given |= {"texts": setting.texts, "set": setting.set}
        making = making.with_stand_ins(setting.stand_ins).model_copy(update={"model": model or making.model})
        if setting.text:
            making = making.model_copy(update={"text": setting.text})
        jobs = jobs_of(making, table.seed_numbers(setting.seeds), **given, teacher=setting.teacher)
        if setting.budget == "full":
            return jobs
        return [within(setting.budget, job, self._texts(job)) if job.recipe else job for job in jobs]

    def _texts(self, job: Job) -> int:
        count = self.workshop.texts.count(job.text)
        return min(count, job.texts or count)

    def _opened(self) -> tuple[dict[str, Task], list[str]]:
        """The tasks of the columns, and the columns whose data is not there."""
        tasks, absent = dict[str, Task](), []
        for column in self.table.columns:
            if not column.task or self._key(column) in tasks:
                continue
            try:
                options = {"split": column.split, "classifier": self.table.classifier, "seeds": self.classifier_seeds}
                tasks[self._key(column)] = open_task(column.task, data=self.workshop.data, **options)
            except MissingDataError:
                absent.append(column.name)
        if not tasks and any(column.task for column in self.table.columns):
            raise MissingDataError(f"{self.table.name}: neither a data folder nor the Hub has {', '.join(absent)}")
        return tasks, absent

    def _key(self, column: Column) -> str:
        """`stsb`, `stsb@dev`, `mr (mlp, 8 seeds)`: what a figure is kept under."""
        kind, seeds = self.table.classifier, self.classifier_seeds
        how = ", ".join([kind] * (kind != "logistic") + [f"{len(seeds or ())} seeds"] * bool(seeds))
        return f"{column.task}{f'@{column.split}' if column.split else ''}{f' ({how})' if how else ''}"

    def _untuned_name(self, job: Job) -> str:
        """`untuned, mean`; another encoder than the main one is named, or the one whose place it takes."""
        replaced = {model: f"in place of {paper}" for paper, model in self.setting.stand_ins.items()}
        main = job.model == (self.setting.model or self.table.model)
        which = "" if main else f" ({replaced.get(job.model, job.model)})"
        return f"untuned, {job.pooling or 'own pooling'}{which}"
