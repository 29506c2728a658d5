"""What to do with the encoder next, ready to be copied."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from isotrope.reporting.markup import Html, fill, joined

if TYPE_CHECKING:
    from isotrope.reporting.report import Report
    from isotrope.reporting.runs import RunFacts

SHELL = """# find the rows closest to a query
isotrope index {text} --model {encoder} --output {index}
isotrope search {index} "your question"

# a vector for every row; groups of rows that say the same; topics of the text
isotrope encode {text} --model {encoder} --output vectors.parquet
isotrope duplicates {text} --model {encoder}
isotrope cluster {text} --model {encoder}

# an API like OpenAI's for programs, and a page on which you can grade pairs of your text
isotrope serve {model} tuned={encoder}

# is it better? on text it has not seen, or on a hundred pairs that you graded
isotrope compare {model} {encoder} other-text.txt
isotrope evaluate {model} {encoder} --pairs graded.csv"""
PYTHON = """from sentence_transformers import SentenceTransformer

model = SentenceTransformer({encoder!r})
vectors = model.encode(["A new sentence."])"""
BLOCK = "<pre><code>{code}</code></pre>"
OPTION = re.compile(r"(--[\w-]+)")


def commands(found: Report) -> Html:
    """For the encoder of each run, in Python and in the shell."""
    parts = []
    for run in found.runs:
        if len(found.runs) > 1:
            parts.append(fill("<h3>{name}</h3>", name=run.facts.name))
        parts.append(fill(BLOCK, code=PYTHON.format(encoder=str(run.facts.folder / "encoder"))))
        if len(found.runs) == 1:
            parts.append(fill(BLOCK, code=_unbroken(shell(run.facts))))
    return joined(parts)


def _unbroken(lines: str) -> Html:
    """Lines may break between words, but not within an option: `--` at the end of one looks like another command."""
    parts = OPTION.split(lines)  # every second one is an option
    forms = ("{part}", '<span class="unbroken">{part}</span>')
    return joined(fill(forms[number % 2], part=part) for number, part in enumerate(parts))


def shell(facts: RunFacts) -> str:
    """Command lines, with the text as the run read it."""
    return SHELL.format(
        text=_text(facts),
        encoder=shlex.quote(str(facts.folder / "encoder")),
        model=shlex.quote(facts.model),
        index=shlex.quote(f"{facts.folder.name or 'text'}.index"),
    )


def _text(facts: RunFacts) -> str:
    """The table and the options that say what its text is."""
    files = facts.texts[-1]["sources"] if facts.texts else []
    name = shlex.quote(files[0]) if len(files) == 1 and facts.record and facts.record.files else "TEXT"
    read = facts.record.text if facts.record else {}
    options = [
        ("--column", read.get("column")),
        ("--columns", ",".join(read.get("columns") or [])),
        ("--join", read.get("join")),
    ]
    said = "".join(f" {option} {shlex.quote(value)}" for option, value in options if value)
    return f"{name}{said}{' --strip-html' if read.get('strip_html') else ''}"
