"""`isotrope compare`: whether a tuned encoder is better on somebody's own text, without labels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import counting, many, print_json, print_table, waiting
from isotrope.cli.inspect import CorpusHelp, Seed
from isotrope.cli.models import MODEL_HELP, check_models, load_encoder
from isotrope.cli.options import AsJson, BatchSize, Column, Device
from isotrope.text import read_sentences

if TYPE_CHECKING:
    from isotrope.evaluation.changes import Change
    from isotrope.evaluation.positives import Positives
    from isotrope.evaluation.verdict import Comparison, Found

BLIND = """\
What this does not see: negation, numbers, and who does what to whom; words in common help any encoder. It agrees with
the grades of people often, not always (docs/results.md). Text that an encoder was trained on flatters it: compare on
text that neither has seen. With graded pairs of your own, isotrope evaluate knows more."""


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=MODEL_HELP)],
    after: Annotated[str, typer.Argument(metavar="AFTER", help=MODEL_HELP)],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help=CorpusHelp)],
    column: Column = None,
    size: Annotated[
        int, typer.Option("--sentences", min=100, help="How many sentences of the text, and how many pairs at most.")
    ] = 1000,
    seed: Seed = 0,
    back_translate: Annotated[
        bool, typer.Option("--back-translate", help="Seek back-translations too, made on this machine.")
    ] = False,
    views: Annotated[
        Path | None, typer.Option(help="Seek other wordings too: a table of `isotrope views` (text, view1).")
    ] = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Say whether encoder AFTER is better than BEFORE on your text, without labels.

    [dim]Example:[/] isotrope compare bundled runs/first/encoder sentences.txt
    """
    sentences, positives = _read(corpus, column, size, seed)
    if views:
        from isotrope.evaluation.positives import read_rewordings

        with waiting(f"Reading {views}"):
            positives.append(read_rewordings(views, size))
    check_models([before, after])
    if back_translate:
        positives.append(_back_translations(sentences))
    from isotrope.evaluation.verdict import compare as measure

    first, second = (load_encoder(model, device=device) for model in (before, after))
    with waiting(f"{before} and {after}: {many(len(sentences), 'sentence')}"):
        found = measure(first, second, sentences, positives, batch_size=batch_size)
    if as_json:
        names = {"before": before, "after": after, "corpus": corpus, "sentences": len(sentences)}
        print_json({**names, **_as_json(found)})
        return
    title = f"Before: {before}\nAfter: {after}\nText: {many(len(sentences), 'sentence')} of {corpus}"
    print_table(_table(found, escape(title)))
    _print_changes(found)
    typer.echo(f"\n{_verdict(found, before, after)}\n\n{BLIND}")


def _read(corpus: str, column: str | None, size: int, seed: int) -> tuple[list[str], list[Positives]]:
    """Sentences of the text, and the halves of long ones; the text is read once."""
    from isotrope.evaluation.positives import halve, halves
    from isotrope.evaluation.sample import Sample

    some, long = Sample(size, seed), Sample(size, seed)
    with waiting(f"Reading {corpus}"):
        for sentence in read_sentences(corpus, column):
            some.add(sentence)
            if halve(sentence):
                long.add(sentence)
    return some.sentences, [halves(long.sentences)]


def _back_translations(sentences: list[str]) -> Positives:
    """By the engine at hand; those that were made before are looked up."""
    from isotrope.evaluation.positives import read_rewordings
    from isotrope.views.text import make_text_view, write_views

    view = make_text_view("back-translation")
    with TemporaryDirectory() as folder, counting("Back-translating", len(sentences)) as advance:
        write_views([sentences], {"view1": view}, Path(folder, "views.parquet"), progress=advance)
        return read_rewordings(Path(folder, "views.parquet"), len(sentences))


