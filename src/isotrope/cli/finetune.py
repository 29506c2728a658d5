"""`isotrope finetune`: whether a tuned encoder is still as good a start for supervised fine-tuning."""

from typing import Annotated

import typer

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, Data, Device, Precision
from isotrope.io.errors import IsotropeError


def finetune(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    task: Annotated[str, typer.Option(help="qnli, sst2, cola, mrpc or rte.")],
    data: Data = None,
    seeds: Annotated[str, typer.Option(help="Seeds separated by commas, one run for each.")] = "1",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training rows.")] = 3,
    learning_rate: Annotated[float, typer.Option(min=0, help="Falls to 0 over the run.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(min=1, help="Training rows at a time.")] = 32,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Use only this many rows of each split, to try it out.", show_default="all"),
    ] = None,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a copy of a model on a GLUE task; the model itself is not changed.

    The epoch is chosen on the first tenth of the validation set and tested on the rest.

    [dim]Example:[/] isotrope finetune bundled --task rte --seeds 1,2,3
    """
    numbers = _seeds(seeds)
    prepare_hub([model], local_data=False)
    with console.waiting("Starting"):
        from isotrope.evaluation.finetuning import finetune as measure

    found = measure(
        model,
        task,
        data=data,
        seeds=numbers,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        limit=limit,
        device=device,
        precision=precision or "float32",
        display=console,
    )
    if found.note and not as_json:
        typer.echo(f"Note: {found.note}", err=True)
    console.print_result(found, as_json=as_json)


def _seeds(text: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(seed) for seed in text.split(",")))
    except ValueError as error:
        raise IsotropeError(f"--seeds takes whole numbers separated by commas, not '{text}'") from error
