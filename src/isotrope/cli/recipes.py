"""`isotrope recipes`: which there are, what they say, and your own from one of them."""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import print_table
from isotrope.cli.options import AllowCode, Force
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError

Name = Annotated[str, typer.Argument(metavar="NAME[:VARIANT]", help="A recipe, such as sg-opt or sg-opt:official.")]
app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def recipes(context: typer.Context) -> None:
    """List, show, copy and check recipes."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def overview() -> None:
    """List the recipes: what each does, the columns it needs, its variants and its paper."""
    from isotrope import recipes as library

    table = Table("Recipe", "What it does", "Columns", "Variants", "Paper")
    table.columns[0].no_wrap = True
    for row in library.overview():
        columns = "; then ".join(dict.fromkeys(", ".join(stage) for stage in row.columns))
        columns += f" ({', '.join(row.made)} {'are' if len(row.made) > 1 else 'is'} made from it)" if row.made else ""
        table.add_row(*map(escape, (row.name, row.about, columns, ", ".join(row.variants), _authors(row.paper))))
    print_table(table)


@app.command()
def show(
    name: Name,
    source: Annotated[
        bool, typer.Option("--source", help="Print the file itself, with comments and variants.")
    ] = False,
    allow_code: AllowCode = False,
) -> None:
    """Print a recipe with all its numbers, including defaults.

    [dim]Example:[/] isotrope recipes show sg-opt:official
    """
    from isotrope import recipes as library

    if not allow_code:
        library.check_code(name)
    recipe = library.load(name)
    typer.echo((library.source(name) if source else library.to_toml(recipe)).rstrip())


@app.command()
def copy(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Where to write it.")],
    force: Force = False,
    allow_code: AllowCode = False,
) -> None:
    """Copy a recipe, with comments and variants, to change it.

    [dim]Example:[/] isotrope recipes copy sg-opt mine.toml
    """
    from isotrope import recipes as library

    if not allow_code:
        library.check_code(name)
    recipe = library.load(name)
    check_output(file, (".toml",), force=force)
    with whole_or_nothing(file) as partial:
        partial.write_text(library.source(name), encoding="utf-8")
    variant = "" if recipe.variant == "paper" else f":{recipe.variant}"
    typer.echo(f"{file}: use it with isotrope train CORPUS --recipe {file}{variant}")


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE.toml...", help="Your own recipes.")],
    allow_code: AllowCode = False,
) -> None:
    """Check recipes, with all their variants, without running them.

    [dim]Example:[/] isotrope recipes check mine.toml
    """
    problems = list(filter(None, (_problem(file, allow_code) for file in files)))
    if problems:
        raise IsotropeError("; ".join(problems))


def _problem(file: str, allow_code: bool) -> str | None:
    """What is wrong with the first variant that does not load; a line is printed where all of them do."""
    from isotrope import recipes as library

    try:
        variants = library.variants(file)
        if not allow_code:
            library.check_code(file)
        for code in library.foreign_code(file):
            typer.echo(f"{file}: imports {code}")
        for variant in variants:
            library.load(f"{file}:{variant}")
    except IsotropeError as error:
        return error.for_shell
    typer.echo(f"{file}: fine ({', '.join(variants)})")
    return None


def _authors(paper: str) -> str:
    """`Kim, Yoo & Lee 2021, Self-Guided ...` -> `Kim, Yoo & Lee 2021`; without a year, what is before the title."""
    found = re.match(r".*?\b\d{4}\b", paper)
    return found[0] if found else paper.partition(",")[0]