def _table(found: Comparison, title: str) -> Table:
    table = Table("", "Before", "After", "", title=title, title_justify="left")
    for column in table.columns[1:3]:
        column.justify = "right"
    table.columns[3].style = "dim"

    def row(name: str, first: float, second: float, meaning: str, form: str = ".3f") -> None:
        table.add_row(name, f"{first:{form}}", f"{second:{form}}", meaning)

    for kind, change in found.differences.items():
        first, second = found.before.found[kind], found.after.found[kind]
        table.add_section()
        interval = f"{change.mrr:+.1f} points, 95% interval {change.low:+.1f} to {change.high:+.1f}"
        row("MRR x 100", 100 * first.mrr, 100 * second.mrr, f"{kind}: {interval}", ".1f")
        pairs = f"{kind}: how often the other of {first.ranks.shape[1]:,} comes first"
        row("Recall at 1, %", 100 * first.recall, 100 * second.recall, pairs, ".1f")
        row("Median rank", first.median_rank, second.median_rank, f"{kind}: 1 is best", "g")
        row("Alignment", first.alignment, second.alignment, f"{kind}: distance of two that belong together")
    table.add_section()
    row("Uniformity", found.before.uniformity, found.after.uniformity, "how evenly all sentences spread: low is good")
    row("Mean cosine", found.before.mean_cosine, found.after.mean_cosine, "of two at random: 1 if all are alike")
    row("Effective rank", found.before.effective_rank, found.after.effective_rank, "directions in use", ".1f")
    return table


def _print_changes(found: Comparison) -> None:
    """Side by side, to read. In brackets: standard deviations above a random pair, which is what is compared."""
    for title, some in (("Came closer most", found.closer), ("Went apart most", found.apart)):
        if some:
            typer.echo(f"\n{title}: cosine before -> after (in standard deviations above two sentences at random)")
        for one in some:
            typer.echo(f"  {_moved(one)}  {one.first}\n{'':{len(_moved(one)) + 2}}  {one.second}")


def _moved(one: Change) -> str:
    before = f"{one.cosine_before:.2f} ({one.above_before:+.1f})"
    return f"{before} -> {one.cosine_after:.2f} ({one.above_after:+.1f})"


def _verdict(found: Comparison, before: str, after: str) -> str:
    """In plain words, with what speaks for it."""
    kind, change = found.decides, found.differences[found.decides]
    figures = found.before.found[kind], found.after.found[kind]
    found_at = f"{100 * figures[0].mrr:.1f} before, {100 * figures[1].mrr:.1f} after"
    interval = f"{change.mrr:+.1f} points, 95% interval {change.low:+.1f} to {change.high:+.1f}"
    why = f"{figures[0].ranks.shape[1]:,} {kind} find each other with MRR x 100 {found_at} ({interval})."
    if found.contradictory:
        said = ", ".join(f"{kind} say {one.judgement}" for kind, one in found.differences.items())
        return f"Verdict: no clear difference on this text: {said}. {why}"
    if found.judgement == "no clear difference":
        return f"Verdict: no clear difference between {before} and {after} on this text. {why} More sentences may tell."
    return f"Verdict: {after} is {found.judgement} than {before} on this text. {why}"


def _as_json(found: Comparison) -> dict[str, Any]:
    """Figures as in the table, to four decimals."""
    kinds = {
        kind: {
            "pairs": found.before.found[kind].ranks.shape[1],
            "before": _figures(found.before.found[kind]),
            "after": _figures(found.after.found[kind]),
            "mrr_difference": round(change.mrr / 100, 4),
            "interval": [round(change.low / 100, 4), round(change.high / 100, 4)],
            "judgement": change.judgement,
        }
        for kind, change in found.differences.items()
    }
    text = {
        name: {key: round(value, 4) for key, value in asdict(side).items() if key != "found"}
        for name, side in (("before", found.before), ("after", found.after))
    }
    moved = {"closer": [asdict(one) for one in found.closer], "apart": [asdict(one) for one in found.apart]}
    return {"verdict": found.judgement, "rests_on": found.decides, "pairs": kinds, "text": text, **moved}


def _figures(found: Found) -> dict[str, float]:
    return {name: round(getattr(found, name), 4) for name in ("mrr", "recall", "median_rank", "alignment")}
