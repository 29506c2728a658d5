"""Everything that requests can reach: models, indexes, limits, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from isotrope.encoders import load_any
from isotrope.encoders.loading import Model, encoder_folder
from isotrope.evaluation.models import model_name
from isotrope.io.errors import IsotropeError
from isotrope.retrieval.searching import Index
from isotrope.retrieval.store import IndexFolder
from isotrope.serving.errors import RefusedError
from isotrope.serving.limits import Limits
from isotrope.serving.metrics import Metrics
from isotrope.serving.models import ServedModel

Models: TypeAlias = "Model | Sequence[Model] | Mapping[str, Model]"


@dataclass(frozen=True)
class ServedIndex:
    """An index under the name that requests give, and the model that it was made with."""

    name: str
    index: Index
    model: ServedModel

    def about(self) -> dict[str, Any]:
        """What `/info` says of it."""
        schema = self.index.files.schema
        columns = list(schema.names) if schema is not None else []
        return {"name": self.name, "rows": len(self.index), "model": self.model.name, "columns": columns}


@dataclass
class Service:
    """What is served."""

    limits: Limits
    normalize: bool = False
    models: dict[str, ServedModel] = field(default_factory=dict)
    indexes: dict[str, ServedIndex] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)

    def model(self, name: str | None = None) -> ServedModel:
        """By its name; without one the first."""
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            said = f"there is no model '{name}' here; available: {', '.join(self.models)}"
            raise RefusedError(404, said, "model_not_found", param="model")
        return self.models[name]

    def index(self, name: str | None = None) -> ServedIndex:
        """By its name; without one the first."""
        if not self.indexes:
            raise RefusedError(404, "no index is served; start with --index NAME=DIR", "index_not_found", param="index")
        if name is None:
            return next(iter(self.indexes.values()))
        if name not in self.indexes:
            said = f"there is no index '{name}' here; available: {', '.join(self.indexes)}"
            raise RefusedError(404, said, "index_not_found", param="index")
        return self.indexes[name]

    def add_model(self, name: str, model: Model, **options: Any) -> ServedModel:
        """Loads one more."""
        if name in self.models:
            raise IsotropeError(f"two models are called '{name}'; name them: NAME=MODEL")
        encoder = load_any(model, **options)
        self.models[name] = ServedModel(name, encoder, self.limits, self.metrics.observer(name))
        return self.models[name]

    def close(self) -> None:
        """Encodes what was taken, and ends the threads."""
        for model in self.models.values():
            model.batcher.close()


def open_service(
    models: Models,
    indexes: Mapping[str, str | Path] | None = None,
    *,
    limits: Limits | None = None,
    normalize: bool = False,
    device: str | None = None,
    precision: str | None = None,
) -> Service:
    """Loads models and indexes. The model of an index is served too."""
    service, given = Service(limits or Limits(), normalize), _named(models)
    if not given and not indexes:
        raise IsotropeError("no model was given")
    for name, model in given.items():
        service.add_model(name, model, device=device, precision=precision)
    for name, folder in (indexes or {}).items():
        service.indexes[name] = _served(service, name, Path(folder), given, {"device": device, "precision": precision})
    return service


def short_name(model: Model) -> str:
    """What requests call a model: a folder's own name, not where it lies; of a run's encoder, the run's."""
    name = model_name(model)
    if not isinstance(model, str | Path) or not Path(model).is_dir():
        return name
    path = Path(model).resolve()
    return path.parent.name if path.name == "encoder" else path.name


def _served(
    service: Service, name: str, folder: Path, given: Mapping[str, Model], options: dict[str, Any]
) -> ServedIndex:
    about = IndexFolder.open(folder).about
    for known, model in given.items():
        if not about.pooling and isinstance(model, str | Path) and _same(model, about.model):
            return ServedIndex(name, Index.open(folder, service.models[known].encoder), service.models[known])
    own = short_name(about.model) if short_name(about.model) not in service.models else f"{name}-index"
    added = service.add_model(own, about.model, pooling=about.pooling or None, **options)
    return ServedIndex(name, Index.open(folder, added.encoder), added)


def _same(one: str | Path, other: str) -> bool:
    if Path(one).is_dir() and Path(other).is_dir():
        return Path(encoder_folder(one)).resolve() == Path(encoder_folder(other)).resolve()
    return str(one) == other


def _named(models: Models) -> dict[str, Model]:
    """Names and models: of a mapping, of `NAME=MODEL`, or each by its own name."""
    if isinstance(models, Mapping):
        return dict(models)
    several = list(models) if isinstance(models, list | tuple) else [models]
    found: dict[str, Model] = {}
    for model in several:
        name, equals, rest = str(model).partition("=") if isinstance(model, str) else ("", "", "")
        plain = not equals or Path(str(model)).exists()
        if not plain and (not name or not rest):
            raise IsotropeError(f"'{model}': a model with a name is written NAME=MODEL")
        key = short_name(model) if plain else name
        if key in found:
            raise IsotropeError(f"two models are called '{key}'; name them: NAME=MODEL")
        found[key] = model if plain else rest
    return found
