"""`isotrope pairs`: pairs and triplets to train on, out of translations and out of NLI data."""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import counting, many, print_json, print_table, waiting
from isotrope.cli.options import AsJson, Force
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub
from isotrope.text.sources import HUB
from isotrope.text.tables import check_table, write_table

if TYPE_CHECKING:
    from isotrope.text.parallel import Cleaner

Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write: .tsv or .jsonl, each also .gz, or .parquet.")
]
SHOWN = 30  # characters of an example
app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def pairs(context: typer.Context) -> None:
    """Make pairs and triplets: clean translations, take entailments out of NLI data."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def clean(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Tables (.csv, .tsv, .jsonl, .parquet, each also .gz) with columns named as the languages are, "
            "or source and target.",
        ),
    ],
    source: Annotated[str, typer.Option(help="Language of the source side, such as zh.")],
    target: Annotated[str, typer.Option(help="Language of the target side, such as en.")],
    output: Output,
    min_length: Annotated[float, typer.Option(min=0, help="Characters of English that a side must have.")] = 2,
    max_length: Annotated[float, typer.Option(min=1, help="Characters of English that a side may have.")] = 600,
    max_ratio: Annotated[float, typer.Option(min=1, help="How many times as long one side may be.")] = 2.5,
    one_per_source: Annotated[
        bool, typer.Option("--one-per-source", help="Keep one translation of each source only.")
    ] = False,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Drop translations that would do harm, and count what each rule drops.

    Lengths are in characters of English: one of Chinese counts as 3.2. Languages are identified where py3langid is
    installed.

    [dim]Example:[/] isotrope pairs clean wmt.tsv.gz --source zh --target en --output clean.tsv.gz
    """
    from isotrope.text.parallel import PAIR, Cleaner, language_identifier, read_pairs

    check_table(output, force=force)
    cleaner = Cleaner(source, target, min_length, max_length, max_ratio, one_per_source, language_identifier())
    rows = chain.from_iterable(read_pairs(file, source, target) for file in files)
    began, done = time.monotonic(), 0
    with counting("Cleaning", None) as advance, write_table(output, PAIR) as write:
        for good in cleaner(rows):
            write(good)
            advance(cleaner.seen - done)
            done = cleaner.seen
        if not cleaner.kept:
            reasons = ", ".join(f"{rule} {count:,}" for rule, count in cleaner.dropped.items() if count)
            raise IsotropeError(
                f"{', '.join(files)}: of {many(done, 'pair')} none is left ({reasons or 'it is empty'})"
            )
    seconds = time.monotonic() - began
    if as_json:
        counts = {"pairs": cleaner.seen, "kept": cleaner.kept, "dropped": cleaner.dropped}
        print_json({"output": str(output), **counts, "off": cleaner.off, "seconds": round(seconds, 1)})
        return
    print_table(_report(cleaner))
    for reason in cleaner.off:
        typer.echo(f"Not checked: {reason}")
    typer.echo(
        f"{output}: {cleaner.kept:,} of {many(cleaner.seen, 'pair')} kept, {seconds:.1f} s, "
        f"{cleaner.seen / seconds:,.0f} pairs/s"
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
    """Take the pairs of which one sentence entails the other out of NLI data, as view1 and view2, each once.

    [dim]Example:[/] isotrope pairs entailment hub:stanfordnlp/snli --triplets --output triplets.tsv.gz
    """
    check_table(output, force=force)
    if any(source.startswith(HUB) for source in sources):
        stay_offline_without_hub()
    with waiting("Reading"), TemporaryDirectory() as folder:
        from isotrope.text.entailment import PAIR, TRIPLET, entailment_pairs, entailment_triplets, read_nli

        nli = read_nli(sources, Path(folder))
        columns, chunks = (TRIPLET, entailment_triplets(nli)) if triplets else (PAIR, entailment_pairs(nli))
        rows = 0
        with write_table(output, columns) as write:
            for chunk in chunks:
                write(chunk)
                rows += len(chunk)
    typer.echo(
        f"{output}: {many(rows, 'triplet' if triplets else 'pair')} ({', '.join(columns)}) out of "
        f"{many(nli.counts.rows, 'labelled row')}; {many(nli.counts.unlabelled, 'row')} without a gold label and "
        f"{nli.counts.blank:,} with a blank field left out"
    )


def _report(cleaner: Cleaner) -> Table:
    from isotrope.text.parallel import RULES

    table = Table("Rule", "Dropped where", "Pairs", "For example")
    table.columns[2].justify = "right"
    for rule, count in cleaner.dropped.items():
        example = " | ".join(
            side if len(side) <= SHOWN else f"{side[:SHOWN]}..." for side in cleaner.examples.get(rule, ())
        )
        table.add_row(rule, RULES[rule], f"{count:,}", escape(example))
    return table
