"""What was trained on what: the text and what is in it, the recipe, seeds, versions, and what a folder lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from isotrope.evaluation.results.printing import many
from isotrope.io.durations import shown_duration
from isotrope.reporting.findings import RunFindings
from isotrope.reporting.markup import Html, facts, fill, joined, shortened

if TYPE_CHECKING:
    from isotrope.reporting.report import Report

COUNTED = {
    "rows": "rows read",
    "blank": "rows without text, left out",
    "duplicates": "rows identical to another",
    "near_duplicates": "further rows that differ only in case, digits or punctuation",
    "markup": "rows with HTML",
    "placeholders": "rows with a placeholder such as N/A",
}
DUPLICATES = 8  # groups that are listed


def head(found: Report) -> Html:
    """What was trained on what, in a line for each run."""
    lines = []
    for run in found.runs:
        one = run.facts
        counts = one.texts[-1]["counts"] if one.texts else None
        text = (
            f"{many(counts['rows'], 'text')} from {', '.join(one.texts[-1]['sources'])}" if counts else "unknown text"
        )
        name = f"{one.name}: " if len(found.runs) > 1 else ""
        steps = f", {many(one.steps, 'step')}" if one.steps else ""
        when = f", {one.record.finished[:10]}" if one.record and one.record.finished else ""
        lines.append(
            fill(
                '<p>{name}<b>{recipe}</b> on <b>{model}</b>, {text}{steps}<span class="soft">{when}</span></p>',
                name=name,
                recipe=one.recipe,
                model=one.model,
                text=text,
                steps=steps,
                when=when,
            )
        )
    return joined(lines)


def text(found: Report) -> Html:
    """What was counted in each run's text, and near-duplicates among the texts of this report."""
    parts = []
    for run in found.runs:
        if len(found.runs) > 1:
            parts.append(fill("<h3>{name}</h3>", name=run.facts.name))
        for about in run.facts.texts:
            survey = about.get("survey") or {}
            counted = [(name, f"{survey[key]:,}") for key, name in COUNTED.items() if survey.get(key)]
            languages = ", ".join(f"{name} {share:.0%}" for name, share in (survey.get("languages") or {}).items())
            counts = about["counts"]
            left = [
                ("texts trained on or held out", f"{counts['rows']:,}"),
                ("different texts", f"{counts['distinct']:,}"),
            ]
            parts.append(facts([*counted, *left, ("languages", languages)]))
    parts.append(_near(found))
    return joined(parts)


def _near(found: Report) -> Html:
    near, texts = found.duplicates, len(found.sample.texts)
    more = sum(len(group.rows) - 1 for group in near.groups)
    say = "says" if more == 1 else "say"
    some = f"Of the {texts:,} texts here, {more:,} {say}" if more else f"None of the {texts:,} texts here says"
    said = f"{some} almost the same as another (cosine of {near.threshold:.2f} or more)."
    advice = " Contrastive training pushes near-duplicates apart like any other texts: keep one of each."
    groups = [
        fill(
            "<li>{first}<ul>{others}</ul></li>",
            first=shortened(group.texts[0], 160),
            others=joined(fill("<li>{text}</li>", text=shortened(text, 160)) for text in group.texts[1:4]),
        )
        for group in near.groups[:DUPLICATES]
    ]
    listed = fill("<ul>{groups}</ul>", groups=joined(groups)) if groups else Html("")
    return fill(
        "<h3>Near-duplicates</h3><p>{said}{advice}</p>{listed}", said=said, advice=advice if more else "", listed=listed
    )


def made(found: Report) -> Html:
    """Recipe, seeds, versions, data hash."""
    return joined(part for run in found.runs for part in _made(run, named=len(found.runs) > 1))


def _made(run: RunFindings, *, named: bool) -> Iterator[Html]:
    one, record = run.facts, run.facts.record
    if named:
        yield fill("<h3>{name}</h3>", name=one.name)
    versions = ", ".join(f"{name} {number}" for name, number in record.versions.items()) if record else ""
    yield facts(
        [
            ("folder", one.name),
            ("model", one.model),
            ("recipe", one.recipe),
            ("pooling", one.pooling),
            ("seed", ", ".join(map(str, one.seeds))),
            ("steps", f"{one.steps:,}" if one.steps else ""),
            ("development set", str(one.dev or "")),
            ("text", "; ".join(", ".join(about["sources"]) for about in one.texts)),
            ("columns", _columns(record.text) if record else ""),
            ("data hash", "; ".join(about["fingerprint"] for about in one.texts)),
            ("time", shown_duration(record.seconds) if record else ""),
            ("finished", record.finished if record else ""),
            ("device", record.device if record else ""),
            ("versions", versions),
        ]
    )
    file = one.run / "recipe.toml"
    if file.is_file():
        recipe = file.read_text(encoding="utf-8", errors="replace")
        yield fill("<details><summary>The whole recipe</summary><pre><code>{toml}</code></pre></details>", toml=recipe)


def _columns(read: Mapping[str, Any]) -> str:
    names = ", ".join(read.get("columns") or []) or str(read.get("column") or "")
    join = f", joined by {read['join']!r}" if read.get("join") is not None else ""
    return f"{names}{join}{', HTML removed' if read.get('strip_html') else ''}".strip(", ")


def lacks(found: Report) -> Html:
    """What could not be shown, and why."""
    lines = []
    for run in found.runs:
        name = f"{run.facts.name}: " if len(found.runs) > 1 else ""
        lines += [fill("<li>{name}{line}</li>", name=name, line=line) for line in run.lacks]
    return fill("<ul>{lines}</ul>", lines=joined(lines)) if lines else Html("")
