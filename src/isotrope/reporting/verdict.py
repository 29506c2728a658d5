"""The verdict of a report: in words, then the judge's figures; of several runs side by side, of a tuning its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isotrope.evaluation.label_free.comparison import BLIND
from isotrope.evaluation.label_free.reasons import pairs_in_words
from isotrope.evaluation.results.printing import many
from isotrope.io.durations import shown_duration
from isotrope.reporting.findings import RunFindings
from isotrope.reporting.markup import Html, explained, fill, joined, table
from isotrope.training.leaderboard import Trial

if TYPE_CHECKING:
    from isotrope.reporting.report import Report

JUDGED = {  # of a run with a recipe, which is kept whatever the judge says
    "better": "On held-out text, the tuned encoder is better than the untuned {model}.",
    "worse": "On held-out text, the tuned encoder is worse than the untuned {model}.",
    "no clear difference": "On held-out text, there is no clear difference between the tuned encoder and the untuned "
    "{model}.",
}
UNJUDGED = "there is too little text to judge the tuned one"


def verdict(found: Report) -> Html:
    """In words, then the figures; of several runs a table of them first."""
    parts = [] if len(found.runs) == 1 else [_side_by_side(found)]
    for run in found.runs:
        reasons = joined(fill("<p>{line}</p>", line=line) for line in _reasons(run))
        name = fill("<small>{name}</small>", name=run.facts.name) if len(found.runs) > 1 else Html("")
        judgement = judgement_of(run)
        kind = {"better": "better", "worse": "worse"}.get(judgement, "")
        parts.append(
            fill(
                '<div class="verdict {kind}"><p>{headline}</p>{reasons}{name}</div>{figures}',
                kind=kind,
                headline=headline(run),
                reasons=reasons,
                name=name,
                figures=_judge_table(run.verdict) if run.verdict else Html(""),
            )
        )
    if any(run.verdict for run in found.runs):
        parts.append(fill('<p class="soft"><small>{blind}</small></p>', blind=BLIND))
    return joined(parts)


def headline(run: RunFindings) -> str:
    """The verdict in one sentence."""
    one = run.facts
    if one.outcome:
        if not one.kept:
            why = (
                "tuning did not make it clearly better on this text"
                if run.verdict or one.scores or one.trials
                else UNJUDGED
            )
            return f"The untuned {one.model} was kept: {why}."
        made = (
            f"The encoder tuned by {one.recipe}, one of {many(len(one.trials), 'trial')},"
            if one.trials
            else "The tuned encoder"
        )
        better = (
            ": it was judged better on text that it had not seen"
            if judgement_of(run) == "better" and not one.scores
            else ""
        )
        return f"{made} was kept{better}."
    if one.scores:
        change = one.scores["after"] - one.scores["before"]
        said = "rose" if change > 0 else "fell" if change < 0 else "did not change"
        figures = f"{one.scores['before']:.2f} before, {one.scores['after']:.2f} after"
        return f"Spearman x 100 on the development set {said}: {figures}."
    if run.verdict:
        return JUDGED[run.verdict["verdict"]].format(model=one.model)
    return "There is no verdict: too little text was held out to judge the tuned encoder."


def judgement_of(run: RunFindings) -> str:
    """`better`, `worse` or neither, of the encoder that was tuned."""
    if run.facts.scores:
        change = run.facts.scores["after"] - run.facts.scores["before"]
        return "better" if change > 0 else "worse" if change < 0 else "no clear difference"
    if run.facts.trials:
        return run.facts.trials[0].judgement
    return str(run.verdict["verdict"]) if run.verdict else "no verdict"


def _reasons(run: RunFindings) -> list[str]:
    said = run.facts.outcome.because if run.facts.outcome else run.reasons
    if not said and not run.facts.scores:
        command = f"isotrope compare {run.facts.model} {run.facts.folder} TEXT"
        said = f"To judge it on text that neither encoder has seen: {command}"
    return [line for line in said.splitlines() if line.strip()]


def _judge_table(judged: Mapping[str, Any]) -> Html:
    rows: list[Sequence[Any]] = []
    if near := judged.get("neighbours"):
        together = "of neighbours that near texts have in common: high if similar texts are kept together"
        witness = "of a text and its neighbours, by TF-IDF: a check that does not depend on any encoder"
        rows.append(_row_of_shift("Cohesion, %", together, near["cohesion"]))
        rows.append(_row_of_shift("Word similarity, %", witness, near["words"]))
        kept = explained("Neighbours kept, %", "of each text's ten nearest")
        rows.append((kept, "", f"{near['kept']:.0f}", ""))
    for kind, one in judged.get("pairs", {}).items():
        change, low, high = (_signed(100 * value) for value in (one["mrr_difference"], *one["interval"]))
        before, after = (f"{100 * one[when]['mrr']:.1f}" for when in ("before", "after"))
        seek = pairs_in_words(kind, one["pairs"])
        name = explained("MRR x 100", f"{seek} find each other among all texts: texts are told apart")
        rows.append((name, before, after, f"{change} ({low} to {high})"))
    if details := judged.get("details"):
        lost = "with two of every five words removed, texts find their original: similar texts are told apart"
        rows.append(_row_of_shift("MRR x 100", lost, details))
    if not rows:
        return Html("")
    return table(("On held-out text", "Before", "After", "Change (95% interval)"), rows)


def _row_of_shift(name: str, meaning: str, one: Mapping[str, float]) -> tuple[Any, ...]:
    change = f"{_signed(one['after'] - one['before'])} ({_signed(one['low'])} to {_signed(one['high'])})"
    return explained(name, meaning), f"{one['before']:.1f}", f"{one['after']:.1f}", change


def _signed(value: float) -> str:
    """`+1.2`, `-0.3`, and `0.0` for what is nothing to this accuracy."""
    return f"{value:+.1f}" if round(value, 1) else "0.0"


def _side_by_side(found: Report) -> Html:
    rows = []
    for run in found.runs:
        one, judged = run.facts, run.verdict or {}
        near, pairs = judged.get("neighbours"), next(iter(judged.get("pairs", {}).values()), None)
        rows.append(
            (
                one.name,
                one.model,
                one.recipe,
                f"{one.steps:,}" if one.steps else "",
                f"{one.record.seconds:.1f}" if one.record else "",
                _signed(near["cohesion"]["after"] - near["cohesion"]["before"]) if near else "",
                _signed(100 * pairs["mrr_difference"]) if pairs else "",
                f"{one.scores['before']:.2f} → {one.scores['after']:.2f}" if one.scores else "",
                "kept" if one.kept else "not kept",
                judgement_of(run),
            )
        )
    heads = (
        "Run",
        "Model",
        "Recipe",
        "Steps",
        "Seconds",
        "Cohesion",
        "MRR x 100",
        "Spearman x 100",
        "Tuned",
        "Verdict",
    )
    filled = [number for number in range(len(heads)) if any(row[number] for row in rows)]
    return table([heads[number] for number in filled], ([row[number] for number in filled] for row in rows))


def trials(found: Report) -> Html:
    """The leaderboard of each tuning."""
    parts = []
    for run in found.runs:
        if run.facts.trials and run.facts.spent:
            spent, budget = map(shown_duration, run.facts.spent)
            parts.append(
                fill(
                    "<p>{spent} of {budget} used; changes are from the untuned encoder.</p>", spent=spent, budget=budget
                )
            )
            heads = ("Recipe", "Steps", "Seconds", "Cohesion", "MRR x 100", "Neighbours kept", "Judgement")
            parts.append(table(heads, map(_trial, run.facts.trials)))
    return joined(parts)


def _trial(one: Trial) -> Sequence[str]:
    found = one.figures
    figures = (found.cohesion, found.mrr, found.neighbours_kept) if found else (None,) * 3
    forms = ("{:+.1f}", "{:+.1f}", "{:.0f}%")
    cells = ["" if value is None else form.format(value) for value, form in zip(figures, forms, strict=True)]
    steps, seconds = f"{one.steps:,}" if one.steps else "", f"{one.seconds:.1f}" if one.seconds else ""
    return one.recipe, steps, seconds, *cells, one.judgement
