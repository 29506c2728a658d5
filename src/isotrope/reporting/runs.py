"""What the folder of a run, or of a tuning, tells about itself. Nothing here loads an encoder, or code of a recipe."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isotrope.encoders.loading import encoder_folder
from isotrope.io.errors import IsotropeError
from isotrope.io.names import RUN
from isotrope.text.corpus import ABOUT
from isotrope.training.automatic import TRIED, Outcome
from isotrope.training.leaderboard import Trial, Tuning, ranked
from isotrope.training.record import Record, read_verdict
from isotrope.training.result import Run
from isotrope.training.run_folder import LOG, read_json, undamaged
from isotrope.training.run_log import read_log
from isotrope.training.seeds import Seeds
from isotrope.training.tuning_progress import PROGRESS, Progress

Line = dict[str, Any]  # of a log


@dataclass(frozen=True)
class RunFacts:
    """A finished run by its files.

    Attributes:
        folder: that was given; of a tuning, the tuning's.
        run: the run folder whose encoder is looked at; of a tuning, the best trial's.
        stages: the settings of each stage, as `run.json` has them.
        start: what it started from: the name that was given, or a model that is in memory.
        outcome: which encoder is kept; None for a run with a recipe, which keeps what it makes.
        texts: what each stage's corpus tells about itself; of a tuning, all of its text.
        trials: those of a tuning, best first.
        lacks: what older folders do not have, in words.
    """

    folder: Path
    run: Path
    recipe: str
    stages: list[dict[str, Any]]
    start: Any
    model: str
    dev: Any
    outcome: Outcome | None
    texts: list[dict[str, Any]]
    corpora: list[Path]
    record: Record | None
    verdict: Mapping[str, Any] | None
    logs: list[list[Line]]
    trials: list[Trial] = field(default_factory=list)
    spent: tuple[float, float] | None = None  # of a tuning: seconds, and those that were allowed
    lacks: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What the report calls it."""
        return str(self.folder)

    @property
    def started(self) -> str:
        """The model's name; of a long path its end."""
        parts = Path(self.model).parts
        return self.model if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"

    @property
    def kept(self) -> bool:
        """Whether the tuned encoder is the one in `encoder/`."""
        return self.outcome is None or self.outcome.kept == "tuned"

    @property
    def tuned(self) -> Path:
        """The encoder that was tuned, kept or not."""
        tried = self.run / TRIED
        return tried if not self.kept and tried.is_dir() else self.run / "encoder"

    @property
    def pooling(self) -> str:
        """Under which both encoders are looked at."""
        return str(self.stages[-1]["pooling"]["evaluation"])

    @property
    def fitted(self) -> bool:
        """Whether the last stage ends with a fit, for which more text is held out."""
        return self.stages[-1].get("fit") is not None

    @property
    def seeds(self) -> list[int]:
        """Of each stage."""
        return [stage["training"]["seed"] for stage in self.stages]

    @property
    def steps(self) -> int:
        """Of all stages."""
        return sum(int(lines[-1]["step"]) for lines in self.logs if lines)

    @property
    def scores(self) -> dict[str, float] | None:
        """Spearman x 100 on the development set, `before` and `after`."""
        if self.trials:
            return self.trials[0].dev
        if self.record and self.record.scores:
            return self.record.scores
        found = [line["eval_spearman"] for line in self.logs[-1] if line.get("eval_spearman") is not None]
        return {"before": round(found[0], 2), "after": round(max(found[1:]), 2)} if len(found) > 1 else None


def read_runs(given: Any) -> list[RunFacts]:
    """Run folders, `Run`s, `Tuning`s, folders of seeds, or a list of those -> what each tells about itself."""
    several = given if isinstance(given, Iterable) and not isinstance(given, str | Path) else [given]
    found = [facts for one in several for facts in _facts(one)]
    if not found:
        raise IsotropeError("no run was given; a report needs the folder of at least one run")
    return found


