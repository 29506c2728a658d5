"""`isotrope pairs`: pairs and triplets to train on, out of translations and out of NLI data."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import many, print_json, print_table, waiting
from isotrope.cli.options import AsJson, Force
from isotrope.io.hub import stay_offline_without_hub
from isotrope.text.sources import HUB

if TYPE_CHECKING:
    from isotrope.text.pairs import CleanedPairs

Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write: .tsv or .jsonl, each also .gz, or .parquet.")
]
SHOWN = 30  # characters of an example
app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def pairs(context: typer.Context) -> None:
    """Make pairs and triplets to train on, from translations and NLI data."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def clean(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Tables (.csv, .tsv, .jsonl, .parquet, each also .gz) with columns named after the languages, "
            "or source and target.",
        ),
    ],
    source: Annotated[str, typer.Option(help="Language of the source side, such as zh.")],
    target: Annotated[str, typer.Option(help="Language of the target side, such as en.")],
    output: Output,
    min_length: Annotated[float, typer.Option(min=0, help="Least length of a side, in English characters.")] = 2,
    max_length: Annotated[float, typer.Option(min=1, help="Greatest length of a side, in English characters.")] = 600,
    max_ratio: Annotated[float, typer.Option(min=1, help="How many times as long as the other a side may be.")] = 2.5,
    one_per_source: Annotated[
        bool, typer.Option("--one-per-source", help="Keep only one translation of each source.")
    ] = False,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Drop translations that would do harm, and count what each rule drops.

    Lengths are in English characters: a Chinese one counts as 3.2. Languages are identified if py3langid is installed.

    [dim]Example:[/] isotrope pairs clean wmt.tsv.gz --source zh --target en --output clean.tsv.gz
    """
    from isotrope.text.pairs import clean_pairs

    began = time.monotonic()
    made = clean_pairs(
        [Path(file) for file in files],
        source,
        target,
        output,
        min_length=min_length,
        max_length=max_length,
        max_ratio=max_ratio,
        one_per_source=one_per_source,
        force=force,
        show_progress=True,
    )
    seconds = time.monotonic() - began
    if as_json:
        counts = {"pairs": made.seen, "kept": len(made), "dropped": made.dropped}
        print_json({"output": str(output), **counts, "off": made.off, "seconds": round(seconds, 1)})
        return
    print_table(_report(made))
    for reason in made.off:
        typer.echo(f"Not checked: {reason}")
    typer.echo(
        f"{output}: {len(made):,} of {many(made.seen, 'pair')} kept, {seconds:.1f} s, "
        f"{made.seen / seconds:,.0f} pairs/s"
    )


@app.command()
def entailment(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="NLI...",
            help="Tables with premise, hypothesis and label (or sentence1, sentence2, label), or hub:org/name[:split], "
            "such as hub:stanfordnlp/snli and hub:nyu-mll/multi_nli.",
        ),
    ],
    output: Output,
    triplets: Annotated[
        bool, typer.Option("--triplets", help="Premise, entailment and contradiction: anchor, positive, negative.")
    ] = False,
    force: Force = False,
) -> None:
    """Extract the pairs in which one sentence entails the other from NLI data, as view1 and view2, without repeats.

    [dim]Example:[/] isotrope pairs entailment hub:stanfordnlp/snli --triplets --output triplets.tsv.gz
    """
    if any(source.startswith(HUB) for source in sources):
        stay_offline_without_hub()
    with waiting("Reading"):
        from isotrope.text.pairs import entailment_pairs

        made = entailment_pairs([Path(source) for source in sources], output, triplets=triplets, force=force)
    typer.echo(
        f"{output}: {many(len(made), 'triplet' if triplets else 'pair')} ({', '.join(made.columns)}) from "
        f"{many(made.labelled, 'labelled row')}; {many(made.unlabelled, 'row')} without a gold label and "
        f"{made.blank:,} with a blank field left out"
    )


@app.command()
def align(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The table that all others are translations of.")],
    targets: Annotated[list[str], typer.Argument(metavar="TARGET...", help="The same rows in other languages.")],
    on: Annotated[str, typer.Option(help="Columns by which rows are matched, separated by commas.")],
    columns: Annotated[str, typer.Option(help="Columns that hold text, separated by commas.")],
    output: Output,
    force: Force = False,
) -> None:
    """Pair each text with its translations, from tables that hold the same rows in different languages.

    [dim]Example:[/] isotrope pairs align xnli_en.tsv xnli_de.tsv --on split,index --columns premise,hypothesis -o p.tsv
    """
    from isotrope.text.aligned import aligned_pairs

    names = ([name.strip() for name in text.split(",") if name.strip()] for text in (on, columns))
    together, texts = names
    made = aligned_pairs(source, list(targets), output, on=together, columns=texts, force=force)
    typer.echo(f"{output}: {many(len(made), 'pair')} ({', '.join(made.columns)})")


def _report(made: "CleanedPairs") -> Table:
    from isotrope.text.parallel import RULES

    table = Table("Rule", "Dropped where", "Pairs", "For example")
    table.columns[2].justify = "right"
    for rule, count in made.dropped.items():
        example = " | ".join(
            side if len(side) <= SHOWN else f"{side[:SHOWN]}..." for side in made.examples.get(rule, ())
        )
        table.add_row(rule, RULES[rule], f"{count:,}", escape(example))
    return table
