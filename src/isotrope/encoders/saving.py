"""From an encoder to a plain sentence-transformers folder, which loads without isotrope and gives the same vectors."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from sentence_transformers.sentence_transformer.modules import WeightedLayerPooling
from torch import nn

from isotrope.encoders.card import model_card
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.atomic import whole_folder
from isotrope.io.checksums import write_sums

if TYPE_CHECKING:
    from isotrope.encoders.encoder import Encoder

CARD = "README.md"  # people add to it


def save(encoder: Encoder, folder: str | Path, *, card: str | None = None, force: bool = False) -> Path:
    """Writes the folder whole or not at all.

    Layers above the pooled one are left out; a mean of two layers becomes a WeightedLayerPooling module. `card` is
    Markdown that tells how the encoder was made, for the model card.
    """
    model = SentenceTransformer(
        modules=modules_of(encoder),
        device=str(encoder.device),
        prompts=encoder.prompts,
        default_prompt_name=encoder.default_prompt_name,
    )
    return write(model, folder, model_card(encoder, card), force=force)


def write(model: SentenceTransformer, folder: str | Path, card: str, *, force: bool = False) -> Path:
    """A model and its card, Markdown, to a folder that is whole or not there at all."""
    target = Path(folder)
    with whole_folder(target, force=force) as made:
        try:
            with quiet_transformers():
                model.save(str(made), create_model_card=False)
        except SafetensorError as error:  # how it says that the disk is full
            raise OSError(str(error)) from error
        (made / CARD).write_text(card, encoding="utf-8")
        write_sums(made, but=(CARD,))
        for file in made.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o644)
    return target


def modules_of(encoder: Encoder, *, all_layers: bool = False) -> list[nn.Module]:
    """The sentence-transformers modules that do what the encoder does. Weights are shared, not copied.

    With `all_layers` the transformer hands on every layer's token vectors, for modules that read them.
    """
    pooling, dim = encoder.pooling, encoder.backbone.dim
    used = pooling.mixed_layers(encoder.backbone.layers)
    model = _other_with_same_weights(_first_layers(encoder.backbone.model, used[-1]))
    model.config.output_hidden_states = all_layers or len(used) > 1
    transformer = copy.copy(encoder.transformer)
    transformer._modules = {**encoder.transformer._modules, "model": model}
    modules: list[nn.Module] = [transformer, TokenPooling(dim, pooling.reduction), *encoder.after_pooling]
    if len(used) > 1:
        weights = torch.zeros(used[-1] + 1 - used[0])
        weights[[layer - used[0] for layer in used]] = 1.0
        modules.insert(1, WeightedLayerPooling(dim, used[-1], used[0], nn.Parameter(weights)))
    return modules


def _other_with_same_weights(model: Any) -> Any:
    """A model of its own, with its own configuration and hooks, that shares every tensor."""
    return copy.deepcopy(model, {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())})


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
