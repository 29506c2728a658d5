"""`isotrope train`: an encoder tuned on raw text by a recipe, and what that changed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from isotrope.cli.console import many, print_json, print_result, print_table, resumable, waiting
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import (
    AllowCode,
    AsJson,
    Column,
    Columns,
    Data,
    Device,
    Join,
    OtherProcesses,
    Resume,
    RunFolder,
    StripHtml,
)
from isotrope.cli.report import WithReport, write_report
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub
from isotrope.text.files import file_kind, open_bytes
from isotrope.text.readable import check_readable
from isotrope.text.shaping import Shape
from isotrope.text.sources import HUB

if TYPE_CHECKING:
    from isotrope.recipes import Recipe

MEANINGS = {  # of the figures in the log, in the order in which they are shown
    "alignment": "distance between two views of a sentence: low is good",
    "uniformity": "how evenly the vectors are spread: low is good",
    "effective_rank": "number of directions in use: high is good",
    "mean_cosine": "of unrelated sentences: near 0 is good",
    "held_out_loss": "on text that was not trained on",
}

OUTCOMES = {
    "tuned": "The tuned encoder was kept.",
    "untuned": "The untuned encoder was kept; the tuned one is in {folder}/tried.",
}

Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...",
        help="Text: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; - (stdin); or hub:org/name.",
    ),
]
RecipeName = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        "-r",
        help="A name, name:variant, or a .toml of your own; see isotrope recipes.",
        show_default="one that suits the model; the result is kept only if it is judged better",
    ),
]
Purpose = Annotated[
    Literal["topics", "duplicates", "both"],
    typer.Option(
        "--for", help="Without a recipe: tune for finding texts on the same topic, texts that say the same, or both."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", help=MODEL_HELP, show_default="small; with a recipe bundled"),
]
Dev = Annotated[
    list[str] | None,
    typer.Option(
        help="Graded pairs to choose the best checkpoint by: bundled, stsb, or a table with score, sentence1, "
        "sentence2. For a recipe with several stages it may be given once for each.",
        show_default="none: the last checkpoint is kept",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a field of the recipe: objective.temperature=0.05. Repeatable."
    ),
]
Teacher = Annotated[
    str | None, typer.Option(help="The model that teaches, for recipes that have one.", show_default="the recipe's")
]
UnitOption = Annotated[
    Literal["sentence", "document", "auto"],
    typer.Option(
        "--unit",
        help="sentence: split every text into sentences. document: do not split. auto: split the texts of a file if "
        "more than a tenth of them have several sentences and are longer than the recipe reads.",
    ),
]


TrainingPrecision = Annotated[
    Literal["float32", "bfloat16", "float16", "auto"] | None,
    typer.Option(
        help="bfloat16 is faster on processors that support it, but less exact; auto uses it there, "
        "unless the encoder's similarities would change.",
        show_default="the recipe's, float32",
    ),
]
SeedCount = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of runs with different seeds, in OUTPUT/seed-1 and so on; shows how much they differ."
    ),
]


def train(
    corpus: Corpus,
    output: RunFolder,
    recipe: RecipeName = None,
    model: ModelName = None,
    dev: Dev = None,
    data: Data = None,
    settings: Settings = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Optimiser steps.", show_default="the recipe's")] = None,
    seed: Annotated[int | None, typer.Option(min=0, show_default="the recipe's")] = None,
    seeds: SeedCount = None,
    teacher: Teacher = None,
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    device: Device = None,
    purpose: Purpose = "both",
    unit: UnitOption = "auto",
    precision: TrainingPrecision = None,
    resume: Resume = False,
    with_report: WithReport = True,
    other_processes: OtherProcesses = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Tune an encoder on raw text. Without a recipe, one is chosen, and the result is kept only if it is better.

    [dim]Example:[/] isotrope train reviews.txt --output runs/reviews
    """
    from isotrope.training.processes import is_main_process
    from isotrope.training.run_folder import check_run

    model = model or ("bundled" if recipe else "small")
    chosen = dict(_setting(text) for text in settings or ())
    if is_main_process() and not seeds:  # which makes the folder, and the others may come later
        check_run(output, resume=resume)
    if seeds and "-" in corpus:
        raise IsotropeError("--seeds reads the text more than once; give files, not standard input")
    check_files(corpus)
    _check_text(corpus, Shape.of(columns, join, strip_html, column=column), column, recipe, chosen)
    resolved = _checked_recipe(recipe, chosen, corpus, allow_code) if recipe else None
    makes_text = resolved and any(stage.views.texts for stage in resolved.stages)  # by models of the Hub, it may be
    if makes_text or set(dev or ()) - {"bundled"} or any(source.startswith(HUB) for source in corpus):
        stay_offline_without_hub()
    check_models(_models(resolved, model, teacher) if resolved else [model])
    with waiting("Starting"):
        from isotrope.training.run import train as tune
        from isotrope.training.seeds import train_seeds
    arguments: dict[str, Any] = {
        "recipe": recipe,
        "model": model,
        "output": output,
        "steps": steps,
        "seed": seed,
        "precision": precision,
        "dev": dev or None,
        "data": data,
        "set": chosen,
        "teacher": teacher,
        "column": column,
        "columns": columns,
        "join": join,
        "strip_html": strip_html,
        "device": device,
        "purpose": purpose,
        "unit": unit,
        "resume": resume,
        "other_processes": other_processes,
    }
    text = [Path(source) for source in corpus]
    if seeds:
        several = train_seeds(text, seeds=seeds, **arguments)
        if is_main_process():
            page = write_report(several, output, device) if with_report else None
            print_result(several, as_json=as_json)
            if page and not as_json:
                typer.echo(f"\nReport on all runs: {page}")
        return
    with resumable(output):
        run = tune(text, **arguments)
    if is_main_process():
        page = write_report(run, output, device) if with_report else None
        found = {**run.as_json(), "recipe": recipe or run.recipe.full_name, "report": page}
        print_json(found) if as_json else _print_summary(found, dev[-1] if dev else None)


