"""`isotrope paraphrases`, `isotrope duplicates` and `isotrope cluster`: texts of a table that belong together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import AsJson, BatchSize, Column, Columns, Device, Force, Join, Precision, StripHtml

TableFile = Annotated[str, typer.Argument(metavar="TABLE", help="Text: .csv, .tsv, .jsonl, .parquet or .txt.")]
ModelName = Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)]


def paraphrases(
    table: TableFile,
    model: ModelName = "small",
    most: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 20,
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    batch_size: BatchSize = 32,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
) -> None:
    """List the pairs of different texts that are most similar.

    [dim]Example:[/] isotrope paraphrases questions.txt --most 50
    """
    named = {"column": column, "columns": columns, "join": join, "strip_html": strip_html}
    check_models([model])
    from isotrope.retrieval.duplicates import paraphrases as find

    options: dict[str, Any] = {**named, "batch_size": batch_size, "device": device, "precision": precision}
    with console.waiting("Comparing"):
        found = find(table, model, most=most, **options)
    console.print_result(found, as_json=as_json)


def duplicates(
    table: TableFile,
    model: ModelName = "small",
    threshold: Annotated[
        float | None, typer.Option(help="Cosine of texts that say the same.", show_default="suggested by the text")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .parquet: the table and a column duplicate_of.")
    ] = None,
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    batch_size: BatchSize = 32,
    device: Device = None,
    precision: Precision = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find groups of rows that say the same, or almost.

    [dim]Example:[/] isotrope duplicates tickets.csv --column Subject --output marked.parquet
    """
    named = {"column": column, "columns": columns, "join": join, "strip_html": strip_html}
    check_models([model])
    from isotrope.retrieval.duplicates import duplicates as find

    options: dict[str, Any] = {**named, "batch_size": batch_size, "device": device, "precision": precision}
    with console.waiting("Comparing"):
        found = find(table, model, threshold=threshold, output=output, force=force, **options)
    console.print_result(found, as_json=as_json)


def cluster(
    table: TableFile,
    model: ModelName = "small",
    clusters: Annotated[int | None, typer.Option(min=1, help="How many.", show_default="suggested by the text")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .parquet: the table, and the cluster of each row.")
    ] = None,
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    batch_size: BatchSize = 32,
    device: Device = None,
    precision: Precision = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Group the texts of a table by meaning, and name each group by its words.

    [dim]Example:[/] isotrope cluster tickets.csv --columns Subject,Body --join ". "
    """
    named = {"column": column, "columns": columns, "join": join, "strip_html": strip_html}
    check_models([model])
    from isotrope.retrieval.clustering import cluster as find

    options: dict[str, Any] = {**named, "batch_size": batch_size, "device": device, "precision": precision}
    with console.waiting("Clustering"):
        found = find(table, model, clusters=clusters, output=output, seed=seed, force=force, **options)
    console.print_result(found, as_json=as_json)
