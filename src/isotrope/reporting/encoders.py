"""Both encoders of a run on the same texts: their figures, and the neighbours that changed, to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isotrope.evaluation.results.printing import many
from isotrope.reporting.findings import RunFindings
from isotrope.reporting.markup import Html, explained, fill, joined, shortened, table
from isotrope.reporting.neighbours import Neighbour

if TYPE_CHECKING:
    from isotrope.reporting.report import Report

MEANINGS = {  # of a space's figures: name, format, what it means
    "mean_cosine": ("Mean cosine", ".3f", "of two random texts; near 1, everything looks alike"),
    "nearest_cosine": ("Cosine to the nearest", ".3f", "of a text and its nearest neighbour, the median"),
    "uniformity": ("Uniformity", ".3f", "how evenly the texts are spread; lower is more even"),
    "effective_rank": ("Effective rank", ".1f", "number of directions in use"),
    "iso_score": ("IsoScore", ".3f", "1 if all directions are used equally, 0 if only one is used"),
    "directions_90": ("Directions for 90%", ".0f", "number of directions that hold 90% of the vectors' squared length"),
}
SPREAD = "These figures show how the vectors are spread, not whether they are better: the verdict says that."


def before_and_after(found: Report) -> Html:
    """Figures of every encoder on the same texts."""
    spaces = found.spaces()
    rows = [
        (explained(name, meaning), *(f"{one.space.figures[key]:{form}}" for one in spaces))
        for key, (name, form, meaning) in MEANINGS.items()
    ]
    some = f"{many(len(found.sample.texts), 'text')} out of {found.sample.of:,} ({found.sample.source})"
    said = fill("<p>{some}. {spread}</p>", some=some, spread=SPREAD)
    return joined([said, table(("", *(one.label for one in spaces)), rows)])


def neighbours(found: Report) -> Html:
    """The texts whose neighbours changed most, and the pairs that moved most."""
    return joined(part for run in found.runs for part in _read(run, named=len(found.runs) > 1))


def _read(run: RunFindings, *, named: bool) -> Iterator[Html]:
    if run.before is None:
        return
    if named:
        yield fill("<h3>{name}</h3>", name=run.facts.name)
    if not run.changed:
        yield Html("<p>No text has changed its nearest neighbours.</p>")
    else:
        yield fill(
            "<p>The {n} texts whose nearest neighbours changed most. Look: do the new ones belong there, and did the "
            'old ones? <span class="gone">Struck out</span>: no longer among the nearest. <span class="new">Green'
            "</span>: new among them. The numbers are cosines.</p>",
            n=len(run.changed),
        )
    for one in run.changed:
        yield fill(
            '<div class="read"><b class="t" dir="auto">{text}</b><div class="pairs"><div><h4>before</h4>{before}</div>'
            "<div><h4>{then}</h4>{after}</div></div></div>",
            then="after" if run.facts.kept else "tuned, not kept",
            text=shortened(one.text),
            before=_listed(one.before, "gone"),
            after=_listed(one.after, "new"),
        )
    for key, title in (("closer", "Moved closest together"), ("apart", "Moved furthest apart")):
        if run.verdict and run.verdict.get(key):
            yield _moved(title, run.verdict[key])


def _listed(some: Sequence[Neighbour], marked: str) -> Html:
    line = '<li><i>{cosine}</i><span class="t {kind}" dir="auto">{text}</span></li>'
    lines = [
        fill(line, cosine=f"{one.cosine:.2f}", kind=marked if one.new else "", text=shortened(one.text)) for one in some
    ]
    return fill("<ol>{lines}</ol>", lines=joined(lines))


def _moved(title: str, pairs: Sequence[Mapping[str, Any]]) -> Html:
    """Pairs of the held-out text, as the judge lists them."""
    rows = [
        (f"{one['cosine_before']:.2f} → {one['cosine_after']:.2f}", shortened(one["first"]), shortened(one["second"]))
        for one in pairs
    ]
    return fill(
        "<details><summary>{title}, in the held-out text</summary>{rows}</details>",
        title=title,
        rows=table(("Cosine", "", ""), rows, "left"),
    )
