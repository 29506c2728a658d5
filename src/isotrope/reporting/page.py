"""A report as one HTML file that needs nothing else: no network, no library, light and dark, any width."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isotrope.reporting import account, encoders, pictures, verdict
from isotrope.reporting.commands import commands
from isotrope.reporting.markup import Html, fill, joined
from isotrope.reporting.sentence_map import map_section
from isotrope.training.record import versions

if TYPE_CHECKING:
    from isotrope.reporting.report import Report

STYLE = Path(__file__).parent / "style.css"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"  # nothing is fetched, ever
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}"><meta name="generator" content="isotrope {version}">
<title>{title}</title><style>{style}</style></head>
<body><header><h1>{title}</h1>{head}<nav aria-label="Sections">{links}</nav></header>
<main>{sections}</main></body></html>
"""
SECTION = '<section aria-labelledby="{id}"><h2 id="{id}">{title}</h2>{body}</section>\n'


def page(found: Report) -> str:
    """The whole file."""
    title = "Report: " + ", ".join(run.facts.name for run in found.runs)
    sections = [(name, body) for name, body in _sections(found) if body]
    ids = [name.lower().replace(" ", "-").replace(",", "") for name, _ in sections]
    links = [
        fill('<a href="#{id}">{name}</a>', id=id_, name=name) for id_, (name, _) in zip(ids, sections, strict=True)
    ]
    bodies = [fill(SECTION, id=id_, title=name, body=body) for id_, (name, body) in zip(ids, sections, strict=True)]
    return fill(
        PAGE,
        policy=Html(POLICY),
        version=versions().get("isotrope", ""),
        title=title,
        style=Html(STYLE.read_text(encoding="utf-8")),
        head=account.head(found),
        links=joined(links),
        sections=joined(bodies),
    )


def _sections(found: Report) -> list[tuple[str, Html]]:
    return [
        ("Verdict", verdict.verdict(found)),
        ("Trials", verdict.trials(found)),
        ("Before and after", encoders.before_and_after(found)),
        ("Changed neighbours", encoders.neighbours(found)),
        ("Map", map_section(found)),
        ("Similarities", pictures.similarities(found)),
        ("Training", pictures.training(found)),
        ("Directions in use", pictures.directions(found)),
        ("The text", account.text(found)),
        ("Use it", commands(found)),
        ("How it was made", account.made(found)),
        ("What is missing", account.lacks(found)),
    ]
