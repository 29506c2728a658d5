"""`isotrope baseline`: what tuned encoders are measured against, each saved as an encoder like any other."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from isotrope.cli.console import many, waiting
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import Column, Device, Precision
from isotrope.cli.settings import KindSettings, read_settings
from isotrope.io.hub import stay_offline_without_hub
from isotrope.text.sources import HUB

Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="whitening, flow, wk, frequent, glove, tfidf, words, ct, tsdae, use, or package.module:function.",
    ),
]
Corpus = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CORPUS]...",
        help="Text to fit on: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; - (stdin); or hub:org/name.",
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(help="As for encode.", show_default="the model's own; flow: last2, ct: mean, tsdae: cls"),
]
Dim = Annotated[
    int | None,
    typer.Option(min=1, help="whitening, tfidf: dimensions to keep.", show_default="all; tfidf: 20,000 words"),
]
Top = Annotated[
    int | None,
    typer.Option(min=0, help="frequent: how many tokens to leave out, [CLS] and [SEP] included.", show_default="34"),
]
Steps = Annotated[
    int | None, typer.Option(min=1, help="flow, ct, tsdae: optimiser steps.", show_default="once through the text")
]
WordVectors = Annotated[
    Path | None,
    typer.Option(help="glove: a text file with word vectors, also .gz.", show_default="GloVe 6B, 50 dimensions"),
]


def baseline(
    kind: Kind,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the encoder.")],
    corpus: Corpus = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP, show_default="bundled")] = None,
    pooling: Pooling = None,
    dim: Dim = None,
    top: Top = None,
    steps: Steps = None,
    seed: Annotated[int | None, typer.Option(min=0, help="flow, ct, tsdae: random seed.", show_default="1")] = None,
    vectors: WordVectors = None,
    settings: KindSettings = None,
    column: Column = None,
    device: Device = None,
    precision: Precision = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
) -> None:
    """Fit a baseline on raw text, or train a reference model, and save it as an encoder.

    [dim]Example:[/] isotrope baseline whitening sentences.txt --model bundled --output runs/white
    """
    options: dict[str, Any] = {"model": model, "pooling": pooling, "dim": dim, "top": top, "steps": steps, "seed": seed}
    options |= {"vectors": vectors, "device": device, "precision": precision}
    given = {name: value for name, value in options.items() if value is not None} | read_settings(settings)
    if any(source.startswith(HUB) for source in corpus or ()):
        stay_offline_without_hub()
    check_models([model] if model else [], [pooling] if pooling else [])
    with waiting("Starting"):
        from isotrope.baselines import fit_baseline
        from isotrope.text.arrays import open_table
        from isotrope.text.corpus import KEYS

    began = time.monotonic()
    text = [Path(source) for source in corpus] if corpus else None
    made = fit_baseline(kind, text, output=output, force=force, column=column, show_progress=True, **given)
    seen = len(open_table(output / KEYS))
    fitted = f"{many(seen, 'sentence')}, " if seen else ""
    typer.echo(f"{output}: {kind}, {made.dim} dimensions, {fitted}{time.monotonic() - began:.1f} s")
