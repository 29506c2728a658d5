"""What people give as a model: names, folders, run folders, encoders in memory, seeds that share a row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

from sentence_transformers import SentenceTransformer

from isotrope.encoders import Encoder, ForeignEncoder, load, load_any
from isotrope.encoders.availability import check_names
from isotrope.encoders.loading import Model as Model
from isotrope.encoders.loading import encoder_folder
from isotrope.evaluation.provenance import is_run, run_settings, run_text
from isotrope.io.errors import IsotropeError

Models: TypeAlias = "Model | Sequence[Model] | Mapping[str, Model | Sequence[Model]]"


@dataclass(frozen=True)
class ModelGroup:
    """A row of a table: its name, and the models that are its seeds; mostly just one."""

    name: str
    models: tuple[Model, ...]


def group_models(models: Models) -> list[ModelGroup]:
    """One group per model. A mapping names groups, and so does `NAME=A,B,C`; run folders that differ in nothing but
    their seed are one group.
    """
    if isinstance(models, Mapping):
        return [ModelGroup(name, tuple(_several(given))) for name, given in models.items()]
    named: dict[str, list[Model]] = {}
    groups: list[ModelGroup | str] = []  # a name stands for its group, which may not be complete yet
    for model in _several(models):
        name, equals, members = model.partition("=") if isinstance(model, str) else (model, "", "")
        if not equals or Path(str(model)).exists():
            groups.append(ModelGroup(model_name(model), (model,)))
            continue
        if not name or not all(members.split(",")):
            raise IsotropeError(f"'{model}': a row of several models is written NAME=MODEL,MODEL")
        if name not in named:
            groups.append(str(name))
        named.setdefault(str(name), []).extend(members.split(","))
    whole = [ModelGroup(one, tuple(named[one])) if isinstance(one, str) else one for one in groups]
    return list(_joined(whole))


def model_name(model: Model) -> str:
    """What a table calls it."""
    return str(model) if isinstance(model, str | Path) else getattr(model, "name", "") or type(model).__name__


def check_models(models: Iterable[Model], poolings: Iterable[str] = ()) -> None:
    """Refuses names that are no models, before anything long begins."""
    check_names((encoder_folder(model) for model in models if isinstance(model, str | Path)), poolings)


def open_model(model: Model, *, device: str | None = None, precision: str | None = None) -> Encoder | ForeignEncoder:
    """The encoder of a model, for all that needs vectors only. One in memory is used as it is, not copied."""
    return load_any(_source(model), **_placed(model, device, precision))


def open_transformer(model: Model, *, device: str | None = None, precision: str | None = None) -> Encoder:
    """The encoder of a model, for what looks into its layers."""
    return load(_source(model), **_placed(model, device, precision))


def _source(model: Model) -> Model:
    return encoder_folder(model) if isinstance(model, str | Path) else model


def _placed(model: Model, device: str | None, precision: str | None) -> dict[str, Any]:
    if precision is None:
        return {"device": device}
    if not isinstance(model, str | Path):
        raise IsotropeError(f"'{model_name(model)}' is loaded already; choose its precision where it is loaded")
    return {"device": device, "precision": precision}


def _several(models: Model | Sequence[Model]) -> list[Model]:
    """One model or several, as a list. A SentenceTransformer is a sequence of modules, but one model."""
    alone = isinstance(models, str | Path | Encoder | ForeignEncoder | SentenceTransformer)
    found: list[Model] = [models] if alone else list(models)  # type: ignore[arg-type]
    if not found:
        raise IsotropeError("no model was given")
    return found


# -- seeds of one run -------------------------------------------------------------------------------------------------


def _joined(groups: Sequence[ModelGroup]) -> Iterator[ModelGroup]:
    """Groups that are one run folder each become one where those runs differ in their seed alone."""
    alike: dict[str, list[ModelGroup]] = {}
    for number, group in enumerate(groups):
        alike.setdefault(_run_without_seed(group) or f"{group.name} {number}", []).append(group)
    for key, some in alike.items():
        seeds = [_seeds(run_settings(Path(group.name))) for group in some] if key.startswith("{") else []
        if len(some) > 1 and len({tuple(one) for one in seeds}) == len(some):
            yield ModelGroup(_shared_name([group.name for group in some]), tuple(group.name for group in some))
        else:
            yield from some


def _run_without_seed(group: ModelGroup) -> str:
    """What decides a run, as JSON, without its seeds; nothing where a group is not just a run folder."""
    if [str(model) for model in group.models if isinstance(model, str | Path)] != [group.name] or not is_run(
        group.name
    ):
        return ""
    run = Path(group.name)
    return json.dumps({"run": _without_seeds(run_settings(run)), "text": run_text(run)}, sort_keys=True)


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