def _setting(text: str) -> tuple[str, str]:
    """`"objective.temperature=0.05"` -> key and value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise IsotropeError(f"--set {text}: write KEY=VALUE, such as objective.temperature=0.05")
    return key.strip(), value.strip()


def check_files(corpus: list[str]) -> None:
    """That they can be opened, before anything slow."""
    for source in corpus:
        if source != "-" and not source.startswith(HUB):
            file_kind(source)
            with open_bytes(source):
                pass


def _check_text(
    corpus: list[str], shape: Shape, column: str | None, recipe: str | None, chosen: dict[str, str]
) -> None:
    """That its first rows can be read, and have text where that is all that is asked for."""
    from isotrope import recipes

    if recipe:
        recipes.check_name(recipe)
    alone = recipe is None or recipes.reads_text_alone(recipe, chosen)
    check_readable(corpus, shape, column, ("text",) if alone else None)


def _checked_recipe(recipe: str, chosen: dict[str, str], corpus: list[str], allow_code: bool) -> "Recipe":
    """The recipe, after all that can be said about it and the files without reading them; what is quickest first."""
    from isotrope import recipes

    if not allow_code:
        recipes.check_code(recipe)
    resolved = recipes.load(recipe, chosen)
    if "-" in corpus and (len(resolved.stages) > 1 or resolved.stages[0].views.texts):
        raise IsotropeError(f"{recipe} reads its text more than once; give files, not standard input")
    return resolved


def _models(recipe: "Recipe", model: str, teacher: str | None) -> list[str]:
    """Every model that the run will load."""
    starts = [stage.start for stage in recipe.stages if stage.start not in ("previous", "model")]
    teachers = [name for stage in recipe.stages if (name := getattr(stage.guide, "model", None)) != "previous"]
    named = [model, *starts, *([teacher] if teacher else teachers)]
    return [name for name in dict.fromkeys(named) if name]


def _print_summary(found: dict[str, Any], dev: str | None) -> None:
    steps = f"{many(found['steps'], 'step')}, " if found["steps"] else ""
    typer.echo(f"{found['recipe'].removesuffix(':paper')} on {found['model']}: {steps}{found['seconds']:.1f} s\n")
    if found["outcome"]:
        outcome = found["outcome"]
        said = (OUTCOMES[outcome["kept"]].format(folder=found["output"]), outcome["because"], outcome["advice"])
        typer.echo("\n".join(filter(None, said)) + "\n")
    else:
        _print_figures(found, dev)
    typer.echo(f"The encoder is in {found['encoder']}:\n")
    typer.echo("    from sentence_transformers import SentenceTransformer")
    typer.echo(f'    vectors = SentenceTransformer({found["encoder"]!r}).encode(["A new sentence."])')
    if found["report"]:
        typer.echo(f"\nReport of what changed: {found['report']}")


def _print_figures(found: dict[str, Any], dev: str | None) -> None:
    table = Table("", box=None, padding=(0, 2, 0, 0))
    for heading in ("Before", "After"):
        table.add_column(heading, justify="right")
    table.add_column()
    if found["dev"]:
        before, after = (f"{found['dev'][when]:.2f}" for when in ("before", "after"))
        table.add_row("Spearman x 100", before, f"[bold]{after}[/]", f"on {dev}, against the grades that people gave")
    for name, figure in found["figures"].items():
        table.add_row(
            name.replace("_", " ").replace("held out", "held-out").capitalize(),
            f"{figure['before']:.3g}",
            f"{figure['after']:.3g}",
            f"[dim]{MEANINGS[name]}[/]",
        )
    if table.row_count:
        print_table(table)
        typer.echo("\nThis is how the vectors are spread, not whether they are better: isotrope compare judges that.\n")
