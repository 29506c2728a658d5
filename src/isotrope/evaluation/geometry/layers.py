"""What each layer of an encoder knows about similarity, under each pooling: paper 1, Figure 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.table import Table
from torch.nn import functional

from isotrope.encoders import Encoder
from isotrope.evaluation.correlation import SAME, Floats, correlate
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.geometry.pictures import new_figure, save
from isotrope.evaluation.models import Model, check_models, model_name, open_transformer
from isotrope.evaluation.protocols import SILENT, Display
from isotrope.evaluation.results.printing import Printable
from isotrope.evaluation.tasks import AnyTask, load_pairs, read_task
from isotrope.io.errors import IsotropeError, nearest

POOLINGS = ("cls", "mean", "max")
PAIRS_PER_BATCH = 32
# name in the picture, colour (Okabe and Ito's, told apart by the colour-blind) and marker
STYLES = {"cls": ("[CLS]", "#D55E00", "o"), "mean": ("mean", "#0072B2", "s"), "max": ("max", "#009E73", "^")}


def layers(
    model: Model,
    task: AnyTask = "bundled",
    *,
    data: str | Path | None = None,
    split: str | None = None,
    device: str | None = None,
    precision: str | None = None,
    display: Display = SILENT,
) -> LayerMap:
    """Maps every layer of a model under [CLS], mean and max pooling.

    Args:
        model: A name, a model folder, the folder of a run, an `Encoder` or a `SentenceTransformer`.
        task: Graded pairs to measure on, by the name of a task.
        data: Folder of data sets; by default `$ISOTROPE_DATA`, else the Hugging Face Hub.
        split: `train`, `dev` or `test`, where the task has it.
        device: `cpu`, `cuda`, `cuda:1`, `mps` ...; by default the fastest there is.
        precision: `float32` or `bfloat16`, for a model that is loaded by name.
        display: Shows progress; by default nothing is shown.

    Returns:
        The map, which prints as a table and can be drawn.

    >>> found = layers("bundled", split="dev")
    >>> found.best
    ('cls', 4)
    """
    name = read_task(task).name
    with display.waiting(f"Reading {name}"):
        pairs = load_pairs(task, data=Path(data) if data else None, split=split)
    check_models([model])
    with display.waiting(f"Loading {model_name(model)}"):
        encoder = open_transformer(model, device=device, precision=precision)
    with display.waiting(f"{model_name(model)}: {name}"):
        return replace(layer_map(encoder, pairs), model=model_name(model), task=name, split=split or "test")


@dataclass(frozen=True, repr=False)
class LayerMap(Printable):
    """Spearman x 100 by pooling, then by layer; layer 0 is the embeddings.

    nan for [CLS] at layer 0, which has seen nothing of its sentence: all cosines are 1.
    """

    model: str
    spearman: dict[str, list[float]]
    task: str = ""
    split: str = "test"

    @property
    def best(self) -> tuple[str, int]:
        """Pooling and layer of the highest figure."""
        figures = {(p, k): f for p, line in self.spearman.items() for k, f in enumerate(line) if not math.isnan(f)}
        return max(figures, key=figures.__getitem__)

    def parts(self) -> Iterator[Table | str]:
        """A row for each layer, and the best."""
        pooling, layer = self.best
        table = Table("Layer", title=f"Spearman x 100 on {self.task}, {self.split}", title_justify="left")
        for name in self.spearman:
            table.add_column(name, justify="right")
        for number, figures in enumerate(zip(*self.spearman.values(), strict=True)):
            cells = ("-" if math.isnan(figure) else f"{figure:.2f}" for figure in figures)
            row = dict(zip(self.spearman, cells, strict=True))
            if number == layer:
                row[pooling] = f"[bold]{row[pooling]}[/]"
            table.add_row(f"{number}" if number else "0 (embeddings)", *row.values())
        yield table
        yield f"Best: pooling {pooling}@{layer} ({self.spearman[pooling][layer]:.2f})"

    def as_dict(self) -> dict[str, Any]:
        """Figures to two decimals; null where there is none."""
        pooling, layer = self.best
        figures = {
            name: [None if math.isnan(figure) else round(figure, 2) for figure in line]
            for name, line in self.spearman.items()
        }
        best = {"pooling": pooling, "layer": layer, "spearman": figures[pooling][layer]}
        return {"model": self.model, "task": self.task, "split": self.split, "spearman": figures, "best": best}

    def plot(self, path: str | Path) -> None:
        """Draws the map as lines, one per pooling; the ending of `path` is the format (.png, .svg, .pdf)."""
        plot(self, path)


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
    """Draws the map as lines, one per pooling; the ending of `path` is the format (.png, .svg, .pdf)."""
    figure = new_figure((6.4, 4))
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
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.1)
    axes.grid(axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="Pooling", frameon=False)
    save(figure, path)
