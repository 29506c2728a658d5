"""`isotrope views`: other wordings of a corpus' sentences, in a table that recipes train on."""

import time
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from isotrope.cli.console import many, print_json, print_table, waiting
from isotrope.cli.options import AsJson, Column, Device, Force, Precision
from isotrope.cli.settings import KindSettings, read_settings

if TYPE_CHECKING:
    from isotrope.views.text import ViewTable

EXAMPLES = 3

Corpus = Annotated[
    list[str],
    typer.Argument(metavar="CORPUS...", help="Sentences: files, - for stdin, hub:org/name[:split]."),
]
Pivots = Annotated[
    list[str] | None,
    typer.Option(
        help="back-translation: a language to translate through; each gives one view. Repeatable.", show_default="pt"
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(help="back-translation: bergamot, apertium, transformers or auto.", show_default="auto"),
]
Language = Annotated[
    str | None, typer.Option(help="back-translation: the language of the sentences.", show_default="en")
]
Rate = Annotated[
    float | None,
    typer.Option(help="synonyms, mlm: share of the words to replace.", show_default="0.3, 0.2"),
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
DropIdentical = Annotated[
    bool, typer.Option("--drop-identical", help="Leave out sentences whose view is identical to them.")
]


def views(
    corpus: Corpus,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write: .parquet.")],
    kind: Annotated[
        str, typer.Option(help="back-translation, synonyms, mlm, or package.module:function.")
    ] = "back-translation",
    pivot: Pivots = None,
    engine: Engine = None,
    source: Language = None,
    beam: Annotated[int | None, typer.Option(min=1, help="transformers: number of beams.", show_default="5")] = None,
    sampling: Annotated[
        bool, typer.Option("--sampling", help="transformers: sample words instead of beam search.")
    ] = False,
    rate: Rate = None,
    model: Model = None,
    wordnet: WordNet = None,
    settings: KindSettings = None,
    column: Column = None,
    device: Device = None,
    precision: Precision = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="1")] = None,
    drop_identical: DropIdentical = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make everything again, without the cache.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reword each sentence: writes a table with the columns text, view1, view2 ...

    If it is stopped, the same command continues where it was.

    [dim]Example:[/] isotrope views sentences.txt --pivot pt --pivot es --output views.parquet
    """
    options: dict[str, Any] = {"engine": engine, "source": source, "beam": beam, "sampling": sampling or None}
    options |= {"rate": rate, "model": model, "wordnet": wordnet, "seed": seed}
    options |= {"device": device, "precision": precision}
    given = {name: value for name, value in options.items() if value is not None} | read_settings(settings)
    each = [{"kind": kind, **given, "pivot": one} for one in pivot or ()] or [{"kind": kind, **given}]
    began = time.monotonic()
    with waiting("Starting"):
        from isotrope.views.text import make_views

    made = make_views(
        [Path(one) for one in corpus],
        {f"view{number}": view for number, view in enumerate(each, 1)},
        output,
        column=column,
        drop_identical=drop_identical,
        fresh=fresh,
        force=force,
        show_progress=True,
    )
    counts, examples = made.counts, list(islice(made, EXAMPLES))
    if as_json:
        print_json({"output": str(output), **asdict(counts), "parameters": made.parameters, "examples": examples})
        return
    print_table(_table(made))
    for example in examples:
        typer.echo("\n" + "\n".join(f"{name:>6}  {text}" for name, text in example.items()))
    typer.echo(
        f"\n{output}: {many(counts.written, 'row')} of {many(counts.rows, 'sentence')}, "
        f"{counts.dropped:,} left out, {many(counts.blank, 'blank row')} skipped; {time.monotonic() - began:.1f} s"
    )


def _table(made: "ViewTable") -> Table:
    table = Table("Sentences")
    for name, parameters in made.parameters.items():
        said = ", ".join(str(parameters[key]) for key in ("pivot", "engine") if key in parameters)
        table.add_column(f"{name}\n[dim]{said or parameters.get('kind', '')}[/]", justify="right")
    columns = made.counts.views.values()
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
