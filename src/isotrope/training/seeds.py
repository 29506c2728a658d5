"""One recipe under several seeds: a run for each, side by side, and how far they lie apart.

output/
  seed-1/ ...    run folders as `train` makes them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rich.table import Table

from isotrope.evaluation.results.printing import Printable
from isotrope.io.errors import IsotropeError, as_typed
from isotrope.text.frames import is_table
from isotrope.training.result import LABEL_FREE, Run
from isotrope.training.run import train
from isotrope.training.run_folder import RUN, check_run

DEV = "Spearman x 100, dev"


def train_seeds(
    sentences: Any, *, seeds: int | Sequence[int], output: str | Path, resume: bool = False, **settings: Any
) -> Seeds:
    """Trains the same under several seeds, as the papers do: a run in `output/seed-1` and so on for each.

    Args:
        sentences: as `train` takes them.
        seeds: how many, from 1 on; or which.
        output: the folder of the runs. `isotrope.evaluate({"mine": runs.folders})` measures them as one row.
        resume: leave finished runs as they are, go on with those that were stopped, and start the others.
        settings: whatever else `train` takes.

    Example:
        >>> import isotrope, tempfile
        >>> from isotrope.text import bundled_sentences
        >>> small = {"recipe": "simcse", "steps": 1, "set": {"training.batch_size": 4}}
        >>> runs = isotrope.train_seeds(bundled_sentences()[:32], seeds=2, output=tempfile.mkdtemp(), **small)
        >>> [folder.name for folder in runs.folders]
        ['seed-1', 'seed-2']
    """
    chosen = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(dict.fromkeys(seeds))
    if not chosen:
        raise IsotropeError("seeds=0: at least one run is needed", argument="seeds=")
    if settings.pop("seed", None) is not None:
        one, several = as_typed("seed="), as_typed("seeds=")
        raise IsotropeError(f"{one} and {several} can't be used together; leave out one of them")
    folders = {seed: Path(output) / f"seed-{seed}" for seed in chosen}
    begun = {seed: resume and (folder / RUN).is_file() for seed, folder in folders.items()}
    for seed, folder in folders.items():
        check_run(folder, resume=begun[seed])
    text = sentences if isinstance(sentences, str | Path) or is_table(sentences) else list(sentences)  # read each time
    runs = {
        seed: train(text, output=folder, seed=seed, resume=begun[seed], **settings) for seed, folder in folders.items()
    }
    return Seeds(runs)


@dataclass(frozen=True, repr=False)
class Seeds(Printable):
    """The runs by their seed."""

    runs: dict[int, Run]

    @property
    def folders(self) -> list[Path]:
        """Where the runs lie."""
        return [run.folder for run in self.runs.values()]

    @property
    def figures(self) -> dict[str, list[float]]:
        """What each run came to: its score on the development set, and the figures that need no labels."""
        runs = list(self.runs.values())
        dev = {DEV: [run.scores["after"] for run in runs if run.scores]}
        free = {name: [run.figures[name]["after"] for run in runs if name in run.figures] for name in LABEL_FREE}
        return {name: values for name, values in (dev | free).items() if len(values) == len(runs)}

    def parts(self) -> Iterator[Table | str]:
        """A row for each seed, and their mean."""
        first = next(iter(self.runs.values()))
        yield f"{first.recipe.full_name} on {first.model}, {len(self.runs)} seeds"
        table = Table("Seed")
        figures = self.figures
        for name in figures:
            table.add_column(name.replace("_", " "), justify="right")
        for place, seed in enumerate(self.runs):
            table.add_row(str(seed), *(_shown(name, values[place]) for name, values in figures.items()))
        if len(self.runs) > 1:
            table.add_section()
            spread = (f"{_shown(name, mean(one))} ± {_shown(name, stdev(one))}" for name, one in figures.items())
            table.add_row("mean ± sd", *spread)
        yield table

    def as_dict(self) -> dict[str, Any]:
        """The means with their deviation, and each run."""
        several = len(self.runs) > 1
        means = {
            name: {"mean": mean(values), **({"deviation": stdev(values)} if several else {})}
            for name, values in self.figures.items()
        }
        return {"figures": means, "runs": {str(seed): run.as_json() for seed, run in self.runs.items()}}


def _shown(name: str, value: float) -> str:
    return f"{value:.2f}" if name == DEV else f"{value:.3g}"
