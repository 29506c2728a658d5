"""What a comparison rests on, in words: a line for each figure."""

from __future__ import annotations

from isotrope.evaluation.label_free.neighbourhoods import COHESION, KEPT, WORDS, Shift, Together
from isotrope.evaluation.label_free.related_texts import HALVES, REWORDED
from isotrope.evaluation.label_free.verdict import Figures, Judgement, MRRDifference


def kept_together(together: Together, judgement: Judgement) -> str:
    """Whether neighbourhoods are more cohesive than before."""
    return (
        f"Similar texts kept together: {judgement}. A text and its neighbours have {together.cohesion.before:.1f}% of "
        f"their neighbours in common before and {together.cohesion.after:.1f}% after ({interval(together.cohesion)}); "
        f"{together.kept:.0f}% of neighbours stayed the same."
        f"{_although(together) if judgement == 'no clear difference' else ''}"
    )


def _although(together: Together) -> str:
    """Why a change that chance does not explain is none to go by."""
    cohesion = together.cohesion
    if together.alike and cohesion.judgement == "worse":
        return " Where all texts were alike before, a fall counts only if neighbours have fewer words in common, too."
    if cohesion.judgement == "no clear difference":
        return ""
    if abs(cohesion.change) < COHESION:
        return f" A change of less than {COHESION:g} point counts as none."
    if together.kept < KEPT:
        return f" A rise counts only if at least {KEPT:.0f}% of neighbours stay the same."
    if together.words.change <= WORDS:
        return " But neighbours have fewer words in common than before."
    if not together.rise_counts:
        return " Of an encoder that was trained further, a rise says nothing (docs/domains.md)."
    return ""


def alike_in_words(words: Shift) -> str:
    """Whether neighbours have more words in common than before: what tells for an encoder to which all was alike."""
    return (
        f"Word similarity of neighbours: {words.judgement}. A text and its neighbours are {words.before:.1f}% alike by "
        f"TF-IDF before and {words.after:.1f}% after ({interval(words)})."
    )


def told_apart(kind: str, change: MRRDifference, before: Figures, after: Figures) -> str:
    """Whether pairs of one kind find each other better than before."""
    mrr = [100 * side.ranks[kind].mrr for side in (before, after)]
    return (
        f"Texts told apart: {change.judgement}. {pairs_in_words(kind, before.ranks[kind].pairs)} find each other with "
        f"MRR x 100 of {mrr[0]:.1f} before and {mrr[1]:.1f} after ({interval(change)})."
    )


def pairs_in_words(kind: str, pairs: int) -> str:
    """`The halves of 284 sentences`: which texts seek each other."""
    known = {HALVES: "The halves of {} sentences", REWORDED: "{} sentences and their rewordings"}
    return known.get(kind, f"{{}} {kind}").format(f"{pairs:,}")


def similar_told_apart(details: Shift) -> str:
    """Whether texts with words missing find the whole better than before."""
    return (
        f"Similar texts told apart: {details.judgement}. With two of every five words removed, texts find their "
        f"original with MRR x 100 of {details.before:.1f} before and {details.after:.1f} after ({interval(details)})."
    )


def interval(change: MRRDifference | Shift) -> str:
    """`+1.2 points, 95% interval +0.8 to +1.6`."""
    return f"{change.change:+.1f} points, 95% interval {change.low:+.1f} to {change.high:+.1f}"
