"""From an encoder to a plain sentence-transformers folder, which loads without isotrope and gives the same vectors."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from torch import nn

from isotrope.encoders.card import model_card
from isotrope.encoders.progress import quiet_transformers
from isotrope.errors import IsotropeError

if TYPE_CHECKING:
    from isotrope.encoders.encoder import Encoder


def save(encoder: Encoder, folder: str | Path, *, card: str | None = None, force: bool = False) -> Path:
    """Writes the folder whole or not at all: it is made beside its place and then moved there.

    Layers above the pooled one are left out; a mean of two layers becomes a WeightedLayerPooling module. `card` is
    Markdown that tells how the encoder was made, for the model card.
    """
    target = Path(folder)
    if target.exists() and not force:
        raise IsotropeError(f"{target}: exists already; choose another folder, or force=True to replace it")
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        made.chmod(0o755)
        with quiet_transformers(), _modules(encoder) as modules:
            model = SentenceTransformer(
                modules=modules,
                device=str(encoder.device),
                prompts=encoder.prompts,
                default_prompt_name=encoder.default_prompt_name,
            )
            model.save(str(made), create_model_card=False)
        (made / "README.md").write_text(model_card(encoder, card), encoding="utf-8")
        for file in made.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o644)
        if target.exists():
            shutil.rmtree(target)
        os.replace(made, target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return target


@contextmanager
def _modules(encoder: Encoder) -> Iterator[list[nn.Module]]:
    """The sentence-transformers modules that do what the encoder does. Weights are shared, not copied."""
    pooling, dim = encoder.pooling, encoder.backbone.dim
    used = pooling.mixed_layers(encoder.backbone.layers)
    transformer = copy.copy(encoder.transformer)
    transformer._modules = {**encoder.transformer._modules, "model": _first_layers(encoder.backbone.model, used[-1])}
    modules: list[nn.Module] = [transformer, TokenPooling(dim, pooling.reduction), *encoder.tail]
    config = transformer.model.config
    if len(used) > 1:
        weights = torch.zeros(used[-1] + 1 - used[0])
        weights[[layer - used[0] for layer in used]] = 1.0
        modules.insert(1, WeightedLayerPooling(dim, used[-1], used[0], nn.Parameter(weights)))
        config.output_hidden_states = True
    try:
        yield modules
    finally:
        config.output_hidden_states = False


def _first_layers(model: Any, layers: int) -> Any:
    """The model cut off above layer `layers`; itself where that is the last."""
    if layers == model.config.num_hidden_layers:
        return model
    config = copy.deepcopy(model.config)
    config.num_hidden_layers = layers
    cut = type(model)(config).to(device=model.device, dtype=model.dtype)
    if getattr(model, "pooler", None) is None and hasattr(cut, "pooler"):
        cut.pooler = None
    weights = model.state_dict()
    cut.load_state_dict({name: weights[name] for name in cut.state_dict()})
    return cut.train(model.training)
