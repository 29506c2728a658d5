"""What each layer of an encoder knows about similarity, under each pooling: paper 1, Figure 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from isotrope.encoders import Encoder
from isotrope.evaluation.sts import SAME, Floats, Pairs, correlate
from isotrope.io.errors import IsotropeError, nearest

POOLINGS = ("cls", "mean", "max")
PAIRS_PER_BATCH = 32
# name in the picture, colour (Okabe and Ito's, told apart by the colour-blind) and marker
STYLES = {"cls": ("[CLS]", "#D55E00", "o"), "mean": ("mean", "#0072B2", "s"), "max": ("max", "#009E73", "^")}


@dataclass(frozen=True)
class LayerMap:
    """Spearman x 100 by pooling, then by layer; layer 0 is the embeddings.

    nan for [CLS] at layer 0, which has seen nothing of its sentence: all cosines are 1.
    """

    model: str
    spearman: dict[str, list[float]]

    @property
    def best(self) -> tuple[str, int]:
        """Pooling and layer of the highest figure."""
        figures = {(p, k): f for p, line in self.spearman.items() for k, f in enumerate(line) if not math.isnan(f)}
        return max(figures, key=figures.__getitem__)


@torch.no_grad()
def layer_map(encoder: Encoder, pairs: Pairs, poolings: Sequence[str] = POOLINGS) -> LayerMap:
    """Every layer under every pooling (`cls`, `mean`, `max`), from one pass over the text; all pairs are merged.

    Just the cosines are kept, so memory does not grow with layers x sentences x dim.
    """
    for name in poolings:
        if name not in POOLINGS:
            raise IsotropeError(
                f"a layer map has no pooling '{name}'{nearest(name, POOLINGS)}; it takes cls, mean, max"
            )
    was_training = encoder.training
    encoder.eval()
    poolers = [encoder.with_pooling(name) for name in poolings]
    prompt = encoder.default_prompt
    cosines = torch.empty(len(poolings), encoder.backbone.layers + 1, len(pairs.scores), dtype=torch.float64)
    order = sorted(range(len(pairs.scores)), key=lambda i: -len(pairs.sentences1[i] + pairs.sentences2[i]))
    for start in range(0, len(order), PAIRS_PER_BATCH):
        some = order[start : start + PAIRS_PER_BATCH]
        batch = encoder.batch([prompt + side[i] for side in (pairs.sentences1, pairs.sentences2) for i in some])
        for layer, hidden in enumerate(encoder.backbone.hidden_states(batch)):
            for p, pooler in enumerate(poolers):
                first, second = pooler.pool(batch, hidden).cpu().double().chunk(2)  # (pairs, dim) each
                cosines[p, layer, some] = functional.cosine_similarity(first, second)
    encoder.train(was_training)
    gold = np.array(pairs.scores)
    figures = {
        name: [_spearman(line[layer], gold, f"{name}@{layer}") for layer in range(len(line))]
        for name, line in zip(poolings, cosines.numpy(), strict=True)
    }
    return LayerMap(encoder.name, figures)


def _spearman(cosines: Floats, gold: Floats, name: str) -> float:
    if name == "cls@0" and np.allclose(cosines, 1, rtol=0, atol=SAME):
        return math.nan
    return correlate(cosines, gold, name).spearman


def plot(layer_map: LayerMap, path: str | Path) -> None:
    """Draws the map as lines, one per pooling; the ending of `path` says the format (.png, .svg, .pdf)."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise IsotropeError("a picture needs matplotlib: pip install 'isotrope[plots]'") from error

    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    for pooling, line in layer_map.spearman.items():
        label, colour, marker = STYLES[pooling]
        axes.plot(range(len(line)), line, color=colour, marker=marker, markersize=5, label=label)
    pooling, layer = layer_map.best
    peak = layer_map.spearman[pooling][layer]
    axes.annotate(
        f"{peak:.2f}", (layer, peak), (0, 7), textcoords="offset points", ha="center", color=STYLES[pooling][1]
    )
    axes.set(xlabel="Layer (0: embeddings)", ylabel="Spearman x 100", title=layer_map.model)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.1)
    axes.grid(axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="Pooling", frameon=False)
    try:
        figure.savefig(path, dpi=200)
    except (OSError, ValueError) as error:
        raise IsotropeError(f"{path}: the picture can't be written ({' '.join(str(error).split())[:150]})") from error
