"""What people type as MODEL: encoders, run folders, and seeds of one run that share a line of the table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from isotrope.io.errors import IsotropeError
from isotrope.text.arrays import open_table
from isotrope.text.corpus import ABOUT, KEYS
from isotrope.training.run_folder import RUN

BASELINE = "baseline.json"  # in the folder of a baseline, beside the keys of the text that it was fitted on


@dataclass(frozen=True)
class Line:
    """A line of the table: a name, and the models that are its seeds; mostly one."""

    name: str
    models: tuple[str, ...]


def read_lines(arguments: Sequence[str]) -> list[Line]:
    """`NAME=A,B,C` is one line, and so are all of one NAME; run folders that differ in nothing but the seed are one."""
    named: dict[str, list[str]] = {}
    lines: list[Line | str] = []  # a name stands for its line, which may not be complete yet
    for argument in arguments:
        name, equals, models = argument.partition("=")
        if not equals or Path(argument).exists():
            lines.append(Line(argument, (argument,)))
            continue
        if not name or not all(models.split(",")):
            raise IsotropeError(f"'{argument}': a line of several models is written NAME=MODEL,MODEL")
        if name not in named:
            lines.append(name)
        named.setdefault(name, []).extend(models.split(","))
    whole = [Line(line, tuple(named[line])) if isinstance(line, str) else line for line in lines]
    return list(_joined(whole))


def encoder_of(model: str) -> str:
    """The encoder that a run made, for a run folder; any other model as it is."""
    if not (Path(model) / RUN).is_file():
        return model
    encoder = Path(model) / "encoder"
    if not encoder.is_dir():
        raise IsotropeError(f"{model}: this run has no encoder yet; go on with it: isotrope train ... --resume")
    return str(encoder)


def training_text(model: str) -> list[Path] | None:
    """Folders with the keys of all text that an encoder was trained or fitted on, by its run and the runs before that;
    None if there is no telling. What a model of another origin had read before is in none of them.
    """
    path = Path(model)
    if (path / BASELINE).is_file():
        fitted = [path] if len(open_table(path / KEYS)) else []
        before = json.loads((path / BASELINE).read_text(encoding="utf-8"))["model"]
        known = before and Path(before).resolve() != path.resolve()  # it may have replaced what it was made from
        return [*fitted, *((training_text(before) if known else None) or [])] or None
    run = next((folder for folder in (path, path.parent) if (folder / RUN).is_file()), None)
    if run is None or (run == path.parent and path.name != "encoder"):
        return None
    corpora = _corpora(run)
    return [*corpora, *(training_text(str(_begun_with(run)["model"])) or [])] if corpora else None


def _joined(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines that are one run folder each become one where those runs differ in their seed alone."""
    alike: dict[str, list[Line]] = {}
    for line in lines:
        alike.setdefault(_but_for_the_seed(line), []).append(line)
    for key, some in alike.items():
        seeds = [_seeds(_begun_with(Path(line.name))) for line in some] if key.startswith("{") else []
        if len(some) > 1 and len({tuple(one) for one in seeds}) == len(some):
            yield Line(_shared_name([line.name for line in some]), tuple(line.name for line in some))
        else:
            yield from some


def _but_for_the_seed(line: Line) -> str:
    """What decides a run, as JSON, without its seeds; the line itself where it is not just a run folder."""
    run = Path(line.name)
    if line.models != (line.name,) or not (run / RUN).is_file():
        return repr(line)
    text = [json.loads((corpus / ABOUT).read_text(encoding="utf-8"))["fingerprint"] for corpus in _corpora(run)]
    return json.dumps({"run": _without_seeds(_begun_with(run)), "text": text}, sort_keys=True)


def _begun_with(run: Path) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads((run / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IsotropeError(f"{run / RUN}: can't be read ({error}); give {run / 'encoder'} instead") from error
    return settings


def _corpora(run: Path) -> list[Path]:
    places = [run / "corpus", *sorted(run.glob("stage-*/corpus"))]
    return [corpus for corpus in places if (corpus / ABOUT).is_file()]


def _without_seeds(settings: Any) -> Any:
    if isinstance(settings, dict):
        return {key: _without_seeds(value) for key, value in settings.items() if key != "seed"}
    return [_without_seeds(value) for value in settings] if isinstance(settings, list) else settings


def _seeds(settings: Any) -> list[Any]:
    """Every `seed` in the settings, in order."""
    if isinstance(settings, dict):
        return [seed for key, value in settings.items() for seed in ([value] if key == "seed" else _seeds(value))]
    return [seed for value in settings for seed in _seeds(value)] if isinstance(settings, list) else []


def _shared_name(runs: Sequence[str]) -> str:
    """`runs/x` for runs/x-1, runs/x-2; all names where they share none."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*runs, strict=False))
    shared = "".join(letters[0] for letters in alike).rstrip("-_.")
    return ", ".join(runs) if shared.endswith(("/", "\\")) or not shared else shared
