"""`isotrope pretrain`: a small BERT from raw text."""

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli.console import waiting
from isotrope.cli.options import Device, OtherProcesses, Precision, Resume, RunFolder
from isotrope.io.errors import IsotropeError
from isotrope.text import read_sentences

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE[:WEIGHT]...",
        help="Sentences to train on, in any format that encode reads. With weight 2 each is read twice in an epoch, "
        "with 0.5 every other one is.",
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(
        help="Folder of a masked language model to continue from, with its vocabulary and sizes.",
        show_default="start from nothing",
        exists=True,
        file_okay=False,
    ),
]
Tokenizer = Annotated[
    Path | None,
    typer.Option(help="Folder with the vocabulary to use.", show_default="learn one", exists=True, file_okay=False),
]


def pretrain(
    files: Files,
    output: RunFolder,
    steps: Annotated[int, typer.Option(min=1, help="Optimiser steps.")] = 16_000,
    batch_tokens: Annotated[int, typer.Option(min=64, help="Tokens per step.")] = 2048,
    start: Start = None,
    layers: Annotated[int, typer.Option(min=1)] = 4,
    dim: Annotated[int, typer.Option(min=1, help="Width of a layer.")] = 256,
    heads: Annotated[int, typer.Option(min=1, help="Attention heads.")] = 4,
    positions: Annotated[int, typer.Option(min=8, help="Longest sentence, in tokens.")] = 128,
    vocabulary: Annotated[int, typer.Option(min=200, help="Word pieces to learn.")] = 8192,
    tokenizer: Tokenizer = None,
    masked: Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of the tokens to predict.")] = 0.2,
    learning_rate: Annotated[float, typer.Option(min=0, help="Highest learning rate.")] = 1e-3,
    warmup: Annotated[int, typer.Option(min=0, help="Steps to reach it.")] = 300,
    weight_decay: Annotated[float, typer.Option(min=0)] = 0.01,
    precision: Precision = "float32",
    save_steps: Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")] = 500,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    device: Device = None,
    resume: Resume = False,
    other_processes: OtherProcesses = False,
) -> None:
    """Pre-train a small BERT on raw text: vocabulary, word vectors, masked language modelling.

    [dim]Example:[/] isotrope pretrain news.txt.gz books.txt.gz:0.5 --output runs/small
    """
    weights = dict(_weighted(file) for file in files)
    if not resume:
        _check_text(weights)
    with waiting("Starting"):
        from isotrope.training.pretrain import Pretraining
        from isotrope.training.pretrain import pretrain as train
        from isotrope.training.processes import is_main_process
    config = Pretraining(
        files=weights,
        start=str(start) if start else None,
        tokenizer=str(tokenizer) if tokenizer else None,
        vocabulary=vocabulary,
        layers=layers,
        dim=dim,
        heads=heads,
        positions=positions,
        masked=masked,
        batch_tokens=batch_tokens,
        steps=steps,
        learning_rate=learning_rate,
        warmup=warmup,
        weight_decay=weight_decay,
        precision=precision or "float32",
        save_steps=save_steps,
        seed=seed,
    )
    figures = train(config, output, device=device, resume=resume, other_processes=other_processes)
    if is_main_process():
        typer.echo(
            f"{output / 'encoder'}: held-out loss {figures['loss']:.3f}, accuracy {100 * figures['accuracy']:.1f}% "
            f"after {figures['tokens']:,.0f} tokens"
        )


def _weighted(text: str) -> tuple[str, float]:
    """`"file:2"` -> file and weight; 1 where none is given."""
    path, colon, weight = text.rpartition(":")
    if not colon or Path(text).exists():
        return text, 1.0
    try:
        number = float(weight)
    except ValueError:
        return text, 1.0
    if not 0 < number < float("inf"):
        raise IsotropeError(f"{path}: a weight must be above 0, not {weight}")
    return path, number


def _check_text(files: dict[str, float]) -> None:
    """Reads everything through once, so that a bad line is found before anything is written."""
    for file in files:
        if file == "-":
            raise IsotropeError("pretrain reads its text several times; give files, not standard input")
        with waiting(f"Reading {file}"):
            for _ in read_sentences(file):
                pass
