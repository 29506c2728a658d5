"""What a comparison rests on, in words: a line for each figure."""

from __future__ import annotations

from isotrope.evaluation.label_free.neighbourhoods import COHESION, KEPT, WORDS, Shift, Together
from isotrope.evaluation.label_free.verdict import Figures, Judgement, MRRDifference


def kept_together(together: Together, judgement: Judgement) -> str:
    """Whether neighbourhoods are more cohesive than before."""
    return (
        f"Kept together: {judgement}. Neighbours share {together.cohesion.before:.1f}% of their neighbours before, "
        f"{together.cohesion.after:.1f}% after ({interval(together.cohesion)}); {together.kept:.0f}% of them stay."
        f"{_although(together) if judgement == 'no clear difference' else ''}"
    )


def _although(together: Together) -> str:
    """Why a change that chance does not explain is none to go by."""
    cohesion = together.cohesion
    if cohesion.judgement == "no clear difference":
        return ""
    if abs(cohesion.change) < COHESION:
        return f" Less than {COHESION:g} point, up or down, counts as none."
    if together.kept < KEPT:
        return f" Unless {KEPT:.0f}% of them stay, a rise counts for nothing."
    if together.words.change <= WORDS:
        return " But neighbours have fewer words in common than before."
    return ""


def alike_in_words(words: Shift) -> str:
    """Whether neighbours have more words in common than before: what tells for an encoder to which all was alike."""
    return (
        f"Neighbours in their words: {words.judgement}. A text and its neighbours are {words.before:.1f}% alike by "
        f"TF-IDF before, {words.after:.1f}% after ({interval(words)})."
    )


def told_apart(kind: str, change: MRRDifference, before: Figures, after: Figures) -> str:
    """Whether pairs of one kind find each other better than before."""
    mrr = [100 * side.ranks[kind].mrr for side in (before, after)]
    return (
        f"Told apart: {change.judgement}. {before.ranks[kind].pairs:,} {kind} find each other with MRR x 100 "
        f"{mrr[0]:.1f} before, {mrr[1]:.1f} after ({interval(change)})."
    )


def told_from_its_like(details: Shift) -> str:
    """Whether texts with words missing find the whole better than before."""
    return (
        f"Told from its like: {details.judgement}. Texts without two of five words find the whole with MRR x 100 "
        f"{details.before:.1f} before, {details.after:.1f} after ({interval(details)})."
    )


def interval(change: MRRDifference | Shift) -> str:
    """`+1.2 points, 95% interval +0.8 to +1.6`."""
    return f"{change.change:+.1f} points, 95% interval {change.low:+.1f} to {change.high:+.1f}"
