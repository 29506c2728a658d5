"""`isotrope evaluate`: models, poolings and tasks in one table."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, BatchSize, Data, Device, Force, Precision, Split
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError

ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}


def _list_tasks(asked: bool) -> None:
    if not asked:
        return
    from isotrope.evaluation.tasks import known_tasks

    table = Table("Task", "Suites", "Metrics", "")
    for kind, spec in known_tasks().items():
        table.add_row(kind, ", ".join(spec.suites), ", ".join(spec.metrics), (spec.__doc__ or "").splitlines()[0])
    console.print_table(table)
    raise typer.Exit


Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL...", help=f"{MODEL_HELP} Or a run folder. NAME=RUN,RUN groups runs with different seeds."
    ),
]
Suite = Annotated[
    str | None,
    typer.Option(
        help="papers, sts, transfer, multilingual, arguments, domains or all: every task in it whose data is there, "
        "with averages, intervals, and marks for test text seen in training."
    ),
]
Tasks = Annotated[
    str | None,
    typer.Option(
        help="Names separated by commas, such as stsb,mr. sts17:track5.en-en or stsb-multi:de is one part of a task; "
        "package.module:name is a task of your own. --list shows all.",
        show_default="bundled, if nothing else is given",
    ),
]
OwnPairs = Annotated[
    list[str] | None,
    typer.Option(
        "--pairs", metavar="[NAME=]FILE", help="Your own pairs: sentence1, sentence2, score (or 0 and 1). Repeatable."
    ),
]
OwnClasses = Annotated[
    list[str] | None,
    typer.Option("--classes", metavar="[NAME=]FILE", help="Your own texts with classes: text, label. Repeatable."),
]
OwnRetrieval = Annotated[
    list[str] | None,
    typer.Option(
        "--retrieval", metavar="[NAME=]FILE", help="Your own queries: query, document, relevance. Repeatable."
    ),
]
ListTasks = Annotated[
    bool, typer.Option("--list", help="List all tasks and exit.", is_eager=True, callback=_list_tasks)
]
Poolings = Annotated[
    str | None,
    typer.Option(
        help="cls, mean, max, last2, first-last, cls-mlp, separated by commas; mean@2 is the mean at layer 2.",
        show_default="each model's own",
    ),
]
Classifier = Annotated[
    Literal["logistic", "mlp"],
    typer.Option(help="For transfer tasks; mlp has 50 hidden units, as in Table 9 of paper 1."),
]
Prototyping = Annotated[
    bool, typer.Option("--prototyping", help="Use SentEval's quick settings for transfer tasks instead of the papers'.")
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Seed of the classifiers in transfer tasks.", show_default="SentEval's, 1111")
]
Seeds = Annotated[int | None, typer.Option(min=1, help="Use this many seeds instead, 1, 2 ...; figures are means.")]
Cache = Annotated[bool, typer.Option("--cache/--no-cache", help="Reuse vectors that were computed before.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV, with one figure per line.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="Print LaTeX; it needs booktabs.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Also write a file: .json, .csv, .md or .tex.")]


def evaluate(
    models: Models,
    suite: Suite = None,
    tasks: Tasks = None,
    pairs: OwnPairs = None,
    classes: OwnClasses = None,
    retrieval: OwnRetrieval = None,
    pooling: Poolings = None,
    data: Data = None,
    split: Split = None,
    classifier: Classifier = "logistic",
    prototyping: Prototyping = False,
    seed: Seed = None,
    seeds: Seeds = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    precision: Precision = None,
    cache: Cache = True,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    output: Output = None,
    force: Force = False,
    list_tasks: ListTasks = False,
) -> None:
    """Measure encoders side by side: how well they match human judgements of similarity, and other tasks.

    [dim]Example:[/] isotrope evaluate minilm runs/first --pairs graded.csv
    """
    chosen = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
    formats = [name for name, wanted in chosen.items() if wanted]
    if len(formats) > 1:
        raise IsotropeError(f"choose one of {', '.join(f'--{name}' for name in formats)}")
    if seed is not None and seeds:
        raise IsotropeError("--seed and --seeds can't be used together; leave out one of them")
    if output:
        check_output(output, ENDINGS, force=force)
    names = _names(tasks)
    prepare_hub(models, local_data=not suite and names in ([], ["bundled"]))
    with console.waiting("Starting"):
        from isotrope.evaluation import evaluate as measure

    results = measure(
        models,
        names,
        pairs=pairs,
        classes=classes,
        retrieval=retrieval,
        suite=suite,
        data=data,
        pooling=_names(pooling),
        split=split,
        classifier=classifier,
        prototyping=prototyping,
        seeds=seeds if seed is None else [seed],
        batch_size=batch_size,
        device=device,
        precision=precision,
        cache=cache,
        display=console,
    )
    if formats:
        typer.echo(getattr(results, formats[0])(), nl=False)
    else:
        console.print_result(results)
    if output:
        with whole_or_nothing(output) as partial:
            partial.write_text(getattr(results, ENDINGS[output.suffix.lower()])(), encoding="utf-8")


def _names(text: str | None) -> list[str]:
    """`"a, b,a"` -> `["a", "b"]`."""
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
