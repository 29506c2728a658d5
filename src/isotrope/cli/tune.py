"""`isotrope tune`: several recipes within a budget; the best encoder, or an honest no."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from isotrope.cli.console import print_result, resumable, waiting
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import AllowCode, AsJson, Column, Columns, Data, Device, Join, Resume, StripHtml
from isotrope.cli.report import WithReport, write_report
from isotrope.cli.train import Corpus, UnitOption, check_files
from isotrope.io.durations import seconds_of
from isotrope.io.hub import stay_offline_without_hub
from isotrope.text.sources import HUB

Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="Folder for the results: the encoder in `encoder/`, every trial in `trials/`."),
]
Budget = Annotated[
    str, typer.Option(help="How long it may take: 90s, 20m, 1h30m. A trial that has started is finished.")
]
Purpose = Annotated[
    Literal["topics", "duplicates", "both"],
    typer.Option("--for", help="Tune for finding texts on the same topic, texts that say the same, or both."),
]
Candidates = Annotated[
    str | None,
    typer.Option(
        help="Recipes for plain text, separated by commas: smooth,consert:gentle,mine.toml.",
        show_default="those that suit the model",
    ),
]
Dev = Annotated[
    str | None,
    typer.Option(
        help="Graded pairs to rank trials by: bundled, stsb, or a table with score, sentence1, sentence2.",
        show_default="the verdict of `isotrope compare` on held-out text",
    ),
]


def tune(
    corpus: Corpus,
    output: Output,
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)] = "small",
    budget: Budget = "20m",
    purpose: Purpose = "both",
    dev: Dev = None,
    data: Data = None,
    candidates: Candidates = None,
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    device: Device = None,
    unit: UnitOption = "auto",
    seed: Annotated[int | None, typer.Option(min=0, show_default="the recipes'")] = None,
    resume: Resume = False,
    with_report: WithReport = True,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Try several recipes on raw text within a time budget; keep the best encoder, or the untuned one.

    [dim]Example:[/] isotrope tune tickets.txt --model minilm --output runs/tickets --budget 20m
    """
    from isotrope import recipes
    from isotrope.training.run_folder import check_run

    seconds_of(budget)
    named = [name.strip() for name in candidates.split(",") if name.strip()] if candidates is not None else None
    for name in named or ():
        recipes.check_name(name)
        if not allow_code:
            recipes.check_code(name)
    check_run(output, resume=resume)
    check_files(corpus)
    if (dev and dev != "bundled") or any(source.startswith(HUB) for source in corpus):
        stay_offline_without_hub()
    check_models([model])
    with waiting("Starting"):
        from isotrope.training.tuning import tune as search
    with resumable(output):
        found = search(
            [Path(source) for source in corpus],
            model,
            output,
            budget=budget,
            purpose=purpose,
            dev=dev,
            data=data,
            candidates=named,
            column=column,
            columns=columns,
            join=join,
            strip_html=strip_html,
            device=device,
            unit=unit,
            seed=seed,
            resume=resume,
        )
    page = write_report(found, output, device) if with_report else None
    print_result(found, as_json=as_json)
    if page and not as_json:
        typer.echo(f"Report on all trials: {page}")
