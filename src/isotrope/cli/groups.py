"""`isotrope paraphrases`, `isotrope duplicates` and `isotrope cluster`: texts of a table that belong together."""

from pathlib import Path
from typing import Annotated, Any

import typer

from isotrope.cli import console
from isotrope.cli.models import check_models
from isotrope.cli.options import AsJson, Force
from isotrope.cli.tables import ModelName, TableFile, reads_a_table
from isotrope.io.atomic import check_output

TABLES = (".parquet",)

Whole = Annotated[
    bool, typer.Option("--whole", help="Include greetings, signatures and placeholders, which are ignored otherwise.")
]


@reads_a_table
def paraphrases(
    table: TableFile,
    model: ModelName = "small",
    most: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 20,
    whole: Whole = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """List the most similar pairs of different texts.

    [dim]Example:[/] isotrope paraphrases questions.txt --most 50
    """
    check_models([model])
    from isotrope.retrieval.duplicates import paraphrases as find

    with console.waiting("Comparing"):
        found = find(table, model, most=most, whole=whole, **options)
    console.print_result(found, as_json=as_json)


@reads_a_table
def duplicates(
    table: TableFile,
    model: ModelName = "small",
    threshold: Annotated[
        float | None,
        typer.Option(help="Cosine above which texts say the same.", show_default="estimated from the text"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .parquet file: the table with a column duplicate_of.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Include placeholders such as N/A, which are ignored otherwise.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Find groups of rows that say the same or almost the same.

    [dim]Example:[/] isotrope duplicates tickets.csv --column Subject --output marked.parquet
    """
    if output is not None:  # before torch, which takes seconds to import
        check_output(output, TABLES, force=force)
    check_models([model])
    from isotrope.retrieval.duplicates import duplicates as find

    with console.waiting("Comparing"):
        found = find(table, model, threshold=threshold, output=output, whole=whole, force=force, **options)
    console.print_result(found, as_json=as_json)
    console.print_written(output, as_json=as_json)


@reads_a_table
def cluster(
    table: TableFile,
    model: ModelName = "small",
    clusters: Annotated[
        int | None, typer.Option(min=1, help="How many clusters.", show_default="estimated from the text")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .parquet file: the table with the cluster of each row.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed may group a little differently.")] = 0,
    whole: Whole = False,
    force: Force = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Group the texts of a table by meaning, and name each group by its typical words.

    [dim]Example:[/] isotrope cluster tickets.csv --columns Subject,Body --join ". "
    """
    if output is not None:  # before torch, which takes seconds to import
        check_output(output, TABLES, force=force)
    check_models([model])
    from isotrope.retrieval.clustering import cluster as find

    with console.waiting("Clustering"):
        found = find(table, model, clusters=clusters, output=output, seed=seed, whole=whole, force=force, **options)
    console.print_result(found, as_json=as_json)
    console.print_written(output, as_json=as_json)