def _facts(given: Any) -> Iterator[RunFacts]:
    if isinstance(given, Seeds):
        yield from (_read(run.folder, run.start) for run in given.runs.values())
        return
    if isinstance(given, Run | Tuning):
        yield _read(given.folder, getattr(given, "start", None))
        return
    if not isinstance(given, str | Path):
        raise IsotropeError(f"a {type(given).__name__} is not a run; give its folder, or what train returned")
    folder = Path(given)
    if (folder / RUN).is_file():
        yield _read(folder)
        return
    seeds = sorted(folder.glob(f"seed-*/{RUN}"), key=lambda file: (len(file.parent.name), file.parent.name))
    if seeds:
        yield from (_read(file.parent) for file in seeds)
        return
    parent = f"; the run is {folder.parent}" if (folder.parent / RUN).is_file() else ""
    there = "not the folder of a run" if folder.is_file() else "no such folder"
    what = f"not the folder of a run (no {RUN} in it)" if folder.is_dir() else there
    raise IsotropeError(f"{folder}: {what}{parent}")


def _read(folder: Path, start: Any = None) -> RunFacts:
    encoder_folder(folder)  # says what to do where there is none yet
    if (folder / PROGRESS).is_file():
        return _tuning(folder, start)
    settings = read_json(folder / RUN)
    with undamaged(folder / RUN):
        stages = list(settings["stages"]) if "stages" in settings else [settings]
        recipe, model, dev = str(settings["recipe"]), str(settings["model"]), settings["dev"]
        places = [folder] if len(stages) == 1 else [folder / f"stage-{k + 1}" for k in range(len(stages))]
        for stage in stages:
            stage["training"]["seed"], stage["pooling"]["evaluation"]
    record, outcome = Record.read(folder), Outcome.read(folder)
    corpora = [place / "corpus" for place in places]
    texts = [about for one in corpora if (about := _about(one))]
    logs = [read_log(place / LOG) if (place / LOG).is_file() else [] for place in places]
    verdict = read_verdict(folder)
    return RunFacts(
        folder=folder,
        run=folder,
        recipe=recipe.removesuffix(":paper"),
        stages=stages,
        start=model if start is None else start,
        model=model,
        dev=dev,
        outcome=outcome,
        texts=texts,
        corpora=corpora,
        record=record,
        verdict=verdict,
        logs=logs,
        lacks=list(_lacking(record, outcome, verdict, texts)),
    )


def _tuning(folder: Path, start: Any) -> RunFacts:
    """Its best trial, with the outcome and the text of the tuning."""
    progress, outcome = Progress.open(folder), Outcome.read(folder)
    tried = [one for one in ranked(progress.trials) if not one.problem]
    if not tried or outcome is None:
        raise IsotropeError(f"{folder}: this tuning is not finished; resume it first")
    best = _read(folder / tried[0].folder, start)
    about = _about(folder / "corpus")
    settings = read_json(folder / RUN)
    return RunFacts(
        **{
            **vars(best),
            "folder": folder,
            "recipe": tried[0].recipe,
            "outcome": outcome,
            "record": Record.read(folder),
            "verdict": {"found": None, "reasons": outcome.because},
            "texts": [about] if about else best.texts,
            "corpora": [folder / "corpus"] if about else best.corpora,
            "trials": ranked(progress.trials),
            "spent": (progress.spent, float(settings.get("budget", 0))),
            "lacks": [] if about else list(_lacking(best.record, None, None, [])),
        }
    )


def _about(corpus: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((corpus / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(found, dict) and {"columns", "sources", "fingerprint", "counts"} <= found.keys()
    return found if whole else None


def _lacking(
    record: Record | None, outcome: Outcome | None, verdict: Mapping[str, Any] | None, texts: list[dict[str, Any]]
) -> Iterator[str]:
    if record is None:
        yield "The folder does not say how long the run took, with which versions, or which columns were read."
    if outcome and verdict is None:
        yield "The verdict's figures were not saved with the run; they were measured again for this report."
    if not texts:
        yield "The training text is not in the folder."
    elif not any("survey" in one for one in texts):
        yield "The counts of the text (blank rows, duplicates, markup, languages) were not saved."
