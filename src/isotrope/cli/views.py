"""`isotrope views`: other wordings of a corpus' sentences, in a table that recipes train on."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from isotrope.cli.console import many, print_json, print_table, waiting
from isotrope.cli.options import AsJson, Column, Force
from isotrope.io.atomic import check_output
from isotrope.io.progress import Display

if TYPE_CHECKING:
    from isotrope.views.text import Counts, TextView

EXAMPLES = 3

Corpus = Annotated[
    list[str],
    typer.Argument(metavar="CORPUS...", help="Sentences: files, - for stdin, hub:org/name[:split]."),
]
Pivots = Annotated[
    list[str] | None,
    typer.Option(help="back-translation: a language to go through; each one is a view.", show_default="pt"),
]
Engine = Annotated[
    str | None,
    typer.Option(help="back-translation: bergamot, apertium, transformers or auto.", show_default="auto"),
]
Language = Annotated[str | None, typer.Option(help="back-translation: the sentences' language.", show_default="en")]
Rate = Annotated[
    float | None,
    typer.Option(help="synonyms, mlm: share of the words.", show_default="0.3, 0.2"),
]
Model = Annotated[
    str | None,
    typer.Option(
        help="mlm: the masked LM. transformers: the translator, with {src} and {tgt} for the languages.",
        show_default="bundled; Helsinki-NLP/opus-mt-{src}-{tgt}",
    ),
]
WordNet = Annotated[
    str | None, typer.Option(metavar="DIR", help="synonyms: the WordNet folder.", show_default="the system's")
]
DropIdentical = Annotated[bool, typer.Option("--drop-identical", help="Leave out sentences that a view repeats.")]


def views(
    corpus: Corpus,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write: .parquet.")],
    kind: Annotated[str, typer.Option(help="back-translation, synonyms or mlm.")] = "back-translation",
    pivot: Pivots = None,
    engine: Engine = None,
    source: Language = None,
    beam: Annotated[int | None, typer.Option(min=1, help="transformers: beams.", show_default="5")] = None,
    sampling: Annotated[bool, typer.Option("--sampling", help="transformers: draw words, no beam search.")] = False,
    rate: Rate = None,
    model: Model = None,
    wordnet: WordNet = None,
    column: Column = None,
    seed: Annotated[int | None, typer.Option(help="For what is drawn at random.", show_default="1")] = None,
    drop_identical: DropIdentical = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make all anew, whatever the cache has.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say each sentence in other words: the columns text, view1, view2 ... of a table.

    A run that was stopped goes on where it was with the same command.

    [dim]Example:[/] isotrope views sentences.txt --pivot pt --pivot es --output views.parquet
    """
    check_output(output, (".parquet",), force=force)
    fields = {"engine": engine, "source": source, "beam": beam, "sampling": sampling or None, "rate": rate}
    given = {**fields, "model": model, "wordnet": wordnet, "seed": seed}
    made = _make(kind, pivot, {name: value for name, value in given.items() if value is not None})
    began = time.monotonic()
    counts = _run(corpus, made, output, column=column, drop_identical=drop_identical, fresh=fresh)
    examples = _examples(output)
    if as_json:
        parameters = {name: view.parameters for name, view in made.items()}
        print_json({"output": str(output), **asdict(counts), "parameters": parameters, "examples": examples})
        return
    print_table(_table(made, counts))
    for example in examples:
        typer.echo("\n" + "\n".join(f"{name:>6}  {text}" for name, text in example.items()))
    typer.echo(
        f"\n{output}: {many(counts.written, 'row')} of {many(counts.rows, 'sentence')}, "
        f"{counts.dropped:,} left out, {many(counts.blank, 'blank row')} skipped; {time.monotonic() - began:.1f} s"
    )


def _make(kind: str, pivots: list[str] | None, given: dict[str, Any]) -> dict[str, TextView]:
    """view1, view2 ...: one for each pivot."""
    with waiting("Looking for what is needed"):
        from isotrope.views.text import make_text_view

        each = [{**given, "pivot": pivot} for pivot in pivots or ()] or [given]
        return {f"view{number}": make_text_view(kind, **fields) for number, fields in enumerate(each, 1)}


def _run(corpus: list[str], made: dict[str, TextView], output: Path, *, column: str | None, **options: Any) -> Counts:
    from isotrope.views.text import count_texts, make_views

    total = None
    if all(Path(source).is_file() for source in corpus):  # a pipe can be read once only
        with waiting("Reading the corpus"):
            total = count_texts(corpus, column)
    with Display("Views", total, unit="rows") as progress:
        return make_views(corpus, made, output, column=column, progress=progress, **options)


def _examples(output: Path) -> list[dict[str, str]]:
    from pyarrow import parquet

    first = next(parquet.ParquetFile(output).iter_batches(batch_size=EXAMPLES))
    rows: list[dict[str, str]] = first.to_pylist()
    return rows


def _table(made: dict[str, TextView], counts: Counts) -> Table:
    table = Table("Sentences")
    for name, view in made.items():
        said = ", ".join(str(view.parameters[key]) for key in ("pivot", "engine") if key in view.parameters)
        table.add_column(f"{name}\n[dim]{said or view.parameters.get('kind', '')}[/]", justify="right")
    columns = counts.views.values()
    rows = {
        "with a view": [view.made for view in columns],
        "  identical to the sentence": [view.identical for view in columns],
        "empty": [view.empty for view in columns],
    }
    for flaw in dict.fromkeys(("wrong language", *(flaw for view in columns for flaw in view.flaws))):
        rows[flaw] = [view.flaws.get(flaw, 0) for view in columns]
    for title, figures in rows.items():
        table.add_row(title, *(f"{figure:,}" for figure in figures))
    return table
